"""sin, cos, atan2 and the like in C, from the same polynomials in the same order as `codegen.elementary`.

With fused multiply-add and without contraction by the C compiler, they give the same bits as machine code.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from kinetree.compiler.codegen.polynomials import WITH_FMA, WITHOUT_FMA, Polynomial


class Real(NamedTuple):
    """The type of numbers in C."""

    name: str
    suffix: str
    """Of literals and of functions of the C library."""
    bits: int

    def literal(self, value: float) -> str:
        """A number that is read back as the same, rounded to the type."""
        if math.isnan(value):
            return f"({self.name})NAN"
        if math.isinf(value):
            return f"{'-' * (value < 0.0)}({self.name})INFINITY"
        text = repr(float(value)) if self.name == "double" else np.format_float_scientific(np.float32(value))
        text = text if "." in text or "e" in text else f"{text}.0"
        return text + self.suffix

    def call(self, function: str) -> str:
        """The name of a function of the C library for this type."""
        return function + self.suffix


REALS = {"double": Real("double", "", 64), "float": Real("float", "f", 32)}
"""By LLVM's name of the type."""


VECTORIZE = """/* gcc makes vectors of loops whose length it does not know with -O3 only. Those that it makes of
   numbers in long straight-line code cost more than they save. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
#define VECTORIZE __attribute__((optimize("O3")))
#define STRAIGHT __attribute__((optimize("no-tree-slp-vectorize")))
#else
#define VECTORIZE
#define STRAIGHT
#endif"""
"""Macros for functions with loops, and for those of several without; gcc inlines neither."""


def fused(prefix: str, real: Real) -> str:
    """The macro FMA, which fuses where that is as fast as a multiplication, or where PREFIX_FMA is 1."""
    name = f"{prefix.upper()}_FMA"
    return f"""#ifndef {name}
#ifdef FP_FAST_FMA{real.suffix.upper()}
#define {name} 1
#else
#define {name} 0
#endif
#endif
#if {name}
#define FMA(x, y, z) {real.call("fma")}(x, y, z)
#else
#define FMA(x, y, z) ((x) * (y) + (z))
#endif"""


def definitions(prefix: str, real: Real, used: Collection[str]) -> list[str]:
    """The functions behind these operations."""
    texts = []
    if {"sin", "cos"} & set(used):
        texts.append(_sincos(prefix, real))
    if "atan2" in used:
        texts.append(_atan2(prefix, real))
    for op, comparison, sign in (("minimum", "<", ""), ("maximum", ">", "!")):
        if op in used:
            texts.append(
                f"static {real.name} {prefix}_{op}(const {real.name} x, const {real.name} y)\n{{\n"
                "    if (x != x || y != y)\n        return x + y;\n"
                f"    if (x == y)\n        return {sign}signbit(x) ? x : y;\n"
                f"    return x {comparison} y ? x : y;\n}}"
            )
    return texts


def _both(name: str, pairs: dict[str, tuple[str, str]]) -> str:
    """Macros with one value where multiply-add is fused, and another where it is not."""
    fused = "\n".join(f"#define {macro} {value}" for macro, (value, _) in pairs.items())
    plain = "\n".join(f"#define {macro} {value}" for macro, (_, value) in pairs.items())
    return f"#if {name}_FMA\n{fused}\n#else\n{plain}\n#endif"


