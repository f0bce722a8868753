"""Whole-body control in MuJoCo: a humanoid walks a stride ahead, slowly enough to stop at any time.

`footsteps` says where feet go, `SlowWalk` makes trajectories of that, and the robot keeps to them. `Landing` counts a
foot as a contact once the floor is felt; until then it goes on downwards.

    python 28_mujoco_slow_walk.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np

import kinetree as kt
from kinetree.control import CenterOfMass, Momentum, Orientation, Pose, Posture, SurfaceContact, WholeBody
from kinetree.simulation import Fixture, MujocoWorld
from kinetree.trajectories import Landing, SlowWalk, footsteps

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
    CenterOfMass(weight=4.0, stiffness=80.0, feedforward=True),
    Momentum(part="angular", weight=0.2, gain=5.0),
    Orientation("base_link", weight=0.5, stiffness=60.0, name="trunk"),
    *(Pose(sole, weight=2.0, stiffness=300.0, feedforward=True) for sole in soles),
    Posture(weight=0.05, stiffness=40.0),
]
sole = {"friction": PLANNED, "length": LENGTH, "width": WIDTH, "at": AT, "damping": 20.0}
contacts = [SurfaceContact(name, min_force=20.0, **sole) for name in soles]  # feet that stand push, so that they stay
controller = WholeBody(robot, tasks, contacts)


def run():
    """A recording, with the planned centre of mass and the feet on the ground in its reports."""
    world = MujocoWorld(robot, [Fixture(friction=REAL)], feel=soles)
    end = walk.duration + 0.2
    t = world.period * np.arange(round(end / world.period))
    mass, feet = walk.center_of_mass(t), {sole: walk.feet[sole](t) for sole in soles}
    state, landing = None, Landing(walk, touch=TOUCH, sink=SINK)

    def law(now):
        nonlocal state
        k = round(now.t / world.period)
        landing.feel(now.t, now.forces, world.period)
        reference = {
            "center_of_mass": tuple(part[k] for part in mass),
            "momentum": np.zeros(3),
            "trunk": np.eye(3),
            "posture": stand,
            **{sole: landing.lowered(sole, *(part[k] for part in feet[sole])) for sole in soles},
        }
        switches = {"contacts": landing.stands, "weights": landing.swings}
        step = controller.step(now.q, now.v, reference, **switches, state=state)
        state = step.state
        return step.tau, {"wanted": mass.position[k], "on": [landing.stands[sole] for sole in soles]}

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
    wanted = recording.reports["wanted"]
    kt.plot.closed_loop(recording, wanted, friction=REAL).savefig(file, dpi=100)
    print("drawn in", file)


if __name__ == "__main__":
    main(*sys.argv[1:2])
