"""Functions in Python and in C from intermediate results and entries that someone else prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Printer = Callable[[Any], str]
"""An expression as code."""


@dataclass(frozen=True)
class Names:
    """What q, v, a and parameters are called, and the values of the last."""

    q: tuple[str, ...]
    v: tuple[str, ...]
    a: tuple[str, ...]
    parameters: Mapping[str, float]


@dataclass(frozen=True)
class Function:
    """One function: its arguments as letters out of q, v, a and p for parameters, the steps and the entries."""

    name: str
    arguments: str
    about: str
    shape: tuple[int, ...]
    steps: Sequence[tuple[str, Any]]
    entries: Sequence[Any]
    used: frozenset[str]


MATH = re.compile(r"\bmath\.(\w+)|\b(sin|cos|tan|atan2|sqrt|exp|log|tanh)\(")


def python(title: str, law: str, functions: Sequence[Function], names: Names, printer: Printer) -> str:
    """A module."""
    bodies = [_python_function(function, names, printer) for function in functions]
    text = "\n\n\n".join(bodies)
    needed = sorted({match[1] or match[2] for match in MATH.finditer(text)})
    imports = [f"from math import {', '.join(needed)}", ""] if needed else []
    head = [f'"""Equations of motion of {_plain(title)}: tau = {law}. SI units."""', "", *imports, "import numpy as np"]
    return "\n".join(head) + "\n\n\n" + text + "\n"


def _python_function(function: Function, names: Names, printer: Printer) -> str:
    given = [letter for letter in function.arguments if letter != "p"]
    options = [f"{name}={value!r}" for name, value in names.parameters.items() if name in function.used]
    signature = ", ".join([*given, *(["*", *options] if options else [])])
    lines = [f"def {function.name}({signature}):", f'    """{function.about}, {function.shape}."""']
    for letter in given:
        if function.used & set(getattr(names, letter)):
            unpacked = [name if name in function.used else "_" for name in getattr(names, letter)]
            lines.append(f"    {', '.join(unpacked)}{',' if len(unpacked) == 1 else ''} = {letter}")
    lines += [f"    {name} = {printer(step)}" for name, step in function.steps]
    entries = [printer(entry) for entry in function.entries]
    if len(function.shape) == 2:
        n = function.shape[1]
        entries = [f"[{', '.join(entries[k : k + n])}]" for k in range(0, len(entries), max(n, 1))]
    lines += ["    return np.array(", "        [", *(f"            {entry}," for entry in entries)]
    lines += ["        ],", "        dtype=float,", "    )"]
    return "\n".join(lines)


def c(title: str, law: str, functions: Sequence[Function], names: Names, printer: Printer) -> str:
    """A translation unit that needs nothing but the C library's mathematics."""
    head = [f"/* Equations of motion of {_plain(title)}: tau = {law}. SI units. */", "#include <math.h>"]
    if names.parameters:
        fields = [f"    double {name};" for name in names.parameters]
        values = [f"    .{name} = {value!r}," for name, value in names.parameters.items()]
        head += ["", "typedef struct {", *fields, "} parameters;", ""]
        head += ["const parameters robot_parameters = {", *values, "};"]
    return "\n".join(head) + "\n\n" + "\n\n".join(_c_function(each, names, printer) for each in functions) + "\n"


def _c_function(function: Function, names: Names, printer: Printer) -> str:
    given = [letter for letter in function.arguments if letter != "p"]
    arguments = [f"const double {letter}[{len(getattr(names, letter))}]" for letter in given]
    if names.parameters:
        arguments.append("const parameters *p")
    size = "][".join(map(str, function.shape))
    arguments.append(f"double result[{size}]")
    lines = [f"/* {function.about} */", f"void {function.name}({', '.join(arguments)})", "{"]
    read = {name: f"{letter}[{k}]" for letter in given for k, name in enumerate(getattr(names, letter))}
    read |= {name: f"p->{name}" for name in names.parameters}
    lines += [f"    const double {name} = {source};" for name, source in read.items() if name in function.used]
    unread = [letter for letter in given if not function.used & set(getattr(names, letter))]
    unread += ["p"] if names.parameters and not function.used & set(names.parameters) else []
    lines += [f"    (void){letter};" for letter in unread]
    lines += [f"    const double {name} = {printer(step)};" for name, step in function.steps]
    for k, entry in enumerate(function.entries):
        index = "".join(f"[{i}]" for i in (divmod(k, function.shape[1]) if len(function.shape) == 2 else (k,)))
        lines.append(f"    result{index} = {printer(entry)};")
    return "\n".join([*lines, "}"])


def _plain(title: str) -> str:
    """A name as it may stand in a comment or a string of any language."""
    return re.sub(r"[^\w .,:+()-]", "?", title)