def _polynomial(real: Real, z: str, coefficients: Polynomial) -> str:
    value = real.literal(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value = f"FMA({value}, {z}, {real.literal(coefficient)})"
    return value


def _sincos(prefix: str, real: Real) -> str:
    """Sines and cosines of n angles, in a loop without branches, which compilers vectorize."""
    by, without, R, top = WITH_FMA[real.name], WITHOUT_FMA[real.name], real.name, real.bits - 1

    def reduced(parts: tuple[float, ...]) -> str:
        value = "(x)"
        for part in parts:
            value = f"FMA(-(k), {real.literal(part)}, {value})"
        return value

    number = real.literal
    macros = _both(
        prefix.upper(),
        {
            "REDUCIBLE": (number(by.reducible), number(without.reducible)),
            "REDUCED(x, k)": (reduced(by.half_pi), reduced(without.half_pi)),
        },
    )
    whole = f"uint{real.bits}_t"
    slow = {"double": "{0}(x[i])", "float": "(float){0}((double)x[i])"}[R]
    return f"""{macros}

/* Sine and cosine of n angles: a multiple k of pi/2 is subtracted, and two polynomials are evaluated. */
VECTORIZE static void {prefix}_sincos(const int n, const {R} *restrict x, {R} *restrict s, {R} *restrict c)
{{
    int i, large = 0;
    for (i = 0; i < n; i++) {{
        union {{ {R} real; {whole} whole; }} turns, sine, cosine;
        {R} k, r, z, half, head, rest, odd_s, odd_c;
        turns.real = FMA(x[i], {number(2 / math.pi)}, {number(by.round)});
        k = turns.real - {number(by.round)};
        r = REDUCED(x[i], k);
        z = r * r;
        odd_s = FMA(r * z, {_polynomial(real, "z", by.sin)}, r);
        half = z * {number(0.5)};
        head = {number(1.0)} - half;
        rest = ({number(1.0)} - head) - half;
        odd_c = head + FMA(z * z, {_polynomial(real, "z", by.cos)}, rest);
        sine.real = turns.whole & 1 ? odd_c : odd_s;
        cosine.real = turns.whole & 1 ? odd_s : odd_c;
        sine.whole ^= turns.whole >> 1 << {top};
        cosine.whole ^= (turns.whole + 1) >> 1 << {top};
        s[i] = sine.real;
        c[i] = cosine.real;
    }}
    for (i = 0; i < n; i++)
        large |= {real.call("fabs")}(x[i]) > REDUCIBLE;
    for (i = 0; large && i < n; i++)
        if ({real.call("fabs")}(x[i]) > REDUCIBLE) {{
            s[i] = {slow.format("sin")};
            c[i] = {slow.format("cos")};
        }}
}}"""


def _atan2(prefix: str, real: Real) -> str:
    by, R, number, infinity = WITH_FMA[real.name], real.name, real.literal, real.literal(math.inf)
    low = by.quarter_pi_low
    return f"""/* The angle of (x, y), with signed zeros and infinities as IEEE 754 prescribes. */
static {R} {prefix}_atan2(const {R} y, const {R} x)
{{
    const {R} ax = {real.call("fabs")}(x), ay = {real.call("fabs")}(y);
    const int steep = ay > ax;
    {R} hi = steep ? ay : ax, lo = steep ? ax : ay, scale, t, z, tail, angle;
    int beyond;
    if (x != x || y != y)
        return x + y;
    if (hi == {infinity}) {{
        lo = lo == {infinity} ? {number(1.0)} : {number(0.0)};
        hi = {number(1.0)};
    }}
    if (hi == {number(0.0)})
        hi = {number(1.0)};
    scale = hi > {number(by.huge)} ? {number(2.0**-100)} : {number(1.0)};
    lo *= scale;
    hi *= scale;
    beyond = lo > hi * {number(math.tan(math.pi / 8))};
    t = (beyond ? lo - hi : lo) / (beyond ? lo + hi : hi);
    z = t * t;
    tail = t * z * -{_polynomial(real, "z", by.atan)};
    angle = (beyond ? {number(math.pi / 4)} : {number(0.0)}) + (t + (tail + (beyond ? {number(low)} : {number(0.0)})));
    if (steep)
        angle = {number(math.pi / 2)} - (angle - {number(2.0 * low)});
    if (signbit(x))
        angle = {number(math.pi)} - (angle - {number(4.0 * low)});
    return {real.call("copysign")}(angle, y);
}}"""
