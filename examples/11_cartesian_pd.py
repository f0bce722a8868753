"""A law of your own in one kernel: springs and dampers pull the tool of an arm to a pose, gravity compensated.

The law is ordinary Python over one state; `kt.compile` traces it together with the algorithms it calls. Then the loop
is closed: forward dynamics, half-implicit Euler steps of half a millisecond, and the tool arrives.

    python 11_cartesian_pd.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

TOOL = "tool0"


@kt.compile(shapes={"goal": (4, 4), "stiffness": (6,), "damping": (6,)})
def cartesian_pd(robot, q, v, goal, stiffness, damping):
    """τ = Jᵀ (K e - D J v) + G(q), with the error e = [goal - p, half the axis of the rotation that is missing]."""
    tool = robot.frame(TOOL)
    pose, J = tool.pose(q), tool.jacobian(q)
    R, R_goal = pose[:3, :3], goal[:3, :3]
    turn = sum(kt.cross(R[:, k], R_goal[:, k]) for k in range(3)) / 2.0
    error = np.concatenate([goal[:3, 3] - pose[:3, 3], turn])
    return J.T @ (stiffness * error - damping * (J @ v)) + robot.gravity_forces(q)


robot = kt.load("arm6")
tool = robot.frame(TOOL)
q, v = np.array([0.3, 0.5, 0.8, 0.2, 0.6, 0.1]), np.zeros(robot.nv)
goal = tool.pose(np.array([-0.5, 0.2, 1.3, -0.3, 0.9, 0.6]))  # a pose that can be reached
stiffness = np.array([400.0, 400.0, 400.0, 4.0, 4.0, 4.0])  # [N/m], [N m/rad]
damping = np.array([120.0, 120.0, 120.0, 0.5, 0.5, 0.5])  # [N s/m], [N m s/rad]

torque = cartesian_pd.bind(robot)  # for this robot: the fastest way to call it
dt, steps = 5e-4, 6000
times, distances, angles = [], [], []
print("  t [s]   distance [mm]   angle [deg]")
for k in range(steps + 1):
    pose = tool.pose(q)
    cosine = (np.trace(pose[:3, :3].T @ goal[:3, :3]) - 1.0) / 2.0
    times.append(k * dt)
    distances.append(1e3 * np.linalg.norm(pose[:3, 3] - goal[:3, 3]))
    angles.append(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))
    if k % 1000 == 0:
        print(f"  {times[-1]:5.2f}   {distances[-1]:13.4f}   {angles[-1]:11.4f}")
    tau = torque(q, v, goal, stiffness, damping)
    v = v + dt * robot.forward_dynamics(q, v, tau)
    q = robot.integrate(q, dt * v)
assert distances[-1] < 0.01 * distances[0] and angles[-1] < 0.02 * angles[0], "the tool arrives"

# The compiled law is the law as it is written, and a batch of states is one call.
arguments = (q, v, goal, stiffness, damping)
assert np.allclose(torque(*arguments), cartesian_pd(robot.eager, *arguments), atol=1e-9)
states = robot.random(np.random.default_rng(0), size=1000)
taus = torque(states, np.zeros(robot.nv), goal, stiffness, damping)
print(f"\n{cartesian_pd.graph.operations()} operations; largest torques over {len(taus)} poses [N m]:")
print(np.abs(taus).max(axis=0).round(1))

figure = Figure(figsize=(6, 4), layout="constrained")
above, below = figure.subplots(2, 1, sharex=True)
above.plot(times, distances)
above.set_ylabel("distance [mm]")
below.plot(times, angles)
below.set(ylabel="angle [deg]", xlabel="time [s]")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "11_cartesian_pd.png", dpi=150)
print("drawn in", folder / "11_cartesian_pd.png")
