"""Hybrid control in MuJoCo: a seven-joint arm comes down on a tilted table and wipes it with ten newtons.

A sponge, a sphere of two centimetres, is grafted to the arm; MuJoCo has the contact, with friction that the controller
does not know of. Forces are measured, smoothed, and fed back along the table's normal; along the table the tool draws a
circle.

    python 23_mujoco_wiping.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.control import HybridMotionForce
from kinetree.model.geometry import Box, Geometry, Sphere
from kinetree.simulation import Fixture, MujocoWorld
from kinetree.trajectories import Arc, ForceProfile, Line, PoseMotion, Sequence, Turn

PUSH, TILT, FRICTION, RADIUS = 10.0, np.radians(10.0), 0.2, 0.02  # [N], [rad], -, [m]
BRAKE = 60.0  # damping along the normal [N s/m]: a force in free space would accelerate the tool without end
SMOOTHING = 0.1  # time constant of measured forces [s]
Q0 = np.array([0.4, 0.5, -0.3, 1.2, 0.2, 0.7, 0.1])

builder = kt.ModelBuilder("sponge")
ball = Geometry(Sphere(RADIUS))
builder.link("sponge", kt.solids.sphere(RADIUS, mass=0.05), visuals=[ball], collisions=[ball])
robot = kt.edit.graft(kt.load("arm7"), kt.Robot(builder.build()), "tool0", xyz=[0.0, 0.0, RADIUS])
sponge = robot.frame("sponge")
start = sponge.pose(Q0)

# The task frame: x and y along the table, z out of it; the table begins 5 mm below the sponge.
axes = np.array([[np.cos(TILT), 0.0, np.sin(TILT)], [0.0, 1.0, 0.0], [-np.sin(TILT), 0.0, np.cos(TILT)]])
normal, table = axes[:, 2], np.eye(4)
table[:3, :3] = axes
table[:3, 3] = start[:3, 3] - (RADIUS + 0.005 + 0.02) * normal
board = Fixture(Box((0.4, 0.4, 0.04)), table, friction=FRICTION, settling=0.03, hardness=0.5)

wait = Line(start[:3, 3], start[:3, 3], 2.0)
circle = Arc(start[:3, 3], start[:3, 3] - 0.06 * axes[:, 0], normal, 2.0 * np.pi, 4.0)
path = PoseMotion(Sequence([wait, circle]), Turn(start[:3, :3], start[:3, :3], 6.0))
wrench = np.concatenate([normal, np.zeros(3)])
push = ForceProfile([0.0, 1.0, 2.0, 6.0], np.outer([1.0, 1.0, PUSH, PUSH], wrench))  # on the robot


def wipe():
    """A recording; measured force along the normal [N], and errors along the table [m]."""
    controller = HybridMotionForce(
        robot, "sponge", 2500.0, axes=axes, force_gain=3.0, posture=Q0, posture_stiffness=20.0
    )

    @kt.compile(shapes={"t": (), "measured": (6,)})
    def torques(robot, q, v, t, measured):
        J = normal @ robot.frame("sponge").jacobian(q)[:3]
        return controller(q, v, (*path(t), push(t).force, measured)) - BRAKE * J * (J @ v)

    compiled = torques.bind(robot)
    world = MujocoWorld(robot, [board], feel=["sponge"])

    smooth = np.zeros(6)

    def law(now):
        smooth[:] += (world.period / SMOOTHING) * (now.forces["sponge"] - smooth)
        return compiled(now.q, now.v, now.t, smooth)

    recording = world.run(law, Q0, duration=6.0)
    apart = (sponge.pose(recording.q)[:, :3, 3] - path(recording.t).pose[:, :3, 3]) @ axes[:, :2]
    return recording, recording.force("sponge")[:, :3] @ normal, apart


def main(folder="pictures"):
    """In numbers and in a picture."""
    recording, force, apart = wipe()
    wiping = recording.t > 2.0
    size = 1e3 * np.linalg.norm(apart, axis=1)
    print(f"touches after {recording.t[np.argmax(force > 0.1)]:.2f} s")
    print(f"while wiping: {force[wiping].mean():.3f} N on average, from {force[wiping].min():.3f} to", end=" ")
    print(f"{force[wiping].max():.3f} N; error along the table at most {size[wiping].max():.3f} mm")
    file = Path(folder) / "23_mujoco_wiping.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    draw(recording, force, apart, file)
    print("drawn in", file)


def draw(recording, force, apart, file):
    """Forces, the table from above, errors and torques."""
    t = recording.t
    figure = Figure(figsize=(10, 6.5), layout="constrained")
    (above, top), (error, effort) = figure.subplots(2, 2)
    above.plot(t, force, lw=1, label="measured")
    above.plot(t, push(t).force @ wrench, "k--", lw=1, label="wanted")
    above.plot(t, np.linalg.norm(recording.force("sponge")[:, :3] @ axes[:, :2], axis=1), lw=1, label="friction")
    above.set(ylabel="force on the sponge [N]", xlabel="time [s]", title="contact force")
    wanted = path(t).pose[:, :3, 3]
    for places, style, name in ((wanted, "k--", "wanted"), (sponge.pose(recording.q)[:, :3, 3], "-", "sponge")):
        top.plot(*(1e3 * (places - start[:3, 3]) @ axes[:, :2]).T, style, lw=1, label=name)
    top.set(xlabel="x along the table [mm]", ylabel="y [mm]", aspect="equal", title="the table from above")
    error.plot(t, 1e3 * apart, label=["x", "y"])
    error.set(ylabel="error along the table [mm]", xlabel="time [s]", title="tracking error")
    effort.plot(t, recording.tau, lw=1, label=robot.joint_names)
    effort.set(ylabel="torque [N m]", xlabel="time [s]", title="torques")
    for axis in (above, top, error, effort):
        axis.grid(alpha=0.3)
        if axis is not effort:
            axis.legend(fontsize=7)
    effort.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:2])
