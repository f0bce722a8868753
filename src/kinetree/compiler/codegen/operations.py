"""Operations of a graph as instructions of LLVM."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.compiler.codegen.elementary import function_name
from kinetree.compiler.codegen.ir import Lines

PLAIN = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "neg": "fneg"}
INTRINSIC = {"sqrt": "sqrt", "absolute": "fabs", "minimum": "minimum", "maximum": "maximum"}
COMPARISON = {"less": "olt", "less_equal": "ole", "equal": "oeq"}
LOGIC = {"logical_and": "and", "logical_or": "or"}
FUSED = {"fma": (False, False), "fms": (False, True), "fnma": (True, False), "fnms": (True, True)}
"""Whether the product is negated, and whether the summand is."""


def operation(lines: Lines, op: str, args: Sequence[str]) -> str:
    """The name of the result of an operation on values of these names; sines and cosines are made elsewhere."""
    width = lines.width
    truth = width.vector("i1")
    if op in PLAIN:
        return lines.real(PLAIN[op], *args)
    if op in FUSED:
        minus_product, minus_sum = FUSED[op]
        x, y, z = args
        if minus_product:
            x = lines.real("fneg", x)
        if minus_sum:
            z = lines.real("fneg", z)
        return lines.intrinsic("fma", x, y, z)
    if op in INTRINSIC:
        return lines.intrinsic(INTRINSIC[op], *args)
    if op in COMPARISON:
        return lines.compare(COMPARISON[op], *args)
    if op in LOGIC:
        return lines.let(f"{LOGIC[op]} {truth} {args[0]}, {args[1]}")
    if op == "logical_not":
        ones = "true" if width.lanes == 1 else "splat (i1 true)"
        return lines.let(f"xor {truth} {args[0]}, {ones}")
    if op == "where":
        return lines.select(*args)
    listed = ", ".join(f"{width.real} {arg}" for arg in args)
    return lines.let(f"call fastcc {width.real} {function_name(op, width)}({listed})")
