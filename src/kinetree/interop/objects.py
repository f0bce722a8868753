"""Compiled functions as object files for other machines: `kt.to_object`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.compiler import (
    Argument,
    Buffer,
    Machine,
    ObjectStage,
    Operand,
    Result,
    Stage,
    function_modules,
    machine,
    object_for,
)
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.functions.bound_law import BoundLaw
from kinetree.functions.compiled_function import PLAIN, CompiledFunction, Key
from kinetree.functions.pipeline import Pipeline
from kinetree.interop.c import as_folder, c_files, write_files
from kinetree.interop.c_files import Files
from kinetree.interop.c_functions import STATUSES, CFunction
from kinetree.interop.exported import traced
from kinetree.solvers.stages import stage_assembly


def to_object(
    functions: Any,
    path: str | os.PathLike[str],
    name: str | None = None,
    target: str = "aarch64-linux-gnu",
    *,
    dtype: Any = None,
) -> Path:
    """Write compiled functions as an object file for another machine, made by LLVM, and the header beside it.

    functions   as for `kt.to_c`, whose functions these are too
    path        of the object file, such as ur5.o; the header is NAME.h in the same folder
    name        what all names begin with; by default that of the robot
    target      the machine: "aarch64-linux-gnu", "thumbv7em-none-eabihf" (a Cortex-M7), "wasm32", "riscv64-linux-gnu",
                "x86_64-linux-gnu", or another triple that LLVM knows
    dtype       of the numbers, "float64" or "float32"; by default that of the functions

    A linker adds the C library's sin, cos, exp, log and tanh where they are used. Returns the path.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentTypeError(f"path is {short(path)}; expected the name of an object file")
    made_for, files, file = machine(target), c_files(functions, name, dtype), Path(path)
    if file.name == f"{files.name}.h":
        raise ArgumentError(f"path ends in {file.name!r}, the name of the header; expected that of an object file")
    exported = [function.name for function in files.functions]
    modules = [module for function in files.functions for module in _modules(files, function, made_for)]
    data = object_for(modules, made_for, exported)
    write_files(as_folder(file.parent), {file.name: data, f"{files.name}.h": files.header(names=False)})
    return file


def _modules(files: Files, f: CFunction, made_for: Machine) -> list[tuple[str, bool]]:
    """The modules of a function: one that C calls, and one for each of its stages."""
    codes = {reason: number for number, reason in enumerate(files.codes.names, 1)}
    if isinstance(f.compiled, Pipeline):
        listed = enumerate(f.compiled.specialization().kernel.stages)
        stages = [_chained(files, stage, s, codes, made_for) for s, stage in listed]
    else:
        inputs: list[Operand] = [Argument(k) for k in range(len(f.arguments))]
        outputs: list[Operand] = [Result(k) for k in range(len(f.results))]
        stages = [_formula(files, f.compiled, f.key, 0, inputs, outputs, codes, made_for)]
    defaults = {k: np.ravel(f.defaults[name]).tolist() for k, name in enumerate(f.arguments) if name in f.defaults}
    return function_modules(
        f.name, len(f.arguments), len(f.results), defaults, stages, files.unit.real.name, made_for.convention
    )


def _chained(files: Files, stage: Stage, s: int, codes: Mapping[str, int], made_for: Machine) -> ObjectStage:
    """A stage of a pipeline: a formula, or a solver."""
    if isinstance(stage.source, BoundLaw):
        return _formula(files, stage.source, PLAIN, s, stage.inputs, stage.outputs, codes, made_for)
    status = Buffer(f"status of {s}", 1)
    ended: dict[Operand, dict[int, int]] = {status: {number: codes[reason] for number, reason in STATUSES.items()}}
    text = stage_assembly(stage.source.method)
    return ObjectStage(text, True, stage.inputs, [*stage.outputs, status], stage.workspace, ended)


def _formula(
    files: Files, compiled: CompiledFunction, key: Key, s: int, inputs: Sequence[Operand], outputs: Sequence[Operand],
    codes: Mapping[str, int], made_for: Machine,
) -> ObjectStage:  # fmt: skip
    bits = files.unit.real.bits
    f = traced(compiled, key, files.name, f"float{bits}", made_for.fuses, lanes=made_for.lanes * 64 // bits)
    flags = [Buffer(f"refused {s} {k}", 1) for k in range(len(f.refusals))]
    ended: dict[Operand, dict[int, int]] = {
        flag: {1: codes[reason]} for flag, reason in zip(flags, f.refusals, strict=True)
    }
    text, workspace = f.program.single_assembly(), f.program.single_workspace()
    return ObjectStage(text, False, inputs, [*outputs, *flags], workspace, ended)
