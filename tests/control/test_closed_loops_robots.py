"""Robots that one can buy, in MuJoCo with their own collision shapes, under whole-body control."""

import numpy as np
import pytest

import kinetree as kt
from closed_loops import share_of_cone, share_of_limits
from kinetree.control import (
    CenterOfMass,
    Momentum,
    Orientation,
    PointContact,
    Position,
    Posture,
    SurfaceContact,
    WholeBody,
)
from kinetree.simulation import MujocoWorld, Push
from kinetree.trajectories import Line, Sequence, Swing
from peers import urdf_files

FRICTION = 0.5  # counted on; the floor has 0.8
G1 = {"frames": ("left_ankle_roll_link", "right_ankle_roll_link"), "at": (0.035, 0.0, -0.035)}
TALOS = {"frames": ("left_sole_link", "right_sole_link"), "at": (0.0, 0.0, 0.0)}
BENT = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}
BENT |= {f"leg_{side}_{k}": angle for side in ("left", "right") for k, angle in ((3, -0.3), (4, 0.6), (5, -0.3))}


def on_the_floor(robot, angles, frame, below):
    q = robot.neutral()
    for joint in robot.model.owners:
        for part, angle in angles.items():
            if part in joint.name:
                q[joint.iq] = angle
    q[2] -= robot.frame(frame).pose(q)[2, 3] + below
    return q


@pytest.mark.parametrize(
    "file, feet, length, width, trunk",
    [
        pytest.param("g1_description/g1_29dof_rev_1_0.urdf", G1, 0.15, 0.045, "torso_link", id="g1"),
        pytest.param(
            "talos_data/talos_reduced_box.urdf", TALOS, 0.18, 0.10, "torso_2_link", id="talos", marks=pytest.mark.long
        ),
    ],
)
@pytest.mark.sweep
def test_a_humanoid_sways_and_takes_a_push(file, feet, length, width, trunk):
    robot = kt.load(urdf_files()[file], base="floating")
    frames, at = feet["frames"], feet["at"]
    stand = on_the_floor(robot, BENT, frames[0], at[2])
    sole = {"friction": FRICTION, "length": length, "width": width, "at": at, "damping": 20.0}
    tasks = [
        CenterOfMass(weight=10.0, stiffness=60.0, feedforward=True),
        Momentum(part="angular", weight=0.2, gain=5.0),
        Orientation(trunk, weight=0.5, stiffness=60.0, name="trunk"),
        Posture(weight=0.05, stiffness=40.0),
    ]
    controller = WholeBody(robot, tasks, [SurfaceContact(frame, **sole) for frame in frames])
    start = robot.center_of_mass(stand)
    start[0] = robot.frame(frames[0]).pose(stand)[0, 3] + at[0]
    low = start + np.array([0.0, 0.04, -0.05])
    path = Sequence([Line(robot.center_of_mass(stand), start, 0.3), Line(start, low, 0.6), Line(low, low, 1.1)])
    world = MujocoWorld(robot, feel=frames)
    wanted = path(1e-3 * np.arange(2000))
    rest = {"momentum": np.zeros(3), "trunk": robot.frame(trunk).pose(stand)[:3, :3], "posture": stand}
    state = None

    def law(now):
        nonlocal state
        goal = tuple(part[round(1e3 * now.t)] for part in wanted)
        step = controller.step(now.q, now.v, rest | {"center_of_mass": goal}, state=state)
        state = step.state
        return step.tau

    push = Push(trunk, [0.0, 0.5 * robot.mass, 0.0], 1.0, 1.2)
    recording = world.run(law, stand, duration=2.0, pushes=push)
    off = np.linalg.norm(recording.center_of_mass - wanted.position, axis=1)
    assert off[recording.t < 1.0].max() < 0.005
    assert 0.001 < off.max() < 0.02 and off[-1] < 0.002
    assert (recording.elsewhere == 0).all() and share_of_limits(recording) < 0.95
    for frame in frames:
        assert share_of_cone(recording.force(frame)[recording.t > 0.05], FRICTION) < 1.0
        assert np.ptp(recording.poses(frame)[:, :3, 3], axis=0).max() < 0.004


@pytest.mark.sweep
def test_go1_lifts_a_leg():
    robot = kt.load(urdf_files()["go1_description/go1.urdf"], base="floating")
    feet = [name for name in robot.frame_names if name.endswith("_foot")]
    lifted, trunk = feet[0], robot.frame_names[0]
    stand = on_the_floor(robot, {"thigh": 0.8, "calf": -1.6}, lifted, -0.02)
    places = {foot: robot.frame(foot).pose(stand)[:3, 3] for foot in feet}
    tasks = [
        CenterOfMass(weight=2.0, feedforward=True),
        Orientation(trunk, name="trunk"),
        Position(lifted, stiffness=400.0, feedforward=True, name="swing"),
        Posture(weight=0.03, stiffness=50.0),
    ]
    controller = WholeBody(robot, tasks, [PointContact(foot, friction=FRICTION, damping=20.0) for foot in feet])
    start = robot.center_of_mass(stand)
    over = np.append(np.mean([places[foot][:2] for foot in feet[1:]], axis=0), start[2])
    wanted = Sequence([Line(start, over, 0.8), Line(over, over, 1.2)])(1e-3 * np.arange(2000))
    swing = Swing(places[lifted], places[lifted] + [0.05, 0.0, 0.0], 0.08, 0.8)(1e-3 * np.arange(-1000, 1000))
    state = None

    def law(now):
        nonlocal state
        k, air = round(1e3 * now.t), 1.0 <= now.t < 1.8
        reference = {
            "center_of_mass": tuple(part[k] for part in wanted),
            "trunk": np.eye(3),
            "swing": tuple(part[k] for part in swing),
            "posture": stand,
        }
        on = {"contacts": {lifted: not air}, "weights": {"swing": float(air)}}
        step = controller.step(now.q, now.v, reference, **on, state=state)
        state = step.state
        return step.tau

    recording = MujocoWorld(robot, feel=feet).run(law, stand, duration=2.0)
    assert np.linalg.norm(recording.center_of_mass - wanted.position, axis=1).max() < 0.01
    height = recording.poses(lifted)[:, 2, 3] - places[lifted][2]
    assert 0.07 < height.max() < 0.09 and abs(height[-1]) < 0.002
    assert abs(recording.poses(lifted)[-1, 0, 3] - places[lifted][0] - 0.05) < 0.008
    air = (recording.t > 1.05) & (recording.t < 1.75)
    assert (recording.force(lifted)[air] == 0).all() and recording.force(lifted)[-1, 2] > 0.0
    assert (recording.elsewhere == 0).all() and share_of_limits(recording) < 0.9
    for foot in feet:
        assert share_of_cone(recording.force(foot)[recording.t > 0.05], FRICTION) < 1.0
