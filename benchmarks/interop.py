"""kinetree inside CasADi, PyTorch and JAX, beside what others offer there: pytorch_kinematics, adam, frax.

    torch    10,000 states: poses of all links (pytorch_kinematics); 1,000 states: mass matrix, bias forces (adam)
    jax      1,000 states, jit and vmap: mass matrix, bias forces (adam, frax)
    casadi   one state, machine code and CasADi's own evaluation of SX: mass matrix, bias forces and their Jacobian,
             forward dynamics

with and without the gradient of the sum of squares by q. Everything runs on one core, in the dtype of the row. Results
are compared before they are timed. Each contender does the work of the same quantity: adam has a floating base only, so
mass matrices and bias forces are those of robots on a floating base; pytorch_kinematics has none, so poses are those of
a fixed one.

    python interop.py [torch] [jax] [casadi]     all by default; what was not measured stays in the record
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version

from measure import RESULTS, geometric_mean, save

import kinetree as kt

ONE_CORE = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
PARTS = ["torch", "jax", "casadi"]
PACKAGES = ("casadi", "torch", "jax", "adam-robotics", "pytorch_kinematics", "frax")


def main() -> None:
    """Measure, print, save."""
    warnings.simplefilter("ignore")
    kt.set_num_threads(1)
    wanted = sys.argv[1:] or PARTS
    os.environ |= {"XLA_FLAGS": ONE_CORE, "OPENBLAS_NUM_THREADS": "1", "JAX_ENABLE_X64": "1"}  # as frax recommends, too
    path = RESULTS / "interop.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    rows = {part: known.get(part, []) for part in (*PARTS, "jax calls")}
    for part in wanted:
        measured = importlib.import_module(f"interop_{part}")
        rows[part] = measured.rows()
        if part == "jax":
            rows["jax calls"] = measured.calls()
        print("saved", save("interop", {"versions": {name: _version(name) for name in PACKAGES}, **rows}))
        ratios = [found["ratio"] for found in rows[part] if found["budget"] is not None]
        print(f"{part}: geometric mean {geometric_mean(ratios):.1f}, least {min(ratios):.1f}")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    main()
