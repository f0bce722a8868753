"""Constraints to test with: random ones of random trees, and the same in Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume

import kinetree as kt
from peers import PinPeer, pin_from_urdf, urdf
from states import State


def in_pinocchio(peer, constraints):
    """The same constraints, and their data."""
    models = pin.StdVec_RigidConstraintModel()
    for constraint in constraints:
        dimension = pin.ContactType.CONTACT_3D if constraint.size == 3 else pin.ContactType.CONTACT_6D
        ends = []
        for name in constraint.frames:
            frame = peer.model.frames[peer.frame_id(name)]
            ends += [frame.parentJoint, frame.placement]
        models.append(pin.RigidConstraintModel(dimension, peer.model, *ends, pin.LOCAL))
    datas = pin.StdVec_RigidConstraintData()
    datas.extend([model.createData() for model in models])
    return models, datas


def movable_frames(s: State) -> list[str]:
    frames = [frame.name for frame in s.robot.model.frames if frame.body and s.robot.nv]
    assume(frames)
    return frames


def is_clear(system, q, full_rank=False) -> bool:
    """Whether the rank of the constraints can be told."""
    J, M = system.jacobian(q), system.robot.mass_matrix(q)
    L = np.linalg.cholesky(M)
    values = np.linalg.svd(np.linalg.solve(L, J.T), compute_uv=False)
    relative = values / values[0] if values[0] else values
    if full_rank:
        return len(values) == len(J) and bool(relative.min() > 1e-3)
    return not np.any((relative > 1e-9) & (relative < 1e-3))


def some_constraints(s: State) -> list[kt.Contact | kt.Loop]:
    """One to three, of all kinds, also several of the same frame."""
    frames, model, found = movable_frames(s), s.robot.model, []
    for _ in range(s.rng.integers(1, 4)):
        a, b = (str(name) for name in s.rng.choice(np.array(frames), 2))
        kind = int(s.rng.integers(2))
        if s.rng.integers(3) == 0 and model.frame(a).body != model.frame(b).body:
            found.append(kt.Loop(a, b, ("point", "rigid")[kind]))
        else:
            found.append(kt.Contact(a, ("point", "surface")[kind]))
    return found


def solvable_contact(case) -> kt.Constrained:
    """A point contact of a real robot whose equations can be solved well, by the textbook; skips if it has none."""
    robot = case.robot.eager
    if robot.model.has_mimics or not robot.nv or np.linalg.cond(robot.mass_matrix(case.q)) > 1e8:
        pytest.skip("without contact it is singular, or has joints that move independently in the peer")
    for name in case.some_frames(10):
        if robot.model.frame(name).body:
            system = robot.constrained(kt.Contact(name))
            if is_clear(system, case.q, full_rank=True):
                return system
    pytest.skip("none of its frames can be held well")


def holding_hands(kind: str) -> tuple[kt.Constrained, PinPeer, np.ndarray, np.random.Generator]:
    """A humanoid that stands on one foot and has one hand in the other: system, peer, and a q where that is so."""
    name, left, right = "g1_29dof_rev_1_0.urdf", "left_rubber_hand", "right_rubber_hand"
    robot = kt.load(urdf(name), "floating")
    rng = np.random.default_rng(3)
    q = robot.random(rng)
    grip = np.linalg.inv(robot.frame(left).pose(q)) @ robot.frame(right).pose(q)
    builder = kt.ModelBuilder.of(robot.model.description)
    builder.frame("grip", left, xyz=grip[:3, 3], rotation=grip[:3, :3])
    robot = kt.Robot(builder.build("floating"))
    system = robot.constrained([kt.Loop(right, "grip", kind), kt.Contact("left_ankle_roll_link", "surface")])
    peer = pin_from_urdf(robot, urdf(name), True)
    hand = peer.model.frames[peer.frame_id(left)]
    placement = hand.placement * pin.SE3(grip[:3, :3], grip[:3, 3])
    peer.model.addFrame(pin.Frame("grip", hand.parentJoint, placement, pin.FrameType.BODY))
    return system, peer, q, rng
