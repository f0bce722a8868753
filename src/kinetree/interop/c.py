"""Compiled functions as C99: `kt.to_c`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from kinetree.base.files import replaced, why_not_written
from kinetree.base.precision import FLOAT64, as_dtype
from kinetree.compiler import CUnit
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.functions.compiled_function import CompiledFunction
from kinetree.functions.pipeline import Pipeline
from kinetree.interop import c_names
from kinetree.interop.c_files import README, WRITTEN, Files
from kinetree.interop.c_functions import Codes, chain, formula
from kinetree.interop.exported import resolved, traced
from kinetree.model.tree import Model


def to_c(functions: Any, folder: str | os.PathLike[str], name: str | None = None, *, dtype: Any = None) -> Path:
    """Write compiled functions as C99 without dependencies: `NAME.h`, `NAME.c`, a self-test and a README in a folder.

    functions   a quantity such as `robot.inverse_dynamics`, `law.bind(robot)`, a controller, `WholeBody`, `kt.jacobian`
                of one of them; several in a list, or in a dict with the names they get
    name        of the files, and what all names in them begin with; by default that of the robot
    dtype       of the numbers: "float64" is double, "float32" is float; by default that of the functions

    Every function is `int NAME_quantity(const double *q, …, double *result, …)`: arguments in the order of the Python
    call, then results, flat and row-major. It returns 0, or a code for a refused state. There is no memory but the
    stack, and no symbol but those of the C library's math.h. A README.md that others wrote stays; the new one is then
    NAME_README.md. Returns the folder.
    """
    path = as_folder(folder)
    files = c_files(functions, name, dtype)
    texts = files.texts()
    if _is_of_others(path / README):
        texts[f"{files.name}_{README}"] = texts.pop(README)
    return write_files(path, texts)


def c_files(functions: Any, name: str | None, dtype: Any = None) -> Files:
    """The files of C, still in memory."""
    listed = listed_functions(functions)
    model = _common_model([compiled for compiled, _, _ in listed])
    prefix = c_names.identifier(_default_name(model) if name is None else name)
    kind = as_dtype(dtype) if dtype is not None else _common_dtype([compiled for compiled, _, _ in listed])
    unit, codes = CUnit(prefix, "double" if kind == FLOAT64 else "float"), Codes(prefix)
    made = []
    for compiled, key, title in listed:
        called = f"{prefix}_{c_names.word(title)}"
        if isinstance(compiled, Pipeline):
            if kind != FLOAT64:
                raise ArgumentError(f"{title} is a solver, which needs the digits of float64; expected no dtype")
            made.append(chain(unit, called, title, compiled, codes))
        else:
            made.append(formula(unit, called, traced(compiled, key, title, kind), codes))
    taken = {*re.findall(r"\w+(?=\()", unit.text()), *(f"{each.name}_check" for each in made), f"{prefix}_joint_names"}
    for each in made:
        if each.name in taken:
            raise ArgumentError(
                f"{each.title!r} is the name of a part of the C code; expected a dict with another name, such as "
                f"{{{c_names.word(each.title) + '_2'!r}: …}}"
            )
    return Files(prefix, unit, made, codes, model)


def listed_functions(functions: Any) -> list[tuple[CompiledFunction, Any, str]]:
    """Compiled functions, the keys of their calls, and names, all of which differ."""
    if isinstance(functions, Mapping):
        found = [(*resolved(function)[:2], str(title)) for title, function in functions.items()]
    elif isinstance(functions, Iterable) and not isinstance(functions, (str, bytes)):
        found = [resolved(function) for function in functions]
    else:
        found = [resolved(functions)]
    if not found:
        raise ArgumentError("functions is empty; expected one or several")
    names = [c_names.word(title) for _, _, title in found]
    for title in names:
        if names.count(title) > 1:
            raise ArgumentError(
                f"two functions are called {title!r}; expected a dict with a different name for each, such as "
                f"{{{title + '_2'!r}: …}}"
            )
    return found


def as_folder(folder: str | os.PathLike[str]) -> Path:
    """The path of a folder that may exist."""
    if not isinstance(folder, (str, os.PathLike)):
        raise ArgumentTypeError(f"folder is {short(folder)}; expected the name of a folder")
    if "\0" in os.fsdecode(folder) or not os.fspath(folder):
        raise ArgumentError(f"folder is {short(folder)}; expected the name of a folder, such as '.'")
    return Path(folder)


def _is_of_others(readme: Path) -> bool:
    """Whether there is a README that `to_c` has not written."""
    try:
        return os.path.exists(readme) and WRITTEN not in readme.read_text(errors="replace")
    except OSError:
        return True


def write_files(path: Path, texts: Mapping[str, str | bytes]) -> Path:
    """Write all files of a folder or none; the folder is made if there is none."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            for file, text in texts.items():
                data = text.encode() if isinstance(text, str) else text
                stack.enter_context(replaced(path / file)).write_bytes(data)
    except FileExistsError:
        raise ArgumentError(f"folder is {short(str(path))}, which is a file; expected the name of a folder") from None
    except OSError as problem:
        raise ArgumentError(why_not_written(problem)) from None
    return path


def _common_model(functions: Iterable[CompiledFunction]) -> Model | None:
    """The model of all functions, if it is one."""
    models = {model.digest: model for model in map(_model_of, functions) if model is not None}
    return next(iter(models.values())) if len(models) == 1 else None


def _model_of(compiled: Any) -> Model | None:
    if isinstance(compiled, Pipeline):
        compiled = compiled.first
    robots = getattr(compiled, "robots", {})
    model: Model | None = getattr(compiled, "model", None)
    return next((robot.model for robot in robots.values()), model)


def _default_name(model: Model | None) -> str:
    if model is None:
        raise ArgumentError("name is missing; expected one such as 'ur5', since the functions are not of one robot")
    return c_names.as_word(model.name)


def _common_dtype(functions: Iterable[CompiledFunction]) -> Any:
    found = {function.dtype for function in functions}
    if len(found) > 1:
        raise ArgumentError('functions are of dtype float64 and float32; expected dtype="float64" or "float32"')
    return found.pop()
