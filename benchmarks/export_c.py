"""Generated C beside our own kernels and beside CasADi's C of adam's algorithms: one state, called in a loop of C.

All are called in the same way, arrays that stay in place, nothing checked, nothing allocated; gcc compiles both sources
with the same flags. Without adam and CasADi, their columns are empty.
"""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measure import best_loops, geometric_mean, save
from robots import Contender, load
from table import show

import kinetree as kt
from kinetree.compiler import Kernel
from kinetree.interop.c import listed_functions

ROBOTS = ("UR5", "xArm7", "ANYmal", "G1")
FLAGS = ("-O3", "-march=native")
BUDGET = 1.2
LOOP = """
#include <time.h>
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
double kernel_loop(void (*f)(void **, void **, void *), void **in, void **out, void *work, long n)
{
    const double start = now();
    while (n-- > 0)
        f(in, out, work);
    return now() - start;
}
double casadi_loop(int (*f)(void **, void **, void *, void *, int), void **in, void **out, void *iw, void *w, long n)
{
    const double start = now();
    while (n-- > 0)
        f(in, out, iw, w, 0);
    return now() - start;
}
"""
"""Loops around a kernel and around a function of CasADi."""
Run = Callable[[int], float]
Arrays = list[np.ndarray]


def functions_of(contender: Contender) -> dict[str, Any]:
    """The quantities, by the names of the tables."""
    robot = contender.robot
    return {
        "RNEA": robot.inverse_dynamics,
        "CRBA": robot.mass_matrix,
        "ABA": robot.forward_dynamics,
        "bias forces": robot.bias_forces,
        "frame Jacobian": robot.frame(contender.frame).jacobian,
        "RNEA derivatives": robot.inverse_dynamics_derivatives,
        "ABA derivatives": robot.forward_dynamics_derivatives,
    }


def library_of(functions: dict[str, Any], folder: Path) -> ctypes.CDLL:
    """The exported functions, with a loop around each, as a library."""
    kt.to_c({name.replace(" ", "_"): function for name, function in functions.items()}, folder, name="robot")
    text = ['#include "robot.h"', LOOP]
    for name, function in functions.items():
        (compiled, key, _), *_ = listed_functions(function)
        word, count = name.replace(" ", "_"), len(compiled.arrays) + len(compiled.specialization(key).shapes)
        listed = ", ".join(f"p[{k}]" for k in range(count))
        text.append(
            f"double {word}_loop(double **p, long n)\n{{\n    const double start = now();\n    while (n-- > 0)\n"
            f"        robot_{word}({listed});\n    return now() - start;\n}}"
        )
    (folder / "loops.c").write_text("\n".join(text))
    subprocess.run(
        ["gcc", "-std=gnu99", *FLAGS, "-fPIC", "-shared", "loops.c", "robot.c", "-o", "robot.so", "-lm"],
        cwd=folder, check=True,
    )  # fmt: skip
    return ctypes.CDLL(str(folder / "robot.so"))


def addresses(arrays: Arrays) -> Any:
    """A table of the addresses of arrays."""
    return (ctypes.c_void_p * max(1, len(arrays)))(*(array.ctypes.data for array in arrays))


def runs(contender: Contender, folder: Path) -> tuple[dict[tuple[str, str], Run], dict[tuple[str, str], Arrays]]:
    """A loop for every quantity and contender, and where each leaves its results."""
    robot = contender.robot
    q, v, a = (x[0] for x in contender.states(1))
    state = {"q": q, "v": v, "a": a, "tau": robot.inverse_dynamics(q, v, a)}
    if robot.model.floating_base is not None:
        state["tau"][:6] = 0.0  # adam's forward dynamics has no argument for what pushes the base
    functions = functions_of(contender)
    library = library_of(functions, folder)
    peers = adam_functions(contender, folder)
    loops: dict[tuple[str, str], Run] = {}
    found: dict[tuple[str, str], Arrays] = {}
    for name, function in functions.items():
        (compiled, key, _), *_ = listed_functions(function)
        given = [np.ascontiguousarray(state[argument]) for argument in compiled.arrays]
        made = compiled.specialization(key)
        for who, run in (("kernel", kernel_run), ("C", c_run), ("adam", adam_run)):
            if who != "adam" or name in peers:
                results = found[name, who] = [np.zeros(shape) for shape in made.shapes]
                loops[name, who] = run(library, name, given, results, made.kernel, peers.get(name))
    return loops, found


