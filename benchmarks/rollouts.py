"""Rollouts beside MuJoCo's own threaded ones: steps a second at equal dt and at equal accuracy, a step at a time, time
to the first step, memory a state. Models are the same, written by kinetree for MuJoCo, without contact and limits; both
keep every state.

    python rollouts.py [--short]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import textwrap
import tracemalloc
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
from measure import best_times, environment, save
from mujoco import rollout as mujoco_rollout
from robots import find
from table import show

import kinetree as kt
from kinetree.simulation import next_state

ROBOTS = {
    "UR5": ("ur5_robot.urdf", "fixed", 20.0),
    "xArm7": ("xarm7.urdf", "fixed", 20.0),
    "ANYmal": ("anymal_b_simple_description/robots/anymal.urdf", "floating", 10.0),
    "Talos": ("talos_reduced.urdf", "floating", 10.0),
}
DT, STEPS = 1e-3, 100
STATES, FEWER = 1024, 16
"""MuJoCo gets a sixteenth of the states, so that calls take about as long: on a busy machine long ones suffer more."""
SHORT = "--short" in sys.argv
TARGET = 1e-5
"""Error of positions after a second [rad, m] at which accuracies are compared, in the middle of all states."""


class Contender:
    """One robot in both."""

    def __init__(self, name: str) -> None:
        ending, base, self.budget = ROBOTS[name]
        self.name = name
        self.robot = kt.load(find(ending), base, passive=False)
        self.model = mujoco.MjModel.from_xml_string(self.robot.to_mjcf(lossy=True))
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)
        self.model.dof_damping[:] = 0.0
        self.model.dof_frictionloss[:] = 0.0

    def states(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """About the middle of the joints' ranges, moving."""
        rng = np.random.default_rng(0)
        q = self.robot.integrate(self.robot.neutral(), 0.3 * rng.normal(size=(count, self.robot.nv)))
        return q, 0.3 * rng.normal(size=(count, self.robot.nv))

    def theirs(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Initial states as MuJoCo's rollout takes them: time, positions, velocities."""
        converted = kt.convert(self.robot, "q", q, to="mujoco"), kt.convert(self.robot, "v", v, to="mujoco", q=q)
        return np.concatenate([np.zeros((len(q), 1)), *converted], axis=1)

    def apart(self, q: np.ndarray, state: np.ndarray) -> np.ndarray:
        """How far MuJoCo's last states are from positions q, (n,)."""
        other = kt.convert(self.robot, "q", state[:, -1, 1 : 1 + self.model.nq], source="mujoco")
        return np.abs(self.robot.difference(q, other)).max(axis=1)

    def error(self, q: np.ndarray, v: np.ndarray, exact: np.ndarray, scheme: str, steps: int) -> float:
        """Of positions after a second of so many steps, in the middle of all states."""
        end = self.robot.rollout(q, v, None, 1.0 / steps, steps, scheme, every=steps).q[:, -1]
        return float(np.median(np.abs(self.robot.difference(exact, end)).max(axis=1)))


def equal_dt(name: str, threads: int) -> dict[str, object]:
    """Millions of steps a second, trajectories kept, semi-implicit Euler in both."""
    kt.set_num_threads(threads)
    one = Contender(name)
    q, v = one.states(STATES)
    start = one.theirs(q, v)
    one.model.opt.timestep = DT
    with mujoco_rollout.Rollout(nthread=threads) as pool:
        data = [mujoco.MjData(one.model) for _ in range(threads)]
        calls: dict[str, Callable[[], Any]] = {
            "kinetree": lambda: one.robot.rollout(q, v, None, DT, STEPS),
            "last only": lambda: one.robot.rollout(q, v, None, DT, STEPS, every=STEPS),
            "mujoco": lambda: pool.rollout(one.model, data, start[: STATES // FEWER], nstep=STEPS),
        }
        apart = np.median(one.apart(calls["kinetree"]().q[: STATES // FEWER, -1], calls["mujoco"]()[0]))
        near = 1e-6 if one.robot.model.floating_base is None else 1e-4  # a base is moved in other axes, to first order
        assert apart < near, f"{name}: the contenders disagree by {apart:.2g}"
        times = best_times(calls, repeats=5 if SHORT else 20)
    times["mujoco"] *= FEWER
    rates = {key: STATES * STEPS / seconds / 1e6 for key, seconds in times.items()}
    return {
        "robot": name,
        "nv": one.robot.nv,
        "kinetree [M steps/s]": rates["kinetree"],
        "last state only": rates["last only"],
        "mujoco [M steps/s]": rates["mujoco"],
        "ratio": rates["kinetree"] / rates["mujoco"],
        "budget": one.budget,
    }


def one_by_one(name: str) -> dict[str, object]:
    """Microseconds a step in a loop in Python: by one call each, and by a rollout that asks a function in Python."""
    one = Contender(name)
    q, v = (array[0] for array in one.states(1))
    one.model.opt.timestep = DT
    data, start = mujoco.MjData(one.model), kt.convert(one.robot, "q", q, to="mujoco")

    def theirs() -> None:
        mujoco.mj_resetData(one.model, data)
        data.qpos[:] = start
        for _ in range(STEPS):
            mujoco.mj_step(one.model, data)

    step, tau, dt = next_state.bind(one.robot), np.zeros(one.robot.nv), np.float64(DT)
    calls: dict[str, Callable[[], Any]] = {
        "next_state": lambda: [step(q, v, tau, dt) for _ in range(STEPS)],
        "a function in Python": lambda: one.robot.rollout(q, v, lambda q, v, t: tau, DT, STEPS),
        "mj_step": theirs,
    }
    times = best_times(calls, repeats=10 if SHORT else 50)
    row: dict[str, Any] = {f"{key} [µs]": 1e6 * seconds / STEPS for key, seconds in times.items()}
    return {"robot": name, **row, "ratio": times["mj_step"] / times["next_state"]}


FIXED = 30e-6
"""Seconds that a call of a rollout may take beside its steps."""


def fixed_cost(name: str) -> dict[str, object]:
    """Microseconds of a rollout of one state and one step, and what of it is not the step."""
    one = Contender(name)
    q, v = (array[0] for array in one.states(1))
    tau = np.zeros(one.robot.nv)

    @kt.compile
    def law(robot: Any, q: Any, v: Any) -> Any:
        return robot.gravity_forces(q) - v

    calls: dict[str, Callable[[], Any]] = {
        "efforts": lambda: one.robot.rollout(q, v, tau, DT, 1),
        "efforts, 1000 steps": lambda: one.robot.rollout(q, v, tau, DT, 1000, every=1000),
        "a law": lambda: one.robot.rollout(q, v, law, DT, 1),
        "list of efforts": lambda: one.robot.rollout(q, v, [*tau], DT, 1),
    }
    times = best_times(calls, repeats=200 if SHORT else 2000)
    step = (times["efforts, 1000 steps"] - times["efforts"]) / 999
    row: dict[str, Any] = {f"{key} [µs]": 1e6 * seconds for key, seconds in times.items()}
    fixed = 1e6 * (max(times["efforts"], times["a law"]) - step)
    return {"robot": name, **row, "fixed [µs]": fixed, "at most": 1e6 * FIXED}


SCHEMES = {
    "Euler": ("semi-implicit-euler", mujoco.mjtIntegrator.mjINT_EULER, [1000, 4000, 16_000, 64_000]),
    "RK4": ("rk4", mujoco.mjtIntegrator.mjINT_RK4, [20, 40, 80, 160, 320, 640, 1280]),
}


def equal_accuracy(name: str) -> dict[str, object]:
    """Seconds of one core for a second of motion of a thousand states, with the longest steps that reach the target."""
    kt.set_num_threads(1)
    one = Contender(name)
    q, v = one.states(256)
    exact = one.robot.rollout(q, v, None, 1e-4, 10_000, "rk4", every=10_000).q[:, -1]
    row: dict[str, Any] = {"robot": name, "error": TARGET}
    for label, (scheme, code, counts) in SCHEMES.items():
        one.model.opt.integrator = code
        steps = next(n for n in counts if one.error(q, v, exact, scheme, n) < TARGET or n == counts[-1])
        times = _seconds_of(one, q, v, scheme, steps)
        row[f"{label} steps"] = steps
        row |= {f"{side} {label} [s]": seconds * 1000 / len(q) for side, seconds in times.items()}
    best = {side: min(row[f"{side} {label} [s]"] for label in SCHEMES) for side in ("kinetree", "mujoco")}
    return {**row, "ratio": best["mujoco"] / best["kinetree"]}


def _seconds_of(one: Contender, q: np.ndarray, v: np.ndarray, scheme: str, steps: int) -> dict[str, float]:
    """For all the steps of a second, from the first of them."""
    one.model.opt.timestep = 1.0 / steps
    start, few = one.theirs(q, v), min(steps, 200)
    with mujoco_rollout.Rollout(nthread=1) as pool:
        data = [mujoco.MjData(one.model)]
        calls: dict[str, Callable[[], Any]] = {
            "kinetree": lambda: one.robot.rollout(q, v, None, 1.0 / steps, few, scheme, every=few),
            "mujoco": lambda: pool.rollout(one.model, data, start[: len(q) // FEWER], nstep=few),
        }
        times = best_times(calls, repeats=3 if SHORT else 10)
    times["mujoco"] *= FEWER
    return {side: seconds * steps / few for side, seconds in times.items()}


FIRST = """
    import sys, time
    import numpy as np
    import kinetree as kt
    robot = kt.load({path!r}, {base!r})
    q, v = robot.neutral(), np.zeros(robot.nv)
    begun = time.perf_counter()
    robot.rollout(q, v, None, 1e-3, 1)
    one = time.perf_counter() - begun
    q = np.tile(q, (64, 1))
    begun = time.perf_counter()
    robot.rollout(q, v, None, 1e-3, 1)
    print(one, time.perf_counter() - begun)
"""


def first_step() -> list[dict[str, object]]:
    """From a loaded robot to the first step, of one state and of a batch, with an empty cache and with a full one."""
    rows = []
    for name, (ending, base, _) in ROBOTS.items():
        with tempfile.TemporaryDirectory() as folder:
            code = textwrap.dedent(FIRST.format(path=str(find(ending)), base=base))
            row: dict[str, object] = {"robot": name}
            for label in ("cold", "warm"):
                run = [sys.executable, "-c", code]
                out = subprocess.run(
                    run, capture_output=True, text=True, check=True, env=environment(KINETREE_CACHE_DIR=folder)
                )
                one, batch = map(float, out.stdout.split())
                row |= {f"{label}, one state [s]": one, f"{label}, a batch [s]": batch}
        rows.append(row)
    return rows


def memory(name: str) -> dict[str, object]:
    """Most bytes a state that are in use at a time, the last state kept."""
    ending, base, _ = ROBOTS[name]
    robot = kt.load(find(ending), base)
    row: dict[str, object] = {"robot": name}
    for count in (1000, 10_000, 100_000):
        q, v = np.tile(robot.neutral(), (count, 1)), np.zeros(robot.nv)
        robot.rollout(q[:64], v, None, 1e-3, 50, every=50)
        tracemalloc.start()
        robot.rollout(q, v, None, 1e-3, 50, every=50)
        row[f"{count} states"] = tracemalloc.get_traced_memory()[1] / count
        tracemalloc.stop()
    return row


def main() -> None:
    """Measure, print, save."""
    one = [equal_dt(name, 1) for name in ROBOTS]
    show("Steps at equal dt, one core", one)
    two = [] if SHORT else [equal_dt(name, 2) for name in ROBOTS]
    if two:
        show("Steps at equal dt, two cores", two)
    single = [one_by_one(name) for name in ROBOTS]
    show("One step at a time, from Python", single)
    fixed = [fixed_cost(name) for name in ROBOTS]
    show("A rollout of one step, from Python", fixed)
    accuracy = [equal_accuracy(name) for name in ("UR5", "ANYmal")]
    show("A second of a thousand states at equal accuracy, one core", accuracy)
    first = first_step()
    show("Time to the first step", first)
    bytes_each = [memory(name) for name in ("UR5", "ANYmal")]
    show("Bytes a state, only the last state kept", bytes_each)
    content = {"dt": DT, "steps": STEPS, "states": STATES, "one core": one, "two cores": two, "one by one": single}
    content |= {"fixed cost": fixed}
    content |= {"accuracy": accuracy, "first step": first, "memory": bytes_each, "mujoco": mujoco.__version__}
    print("saved", save("rollouts", content))


if __name__ == "__main__":
    main()
