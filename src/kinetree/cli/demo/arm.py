"""Dynamics of a bundled arm: numbers, and identities that they must keep."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import kinetree as kt

Q = np.array([0.3, -0.6, 1.1, -0.5, 0.4, 0.0])
V = np.array([0.5, -0.2, 0.8, 0.0, 1.0, -0.3])


def dynamics(robot: kt.Robot) -> Iterator[str]:
    """Pose, Jacobian, mass matrix, torques."""
    yield f"{robot.name}: {robot.nv} joints, {robot.mass:.2f} kg moving"
    yield "  " + ", ".join(robot.joint_names)
    tool = robot.frame("tool0")
    yield f"\nPose of tool0 at q = {Q}\n{tool.pose(Q)}"
    yield f"\nIts Jacobian:\n{tool.jacobian(Q)}"
    yield f"\nMass matrix M(q) [kg m²]:\n{robot.mass_matrix(Q)}"
    yield f"\nTorque that holds it still, G(q) [N m]: {robot.gravity_forces(Q)}"
    yield f"Torque that keeps its joint speeds constant [N m]: {robot.inverse_dynamics(Q, V, np.zeros(6))}"
    push = {"tool0": np.array([0.0, 0.0, -20.0, 0.0, 0.0, 0.0])}
    yield f"The same with 20 N pushing down on the tool: {robot.inverse_dynamics(Q, V, np.zeros(6), push)}"


def checks(robot: kt.Robot) -> Iterator[str]:
    """Energy, inverse and forward dynamics, Jacobian and power agree."""
    M, tool = robot.mass_matrix(Q), robot.frame("tool0")
    tau = robot.inverse_dynamics(Q, V, np.zeros(6))
    h = 1e-6
    ahead, behind = robot.integrate(Q, h * V), robot.integrate(Q, -h * V)
    power = (robot.potential_energy(ahead) - robot.potential_energy(behind)) / (2 * h)
    yield "\nChecks on these numbers:"
    yield f"  ½ vᵀMv - kinetic energy          = {0.5 * V @ M @ V - robot.kinetic_energy(Q, V):+.1e} J"
    yield f"  max|FD(ID(a)) - a|               = {np.abs(robot.forward_dynamics(Q, V, tau)).max():.1e} rad/s²"
    yield f"  max|J v - tool velocity|         = {np.abs(tool.jacobian(Q) @ V - tool.velocity(Q, V)).max():.1e}"
    yield f"  dU/dt - Gᵀv                      = {power - robot.gravity_forces(Q) @ V:+.1e} W"
