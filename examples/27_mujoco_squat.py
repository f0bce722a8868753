"""Whole-body control in MuJoCo: a humanoid squats by a quarter of a metre, twice, with both soles on the floor.

The centre of mass goes down and up over the middle of the feet, the trunk stays upright as far as that lets it; hips,
knees and ankles do what they must. Motion limits keep knees from stretching and from bending too far.

    python 27_mujoco_squat.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np

import kinetree as kt
from kinetree.control import (
    CenterOfMass,
    Momentum,
    MotionLimits,
    Orientation,
    Posture,
    SurfaceContact,
    TorqueLimits,
    WholeBody,
)
from kinetree.simulation import Fixture, MujocoWorld
from kinetree.trajectories import Line, Sequence

PLANNED, REAL = 0.6, 0.8  # friction that the controller counts on, and that of the floor
DEPTH, END = 0.25, 4.3  # [m], [s]
LENGTH, WIDTH, AT = 0.22, 0.08, (0.04, 0.0, 0.0)  # of the soles [m], a little less than they are
ANGLES = {"hip_pitch": -0.2, "knee": 0.4, "ankle_pitch": -0.2, "shoulder_pitch": -0.3, "elbow": -0.4}

robot = kt.load("humanoid", base="floating")
soles = ("left_sole", "right_sole")
stand = robot.neutral()
for joint in robot.model.owners[1:]:
    for part, angle in ANGLES.items():
        if joint.name.endswith(part):
            stand[joint.iq] = angle
stand[2] -= robot.frame("left_sole").pose(stand)[2, 3]

top = robot.center_of_mass(stand)
top[0] = robot.frame("left_sole").pose(stand)[0, 3] + AT[0]
low = top - [0.0, 0.0, DEPTH]
down, up = Line(top, low, 0.85), Line(low, top, 0.85)
mass = Sequence([Line(robot.center_of_mass(stand), top, 0.5), down, up, down, up, Line(top, top, 0.4)])

tasks = [
    CenterOfMass(weight=4.0, stiffness=100.0, feedforward=True),
    Momentum(part="angular", weight=0.2, gain=5.0),
    Orientation("base_link", weight=0.5, stiffness=60.0, name="trunk"),
    Posture(weight=0.03, stiffness=40.0),
]
contacts = [SurfaceContact(s, friction=PLANNED, length=LENGTH, width=WIDTH, at=AT, damping=20.0) for s in soles]
controller = WholeBody(robot, tasks, contacts, [TorqueLimits(), MotionLimits(acceleration=15.0)])


def run():
    """A recording, with the planned centre of mass in its reports."""
    world = MujocoWorld(robot, [Fixture(friction=REAL)], feel=soles)
    wanted = mass(world.period * np.arange(round(END / world.period)))
    state = None

    def law(now):
        nonlocal state
        k = round(now.t / world.period)
        reference = {"center_of_mass": tuple(part[k] for part in wanted), "posture": stand}
        step = controller.step(now.q, now.v, reference | {"momentum": np.zeros(3), "trunk": np.eye(3)}, state=state)
        state = step.state
        return step.tau, {"wanted": wanted.position[k], "planned": step.forces, "changes": step.iterations}

    return world.run(law, stand, duration=END)


def main(folder="pictures"):
    """In numbers and in a picture."""
    recording = run()
    away = 1e3 * np.linalg.norm(recording.center_of_mass - recording.reports["wanted"], axis=1)
    knee = np.degrees(recording.q[:, robot.joint("left_knee").q_slice][:, 0])
    settled = recording.t > 0.05  # the soles have sunk in
    pressure = np.abs(recording.center_of_pressure("left_sole")[settled] - AT[:2]) / (0.12, 0.05)
    print(f"the centre of mass went down by {1e3 * np.ptp(recording.center_of_mass[:, 2]):.0f} mm", end=", ")
    print(f"knees from {knee.min():.0f}° to {knee.max():.0f}°; off by at most {away.max():.2f} mm")
    print(f"centre of pressure at most {pressure.max():.0%} of the way to the edge of a sole", end=", ")
    print(f"torques up to {np.abs(recording.tau[:, 6:] / robot.limits.effort[6:]).max():.0%} of their limits")
    file = Path(folder) / "27_mujoco_squat.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    wanted = recording.reports["wanted"]
    kt.plot.closed_loop(recording, wanted, friction=REAL).savefig(file, dpi=100)
    print("drawn in", file)


if __name__ == "__main__":
    main(*sys.argv[1:2])
