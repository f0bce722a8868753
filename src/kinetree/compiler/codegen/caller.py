"""Functions that C calls by name, in object files: int name(const double *q, …, double *result, …).

Stages have the signature of a kernel for one state (`runtime.chain`). The caller fills their tables of addresses, runs
one after the other, and returns a code where one refuses the state.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinetree.compiler.codegen.elementary import linked_library
from kinetree.compiler.codegen.ir import Lines, Width
from kinetree.compiler.runtime.chain import Argument, Buffer, Numbers, Operand, Result
from kinetree.compiler.runtime.code import SINGLE


class ObjectStage(NamedTuple):
    """A module of LLVM assembly with the function of a stage, the operands, and the bytes of its workspace."""

    assembly: str
    has_loops: bool
    inputs: Sequence[Operand]
    outputs: Sequence[Operand]
    workspace: int
    codes: Mapping[Operand, Mapping[int, int]]
    """For outputs that say how the stage ended, the code to return for some of their values."""


def function_modules(
    name: str, arguments: int, results: int, defaults: Mapping[int, Sequence[float]], stages: Sequence[ObjectStage],
    element: str, convention: str = "",
) -> list[tuple[str, bool]]:  # fmt: skip
    """Modules of a function and of its stages, and whether they have loops. An argument with `defaults` may be null;
    `convention` is that by which functions of the C library are called."""
    made = [(_caller(name, arguments, results, defaults, stages, Width(1, element=element)), False)]
    for s, stage in enumerate(stages):
        text = _own_extrema(linked_library(stage.assembly, convention)).replace(SINGLE, f"{name}.stage{s}")
        made.append((_short_integers(text) if stage.has_loops else text, stage.has_loops))
    return made


def _own_extrema(text: str) -> str:
    """The module with definitions of minimum and maximum: LLVM 22 has no double ones for ARM, and ends."""
    for op, compare, equal in (("minimum", "olt", "or"), ("maximum", "ogt", "and")):
        if f"@llvm.{op}.f64(" in text:
            text = text.replace(f"@llvm.{op}.f64(", f"@kinetree.{op}(")
            text += f"""
define internal double @kinetree.{op}(double %x, double %y) nounwind {{
  %x.bits = bitcast double %x to i64
  %y.bits = bitcast double %y to i64
  %both = {equal} i64 %x.bits, %y.bits
  %zero = bitcast i64 %both to double
  %nan = fadd double %x, %y
  %is_x = fcmp {compare} double %x, %y
  %is_equal = fcmp oeq double %x, %y
  %is_nan = fcmp uno double %x, %y
  %one = select i1 %is_x, double %x, double %y
  %ordered = select i1 %is_equal, double %zero, double %one
  %result = select i1 %is_nan, double %nan, double %ordered
  ret double %result
}}
"""
    return text


def _short_integers(text: str) -> str:
    """Conversions between numbers and integers by way of 32 bits, since CPUs of 32 bits have no others."""
    text = re.sub(
        r"(%\S+) = fptosi double (\S+) to i64",
        r"\1.short = fptosi double \2 to i32\n  \1 = sext i32 \1.short to i64",
        text,
    )
    return re.sub(
        r"(%\S+) = sitofp i64 (\S+) to double",
        r"\1.short = trunc i64 \2 to i32\n  \1 = sitofp i32 \1.short to double",
        text,
    )


def _caller(
    name: str, arguments: int, results: int, defaults: Mapping[int, Sequence[float]], stages: Sequence[ObjectStage],
    real: Width,
) -> str:  # fmt: skip
    b, constants = Lines(real), [_constant(f"{name}.default{k}", values, real) for k, values in defaults.items()]
    places: dict[tuple[type, Operand], str] = {}  # an argument equals a result of the same position
    for k in range(arguments):
        places[Argument, Argument(k)] = f"%a{k}"
    for k in range(results):
        places[Result, Result(k)] = f"%r{k}"
    for k in defaults:
        null = b.let(f"icmp eq ptr %a{k}, null")
        places[Argument, Argument(k)] = b.let(f"select i1 {null}, ptr @{name}.default{k}, ptr %a{k}")
    tables = []
    for stage in stages:
        for operand in (*stage.inputs, *stage.outputs):
            if isinstance(operand, Numbers) and (Numbers, operand) not in places:
                constant = f"{name}.numbers{len(places)}"
                places[Numbers, operand] = f"@{constant}"
                constants.append(_constant(constant, operand.values, real))
            elif isinstance(operand, Buffer) and (Buffer, operand) not in places:
                size = max(1, operand.size)
                places[Buffer, operand] = b.let(f"alloca [{size} x {real.element}], align 16")
        tables.append([b.let(f"alloca [{max(1, len(each))} x ptr]") for each in (stage.inputs, stage.outputs)])
    work = b.let(f"alloca [{max(8, *(stage.workspace for stage in stages))} x i8], align 64")
    ends: dict[int, None] = {}
    for s, stage in enumerate(stages):
        for table, operands in zip(tables[s], (stage.inputs, stage.outputs), strict=True):
            for k, operand in enumerate(operands):
                b.store("ptr", places[type(operand), operand], b.at(table, k, "ptr"))
        b.add(f"call void @{name}.stage{s}(ptr {tables[s][0]}, ptr {tables[s][1]}, ptr {work})")
        for k, (operand, codes) in enumerate(stage.codes.items()):
            cases = " ".join(f"i32 {value}, label %code{code}" for value, code in codes.items())
            status = b.load(real.element, places[type(operand), operand], real.size)
            ended = b.let(f"fptosi {real.element} {status} to i32")
            b.add(f"switch i32 {ended}, label %after{s}.{k} [{cases}]")
            b.label(f"after{s}.{k}")
            ends |= dict.fromkeys(codes.values())
    declared = [f"declare void @{name}.stage{s}(ptr, ptr, ptr)" for s in range(len(stages))]
    listed = ", ".join([*(f"ptr %a{k}" for k in range(arguments)), *(f"ptr %r{k}" for k in range(results))])
    returned = ["  ret i32 0", *(f"code{code}:\n  ret i32 {code}" for code in ends), "}"]
    head = f"define i32 @{name}({listed}) nounwind {{\nentry:"
    return "\n".join([*constants, *declared, head, *b.text, *returned])


def _constant(name: str, values: Sequence[float], real: Width) -> str:
    numbers = ", ".join(f"{real.element} {real.number(float(x))}" for x in values) or f"{real.element} 0.0"
    return f"@{name} = internal constant [{max(1, len(values))} x {real.element}] [{numbers}], align 16"
