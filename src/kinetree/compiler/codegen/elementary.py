"""sin, cos and atan2 as LLVM functions, the same for one value and for a vector, so that both give the same bits.

sin and cos subtract a multiple k of π/2, stored in parts, so that |r| ≤ π/4, and evaluate two polynomials at r; k mod 4
selects which is sine or cosine, and the signs. Errors are within 2 ulp for |x| ≤ 1e9, in float32 up to 1e5; larger
values, which are rare, go to the C library one by one, as do all of exp, log and tanh. In float32 the library computes
in float64, and the result is rounded.

Without fused multiply-add, the parts of π/2 are so short that their products with k are exact; values beyond 1e6, in
float32 beyond 1e3, go to the C library, and errors are within 4 ulp.
"""

from __future__ import annotations

import math
import re

from kinetree.compiler.codegen.ir import Lines, Width, imported
from kinetree.compiler.codegen.polynomials import WITH_FMA, WITHOUT_FMA, Polynomial

LIBRARY = ("sin", "cos", "exp", "log", "tanh")
"""Functions of the C library, which the code calls through pointers that are set when it is loaded."""
LIBRARY_PREFIX = "kinetree.library"
BIND = "kinetree_bind"


def library() -> str:
    """The pointers to the C library, and void kinetree_bind(table of addresses), which sets them."""
    return imported([f"{LIBRARY_PREFIX}.{name}" for name in LIBRARY], BIND)


def no_library() -> str:
    """void kinetree_bind(table of addresses) of a module that calls nothing."""
    return f"define void @{BIND}(ptr %table) nounwind {{\n  ret void\n}}"


def linked_library(text: str, convention: str = "") -> str:
    """A module whose functions of the C library are found by a linker, of those that it uses; they are called by this
    convention, C's if it has no name."""
    bare = text.replace(library(), "").replace(no_library(), "")
    if convention:
        bare = re.sub(r"call double (%t\d+)\(double", rf"call {convention} double \1(double", bare)
    lines = []
    for name in LIBRARY:
        if f"@{LIBRARY_PREFIX}.{name}," in bare:
            lines.append(f"declare double @{name}(double)")
            lines.append(f"@{LIBRARY_PREFIX}.{name} = internal constant ptr @{name}, align 8")
    return "\n".join([*lines, bare])


