"""Folding: algebraic identities, applied while a graph is built.

Signs move outwards and constants together, so that equal terms become the same node. No rule loses accuracy beyond the
rounding of one operation. Terms that cancel disappear: x * 0, x - x, 0 / x and x * (y / x) lose an infinity or a NaN of
x, and the sign of a zero.
"""

from __future__ import annotations

from kinetree.base.originals import renew
from kinetree.compiler.graph.expr import FOLDING
from kinetree.compiler.graph.passes.rules import compile_rules, parse_rules

FOLD = parse_rules(
    """
    x + 0 -> x
    x + -y -> x - y
    c + (c1 + x) -> (c + c1) + x
    c + (c1 - x) -> (c + c1) - x
    (y - x) + x -> y
    x + x -> 2 * x
    c1 * x + c2 * x -> (c1 + c2) * x
    x + c * x -> (c + 1) * x

    x - 0 -> x
    0 - x -> -x
    x - x -> 0
    x - -y -> x + y
    -x - y -> -(x + y)
    (x + y) - x -> y
    x - (x - y) -> y
    x - (x + y) -> -y
    (x - y) - x -> -y
    c1 * x - c2 * x -> (c1 - c2) * x

    -(-x) -> x
    -(x - y) -> y - x

    x * 0 -> 0
    x * 1 -> x
    x * -1 -> -x
    -x * y -> -(x * y)
    c * (c1 * x) -> (c * c1) * x
    c * (c1 / x) -> (c * c1) / x
    x * (y / x) -> y
    (x * y) * (c / x) -> c * y

    x / 1 -> x
    0 / x -> 0
    -x / y -> -(x / y)
    x / -y -> -(x / y)
    x / c -> (1 / c) * x

    absolute(-x) -> absolute(x)
    absolute(absolute(x)) -> absolute(x)
    sin(-x) -> -sin(x)
    cos(-x) -> cos(x)
    tan(x) -> sin(x) / cos(x)
    tanh(-x) -> -tanh(x)
    minimum(x, x) -> x
    maximum(x, x) -> x

    where(True, x, y) -> x
    where(False, x, y) -> y
    where(b, x, x) -> x
    where(logical_not(b), x, y) -> where(b, y, x)
    less(x, x) -> False
    less_equal(x, x) -> less_equal(0, absolute(x))   # false only for NaN
    logical_and(b, True) -> b
    logical_and(b, False) -> False
    logical_and(b, b) -> b
    logical_or(b, False) -> b
    logical_or(b, True) -> True
    logical_or(b, b) -> b
    logical_not(logical_not(b)) -> b
    """
)

FOLDING.update(compile_rules(FOLD))
renew(FOLDING)
