"""A million poses in one call, and a law of one's own in a closed loop."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import kinetree as kt
from kinetree.cli.demo.arm import Q
from kinetree.cli.demo.speed import seconds
from kinetree.ops import Array

TARGET = np.array([0.45, 0.25, 0.55])
"""Where the law takes the tool [m]."""
STEPS, DT = 2000, 1e-3


@kt.compile(shapes={"target": (3,), "dt": ()})
def simulated_reach(robot: kt.Robot, q: Array, v: Array, target: Array, dt: float) -> tuple[Array, Array, Array]:
    """One step: τ = Jᵀ (k (x* - x) - d ẋ) + G - c M v; then a = FD(q, v, τ), v + a dt, q ⊕ v dt."""
    tool = robot.frame("tool0")
    J, x = tool.jacobian(q)[:3], tool.pose(q)[:3, 3]
    tau = J.T @ (300.0 * (target - x) - 40.0 * (J @ v)) + robot.gravity_forces(q) - 4.0 * (robot.mass_matrix(q) @ v)
    v_next = v + robot.forward_dynamics(q, v, tau) * dt
    return robot.integrate(q, v_next * dt), v_next, x


class Reach:
    """Both, and their picture."""

    def __init__(self, robot: kt.Robot, states: int) -> None:
        self.robot, self.states = robot, states
        self.holding: Array
        self.path = np.empty((STEPS, 3))

    def million(self) -> Iterator[str]:
        """Torques that hold the arm in random poses."""
        states = self.robot.random(np.random.default_rng(0), size=self.states)
        self.holding = self.robot.gravity_forces(states)
        taken = seconds(lambda q: self.robot.gravity_forces(q, out=self.holding), (states,), 1)
        yield (
            f"\nHolding torques in {self.states:,} random poses: {taken * 1e3:.0f} ms on {kt.get_num_threads()} "
            f"threads, {taken / self.states * 1e9:.0f} ns each"
        )
        yield f"  largest of each joint [N m]: {np.abs(self.holding).max(axis=0)}"

    def law(self) -> Iterator[str]:
        """A spring and a damper from the tool to a target, with gravity compensated, in a closed loop."""
        q, v = Q.copy(), np.zeros(6)
        start = time.perf_counter()
        step = simulated_reach.bind(self.robot)
        compiled = time.perf_counter() - start
        start = time.perf_counter()
        for k in range(STEPS):
            q, v, self.path[k] = step(q, v, TARGET, DT)
        taken = time.perf_counter() - start
        program = simulated_reach.graph.operations()
        yield "\nA law of one's own: spring, damper and gravity compensation at the tool, and a step of the simulation"
        yield f"  one kernel of {program:,} operations, compiled or loaded in {compiled * 1e3:.0f} ms"
        yield f"  {STEPS} steps of {DT * 1e3:.0f} ms in {taken * 1e3:.1f} ms, {taken / STEPS * 1e6:.2f} µs each"
        distance = np.linalg.norm(self.path - TARGET, axis=1)
        yield f"  tool from {distance[0] * 1e3:.0f} mm to {distance[-1] * 1e3:.1f} mm off its target"

    def draw(self, figure: Any, folder: Path) -> Path:
        """The million torques and the way to the target."""
        torques, way = figure.subplots(1, 2)
        for k in range(1, 4):
            torques.hist(self.holding[:, k], bins=200, histtype="step", label=self.robot.joint_names[k])
        torques.set(xlabel="holding torque [N m]", ylabel="poses", title=f"{self.states:,} random poses")
        torques.legend(fontsize=8)
        way.plot(np.arange(STEPS) * DT, 1e3 * (self.path - TARGET), label=["x", "y", "z"])
        way.set(xlabel="time [s]", ylabel="tool to target [mm]", title="Cartesian impedance, closed loop")
        way.legend()
        for axes in (torques, way):
            axes.grid(alpha=0.3)
        figure.savefig(folder / "arm.png", dpi=110)
        return folder / "arm.png"
