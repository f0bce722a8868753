"""A native call of several files."""

import pytest

from entries import Owner, compiled, open_entry
from kinetree.compiler.runtime.native import Variant


@pytest.fixture(scope="session")
def add():
    """(x, y) of three numbers each to x + 2 y."""
    code = compiled(lambda x, y: x + 2.0 * y, (3,), (3,))
    return open_entry((("x", (3,)), ("y", (3,))), ((3,),), [Variant(code)]).bind(Owner())
