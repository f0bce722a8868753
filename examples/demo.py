"""The dynamics of a bundled six-joint arm, printed: what `make demo` runs."""

import numpy as np

import kinetree as kt

np.set_printoptions(precision=3, suppress=True, linewidth=110)

robot = kt.load("arm6")
print(f"{robot.name}: {robot.nv} joints, {robot.mass:.2f} kg moving")
print("  " + ", ".join(robot.joint_names))

q = np.array([0.3, -0.6, 1.1, -0.5, 0.4, 0.0])
v = np.array([0.5, -0.2, 0.8, 0.0, 1.0, -0.3])
a = np.zeros(robot.nv)

tool = robot.frame("tool0")
print("\nPose of tool0 at q =", q)
print(tool.pose(q))
print("\nIts velocity [m/s, rad/s]:", tool.velocity(q, v))
print("\nIts Jacobian:")
print(tool.jacobian(q))

print("\nMass matrix M(q) [kg m²]:")
print(robot.mass_matrix(q))
print("\nTorque that holds it still, G(q) [N m]:", robot.gravity_forces(q))
tau = robot.inverse_dynamics(q, v, a)
print("Torque that keeps its joint speeds constant [N m]:", tau)
push = {"tool0": [0.0, 0.0, -20.0, 0.0, 0.0, 0.0]}
print("The same with 20 N pushing down on the tool:", robot.inverse_dynamics(q, v, a, push))

print("\nChecks on these numbers:")
M = robot.mass_matrix(q)
print(f"  ½ vᵀMv - kinetic energy          = {0.5 * v @ M @ v - robot.kinetic_energy(q, v):+.1e} J")
print(f"  max|FD(ID(a)) - a|               = {np.abs(robot.forward_dynamics(q, v, tau) - a).max():.1e} rad/s²")
print(f"  max|J v - tool velocity|         = {np.abs(tool.jacobian(q) @ v - tool.velocity(q, v)).max():.1e}")
h = 1e-6
ahead, behind = robot.integrate(q, h * v), robot.integrate(q, -h * v)
power = (robot.potential_energy(ahead) - robot.potential_energy(behind)) / (2 * h)
print(f"  dU/dt - Gᵀv                      = {power - robot.gravity_forces(q) @ v:+.1e} W")

states = robot.random(np.random.default_rng(0), size=100)
torques = robot.gravity_forces(states)
print(f"\nLargest holding torques over {len(states)} random poses [N m]:", np.abs(torques).max(axis=0))
