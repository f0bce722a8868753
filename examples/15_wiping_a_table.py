"""Hybrid control of motion and force: a seven-joint arm wipes a table with ten newtons, and tracks a circle on it.

The table is a simulated plane with stiff springs, five millimetres below the tool, and tilted by ten degrees. First the
tool comes down with a slow push; then it draws a circle along the table while it keeps pushing. Trajectory, controller,
table and robot are one compiled loop.

    python 15_wiping_a_table.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.control import HybridMotionForce
from kinetree.trajectories import Arc, ForceProfile, Line, PoseMotion, Sequence, Turn

TILT, STIFFNESS, DAMPING = np.radians(10.0), 2e4, 300.0  # of the table: [rad], [N/m], [N s/m]
DT, STEPS = 2.5e-4, 20000

robot = kt.load("arm7")
tool = robot.frame("tool0")
q0 = np.array([0.4, 0.5, -0.3, 1.2, 0.2, 0.7, 0.1])
start = tool.pose(q0)

# The task frame: x and y along the table, z out of it.
axes = np.array([[np.cos(TILT), 0.0, np.sin(TILT)], [0.0, 1.0, 0.0], [-np.sin(TILT), 0.0, np.cos(TILT)]])
normal = axes[:, 2]
surface = start[:3, 3] - 0.005 * normal  # a point of it

wait = Line(start[:3, 3], start[:3, 3], 2.0)
circle = Arc(start[:3, 3], start[:3, 3] - 0.06 * axes[:, 0], normal, 2.0 * np.pi, 3.0)
path = PoseMotion(Sequence([wait, circle]), Turn(start[:3, :3], start[:3, :3], 5.0))
wrench = np.concatenate([normal, np.zeros(3)])
push = ForceProfile([0.0, 1.0, 2.0, 5.0], np.outer([1.0, 1.0, 10.0, 10.0], wrench))  # on the robot

# A force in free space would accelerate the tool: damping along the normal lets it come down slowly instead.
controller = HybridMotionForce(robot, "tool0", 200.0, axes=axes, posture=q0, posture_stiffness=20.0)
BRAKE = 60.0  # [N s/m]


def table(robot, q, v):
    """Its force on the tool, along its normal [N]."""
    depth = normal @ (surface - robot.frame("tool0").pose(q)[:3, 3])
    rate = normal @ robot.frame("tool0").velocity(q, v)[:3]
    return kt.where(kt.less(0.0, depth), kt.maximum(STIFFNESS * depth - DAMPING * rate, 0.0), 0.0)


def torques(robot, q, v, t):
    """Of the motors."""
    J = robot.frame("tool0").jacobian(q)[:3]
    brake = BRAKE * (normal @ J) * (normal @ (J @ v))
    return controller(q, v, (*path(t), push(t).force)) - brake


@kt.compile
def efforts(robot, q, v, t):
    """Motors and table together."""
    return torques(robot, q, v, t) + (normal @ robot.frame("tool0").jacobian(q)[:3]) * table(robot, q, v)


seen = kt.compile(lambda robot, q, v, t: (table(robot, q, v), torques(robot, q, v, t)), shapes={"t": ()})
motion = robot.rollout(q0, np.zeros(7), efforts, DT, STEPS)
t = motion.t[::20]
force, tau = seen.bind(robot)(motion.q[::20], motion.v[::20], t)
wanted, places = path(t).pose[:, :3, 3], tool.pose(motion.q[::20])[:, :3, 3]
apart = 1e3 * np.linalg.norm((wanted - places) @ axes[:, :2], axis=1)

touching = t > 2.2
print("   t [s]   push [N]   error along the table [mm]")
for k in range(0, len(t), 100):
    print(f"  {t[k]:6.2f}   {force[k]:8.3f}   {apart[k]:10.4f}")
print(f"while wiping: push {force[touching].min():.3f} to {force[touching].max():.3f} N, error {apart.max():.3f} mm")
assert np.abs(force[touching] - 10.0).max() < 0.5 and apart.max() < 1.0
assert (np.abs(tau) < robot.limits.effort).all()

figure = Figure(figsize=(9, 6), layout="constrained")
(above, seen_from_top), (error, effort) = figure.subplots(2, 2)
above.plot(t, force, label="measured")
above.plot(t, push(t).force @ wrench, "--", label="wanted")
above.set(ylabel="push [N]", xlabel="time [s]")
above.legend()
x, y = ((p - start[:3, 3]) @ axes[:, :2] * 1e3 for p in (places, wanted))
seen_from_top.plot(*x.T, label="tool")
seen_from_top.plot(*y.T, "--", label="wanted")
seen_from_top.set(xlabel="along x of the table [mm]", ylabel="along y [mm]", aspect="equal")
seen_from_top.legend()
error.plot(t, apart)
error.set(ylabel="error along the table [mm]", xlabel="time [s]")
effort.plot(t, tau)
effort.set(ylabel="torques [N m]", xlabel="time [s]")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "15_wiping_a_table.png", dpi=120)
print("drawn in", folder / "15_wiping_a_table.png")
