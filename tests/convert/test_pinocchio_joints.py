"""Every kind of joint to and from Pinocchio, in trees built there by its own functions."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given

import kinetree as kt
from kinetree.model.random import EVERY_JOINT
from peers import REFERENCES, close, pin_from_tree
from states import State, states

NOT_CONTINUOUS = tuple(kind for kind in EVERY_JOINT if kind != "continuous")  # circles: test_convert.py


def joints_of(robot):
    """The names of all joints that Pinocchio gets, in the order they are added."""
    return [joint.name for joint in robot.model.joints[1:] if joint is not robot.model.floating_base]


@given(states(joints=NOT_CONTINUOUS))
def test_random_trees(s: State):
    assume(s.robot.nv)
    robot, q, v, a = s.robot.eager, s.q, s.v, s.a
    peer = pin_from_tree(robot.model)
    model, data, joints = peer.model, peer.data(), {"joints": joints_of(robot)}
    here, there = {"to": "pinocchio"} | joints, {"source": "pinocchio"} | joints
    q_pin = kt.convert(robot, "q", q, **here)
    close(q_pin, peer.q(q), 1e-13)
    v_pin = kt.convert(robot, "v", v, q=q, **here)
    a_pin = kt.convert(robot, "a", a, q=q, v=v, **here)
    there |= {"q": q_pin, "v": v_pin}
    back = kt.convert(robot, "q", q_pin, **there)
    close(robot.poses(back), robot.poses(q), 1e-12)
    close(kt.convert(robot, "v", v_pin, **there), v, 1e-12)
    close(kt.convert(robot, "a", a_pin, **there), a, 1e-11)
    tau = pin.rnea(model, data, q_pin, v_pin, a_pin)
    close(kt.convert(robot, "tau", tau, **there), robot.inverse_dynamics(q, v, a), 1e-10)
    M = pin.crba(model, data, q_pin)
    close(kt.convert(robot, "mass_matrix", M, **there), robot.mass_matrix(q), 1e-10)
    J = pin.computeFrameJacobian(model, data, q_pin, peer.frame_id("tool"), REFERENCES["world-aligned"])
    close(kt.convert(robot, "jacobian", J, **there), robot.frame("tool").jacobian(q), 1e-10)
    if not robot.model.has_mimics:
        close(kt.convert(robot, "mass_matrix", robot.mass_matrix(q), q=q, **here), M, 1e-10)
        close(kt.convert(robot, "tau", robot.inverse_dynamics(q, v, a), q=q, **here), tau, 1e-10)


def plate():
    builder = kt.ModelBuilder("plate")
    builder.link("table")
    builder.link("plate", kt.Inertia.from_com(1.0, (0.1, 0, 0), np.eye(3)))
    builder.joint("slide", "planar", "table", "plate")
    return kt.Robot(builder.build())


def test_a_planar_joint_turns_with_its_body_there():
    robot = plate()
    q, v = np.array([1.0, 2.0, np.pi / 2]), np.array([3.0, 4.0, 5.0])
    close(kt.convert(robot, "q", q, to="pinocchio"), [1.0, 2.0, 0.0, 1.0], 1e-15)
    close(kt.convert(robot, "v", v, to="pinocchio", q=q), [4.0, -3.0, 5.0], 1e-15)
    close(kt.convert(robot, "a", 0 * v, to="pinocchio", q=q, v=v), [-15.0, -20.0, 0.0], 1e-14)
    with pytest.raises(kt.ArgumentError, match="q is needed: the velocity of 'slide' has other axes there"):
        kt.convert(robot, "v", v, to="pinocchio")
    with pytest.raises(kt.ArgumentError, match="v is needed: the axes of the velocity of 'slide' turn on one side"):
        kt.convert(robot, "a", v, to="pinocchio", q=q)
    with pytest.raises(kt.ArgumentError, match=r"a cosine and sine \(entries 2 and 3\) of norm 2; expected"):
        kt.convert(robot, "q", [0, 0, 0, 2.0], source="pinocchio")
    for angle in (np.pi, -np.pi, 0.0, 3 * np.pi):
        back = kt.convert(robot, "q", kt.convert(robot, "q", [0, 0, angle], to="pinocchio"), source="pinocchio")
        close(np.exp(1j * back[2]), np.exp(1j * angle), 1e-14)


def test_batches():
    rng = np.random.default_rng(0)
    robot = kt.Robot(kt.random_model(2, 8, ("planar", "spherical", "universal", "free"), base_velocity="mixed"))
    assert {type(joint).__name__ for joint in robot.model.joints[1:]} == {"Planar", "Spherical", "Universal", "Free"}
    q, v, a = robot.random(rng, (2, 3)), rng.normal(size=(2, 3, robot.nv)), rng.normal(size=robot.nv)
    for peer in ("pinocchio", "drake"):
        for kind, value in (("q", q), ("v", v), ("a", a), ("tau", a)):
            batch = kt.convert(robot, kind, value, to=peer, q=q, v=v)
            state = {"q": q[1, 2], "v": v[1, 2]}
            close(batch[1, 2], kt.convert(robot, kind, value[1, 2] if value.ndim == 3 else value, to=peer, **state))
            q_peer = kt.convert(robot, "q", q, to=peer)
            v_peer = kt.convert(robot, "v", v, to=peer, q=q)
            back = kt.convert(robot, kind, batch, source=peer, q=q_peer, v=v_peer)
            if kind == "q":
                close(robot.poses(back), robot.poses(q), 1e-12)
            else:
                close(back, np.broadcast_to(value, back.shape), 1e-11)
