"""What a call costs, of bundled robots: as the textbook writes it, compiled, and in a batch."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import kinetree as kt

ROBOTS = (("arm6", "fixed"), ("quadruped", "floating"), ("humanoid", "floating"))
QUANTITIES = (("inverse_dynamics", 3), ("mass_matrix", 1), ("forward_dynamics", 3))
"""With the number of their arguments."""
STATES = 4096


def seconds(call: Callable[..., Any], arguments: tuple[Any, ...], count: int, runs: int = 5) -> float:
    """Seconds of one call, the best of some runs."""
    given = {"call": call, "arguments": arguments}
    return min(timeit.repeat("call(*arguments)", number=count, repeat=runs, globals=given)) / count


def table(robots: Sequence[tuple[str, str]] = ROBOTS) -> Iterator[str]:
    """A line for every robot and quantity; all three ways give the same numbers."""
    yield "\nThe textbook's algorithm, what it is compiled to, and a batch: time of a call from Python, and per state"
    yield "  robot       dof  quantity           textbook   compiled   in a batch    difference"
    for name, base in robots:
        robot = kt.load(name, base)
        rng = np.random.default_rng(0)
        states = robot.random(rng, size=STATES), *rng.normal(size=(2, STATES, robot.nv))
        for quantity, count in QUANTITIES:
            compiled, textbook = getattr(robot, quantity), getattr(robot.eager, quantity)
            one = tuple(part[0] for part in states[:count])
            reference = textbook(*one)
            off = np.abs(reference - compiled(*one)).max() / max(1.0, np.abs(reference).max())
            many = compiled(*states[:count])
            assert np.array_equal(many[0], compiled(*one))
            slow, fast = seconds(textbook, one, 1, 2), seconds(compiled, one, 2000)
            each = seconds(compiled, states[:count], 1) / STATES
            yield (
                f"  {name:10s} {robot.nv:4d}  {quantity:17s} {slow * 1e6:7.0f} µs {fast * 1e6:7.2f} µs "
                f"{each * 1e9:9.0f} ns      {off:8.0e}"
            )
    megabytes = 8e-6 * STATES * robot.nv**2
    yield f"  ({kt.get_num_threads()} threads for batches of {STATES}; a batch gives the same bits as single calls)"
    if megabytes > 10.0:  # more than caches hold
        yield f"  (mass matrices of {STATES} states of {name} are {megabytes:.0f} MB: their time is that of the memory)"
