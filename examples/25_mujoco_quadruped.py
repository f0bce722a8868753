"""Whole-body control in MuJoCo: a quadruped shifts its weight, lifts a foot, puts it down again, and takes a push.

Contacts are point feet in friction cones, and one of them is switched off while its foot is in the air; the robot never
stops in between. In the end someone pushes the trunk from the side.

    python 25_mujoco_quadruped.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np

import kinetree as kt
from kinetree.control import CenterOfMass, Orientation, PointContact, Position, Posture, WholeBody
from kinetree.simulation import Fixture, MujocoWorld, Push
from kinetree.trajectories import Line, Sequence, Swing

PLANNED, REAL = 0.6, 0.8  # friction that the controller counts on, and that of the floor
LIFTED, UP, DOWN, END = "front_left_foot", 1.2, 2.3, 4.8  # [s]
PUSH = Push("base_link", [0.0, 80.0, 0.0], 3.4, 3.6)
RADIUS = 0.028

robot = kt.load("quadruped", base="floating")
feet = [name for name in robot.frame_names if name.endswith("_foot")]
stand = robot.neutral()
stand[8::3], stand[9::3] = 0.6, -1.2
stand[2] = RADIUS - robot.frame(feet[0]).pose(stand)[2, 3]
places = {foot: robot.frame(foot).pose(stand)[:3, 3] for foot in feet}

# The centre of mass: stands, goes over the three feet that stay, waits there, and comes back.
middle = robot.center_of_mass(stand)
over = np.append(np.mean([places[foot][:2] for foot in feet if foot != LIFTED], axis=0), middle[2])
over = middle + 0.8 * (over - middle)
waits = [Line(p, p, T) for p, T in ((middle, 0.2), (over, 1.3), (middle, 2.0))]
mass = Sequence([waits[0], Line(middle, over, 0.9), waits[1], Line(over, middle, 0.9)])
half = 0.5 * (DOWN - UP)
high = places[LIFTED] + [0.05, 0.0, 0.1]
foot = Sequence([Swing(places[LIFTED], high, 0.0, half), Swing(high, places[LIFTED], 0.0, half)])

tasks = [
    CenterOfMass(weight=1.0, stiffness=100.0, feedforward=True),
    Orientation("base_link", weight=1.0, stiffness=100.0, name="trunk"),
    Position(LIFTED, weight=1.0, stiffness=400.0, feedforward=True, name="swing"),
    Posture(weight=0.05, stiffness=50.0),
]
controller = WholeBody(robot, tasks, [PointContact(name, friction=PLANNED, damping=20.0) for name in feet])


def run(controller=controller, body=robot, end=END):
    """A recording, with the planned centre of mass and forces in its reports; `body` is what MuJoCo has."""
    world = MujocoWorld(body, [Fixture(friction=REAL)], feel=feet)
    t = world.period * np.arange(round(end / world.period))
    wanted, swinging = mass(t), foot(np.clip(t - UP, 0.0, foot.duration))
    state = None

    def law(now):
        nonlocal state
        k, air = round(now.t / world.period), UP <= now.t < DOWN
        reference = {
            "center_of_mass": tuple(part[k] for part in wanted),
            "trunk": np.eye(3),
            "swing": tuple(part[k] for part in swinging),
            "posture": stand,
        }
        step = controller.step(
            now.q, now.v, reference, contacts={LIFTED: not air}, weights={"swing": float(air)}, state=state
        )
        state = step.state
        return step.tau, {"wanted": wanted.position[k], "planned": step.forces, "changes": step.iterations}

    return world.run(law, stand, duration=end, pushes=PUSH)


def main(folder="pictures"):
    """In numbers and in a picture."""
    recording = run()
    away = 1e3 * np.linalg.norm(recording.center_of_mass - recording.reports["wanted"], axis=1)
    air = (recording.t > UP + 0.05) & (recording.t < DOWN - 0.05)
    pushed = recording.t > PUSH.start
    lift = recording.poses(LIFTED)[:, 2, 3].max() - RADIUS
    slip = max(np.ptp(recording.poses(name)[:, :2, 3], axis=0).max() for name in feet if name != LIFTED)
    print(f"the foot was {1e3 * lift:.0f} mm up; centre of mass off by at most {away[~pushed].max():.1f} mm", end=", ")
    print(f"by {away[pushed].max():.1f} mm when pushed with {PUSH.wrench[1]:g} N, {away[-1]:.2f} mm in the end")
    print(f"force on the lifted foot {np.abs(recording.force(LIFTED)[air]).max():.1f} N;", end=" ")
    print(f"the others stay, and roll by {1e3 * slip:.2f} mm")
    print(f"torques up to {np.abs(recording.tau[:, 6:] / robot.limits.effort[6:]).max():.0%} of their limits")
    file = Path(folder) / "25_mujoco_quadruped.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    wanted = recording.reports["wanted"]
    kt.plot.closed_loop(recording, wanted, friction=REAL, pushes=PUSH).savefig(file, dpi=100)
    print("drawn in", file)


if __name__ == "__main__":
    main(*sys.argv[1:2])