def kernel_run(library: Any, name: str, given: Arrays, results: Arrays, kernel: Kernel, peer: Any) -> Run:
    """Our own machine code."""
    code, status = kernel.load("single"), np.zeros(1)
    work = np.zeros(code.workspace // 8 + 16)
    tables = addresses(given), addresses([*results, status])
    aligned = ctypes.c_void_p(-(-work.ctypes.data // 64) * 64)
    loop = library.kernel_loop
    loop.restype = ctypes.c_double

    def run(count: int, keep: object = (given, results, status, work, tables)) -> float:
        return float(loop(ctypes.c_void_p(code.address), *tables, aligned, ctypes.c_long(count)))

    return run


def c_run(library: Any, name: str, given: Arrays, results: Arrays, kernel: Kernel, peer: Any) -> Run:
    """The exported function."""
    loop, table = getattr(library, f"{name.replace(' ', '_')}_loop"), addresses([*given, *results])
    loop.restype = ctypes.c_double
    return lambda count, keep=(given, results): float(loop(table, ctypes.c_long(count)))


def adam_run(library: Any, name: str, given: Arrays, results: Arrays, kernel: Kernel, peer: Any) -> Run:
    """CasADi's function, whose results are by columns."""
    function, path = peer
    sizes = function.sz_iw(), function.sz_w()
    iw, w = np.zeros(max(1, sizes[0]), dtype=np.int64), np.zeros(max(1, sizes[1]))
    tables = addresses([*given, *[w] * 8]), addresses([*results, *[w] * 8])
    code = ctypes.CDLL(str(path))
    loop = library.casadi_loop
    loop.restype = ctypes.c_double
    pointer = ctypes.cast(getattr(code, function.name()), ctypes.c_void_p)

    def run(count: int, keep: object = (given, results, iw, w, tables, code)) -> float:
        spaces = (space.ctypes.data_as(ctypes.c_void_p) for space in (iw, w))
        return float(loop(pointer, *tables, *spaces, ctypes.c_long(count)))

    return run


def adam_functions(contender: Contender, folder: Path) -> dict[str, Any]:
    """adam's functions as compiled by CasADi and gcc, and their libraries; none where they are not installed."""
    if any(importlib.util.find_spec(name) is None for name in ("adam", "casadi", "liecasadi")):
        return {}
    from peers_casadi import compiled, graphs  # noqa: PLC0415 - it may not be installed

    made = compiled(graphs(contender), folder)
    return {name: (function, folder / f"{function.name()}.so") for name, function in made.items()}


def rows_of(name: str) -> list[dict[str, Any]]:
    """All quantities of a robot."""
    contender = load(name)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        loops, found = runs(contender, Path(folder))
        print(f"{name}: made in {time.perf_counter() - start:.0f} s", flush=True)
        times = best_loops(loops)
    rows = []
    for quantity in dict.fromkeys(quantity for quantity, _ in loops):
        expected = found[quantity, "kernel"]
        ours, theirs = times[quantity, "kernel"], times[quantity, "C"]
        row: dict[str, Any] = {"robot": name, "quantity": quantity, "kernel [ns]": 1e9 * ours, "C [ns]": 1e9 * theirs}
        row |= {
            "C / kernel": theirs / ours,
            "budget": BUDGET,
            "same bits": all((x == y).all() for x, y in zip(found[quantity, "C"], expected, strict=True)),
        }
        if (quantity, "adam") in times:
            (result,), (known,) = found[quantity, "adam"], expected
            assert np.allclose(result.reshape(known.T.shape).T, known, atol=1e-6 * np.abs(known).max())
            row |= {"adam's C [ns]": 1e9 * times[quantity, "adam"], "adam / C": times[quantity, "adam"] / theirs}
        rows.append(row)
    return rows


def main() -> None:
    """Measure, print, save."""
    rows = [row for name in ROBOTS for row in rows_of(name)]
    show("One state in a loop of C: our kernels, our C, adam's C", rows)
    print(f"C / kernel: geometric mean {geometric_mean([row['C / kernel'] for row in rows]):.2f}", end=", ")
    print(f"at most {max(row['C / kernel'] for row in rows):.2f}")
    compiler = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    print("saved", save("export_c", {"compiler": compiler, "flags": " ".join(FLAGS), "times": rows}))


if __name__ == "__main__":
    main()
