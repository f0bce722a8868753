"""A fuzzer of the way from a damaged URDF to machine code: `python tests/fuzz_compiled.py SECONDS [SEED]`.

Models that load in spite of their damage are traced, compiled and called, for one state and for a batch; what comes out
is what the same algorithms say when Python runs them, or an error of this library.
"""

from __future__ import annotations

import random
import warnings

import numpy as np

import kinetree as kt
from fuzz_urdf import COMPLETE, damaged, documents, ordinary
from fuzzing import check_sentence, main

QUANTITIES = {
    "inverse_dynamics": ("q", "v", "v"),
    "mass_matrix": ("q",),
    "poses": ("q",),
    "forward_dynamics": ("q", "v", "v"),
    "integrate": ("q", "v"),
    "center_of_mass": ("q",),
    "coriolis_matrix": ("q", "v"),
    "inverse_dynamics_derivatives": ("q", "v", "v"),
    "regressor": ("q", "v", "v"),
}


def check(document: str | bytes, base: str, quantities: list[str]) -> str:
    """Loads and compiles it; says what became of it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", kt.ModelWarning)
        try:
            robot = kt.load(document, base)
        except kt.KinetreeError as problem:
            check_sentence(problem)
            return "refused"
        outcomes = {compare(robot, name) for name in quantities}
    return "singular" if "singular" in outcomes else "compiled"


def compare(robot: kt.Robot, name: str) -> str:
    """Compiled beside eager, one state and a batch of them."""
    q, v = robot.random(0, 5), np.random.default_rng(0).normal(size=(5, robot.nv))
    given = [{"q": q, "v": v}[letter] for letter in QUANTITIES[name]]
    try:
        batch = getattr(robot, name)(*given)
        single = getattr(robot, name)(*(array[3] for array in given))
        eager = getattr(robot.eager, name)(*(array[3] for array in given))
    except kt.KinetreeError as problem:
        check_sentence(problem)
        return "singular"
    for many, one, right in zip(parts(batch), parts(single), parts(eager), strict=True):
        assert many[3].tobytes() == np.asarray(one).tobytes() or np.array_equal(many[3], one, equal_nan=True), name
        assert one.shape == right.shape
        if ordinary(robot.model, q):
            assert np.isfinite(one).all() == np.isfinite(right).all(), name
            scale = max(1.0, np.abs(right).max(initial=0.0))
            assert np.allclose(one, right, rtol=0.0, atol=1e-6 * scale, equal_nan=True), (name, one, right)
    return "compiled"


def parts(result: object) -> tuple[np.ndarray, ...]:
    """The arrays of a result, which may be one."""
    return tuple(map(np.asarray, result)) if isinstance(result, tuple) else (np.asarray(result),)


def run(rng: random.Random) -> str:
    """One damaged document; two of three quantities change from one to the next."""
    text = rng.choice((COMPLETE, COMPLETE, *documents()[1:3]))
    return check(damaged(text, rng), rng.choice(("fixed", "floating")), rng.sample(list(QUANTITIES), 2))


if __name__ == "__main__":
    main(run)
