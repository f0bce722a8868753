"""Rollouts that were made before give the same bits and the same errors as those that check everything.

Covers: compiler/runtime/prepared_loop.py
"""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.simulation import rollout as general

DT = 1e-3


@kt.compile
def law(robot: Any, q: Any, v: Any, t: Any) -> Any:
    return {"tau": -0.1 * v + 0.01 * t, "power": -0.1 * v @ v}


def state(robot: kt.Robot) -> tuple[np.ndarray, np.ndarray]:
    q, v = robot.random(1), 0.1 * np.arange(robot.nv, dtype=float)
    return q, v


def same(a: kt.Trajectory, b: kt.Trajectory) -> bool:
    alike = a.t.tobytes() == b.t.tobytes() and list(a.series) == list(b.series)
    alike = alike and all(a[x].shape == b[x].shape and a[x].tobytes() == b[x].tobytes() for x in a.series)
    alike = alike and dict(a.names) == dict(b.names) and dict(a.units) == dict(b.units) and a.events == b.events
    pairs = ((a.diverged, b.diverged), (a.steps, b.steps))
    return alike and all(x.shape == y.shape and x.dtype == y.dtype and (x == y).all() for x, y in pairs)


@pytest.fixture
def only_warm(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function after which rollouts that check everything fail."""

    def refuse(*arguments: Any) -> None:
        raise AssertionError("this rollout was not warm")

    return lambda: monkeypatch.setattr(general, "as_efforts", refuse)


@pytest.mark.parametrize("name", ["arm6", "quadruped"])
@pytest.mark.parametrize("acting", ["none", "held", "moving", "law"])
@pytest.mark.parametrize(("steps", "every"), [(1, 1), (6, 2), (3000, 3000)])
@pytest.mark.sampled(3)
def test_same_bits(name: str, acting: str, steps: int, every: int, only_warm: Any) -> None:
    robot = kt.load(name, "floating" if name == "quadruped" else "fixed")
    q, v = state(robot)
    efforts = 1e-4 * np.arange(steps * robot.nv, dtype=float).reshape(steps, -1) / steps
    given = {"none": None, "held": efforts[-1].copy(), "moving": efforts, "law": law}[acting]
    record = ("v", "q", "tau", "power") if acting == "law" else ("q", "tau")
    options: Any = {"record": record, "every": every}
    robot.rollout(q + 0.0, 0.5 * v, given, 2.0 * DT, 1 if acting != "moving" else steps, record=record)
    checked = robot.rollout([*q], v, given, DT, steps, **options)  # a list is not for the short way
    only_warm()
    found = robot.rollout(q, v, given, DT, steps, **options)
    assert same(found, checked)
    assert not any(np.shares_memory(found[x], robot.rollout(q, v, given, DT, steps, **options)[x]) for x in found)


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "rk4", "implicit"])
def test_integrators_do_not_mix(integrator: str) -> None:
    robot = kt.load("planar2")
    q, v = state(robot)
    for each in ("semi-implicit-euler", "rk4", "implicit"):
        robot.rollout(q, v, None, DT, 2, each)
    assert same(robot.rollout(q, v, None, DT, 2, integrator), robot.rollout([*q], v, None, DT, 2, integrator))


def test_a_single_row_is_held_for_all_steps() -> None:
    robot = kt.load("arm6")
    q, v = state(robot)
    tau = np.ones((1, robot.nv))
    for _ in range(2):
        held = robot.rollout(q, v, tau, DT, 5)
        moving = robot.rollout(q, v, np.tile(tau, (5, 1)), DT, 5)
        assert held.q.tobytes() == moving.q.tobytes() == robot.rollout(q, v, tau[0], DT, 5).q.tobytes()


@pytest.mark.parametrize(
    "wrong",
    [
        {"q0": np.full(19, np.nan)},
        {"q0": np.ones(19)},
        {"q0": np.zeros(3)},
        {"v0": np.full(18, np.inf)},
        {"v0": "still"},
        {"law_or_controls": np.full(18, np.nan)},
        {"law_or_controls": np.zeros((3, 18))},
        {"law_or_controls": 3.0},
        {"dt": 0.0},
        {"dt": np.inf},
        {"dt": True},
        {"steps": -1},
        {"steps": True},
        {"steps": 2.0},
        {"every": 0},
        {"every": 3},
        {"integrator": "euler"},
        {"integrator": ["rk4"]},
        {"record": ("q", "heat")},
        {"record": (["q"],)},
        {"events": 3},
        {"forces": "wind"},
        {"tolerance": 1e-3},
        {"parameters": np.zeros(2)},
    ],
    ids=" ".join,
)
@pytest.mark.sampled(3)
def test_same_errors(wrong: dict[str, Any]) -> None:
    def sentence(robot: kt.Robot) -> str:
        with pytest.raises((ValueError, TypeError)) as caught:
            robot.rollout(**{**usual, **wrong})
        return f"{type(caught.value)}: {caught.value}"

    robot, other = kt.load("quadruped", "floating"), kt.load("quadruped", "floating")
    q, v = state(robot)
    assert (robot.nq, robot.nv) == (19, 18)
    usual: Any = {"q0": q, "v0": v, "law_or_controls": np.zeros(18), "dt": DT, "steps": 2}
    robot.rollout(**usual)
    assert sentence(robot) == sentence(other)


def test_a_motion_that_diverges_says_so_again() -> None:
    robot = kt.load("planar2")
    q, v = state(robot)
    robot.rollout(q, v, np.zeros(2), DT, 3)
    push = np.array([1e160, 0.0]) * 1e140
    for _ in range(2):
        with pytest.raises(kt.DivergenceError, match="after the first step"):
            robot.rollout(q, v, push, DT, 3)
    late = np.zeros((3, 2))
    robot.rollout(q, v, late, DT, 3)
    late[2] = 1e150
    for _ in range(2):
        with pytest.warns(kt.DivergenceWarning, match="3"):
            path = robot.rollout(q, v, late, DT, 3)
        assert path.diverged


def test_strided_arrays() -> None:
    robot = kt.load("arm6")
    q, v = state(robot)
    both, tau = np.stack([q, v], axis=1), np.ones((4, 2 * robot.nv))[:, ::2]
    for _ in range(2):
        found = robot.rollout(both[:, 0], both[:, 1], tau, DT, 4)
        assert same(found, robot.rollout(q, v, tau.copy(), DT, 4))


def test_threads_share_nothing() -> None:
    robot = kt.load("arm6")
    starts = [robot.random(k) for k in range(8)]
    expected = [robot.rollout([*q], np.zeros(6), law, DT, 300).q for q in starts]
    robot.rollout(starts[0], np.zeros(6), law, DT, 1)
    wrong = []

    def work(k: int) -> None:
        for _ in range(50):
            if robot.rollout(starts[k], np.zeros(6), law, DT, 300).q.tobytes() != expected[k].tobytes():
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_law_is_freed_with_its_code() -> None:
    robot = kt.load("planar2")

    @kt.compile
    def brake(robot: Any, q: Any, v: Any) -> Any:
        return -v

    robot.rollout(*state(robot), None, DT, 1)
    before = len(robot._functions)
    q, v = state(robot)
    robot.rollout(q, v, brake, DT, 1)
    robot.rollout(q, v, brake, DT, 1)
    gone = weakref.ref(brake)
    del brake
    gc.collect()
    assert gone() is None
    assert len(robot._functions) == before
