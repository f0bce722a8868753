"""Algorithms are tested as they are written; tests/compiler shows that their machine code computes the same."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def by_the_textbook():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KINETREE_EAGER", "1")
        yield
