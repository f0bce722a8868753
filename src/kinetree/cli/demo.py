"""`kinetree demo` and `make demo`: the dynamics of a bundled six-joint arm, printed. Needs nothing but the core."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import kinetree as kt

FILE = "demo.txt"


def run(folder: Path | None = None) -> None:
    """Print the demo; with a folder, also leave it there."""
    lines = []
    with np.printoptions(precision=3, suppress=True, linewidth=110):
        for line in _lines():
            print(line)
            lines.append(line)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"\nwritten to {folder / FILE}")


def _lines() -> Iterator[str]:
    robot = kt.load("arm6")
    yield f"{robot.name}: {robot.nv} joints, {robot.mass:.2f} kg moving"
    yield "  " + ", ".join(robot.joint_names)

    q = np.array([0.3, -0.6, 1.1, -0.5, 0.4, 0.0])
    v = np.array([0.5, -0.2, 0.8, 0.0, 1.0, -0.3])
    a = np.zeros(robot.nv)
    tool = robot.frame("tool0")
    yield f"\nPose of tool0 at q = {q}\n{tool.pose(q)}"
    yield f"\nIts velocity [m/s, rad/s]: {tool.velocity(q, v)}"
    yield f"\nIts Jacobian:\n{tool.jacobian(q)}"

    M = robot.mass_matrix(q)
    yield f"\nMass matrix M(q) [kg m²]:\n{M}"
    yield f"\nTorque that holds it still, G(q) [N m]: {robot.gravity_forces(q)}"
    tau = robot.inverse_dynamics(q, v, a)
    yield f"Torque that keeps its joint speeds constant [N m]: {tau}"
    push = {"tool0": [0.0, 0.0, -20.0, 0.0, 0.0, 0.0]}
    yield f"The same with 20 N pushing down on the tool: {robot.inverse_dynamics(q, v, a, push)}"

    yield "\nChecks on these numbers:"
    yield f"  ½ vᵀMv - kinetic energy          = {0.5 * v @ M @ v - robot.kinetic_energy(q, v):+.1e} J"
    yield f"  max|FD(ID(a)) - a|               = {np.abs(robot.forward_dynamics(q, v, tau) - a).max():.1e} rad/s²"
    yield f"  max|J v - tool velocity|         = {np.abs(tool.jacobian(q) @ v - tool.velocity(q, v)).max():.1e}"
    h = 1e-6
    ahead, behind = robot.integrate(q, h * v), robot.integrate(q, -h * v)
    power = (robot.potential_energy(ahead) - robot.potential_energy(behind)) / (2 * h)
    yield f"  dU/dt - Gᵀv                      = {power - robot.gravity_forces(q) @ v:+.1e} W"

    states = robot.random(np.random.default_rng(0), size=100)
    largest = np.abs(robot.gravity_forces(states)).max(axis=0)
    yield f"\nLargest holding torques over {len(states)} random poses [N m]: {largest}"
