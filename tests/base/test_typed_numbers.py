"""Numbers as people type them."""

import math

import pytest

from kinetree.base.typed_numbers import typed_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.5", 0.5),
        (" -1e-3 ", -1e-3),
        ("90deg", math.pi / 2),
        ("-30 deg", -math.pi / 6),
        ("pi", math.pi),
        ("-pi/4", -math.pi / 4),
        ("2*pi/3", 2 * math.pi / 3),
        ("2pi", 2 * math.pi),
    ],
)
def test_numbers(text, number):
    assert typed_number(text) == pytest.approx(number, rel=1e-15)


@pytest.mark.parametrize("text", ["", "deg", "ninety", "nan", "inf", "1e999", "pi/0", "90degdegx", "1 2"])
def test_other_texts(text):
    assert typed_number(text) is None
