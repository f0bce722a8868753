"""Functions for CasADi: the graph of a function, operation by operation, as expressions of type SX, or its machine
code as an external function.

CasADi has matrices only: a vector is a column, and an array of several matrices, such as the poses of all bodies, has
them below each other. In expressions, states are not checked: a refused one has the numbers that the formula gives.
Machine code returns an error for it.

The only file that knows CasADi.
"""

from __future__ import annotations

import atexit
import hashlib
import operator
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from math import prod
from pathlib import Path
from typing import Any

import casadi
import numpy as np

from kinetree.base.arguments import as_flag
from kinetree.base.files import replaced
from kinetree.base.precision import FLOAT64
from kinetree.compiler import LIBRARY, Node, Shape, lock
from kinetree.errors import PlatformError
from kinetree.functions.compiled_function import PLAIN, CompiledFunction, Key
from kinetree.functions.directional import shapes_of
from kinetree.functions.displaced import Displaced
from kinetree.interop.casadi_library import CasadiLibrary, as_matrix
from kinetree.interop.exported import ExportedFunction, common_operations, exported, formula_of, result_names, traced

OPERATIONS: dict[str, Callable[..., Any]] = {
    **common_operations(casadi),
    "absolute": casadi.fabs,
    "minimum": casadi.fmin,
    "maximum": casadi.fmax,
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
    "logical_and": casadi.logic_and,
    "logical_or": casadi.logic_or,
    "logical_not": casadi.logic_not,
    "where": casadi.if_else,
    "true": lambda: casadi.SX(1),
    "false": lambda: casadi.SX(0),
}
"""The operations of graphs in CasADi."""


def function(source: Any, tangent: bool, compiled: bool) -> Any:
    """The casadi.Function of anything compiled."""
    if as_flag("compiled", compiled):
        return _loaded(source, as_flag("tangent", tangent))
    own, key, name = formula_of(source)
    if not as_flag("tangent", tangent) or not own.configurations:
        return _printed(exported(source))
    return _printed(traced(Displaced(own, key), PLAIN, name, fused=False, arrays=False))


def _printed(source: ExportedFunction) -> Any:
    symbols = {name: casadi.SX.sym(name, *as_matrix(shape)) for name, shape in source.arguments.items()}
    inputs = [_entry(symbols[name], shape, k) for name, shape in source.arguments.items() for k in range(prod(shape))]
    made: dict[Node, Any] = {}
    for node in source.graph.nodes():
        if node.op == "input":
            made[node] = inputs[int(node.value)]
        elif node.op == "const":
            made[node] = casadi.SX(float(node.value))
        else:
            made[node] = OPERATIONS[node.op](*(made[arg] for arg in node.args))
    outputs = iter(source.graph.outputs)
    results = []
    for shape in source.results.values():
        rows, columns = as_matrix(shape)
        entries = [made[next(outputs)] for _ in range(rows * columns)]
        results.append(casadi.reshape(casadi.vertcat(casadi.SX(0, 1), *entries), columns, rows).T)
    name, words = _name(source.name), _words([*symbols, *source.results])
    return casadi.Function(name, list(symbols.values()), results, words[: len(symbols)], words[len(symbols) :])


def _name(called: str) -> str:
    """The name of a function: not a word of CasADi's own, nor that of a function that machine code calls."""
    (name,) = _words([called])
    return name if casadi.Function.check_name(name) and name not in LIBRARY else f"{name}x"


def _words(names: Iterable[str]) -> list[str]:
    """Names that CasADi takes: letters and digits of ASCII, with single underscores between them."""
    found: list[str] = []
    for name in names:
        word = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
        word = word if word[:1].isalpha() else f"x{word}"
        while word in found:
            word += "x"
        found.append(word)
    return found


def _entry(matrix: Any, shape: Shape, k: int) -> Any:
    """The k-th number of an array in C order."""
    row, column = np.unravel_index(k, as_matrix(shape))
    return matrix[int(row), int(column)]


# -- machine code ------------------------------------------------------------------------------------------------------


def _loaded(source: Any, tangent: bool) -> Any:
    """The function of a shared library, which CasADi loads from a file of this process."""
    own, key, called = formula_of(source)
    own = own.astype(FLOAT64) or own
    if tangent and own.configurations:
        own, key = Displaced(own, key), PLAIN
    results = result_names(own.specialization(key).paths, own.arrays)
    name, words = _name(called), _words([*own.arrays, *results])
    data = CasadiLibrary(name, own, key, words).data()
    path = _folder() / f"{name}-{hashlib.sha256(data).hexdigest()[:32]}.so"
    if not path.exists():
        with replaced(path) as file:
            file.write_bytes(data)
    try:
        return casadi.external(name, str(path), {"jac_penalty": _penalty(own, key), "der_options": {"jac_penalty": -1}})
    except RuntimeError as error:
        raise PlatformError(
            f"{path.parent} is a folder from which no code is loaded; expected another in TMPDIR ({_last_line(error)})"
        ) from None


def _penalty(own: CompiledFunction, key: Key) -> float:
    """What makes CasADi take the Jacobian for three and more directions of forward mode. For fewer, and for one of
    reverse mode, as in the gradient of an objective, it then takes derivatives that have derivatives in turn.

    It takes the Jacobian where penalty · numbers of arguments < directions of forward mode, or penalty · numbers of
    results < those of reverse mode; and for half as much, or twice, where it takes one mode for the other.
    """
    inputs, outputs = (sum(map(prod, shapes)) for shapes in (own.arrays.values(), shapes_of(own, key)))
    return max(2.5 / max(1, inputs), 1.5 / max(1, outputs))


PREFIX = ".kinetree-casadi-"
"""Of the names of folders in TMPDIR."""
_folders: dict[int, Path] = {}
"""By the number of the process."""


def _folder() -> Path:
    """The folder of this process for shared libraries, which nobody else reads. It lives as long as the process: others
    may get a pickled function, which has the path of its library."""
    own = os.getpid()
    with lock:
        if own not in _folders:
            _remove_abandoned()
            _folders[own] = _new_folder()
    return _folders[own]


def _new_folder() -> Path:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        try:
            _lock(folder)  # and never close it
        except (BlockingIOError, FileNotFoundError):
            continue  # another process removes it
        except OSError:
            pass  # a file system without locks: nobody removes it
        return folder


def _remove_abandoned() -> None:
    """Remove the folders of processes that were killed: the system has released their locks."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            descriptor = _lock(folder)
            shutil.rmtree(folder, ignore_errors=True)
            os.close(descriptor)


def _lock(folder: Path) -> int:
    """A descriptor that holds the lock of a folder, until this process and its forks have closed it."""
    import fcntl  # noqa: PLC0415 - Windows has none

    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder.stat()
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@atexit.register
def _remove_folder() -> None:
    folder = _folders.get(os.getpid())  # a forked child has those of its parent, too
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def _last_line(error: Exception) -> str:
    return str(error).strip().splitlines()[-1].strip()
