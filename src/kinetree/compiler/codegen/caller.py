"""Functions that C calls by name, in object files: int name(const double *q, …, double *result, …).

Stages have the signature of a kernel for one state (`runtime.chain`). The caller fills their tables of addresses, runs
one after the other, and returns a code where one refuses the state.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinetree.compiler.codegen.elementary import linked_library
from kinetree.compiler.codegen.ir import Width
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
    constants = [_constant(f"{name}.default{k}", values, real) for k, values in defaults.items()]
    lines: list[str] = []
    given = {k: f"%a{k}" for k in range(arguments)}
    for k in defaults:
        lines.append(f"%null{k} = icmp eq ptr %a{k}, null")
        lines.append(f"%given{k} = select i1 %null{k}, ptr @{name}.default{k}, ptr %a{k}")
        given[k] = f"%given{k}"
    places: dict[Operand, str] = {}

    def pointer(operand: Operand) -> str:  # an argument equals a result of the same position
        if isinstance(operand, Argument):
            return given[operand.position]
        return f"%r{operand.position}" if isinstance(operand, Result) else places[operand]

    for s, stage in enumerate(stages):
        for operand in (*stage.inputs, *stage.outputs):
            if isinstance(operand, Numbers) and operand not in places:
                places[operand] = f"@{name}.numbers{len(places)}"
                constants.append(_constant(places[operand][1:], operand.values, real))
            elif isinstance(operand, Buffer) and operand not in places:
                places[operand] = f"%buffer{len(places)}"
                lines.append(f"{places[operand]} = alloca [{max(1, operand.size)} x {real.element}], align 16")
        for table, operands in _tables(stage):
            lines.append(f"%{table}{s} = alloca [{max(1, len(operands))} x ptr]")
    lines.append(f"%work = alloca [{max(8, *(stage.workspace for stage in stages))} x i8], align 64")
    ends: dict[int, None] = {}
    for s, stage in enumerate(stages):
        for table, operands in _tables(stage):
            for k, operand in enumerate(operands):
                lines.append(f"%{table}{s}.{k} = getelementptr ptr, ptr %{table}{s}, i64 {k}")
                lines.append(f"store ptr {pointer(operand)}, ptr %{table}{s}.{k}")
        lines.append(f"call void @{name}.stage{s}(ptr %in{s}, ptr %out{s}, ptr %work)")
        for k, (operand, codes) in enumerate(stage.codes.items()):
            cases = " ".join(f"i32 {value}, label %code{code}" for value, code in codes.items())
            lines += [
                f"%status{s}.{k} = load {real.element}, ptr {pointer(operand)}, align {real.size}",
                f"%ended{s}.{k} = fptosi {real.element} %status{s}.{k} to i32",
                f"switch i32 %ended{s}.{k}, label %after{s}.{k} [{cases}]",
                f"\nafter{s}.{k}:",
            ]
            ends |= dict.fromkeys(codes.values())
    lines += ["ret i32 0", *(f"\ncode{code}:\n  ret i32 {code}" for code in ends)]
    declared = [f"declare void @{name}.stage{s}(ptr, ptr, ptr)" for s in range(len(stages))]
    listed = ", ".join([*(f"ptr %a{k}" for k in range(arguments)), *(f"ptr %r{k}" for k in range(results))])
    body = "\n  ".join(lines)
    return "\n".join([*constants, *declared, f"define i32 @{name}({listed}) nounwind {{\nentry:\n  {body}\n}}"])


def _tables(stage: ObjectStage) -> tuple[tuple[str, Sequence[Operand]], ...]:
    return ("in", stage.inputs), ("out", stage.outputs)


def _constant(name: str, values: Sequence[float], real: Width) -> str:
    numbers = ", ".join(f"{real.element} {real.number(float(x))}" for x in values) or f"{real.element} 0.0"
    return f"@{name} = internal constant [{max(1, len(values))} x {real.element}] [{numbers}], align 16"
