"""`kinetree demo` and `make demo`: dynamics of a bundled arm, how fast they are, a million states, a law of one's own.

Needs nothing but the core; with matplotlib and a folder it also draws.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import kinetree as kt
from kinetree.ops import Array

FILE = "demo.txt"
MILLION = 1_000_000
TARGET = np.array([0.45, 0.25, 0.55])
"""Where the law takes the tool [m]."""


def run(folder: Path | None = None, states: int = MILLION) -> None:
    """Print the demo; with a folder, also leave it there, with plots of what it computed."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    demo = _Demo(states)
    lines = []
    with np.printoptions(precision=3, suppress=True, linewidth=110):
        for line in demo.lines():
            print(line, flush=True)
            lines.append(line)
    if folder is not None:
        (folder / FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"\nwritten to {folder / FILE}")
        demo.draw(folder)


class _Demo:
    def __init__(self, states: int) -> None:
        self.robot = kt.load("arm6")
        self.n_states = states
        self.q = np.array([0.3, -0.6, 1.1, -0.5, 0.4, 0.0])
        self.v = np.array([0.5, -0.2, 0.8, 0.0, 1.0, -0.3])
        self.holding: Array
        self.path: Array

    def lines(self) -> Iterator[str]:
        yield from self._dynamics()
        yield from self._checks()
        yield from self._speed()
        yield from self._million()
        yield from self._law()

    def _dynamics(self) -> Iterator[str]:
        robot, q, v = self.robot, self.q, self.v
        yield f"{robot.name}: {robot.nv} joints, {robot.mass:.2f} kg moving"
        yield "  " + ", ".join(robot.joint_names)
        tool = robot.frame("tool0")
        yield f"\nPose of tool0 at q = {q}\n{tool.pose(q)}"
        yield f"\nIts Jacobian:\n{tool.jacobian(q)}"
        yield f"\nMass matrix M(q) [kg m²]:\n{robot.mass_matrix(q)}"
        yield f"\nTorque that holds it still, G(q) [N m]: {robot.gravity_forces(q)}"
        tau = robot.inverse_dynamics(q, v, np.zeros(6))
        yield f"Torque that keeps its joint speeds constant [N m]: {tau}"
        push = {"tool0": np.array([0.0, 0.0, -20.0, 0.0, 0.0, 0.0])}
        yield f"The same with 20 N pushing down on the tool: {robot.inverse_dynamics(q, v, np.zeros(6), push)}"

    def _checks(self) -> Iterator[str]:
        robot, q, v = self.robot, self.q, self.v
        M, tool = robot.mass_matrix(q), robot.frame("tool0")
        tau = robot.inverse_dynamics(q, v, np.zeros(6))
        h = 1e-6
        ahead, behind = robot.integrate(q, h * v), robot.integrate(q, -h * v)
        power = (robot.potential_energy(ahead) - robot.potential_energy(behind)) / (2 * h)
        yield "\nChecks on these numbers:"
        yield f"  ½ vᵀMv - kinetic energy          = {0.5 * v @ M @ v - robot.kinetic_energy(q, v):+.1e} J"
        yield f"  max|FD(ID(a)) - a|               = {np.abs(robot.forward_dynamics(q, v, tau)).max():.1e} rad/s²"
        yield f"  max|J v - tool velocity|         = {np.abs(tool.jacobian(q) @ v - tool.velocity(q, v)).max():.1e}"
        yield f"  dU/dt - Gᵀv                      = {power - robot.gravity_forces(q) @ v:+.1e} W"

    def _speed(self) -> Iterator[str]:
        """The algorithm as the textbook has it, and compiled: the same numbers."""
        robot, q, v = self.robot, self.q, self.v
        a = np.ones(6)
        yield "\nThe textbook's algorithm, and what it is compiled to; time of one call from Python:"
        eager = robot.eager
        pairs: list[tuple[str, Callable[..., Array], Callable[..., Array], tuple[Array, ...]]] = [
            ("inverse_dynamics", eager.inverse_dynamics, robot.inverse_dynamics, (q, v, a)),
            ("mass_matrix", eager.mass_matrix, robot.mass_matrix, (q,)),
            ("forward_dynamics", eager.forward_dynamics, robot.forward_dynamics, (q, v, a)),
        ]
        for name, textbook, compiled, arguments in pairs:
            off = float(np.abs(textbook(*arguments) - compiled(*arguments)).max())
            slow, fast = _seconds(textbook, arguments, 5), _seconds(compiled, arguments, 20_000)
            yield (
                f"  {name:17s} {slow * 1e6:7.0f} µs → {fast * 1e6:.2f} µs, {slow / fast:,.0f} times faster, "
                f"difference {off:.0e}"
            )

    def _million(self) -> Iterator[str]:
        """Torques that hold the arm in random poses."""
        robot = self.robot
        states = robot.random(np.random.default_rng(0), size=self.n_states)
        self.holding = robot.gravity_forces(states)
        seconds = _seconds(lambda q: robot.gravity_forces(q, out=self.holding), (states,), 1)
        yield (
            f"\nHolding torques in {self.n_states:,} random poses: {seconds * 1e3:.0f} ms on {kt.get_num_threads()} "
            f"threads, {seconds / self.n_states * 1e9:.0f} ns each"
        )
        yield f"  largest of each joint [N m]: {np.abs(self.holding).max(axis=0)}"

    def _law(self) -> Iterator[str]:
        """A spring and a damper from the tool to a target, with gravity compensated, in a closed loop."""
        robot, q = self.robot, self.q.copy()
        v, dt, steps = np.zeros(6), 1e-3, 2000
        path = np.empty((steps, 3))
        start = time.perf_counter()
        step = simulated_reach.bind(robot)
        compiled = time.perf_counter() - start
        start = time.perf_counter()
        for k in range(steps):
            q, v, path[k] = step(q, v, TARGET, dt)
        seconds = time.perf_counter() - start
        self.path = path
        program = simulated_reach.graph.operations()
        yield "\nA law of one's own: spring, damper and gravity compensation at the tool, and a step of the simulation"
        yield f"  one kernel of {program:,} operations, compiled or loaded in {compiled * 1e3:.0f} ms"
        yield f"  {steps} steps of {dt * 1e3:.0f} ms in {seconds * 1e3:.1f} ms, {seconds / steps * 1e6:.2f} µs each"
        distance = np.linalg.norm(path - TARGET, axis=1)
        yield f"  tool from {distance[0] * 1e3:.0f} mm to {distance[-1] * 1e3:.1f} mm off its target"

    def draw(self, folder: Path) -> None:
        """Plots of the million torques and of the way to the target."""
        try:
            from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
        except ImportError:
            print("no plots: they need matplotlib (pip install matplotlib)")
            return
        figure: Any = Figure(figsize=(11, 4.2), layout="constrained")
        torques, way = figure.subplots(1, 2)
        for k in range(3):
            torques.hist(self.holding[:, k + 1], bins=200, histtype="step", label=self.robot.joint_names[k + 1])
        torques.set(xlabel="holding torque [N m]", ylabel="poses", title=f"{self.n_states:,} random poses")
        torques.legend(fontsize=8)
        time_axis = np.arange(len(self.path)) * 1e-3
        way.plot(time_axis, 1e3 * (self.path - TARGET), label=["x", "y", "z"])
        way.set(xlabel="time [s]", ylabel="tool to target [mm]", title="Cartesian impedance, closed loop")
        way.legend()
        for axes in (torques, way):
            axes.grid(alpha=0.3)
        figure.savefig(folder / "demo.png", dpi=110)
        print(f"drawn in {folder / 'demo.png'}")


@kt.compile(shapes={"target": (3,), "dt": ()})
def simulated_reach(robot: kt.Robot, q: Array, v: Array, target: Array, dt: float) -> tuple[Array, Array, Array]:
    """One step: τ = Jᵀ (k (x* - x) - d ẋ) + G - c M v; then a = FD(q, v, τ), v + a dt, q ⊕ v dt."""
    tool = robot.frame("tool0")
    J, x = tool.jacobian(q)[:3], tool.pose(q)[:3, 3]
    tau = J.T @ (300.0 * (target - x) - 40.0 * (J @ v)) + robot.gravity_forces(q) - 4.0 * (robot.mass_matrix(q) @ v)
    v_next = v + robot.forward_dynamics(q, v, tau) * dt
    return robot.integrate(q, v_next * dt), v_next, x


def _seconds(call: Callable[..., Array], arguments: tuple[Array, ...], count: int) -> float:
    """Of one call, the best of five runs."""
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count):
            call(*arguments)
        best = min(best, (time.perf_counter() - start) / count)
    return best
