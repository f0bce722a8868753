"""A fuzzer of Denavit-Hartenberg tables in TOML: `python tests/fuzz_dh.py SECONDS [SEED]`.

Whatever comes out is a robot that can compute, or an error of this library that says so in one sentence.
"""

from __future__ import annotations

import random
import tempfile
import warnings
from pathlib import Path

import numpy as np

import kinetree as kt
from fuzz_urdf import computes
from fuzzing import check_sentence, damaged_bytes, damaged_words, main

TABLES = (
    """name = "arm"
convention = "standard"
tool = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.1], [0, 0, 0, 1]]

[[link]]
a = 0.4
alpha = 1.5707963
d = 0.1
theta = -0.2
mass = 2.0
com = [0.1, 0.0, -0.1]
inertia = [0.1, 0.2, 0.15]
motor_inertia = 1e-4
gear = -60.0
motor_viscous = 1e-3
motor_coulomb = 0.1
lower = -2.5
upper = 2.5
velocity = 3
effort = 80
name = "shoulder"

[[link]]
joint = "prismatic"
a = 0.3
mass = 1
inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.02]]
""",
    "convention = 'modified'\nlink = [{a = 1.0, mass = 1.0}, {alpha = 1.5, d = 0.2, joint = 'prismatic'}]\n",
)
ODD = (
    "[" * 2000, "a." * 50 + "b = 1", "x = " + "[" * 500 + "]" * 500, "link = 1", "[[link]]", "[link]",
    "name = 1979-05-27", "theta = 9" + "9" * 5000, "mass = inf", "a = true", "com = {}", "'" * 3, '"""', "\ufeff",
    "link.a = 1", "a = [[[1]]]", "{" * 500, "a = {b = " * 200,
)  # fmt: skip


def damaged(text: str, rng: random.Random) -> str | bytes:
    """A table with changed words, lines, odd lines in between, or changed bytes."""
    if rng.random() < 0.85:
        text = damaged_words(text, rng)
    if rng.random() < 0.2:
        lines = text.split("\n")
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(ODD))
        text = "\n".join(lines)
    return damaged_bytes(text.encode(), rng) if rng.random() < 0.25 else text


def check(table: str | bytes, base: str = "fixed") -> str:
    """Loads it and computes with it; says what became of it."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", kt.ModelWarning)
        file = Path(folder) / "table.toml"
        file.write_bytes(table if isinstance(table, bytes) else table.encode("utf-8", "surrogatepass"))
        try:
            robot = kt.load(file, base).eager
        except kt.KinetreeError as problem:
            check_sentence(problem)
            return "refused"
        computes(robot)
    return "loaded"


def run(rng: random.Random) -> str:
    """One damaged table."""
    return check(damaged(rng.choice(TABLES), rng), rng.choice(("fixed", "floating")))


if __name__ == "__main__":
    main(run)
