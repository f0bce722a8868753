"""xacro, the macro language of URDF, by ROS's own package: expanded in this process, with packages found as for meshes.

Like that package, this evaluates expressions of the file: what a xacro file can do is not bounded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

from kinetree import locks
from kinetree.errors import ArgumentTypeError, ModelError, short, unknown
from kinetree.model.loaders.resources import Resources
from kinetree.model.loaders.xml import parse

LONGEST_REASON = 500


def expand(
    text: bytes | str, source: str, path: Path | None, arguments: Mapping[str, object], resources: Resources
) -> tuple[str, list[str]]:
    """The URDF that a xacro document stands for, and what the package had to say about it.

    Its lines are those that the command `xacro` prints.
    """
    given = _Arguments(arguments)
    parse(text, source)  # refuses document types, and knows lines
    package = _package(source)
    remarks = StringIO()
    with locks.xacro, _finding_packages(resources), _heard(package, remarks):
        try:
            if path is not None:
                document = package.process_file(str(path.absolute()), mappings=given)
            else:
                package.init_stacks(None)
                document = package.parse(text if isinstance(text, str) else text.decode())
                package.process_doc(document, mappings=given)
            expanded = document.toprettyxml(indent="  ")
        except Exception as problem:  # whatever an expression in the file raises
            raise _error(package, problem, source, path) from None
    for name in given:
        if name not in given.declared:
            raise unknown("xacro argument", name, sorted(map(str, given.declared)))
    return expanded, [line for line in remarks.getvalue().splitlines() if line.strip()]


class _Arguments(dict[str, str]):
    """The arguments, and which of them the document declares: it asks for each whether it was given."""

    def __init__(self, arguments: Mapping[str, object]) -> None:
        if not isinstance(arguments, Mapping):
            raise ArgumentTypeError(f"xacro_args is {short(arguments)}; expected strings by name")
        for name, value in arguments.items():
            if not isinstance(name, str) or not isinstance(value, (str, int, float)):
                raise ArgumentTypeError(f"xacro_args has {short(name)}: {short(value)}; expected strings by name")
        super().__init__({name: str(value) for name, value in arguments.items()})
        self.declared: set[object] = set()

    def __contains__(self, name: object) -> bool:
        self.declared.add(name)
        return super().__contains__(name)


def _package(source: str) -> Any:
    try:
        return import_module("xacro")
    except ImportError:
        raise ModelError(f"{source} is xacro, which needs a package: pip install 'kinetree[xacro]'") from None


@contextmanager
def _finding_packages(resources: Resources) -> Iterator[None]:
    """$(find arm) is answered by us: outside of ROS the package itself knows no other packages."""
    substitution: Any = import_module("xacro.substitution_args")
    theirs = substitution._eval_find

    def find(name: str) -> str:
        folder = resources.package(name)
        if folder is None:
            raise substitution.SubstitutionException(f"package {name!r} was not found; name its folder in package_dirs")
        return folder

    substitution._eval_find = substitution._eval_dict["find"] = find
    try:
        yield
    finally:
        substitution._eval_find = substitution._eval_dict["find"] = theirs


class _System:
    """The module sys as the package sees it, with a stderr of its own."""

    def __init__(self, stderr: StringIO) -> None:
        self.stderr = stderr

    def __getattr__(self, name: str) -> Any:
        return getattr(sys, name)


@contextmanager
def _heard(package: Any, remarks: StringIO) -> Iterator[None]:
    """What the package prints on stderr goes to `remarks`. The process's own stderr stays as it is: other threads write
    to it."""
    modules: tuple[Any, ...] = (package, import_module("xacro.color"))
    for module in modules:
        module.sys = _System(remarks)
    try:
        yield
    finally:
        for module in modules:
            module.sys = sys


def _error(package: Any, problem: Exception, source: str, path: Path | None) -> ModelError:
    """One sentence, with the file that was being read if it is another one."""
    cause: Any = problem
    while isinstance(getattr(cause, "exc", None), Exception):  # the package tells each cause after the next
        cause = cause.exc
    if type(cause).__name__ == "SubstitutionException":
        problem = cause
    reason = " ".join(str(problem).split()) or type(problem).__name__
    if isinstance(cause, OSError):
        reason = f"{cause.strerror}: {cause.filename}"
    if isinstance(problem, RecursionError):
        reason = "it includes or calls itself without end"
    inner = (package.filestack or [None])[-1]
    where = f", in {inner}" if inner and path is not None and Path(inner) != path.absolute() else ""
    return ModelError(f"{source}{where}: xacro: {reason[:LONGEST_REASON]}")
