"""Whole-body control in MuJoCo: a humanoid walks a stride ahead, slowly enough to stop at any time.

`footsteps` says where feet go, `SlowWalk` makes trajectories of that, and the robot keeps to them. A foot counts as a
contact once the floor is felt: until then it goes on downwards.

    python 28_mujoco_slow_walk.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.control import (
    CenterOfMassTask,
    MomentumTask,
    OrientationTask,
    PoseTask,
    PostureTask,
    SurfaceContact,
    WholeBody,
)
from kinetree.simulation import Fixture, MujocoWorld
from kinetree.trajectories import SlowWalk, footsteps

PLANNED, REAL = 0.6, 0.8  # friction that the controller counts on, and that of the floor
STRIDE, COUNT = 0.3, 1  # [m], of each foot
TOUCH, SINK = 20.0, 0.1  # the force from which on a foot stands [N], and how fast it looks for the floor [m/s]
LENGTH, WIDTH, AT = 0.22, 0.08, (0.04, 0.0, 0.0)  # of the soles [m], a little less than they are
ANGLES = {"hip_pitch": -0.45, "knee": 0.9, "ankle_pitch": -0.45, "elbow": -0.4}

robot = kt.load("humanoid", base="floating")
soles = ("left_sole", "right_sole")
stand = robot.neutral()
for joint in robot.model.owners[1:]:
    for part, angle in ANGLES.items():
        if joint.name.endswith(part):
            stand[joint.iq] = angle
stand[2] -= robot.frame("left_sole").pose(stand)[2, 3]
start = {sole: robot.frame(sole).pose(stand) for sole in soles}
steps = footsteps(start, [STRIDE, 0.0, 0.0], COUNT)
walk = SlowWalk(start, steps, robot.center_of_mass(stand), shift=1.5, swing=0.6, height=0.06, center=AT)

tasks = [
    CenterOfMassTask(weight=4.0, stiffness=80.0, feedforward=True),
    MomentumTask(part="angular", weight=0.2, gain=5.0),
    OrientationTask("base_link", weight=0.5, stiffness=60.0, name="trunk"),
    *(PoseTask(sole, weight=2.0, stiffness=300.0, feedforward=True) for sole in soles),
    PostureTask(weight=0.05, stiffness=40.0),
]
sole = {"friction": PLANNED, "length": LENGTH, "width": WIDTH, "at": AT, "damping": 20.0}
contacts = [SurfaceContact(name, least=20.0, **sole) for name in soles]  # feet that stand push, so that they stay
controller = WholeBody(robot, tasks, contacts)


def lowered(by, pose, velocity, acceleration):
    """The reference of a foot that should stand by now."""
    pose = pose.copy()
    pose[2, 3] -= by
    return pose, velocity, acceleration


def run():
    """A recording, with the planned centre of mass and the feet on the ground in its reports."""
    world = MujocoWorld(robot, [Fixture(friction=REAL)], feel=soles)
    end = walk.duration + 0.2
    t = world.period * np.arange(round(end / world.period))
    mass, feet = walk.center_of_mass(t), {sole: walk.feet[sole](t) for sole in soles}
    state, on, late = None, dict.fromkeys(soles, True), dict.fromkeys(soles, 0.0)

    def law(now):
        nonlocal state
        k, support = round(now.t / world.period), walk.support(now.t)
        for sole in soles:
            on[sole] = sole in support and (on[sole] or bool(now.forces[sole][2] > TOUCH))
            late[sole] = late[sole] + world.period if sole in support and not on[sole] else 0.0
        reference = {
            "center_of_mass": tuple(part[k] for part in mass),
            "momentum": np.zeros(3),
            "trunk": np.eye(3),
            "posture": stand,
            **{sole: lowered(SINK * late[sole], *(part[k] for part in feet[sole])) for sole in soles},
        }
        swinging = {sole: float(not on[sole]) for sole in soles}
        step = controller.step(now.q, now.v, reference, contacts=on, weights=swinging, state=state)
        state = step.state
        return step.tau, {"wanted": mass.position[k], "on": [on[sole] for sole in soles]}

    return world.run(law, stand, duration=end)


def main(folder="pictures"):
    """In numbers and in a picture."""
    recording = run()
    away = 1e3 * np.linalg.norm(recording.center_of_mass - recording.reports["wanted"], axis=1)
    went = recording.poses("base_link")[-1, 0, 3] - recording.poses("base_link")[0, 0, 3]
    print(f"{len(steps)} steps in {walk.duration:.1f} s, {went:.3f} m ahead", end="; ")
    print(f"centre of mass off by at most {away.max():.1f} mm")
    for sole in soles:
        miss = recording.poses(sole)[-1, :3, 3] - walk.feet[sole](walk.duration).pose[:3, 3]
        print(f"{sole} ends {1e3 * np.linalg.norm(miss):.1f} mm from where it should be")
    print(f"torques up to {np.abs(recording.tau[:, 6:] / robot.limits.effort[6:]).max():.0%} of their limits")
    file = Path(folder) / "28_mujoco_slow_walk.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    draw(recording, file)
    print("drawn in", file)


def draw(recording, file):
    """From above, errors, feet, forces and torques."""
    t = recording.t
    figure = Figure(figsize=(12, 9), layout="constrained")
    grid = figure.add_gridspec(3, 2)
    above = figure.add_subplot(grid[0, :])
    error, height, normal, effort = (figure.add_subplot(grid[k]) for k in ((1, 0), (1, 1), (2, 0), (2, 1)))
    corners = np.array([(0.16, 0.05), (0.16, -0.05), (-0.08, -0.05), (-0.08, 0.05), (0.16, 0.05)])
    for k, sole in enumerate(soles):
        places = [start[sole], *(step.pose for step in steps if step.foot == sole)]
        for place in places:
            above.plot(*(place[:2, 3] + corners).T, color=f"C{k}", lw=0.8)
        pressure = recording.poses(sole)[:, :2, 3] + recording.center_of_pressure(sole)
        alone = recording.reports["on"].sum(axis=1) == 1
        above.plot(
            *np.where(alone[:, None], pressure, np.nan).T, color=f"C{k}", lw=1, label=f"pressure on {sole} alone"
        )
        height.plot(t, 1e3 * recording.poses(sole)[:, 2, 3], lw=1, label=sole)
        normal.plot(t, recording.force(sole)[:, 2], lw=1, label=sole)
    above.plot(*recording.center_of_mass[:, :2].T, "k", lw=1.2, label="centre of mass")
    above.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="from above")
    error.plot(t, 1e3 * (recording.center_of_mass - recording.reports["wanted"]), lw=1, label=["x", "y", "z"])
    error.set(ylabel="error [mm]", title="centre of mass")
    height.set(ylabel="height [mm]", title="feet")
    normal.set(xlabel="time [s]", ylabel="normal force [N]", title="contact forces")
    effort.plot(t, recording.tau[:, 6:] / robot.limits.effort[6:], lw=0.8)
    effort.set(xlabel="time [s]", ylabel="share of limit", title="torques", ylim=(-1.05, 1.05))
    for axes in (error, height, normal, effort):
        axes.grid(alpha=0.3)
    for axes in (error, height, normal):
        axes.legend(fontsize=7, loc="upper right")
    above.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(file, dpi=100)


if __name__ == "__main__":
    main(*sys.argv[1:2])
