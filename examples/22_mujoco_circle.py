"""Operational-space control in MuJoCo: the tool of a seven-joint arm tracks a circle, with and without a load it does
not know of.

The arm is written as MJCF, MuJoCo simulates it, and the controller acts at 1 kHz. Where the model is right, what is
left is what a torque held for a millisecond costs; with a kilogram in the hand the tool hangs a little lower.

    python 22_mujoco_circle.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.control import OperationalSpace
from kinetree.simulation import MujocoWorld
from kinetree.trajectories import Arc, Line, PoseMotion, Sequence, Turn

LOAD, STIFFNESS = 1.0, 900.0  # [kg], [1/s²]
Q0 = np.array([0.4, 0.5, -0.3, 1.2, 0.2, 0.7, 0.1])

robot = kt.load("arm7")
tool = robot.frame("tool0")
start = tool.pose(Q0)
circle = Arc(start[:3, 3], start[:3, 3] - np.array([0.1, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), 2.0 * np.pi, 2.0)
rest = Line(start[:3, 3], start[:3, 3], 0.5)
path = PoseMotion(Sequence([circle, rest]), Turn(start[:3, :3], start[:3, :3], 2.5))


def follow(load):
    """A recording, and how far the tool is from its path [m]."""
    controller = OperationalSpace(robot, "tool0", STIFFNESS, posture=Q0, posture_stiffness=20.0)
    law = kt.compile(lambda robot, q, v, t: controller(q, v, path(t)), shapes={"t": ()}).bind(robot)
    payload = kt.Inertia.from_com(load, np.array([0.0, 0.0, 0.05]), 1e-3 * np.eye(3))
    world = MujocoWorld(kt.edit.attach(robot, "tool0", payload) if load else robot, fixtures=[])
    recording = world.run(lambda now: law(now.q, now.v, now.t), Q0, duration=2.5)
    return recording, tool.pose(recording.q)[:, :3, 3] - path(recording.t).pose[:, :3, 3]


def main(folder="pictures"):
    """Both runs, in numbers and in a picture."""
    runs = {"without load": follow(0.0), f"with {LOAD:g} kg": follow(LOAD)}
    for name, (recording, error) in runs.items():
        size = 1e3 * np.linalg.norm(error, axis=1)
        share = np.abs(recording.tau / robot.limits.effort).max()
        print(f"{name:14s} error at most {size.max():7.3f} mm, at the end {size[-1]:6.3f} mm", end="; ")
        print(f"torques {share:.0%} of limits")
    file = Path(folder) / "22_mujoco_circle.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    draw(runs, file)
    print("drawn in", file)


def draw(runs, file):
    """The circle from the side, errors and torques."""
    figure = Figure(figsize=(10, 6.5), layout="constrained")
    (side, size), (x, effort) = figure.subplots(2, 2)
    wanted = path(np.linspace(0.0, 2.0, 200)).pose[:, :3, 3]
    side.plot(wanted[:, 0], wanted[:, 2], "k--", lw=1, label="wanted")
    for name, (recording, error) in runs.items():
        places = tool.pose(recording.q)[:, :3, 3]
        side.plot(places[:, 0], places[:, 2], label=name)
        size.semilogy(recording.t, 1e3 * np.linalg.norm(error, axis=1) + 1e-6, label=name)
    for k, axis in enumerate("xyz"):
        x.plot(recording.t, 1e3 * error[:, k], label=axis)
    side.set(xlabel="x [m]", ylabel="z [m]", aspect="equal", title="the path from the side")
    size.set(xlabel="time [s]", ylabel="error [mm]", title="tracking error", ylim=(1e-4, 30))
    x.set(xlabel="time [s]", ylabel="error [mm]", title=f"error with {LOAD:g} kg, by axis")
    effort.plot(recording.t, recording.tau, lw=1)
    effort.set(xlabel="time [s]", ylabel="torque [N m]", title=f"torques with {LOAD:g} kg")
    effort.legend(robot.joint_names, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    for axes in (side, size, x):
        axes.legend(fontsize=8)
        axes.grid(alpha=0.3)
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:2])