def _polynomial(b: Lines, z: str, coefficients: Polynomial) -> str:
    value = b.width.number(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value = b.multiply_add(value, z, b.width.number(coefficient))
    return value


def function_name(function: str, width: Width) -> str:
    """The name of a function of this width: "sincos", "atan2", or one of the C library's."""
    return f"@kinetree.{function}.{width.suffix}"


def _definition(b: Lines, function: str, arguments: str, returns: str) -> str:
    """A function with this body; its arguments, between spaces, are numbers."""
    given = ", ".join(f"{b.width.real} %{name}" for name in arguments.split())
    head = f"define internal fastcc {returns} {function_name(function, b.width)}({given}) noinline nounwind {{"
    return "\n".join([head, *b.text, "}"])


def sincos(width: Width) -> str:
    """The definition of a function that returns {sin x, cos x}."""
    b, real, number = Lines(width), width.real, width.number
    whole, truth, by = width.whole, width.vector("i1"), (WITH_FMA if width.fuses else WITHOUT_FMA)[width.element]
    b.label("entry")
    size = b.intrinsic("fabs", "%x")
    large = b.compare("ogt", size, number(by.reducible))
    shifted = b.multiply_add("%x", number(2 / math.pi), number(by.round))
    k = b.real("fsub", shifted, number(by.round))
    minus_k = b.let(f"fneg {real} {k}")
    r = "%x"
    for part in by.half_pi:
        r = b.multiply_add(minus_k, number(part), r)
    z = b.real("fmul", r, r)
    rz = b.real("fmul", r, z)
    s = b.multiply_add(rz, _polynomial(b, z, by.sin), r)
    half = b.real("fmul", z, number(0.5))
    head = b.real("fsub", number(1.0), half)
    rest = b.real("fsub", b.real("fsub", number(1.0), head), half)
    zz = b.real("fmul", z, z)
    c = b.real("fadd", head, b.multiply_add(zz, _polynomial(b, z, by.cos), rest))
    quadrant = b.let(f"bitcast {real} {shifted} to {whole}")
    odd = b.let(f"trunc {whole} {quadrant} to {truth}")
    sine, cosine = b.select(odd, c, s), b.select(odd, s, c)
    following = b.let(f"add {whole} {quadrant}, {width.integer(1)}")
    fast = [_signed(b, sine, quadrant), _signed(b, cosine, following)]
    if width.lanes == 1:
        any_large = large
    else:
        any_large = b.let(f"call i1 @llvm.vector.reduce.or.v{width.lanes}i1({truth} {large})")
    b.add(f"br i1 {any_large}, label %slow, label %done")
    b.label("slow")
    slow = [_by_lanes(b, "sin", fast[0], "%x", large), _by_lanes(b, "cos", fast[1], "%x", large)]
    b.add("br label %done")
    b.label("done")
    pairs = zip(fast, slow, strict=True)
    results = [b.let(f"phi {real} [{value}, %entry], [{exact}, %slow]") for value, exact in pairs]
    pair = f"{{{real}, {real}}}"
    first = b.let(f"insertvalue {pair} poison, {real} {results[0]}, 0")
    both = b.let(f"insertvalue {pair} {first}, {real} {results[1]}, 1")
    b.add(f"ret {pair} {both}")
    return _definition(b, "sincos", "x", pair)


def _signed(b: Lines, value: str, quadrant: str) -> str:
    """The value, negated in the third and fourth quadrant: bit 1 of the quadrant flips the sign bit."""
    real, whole, top = b.width.real, b.width.whole, 8 * b.width.size - 1
    moved = b.let(f"shl {whole} {quadrant}, {b.width.integer(top - 1)}")
    sign = b.let(f"and {whole} {moved}, {b.width.integer(-(2**top))}")
    bits = b.let(f"bitcast {real} {value} to {whole}")
    return b.let(f"bitcast {whole} {b.let(f'xor {whole} {bits}, {sign}')} to {real}")


def _by_lanes(b: Lines, function: str, fast: str, x: str, mask: str | None) -> str:
    """`function` of the C library in the lanes of the mask (without one, in all), and `fast` in the others."""
    lanes, real, one = b.width.lanes, b.width.real, b.width.element
    address = b.let(f"load ptr, ptr @{LIBRARY_PREFIX}.{function}, align 8")

    def called(x: str) -> str:
        if one == "double":
            return b.let(f"call double {address}(double {x})")
        wide = b.let(f"fpext float {x} to double")
        return b.let(f"fptrunc double {b.let(f'call double {address}(double {wide})')} to float")

    if lanes == 1:
        return called(x)
    result = fast
    for lane in range(lanes):
        element = b.let(f"extractelement {real} {x}, i64 {lane}")
        if mask is None:
            value = called(element)
        else:
            selected = b.let(f"extractelement <{lanes} x i1> {mask}, i64 {lane}")
            slow = called(b.let(f"select i1 {selected}, {one} {element}, {one} 0.0"))
            other = b.let(f"extractelement {real} {fast}, i64 {lane}")
            value = b.let(f"select i1 {selected}, {one} {slow}, {one} {other}")
        result = b.let(f"insertelement {real} {result}, {one} {value}, i64 {lane}")
    return result


def by_library(function: str, width: Width) -> str:
    """The definition of a function that calls the C library lane by lane."""
    b = Lines(width)
    b.add(f"ret {width.real} {_by_lanes(b, function, 'poison', '%x', None)}")
    return _definition(b, function, "x", width.real)


def atan2(width: Width) -> str:
    """The definition of atan2, the angle of (x, y), with signed zeros and infinities as IEEE 754 prescribes.

    With lo ≤ hi, which are |x| and |y| in order: atan(lo/hi), or π/4 + atan((lo - hi)/(lo + hi)) if lo/hi > tan π/8,
    mapped to the octant.
    """
    b, real, number = Lines(width), width.real, width.number
    whole, by = width.whole, (WITH_FMA if width.fuses else WITHOUT_FMA)[width.element]
    ax, ay = b.intrinsic("fabs", "%x"), b.intrinsic("fabs", "%y")
    steep = b.compare("ogt", ay, ax)
    hi, lo = b.select(steep, ay, ax), b.select(steep, ax, ay)
    infinite = b.compare("oeq", hi, number(math.inf))
    lo = b.select(infinite, b.select(b.compare("oeq", lo, number(math.inf)), number(1.0), number(0.0)), lo)
    hi = b.select(infinite, number(1.0), hi)
    hi = b.select(b.compare("oeq", hi, number(0.0)), number(1.0), hi)  # atan2(0, 0) = 0
    huge = b.compare("ogt", hi, number(by.huge))
    scale = b.select(huge, number(2.0**-100), number(1.0))
    lo, hi = b.real("fmul", lo, scale), b.real("fmul", hi, scale)
    beyond = b.compare("ogt", lo, b.real("fmul", hi, number(math.tan(math.pi / 8))))
    above = b.select(beyond, b.real("fsub", lo, hi), lo)
    below = b.select(beyond, b.real("fadd", lo, hi), hi)
    t = b.real("fdiv", above, below)
    z = b.real("fmul", t, t)
    tail = b.real("fmul", b.real("fmul", t, z), b.let(f"fneg {real} {_polynomial(b, z, by.atan)}"))
    base = b.select(beyond, number(math.pi / 4), number(0.0))
    base_low = b.select(beyond, number(by.quarter_pi_low), number(0.0))
    angle = b.real("fadd", base, b.real("fadd", t, b.real("fadd", tail, base_low)))
    angle = b.select(steep, _complement(b, math.pi / 2, 2.0 * by.quarter_pi_low, angle), angle)
    negative = b.let(f"icmp slt {whole} {b.let(f'bitcast {real} %x to {whole}')}, {width.integer(0)}")
    angle = b.select(negative, _complement(b, math.pi, 4.0 * by.quarter_pi_low, angle), angle)
    signed = b.intrinsic("copysign", angle, "%y")
    unordered = b.compare("uno", "%x", "%y")
    result = b.select(unordered, b.real("fadd", "%x", "%y"), signed)
    b.add(f"ret {real} {result}")
    return _definition(b, "atan2", "y x", real)


def _complement(b: Lines, whole: float, low: float, angle: str) -> str:
    """(whole + low) - angle, where `low` holds the digits that `whole` lacks."""
    return b.real("fsub", b.width.number(whole), b.real("fsub", angle, b.width.number(low)))
