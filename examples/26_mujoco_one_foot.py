"""Whole-body control in MuJoCo: a humanoid stands on one foot, is pushed there, and puts the other foot down again.

The centre of mass goes over the left sole, the right sole is switched off and swings up; torques keep the centre of
pressure within the sole that is left.

    python 26_mujoco_one_foot.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np

import kinetree as kt
from kinetree.control import CenterOfMass, Momentum, Orientation, Pose, Posture, SurfaceContact, WholeBody
from kinetree.simulation import Fixture, MujocoWorld, Push
from kinetree.trajectories import Line, Sequence, pose_line

PLANNED, REAL = 0.6, 0.8  # friction that the controller counts on, and that of the floor
UP, DOWN, END = 1.4, 3.9, 5.3  # [s]
PUSH = Push("chest_link", [15.0, 15.0, 0.0], 2.5, 2.7)
LENGTH, WIDTH, AT = 0.22, 0.08, (0.04, 0.0, 0.0)  # of the soles [m], a little less than they are
ANGLES = {"hip_pitch": -0.35, "knee": 0.7, "ankle_pitch": -0.35, "shoulder_roll": 0.15, "elbow": -0.4}

robot = kt.load("humanoid", base="floating")
soles = ("left_sole", "right_sole")
stand = robot.neutral()
for joint in robot.model.owners[1:]:
    for part, angle in ANGLES.items():
        if joint.name.endswith(part):
            stand[joint.iq] = -angle if joint.name == "right_shoulder_roll" else angle
stand[2] -= robot.frame("left_sole").pose(stand)[2, 3]
places = {sole: robot.frame(sole).pose(stand) for sole in soles}

middle = robot.center_of_mass(stand)
over = np.append(places["left_sole"][:2, 3] + [AT[0], 0.0], middle[2])
mass = Sequence([Line(middle, middle, 0.1), Line(middle, over, 1.2), Line(over, over, 2.7), Line(over, middle, 1.2)])
high = places["right_sole"].copy()
high[:3, 3] += [-0.05, 0.0, 0.12]
there, back = (pose_line(*pair, 0.8) for pair in ((places["right_sole"], high), (high, places["right_sole"])))
foot = Sequence([there, pose_line(high, high, DOWN - UP - 1.6), back])

tasks = [
    CenterOfMass(weight=4.0, stiffness=60.0, feedforward=True),
    Momentum(part="angular", weight=0.3, gain=5.0),
    Orientation("chest_link", weight=0.5, stiffness=60.0, name="trunk"),
    Pose("right_sole", weight=1.0, stiffness=200.0, feedforward=True, name="swing"),
    Posture(weight=0.05, stiffness=40.0),
]
contacts = [SurfaceContact(s, friction=PLANNED, length=LENGTH, width=WIDTH, at=AT, damping=20.0) for s in soles]
controller = WholeBody(robot, tasks, contacts)


def run():
    """A recording, with the planned centre of mass in its reports."""
    world = MujocoWorld(robot, [Fixture(friction=REAL)], feel=soles)
    t = world.period * np.arange(round(END / world.period))
    wanted, swinging = mass(t), foot(np.clip(t - UP, 0.0, foot.duration))
    state = None

    def law(now):
        nonlocal state
        k, air = round(now.t / world.period), UP <= now.t < DOWN
        reference = {
            "center_of_mass": tuple(part[k] for part in wanted),
            "momentum": np.zeros(3),
            "trunk": np.eye(3),
            "swing": tuple(part[k] for part in swinging),
            "posture": stand,
        }
        switches = {"contacts": {"right_sole": not air}, "weights": {"swing": float(air)}}
        step = controller.step(now.q, now.v, reference, **switches, state=state)
        state = step.state
        return step.tau, {"wanted": wanted.position[k], "changes": step.iterations}

    return world.run(law, stand, duration=END, pushes=PUSH)


def main(folder="pictures"):
    """In numbers and in a picture."""
    recording = run()
    away = 1e3 * np.linalg.norm(recording.center_of_mass - recording.reports["wanted"], axis=1)
    air = (recording.t > UP + 0.1) & (recording.t < DOWN - 0.1)
    calm = recording.t < PUSH.start
    lift = recording.poses("right_sole")[:, 2, 3].max()
    pressure = np.abs(recording.center_of_pressure("left_sole") - AT[:2]) / (0.12, 0.05)
    print(f"the foot was {1e3 * lift:.0f} mm up for {air.sum() * 1e-3:.1f} s, with", end=" ")
    print(f"{np.abs(recording.force('right_sole')[air]).max():.1f} N on it")
    print(
        f"centre of mass off by at most {away[calm].max():.1f} mm, by {away[~calm].max():.1f} mm when pushed", end=", "
    )
    print(f"{away[-1]:.2f} mm in the end")
    print(f"centre of pressure at most {np.nanmax(pressure):.0%} of the way to the edge of the sole")
    print(f"torques up to {np.abs(recording.tau[:, 6:] / robot.limits.effort[6:]).max():.0%} of their limits")
    file = Path(folder) / "26_mujoco_one_foot.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    wanted = recording.reports["wanted"]
    kt.plot.closed_loop(recording, wanted, friction=REAL, pushes=PUSH).savefig(file, dpi=100)
    print("drawn in", file)


if __name__ == "__main__":
    main(*sys.argv[1:2])
