"""Every kind of joint to and from MuJoCo: poses, mass matrix, bias and Jacobians of random trees.

Covers: model/joints/free_coordinates.py.
"""

import mujoco
import numpy as np
import pytest
from hypothesis import assume, given

import kinetree as kt
from kinetree.model.random import EVERY_JOINT
from peers import close
from peers_mujoco import mass_matrix, mujoco_from_tree
from states import State, states

NOT_FREE = tuple(kind for kind in EVERY_JOINT if kind != "free")  # MuJoCo's are in the world only: the floating base


@given(states(joints=NOT_FREE))
def test_random_trees(s: State):
    assume(s.robot.nv)
    robot, q, v, a = s.robot.eager, s.q, s.v, s.a
    model = mujoco_from_tree(robot.model)
    data = mujoco.MjData(model)
    data.qpos = kt.convert(robot, "q", q, to="mujoco")
    data.qvel = kt.convert(robot, "v", v, to="mujoco", q=q)
    a_mj = kt.convert(robot, "a", a, to="mujoco", q=q, v=v)
    there = {"source": "mujoco", "q": data.qpos.copy(), "v": data.qvel.copy()}
    close(robot.poses(kt.convert(robot, "q", data.qpos, **there)), robot.poses(q), 1e-12)
    close(kt.convert(robot, "v", data.qvel, **there), v, 1e-12)
    close(kt.convert(robot, "a", a_mj, **there), a, 1e-11)
    mujoco.mj_forward(model, data)
    for k, name in enumerate(robot.body_names):
        pose = robot.poses(q)[k]
        close(pose[:3, 3], data.body(name).xpos, 1e-10)
        close(pose[:3, :3], data.body(name).xmat.reshape(3, 3), 1e-10)
    M = mass_matrix(model, data)
    close(kt.convert(robot, "mass_matrix", M, **there), robot.mass_matrix(q), 1e-9)
    tau = kt.convert(robot, "tau", M @ a_mj + data.qfrc_bias, **there)
    close(tau, robot.inverse_dynamics(q, v, a), 1e-9)
    jacobian = np.zeros((2, 3, model.nv))
    body = robot.body_names[-1]
    mujoco.mj_jacBody(model, data, jacobian[0], jacobian[1], model.body(body).id)
    close(kt.convert(robot, "jacobian", jacobian.reshape(6, -1), **there), robot.frame(body).jacobian(q), 1e-9)


def screw():
    builder = kt.ModelBuilder("screw")
    builder.link("nut")
    builder.link("screw", kt.Inertia.from_com(2.0, (0, 0, 0), np.eye(3)))
    builder.joint("thread", "helical", "nut", "screw", pitch=0.5)
    return kt.Robot(builder.build())


def test_a_screw_is_a_hinge_and_a_slide():
    robot = screw()
    close(kt.convert(robot, "q", [2.0], to="mujoco"), [2.0, 1.0], 0.0)
    close(kt.convert(robot, "tau", [3.0, 4.0], source="mujoco"), [5.0], 0.0)
    close(kt.convert(robot, "mass_matrix", np.diag([1.0, 2.0]), source="mujoco"), robot.mass_matrix([0.3]), 1e-15)
    with pytest.raises(kt.ArgumentError, match=r"q of helical joint 'thread' is off by 0\.1 from where its angle puts"):
        kt.convert(robot, "q", [2.0, 1.1], source="mujoco")
    with pytest.raises(kt.ArgumentError, match="v of helical joint 'thread' is off by 1 from where its angle puts it"):
        kt.convert(robot, "v", [2.0, 2.0], source="mujoco")
    with pytest.raises(kt.ArgumentError, match=r"cannot be spread over .* mujoco has for helical joint"):
        kt.convert(robot, "jacobian", np.zeros((6, 1)), to="mujoco")


def test_a_ball_has_its_scalar_first():
    builder = kt.ModelBuilder("ball")
    builder.link("socket")
    builder.link("ball", kt.Inertia.from_com(2.0, (0, 0, 0), np.eye(3)))
    builder.joint("ball", "spherical", "socket", "ball")
    robot = kt.Robot(builder.build())
    close(kt.convert(robot, "q", [0.0, 0.6, 0.0, 0.8], to="mujoco"), [0.8, 0.0, 0.6, 0.0], 0.0)
    with pytest.raises(kt.ArgumentError, match=r"a quaternion \(entries 0 to 3, wxyz\) of norm 2"):
        kt.convert(robot, "q", [2.0, 0.0, 0.0, 0.0], source="mujoco")
