"""How long a single call may take: each one is timed by itself, in ordinary use and with cold caches.

Nothing is subtracted. "nothing" is two readings of the clock with no call between: what the clock costs, and how much
of the worst case is the machine's and not the library's.
"""

from __future__ import annotations

import json
import re
import time
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from robots import load

from kinetree.cli.measure import Call

ROBOTS = ("UR5", "G1")
CALLS = 100_000
TURN, FIRST = 5000, 20
"""Calls of one contender before it is the other's turn; before them a few that do not count: they find the caches as
the other has left them."""
COLD_CALLS = 200
TOUCHED = 64 * 2**20
"""Bytes written before a call that is to find its caches cold."""

Sampler = Callable[[int], list[int]]

SAMPLE = """
def sample(count):
    times = [0] * count
    for k in range(count):
        start = clock()
        {statement}
        times[k] = clock() - start
    return times
"""


def sampler(call: Call) -> Sampler:
    """Takes a count and returns the nanoseconds of each call."""
    names: dict[str, Any] = {"clock": time.perf_counter_ns, **call.names}
    parameters = ", ".join(f"{name}={name}" for name in names)  # locals, not globals
    exec(SAMPLE.replace("count):", f"count, {parameters}):", 1).format(statement=call.statement), names)
    return names["sample"]


def contenders(name: str) -> dict[str, Sampler]:
    """Inverse dynamics of one robot on both sides, and nothing."""
    robot = load(name)
    q, v, a = (np.ascontiguousarray(x[0]) for x in robot.states(1))
    q_pin, v_pin, a_pin = (np.ascontiguousarray(x[:, 0]) for x in robot.to_pinocchio(*(x[None] for x in (q, v, a))))
    ours = {"f": robot.robot.inverse_dynamics, "q": q, "v": v, "a": a}
    data = robot.model.createData()
    theirs = {"f": pin.rnea, "model": robot.model, "data": data, "q": q_pin, "v": v_pin, "a": a_pin}
    return {
        "kinetree": sampler(Call("f(q, v, a)", ours)),
        "pin": sampler(Call("f(model, data, q, v, a)", theirs)),
        "nothing": sampler(Call("pass", {})),
    }


def warm() -> list[dict[str, Any]]:
    """Median, 99.9 % and worst of many calls in a row."""
    rows = []
    for name in ROBOTS:
        sides = contenders(name)
        times: dict[str, list[int]] = {side: [] for side in sides}
        for sample in sides.values():
            sample(TURN)  # compiles, fills caches
        for _ in range(CALLS // TURN):
            for side, sample in sides.items():
                times[side] += sample(FIRST + TURN)[FIRST:]
        for side, found in times.items():
            median, high, worst = 1e-3 * np.quantile(found, (0.5, 0.999, 1.0))
            rows.append(
                {
                    "robot": name,
                    "call": side,
                    "calls": len(found),
                    "median [µs]": float(median),
                    "99.9 % [µs]": float(high),
                    "worst [µs]": float(worst),
                }
            )
    return rows


def cold() -> list[dict[str, Any]]:
    """Median of calls that find code and data of others in the caches."""
    rows = []
    memory = np.zeros(TOUCHED // 8)
    for name in ROBOTS:
        sides = contenders(name)
        times: dict[str, list[int]] = {side: [] for side in sides}
        for sample in sides.values():
            sample(TURN)
        for _ in range(COLD_CALLS):
            for side, sample in sides.items():
                memory += 1.0
                other_code()
                times[side] += sample(1)
        for side, found in times.items():
            row = {"robot": name, "call": side, "calls": len(found), "median [µs]": 1e-3 * float(np.median(found))}
            rows.append(row)
    return rows


def other_code() -> None:
    """Runs through much code that has nothing to do with robots."""
    x = np.linspace(0.0, 1.0, 300)
    A = np.outer(x[:40], x[:40]) + np.eye(40)
    of_matrix: tuple[Callable[..., object], ...] = (
        np.linalg.svd,
        np.linalg.eigh,
        np.linalg.inv,
        np.linalg.qr,
        np.linalg.det,
    )
    of_vector: tuple[Callable[..., object], ...] = (np.fft.fft, np.sort, np.unique, np.median, np.gradient, np.sin)
    for function in of_matrix:
        function(A)
    for function in of_vector:
        function(x)
    np.einsum("ij,jk,kl->il", A, A, A)
    np.polyfit(x, np.sqrt(x), 5)
    np.histogram(x, 20)
    np.random.default_rng(0).normal(size=300)
    text = json.dumps({"numbers": x.tolist(), "text": repr(A)})
    json.loads(text)
    re.findall(r"(\d+)\.(\d+)", text)
    zlib.decompress(zlib.compress(text.encode()))
    sorted(f"{value:.3e}" for value in x)
