"""kt.convert against the packages themselves: what Pinocchio and MuJoCo compute, in our coordinates."""

import re
import warnings

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from peers import close, readable_urdfs, urdf, urdf_files

CONVENTIONS = [
    {"base_velocity": velocity, "spatial_order": order}
    for velocity in ("body", "mixed")
    for order in ("linear-first", "angular-first")
]
PIN_ROBOTS = [
    "pr2.urdf",
    "tiago_dual.urdf",
    "talos_full_v2.urdf",
    "kinova_description/kinova.urdf",
    "anymal-kinova.urdf",
]
MUJOCO_ROBOTS = ["xarm7.urdf", "a1.urdf", "double_pendulum_continuous.urdf", "solo12.urdf", "panda.urdf"]


def load(path, base="floating", **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.ModelWarning)
        return kt.load(path, base, **options)


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


@pytest.mark.parametrize("name", readable_urdfs())
def test_joint_order_of_pinocchio_on_every_robot(name):
    path = urdf_files()[name]
    robot, model = load(path, "fixed"), pin.buildModelFromUrdf(str(path))
    data, q = model.createData(), robot.random(0)
    q_pin = kt.convert(robot, "q", q, to="pinocchio")
    assert q_pin.shape == (model.nq,)
    pin.framesForwardKinematics(model, data, q_pin)
    for k, body in enumerate(robot.body_names):
        close(robot.poses(q)[k], data.oMf[model.getFrameId(body, pin.FrameType.BODY)].homogeneous)
    close(kt.convert(robot, "q", q_pin, source="pinocchio"), wrapped(robot, q), 1e-12)


def wrapped(robot, q):
    """Continuous joints come back from the circle between -π and π."""
    q = q.copy()
    for joint in robot.model.owners:
        if type(joint).__name__ == "Continuous":
            q[joint.iq] = np.arctan2(np.sin(q[joint.iq]), np.cos(q[joint.iq]))
    return q


@pytest.mark.parametrize("options", CONVENTIONS, ids=str)
@pytest.mark.parametrize("name", PIN_ROBOTS)
def test_everything_to_and_from_pinocchio(name, options):
    path = urdf(name)
    robot = load(path, **options)
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data = model.createData()
    q, v, a = state(robot)
    q_pin = kt.convert(robot, "q", q, to="pinocchio")
    v_pin = kt.convert(robot, "v", v, to="pinocchio", q=q)
    a_pin = kt.convert(robot, "a", a, to="pinocchio", q=q, v=v)
    there = {"source": "pinocchio", "q": q_pin, "v": v_pin}
    close(kt.convert(robot, "v", v_pin, **there), v, 1e-12)
    close(kt.convert(robot, "a", a_pin, **there), a, 1e-12)
    tau = kt.convert(robot, "tau", pin.rnea(model, data, q_pin, v_pin, a_pin), **there)
    close(tau, robot.inverse_dynamics(q, v, a))
    close(kt.convert(robot, "mass_matrix", pin.crba(model, data, q_pin), **there), robot.mass_matrix(q))
    frame = robot.frame_names[-1]
    J = pin.computeFrameJacobian(
        model, data, q_pin, model.getFrameId(frame, pin.FrameType.BODY), pin.LOCAL_WORLD_ALIGNED
    )
    close(kt.convert(robot, "jacobian", J, **there), robot.frame(frame).jacobian(q))
    J_com = pin.jacobianCenterOfMass(model, data, q_pin)
    close(kt.convert(robot, "jacobian", J_com, **there), robot.center_of_mass_jacobian(q))
    w = np.arange(6.0)
    local = pin.getFrameVelocity(model, data, 1, pin.LOCAL)  # of any twist: 6-vectors are linear first there
    assert local.vector.shape == w.shape
    back = kt.convert(robot, "wrench", kt.convert(robot, "wrench", w, to="pinocchio"), source="pinocchio")
    close(back, w, 0.0)
    if not robot.model.has_mimics:
        here = {"to": "pinocchio", "q": q, "v": v}
        close(kt.convert(robot, "jacobian", robot.frame(frame).jacobian(q), **here), J)
        close(kt.convert(robot, "mass_matrix", robot.mass_matrix(q), **here), pin.crba(model, data, q_pin))
        close(kt.convert(robot, "tau", tau, **here), pin.rnea(model, data, q_pin, v_pin, a_pin))


def mujoco_model(path, floating):
    """The URDF in MuJoCo, without geometry, on a free joint if asked."""
    text = re.sub(r"<(visual|collision)\b.*?</\1>|<(visual|collision)[^>]*/>", "", path.read_text(), flags=re.DOTALL)
    spec = mujoco.MjSpec.from_string(text)
    if floating:
        root = spec.worldbody.first_body()
        root.add_freejoint()
    return spec.compile()


@pytest.mark.parametrize("options", CONVENTIONS, ids=str)
@pytest.mark.parametrize("name", MUJOCO_ROBOTS)
def test_everything_to_and_from_mujoco(name, options):
    path = urdf(name)
    floating = name not in ("xarm7.urdf", "double_pendulum_continuous.urdf", "panda.urdf")
    robot = load(path, "floating" if floating else "fixed", **options)
    model = mujoco_model(path, floating)
    data = mujoco.MjData(model)
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(model.njnt)][floating:]
    q, v, a = state(robot)
    data.qpos = kt.convert(robot, "q", q, to="mujoco")
    data.qvel = kt.convert(robot, "v", v, to="mujoco", q=q)
    data.qacc = kt.convert(robot, "a", a, to="mujoco", q=q, v=v)
    given = kt.convert(robot, "q", q, to="mujoco", joints=names)
    close(given, data.qpos, 0.0)  # the order we expect is the order MuJoCo gives
    there = {"source": "mujoco", "q": data.qpos, "v": data.qvel}
    close(kt.convert(robot, "q", data.qpos, source="mujoco"), q, 1e-12)
    close(kt.convert(robot, "v", data.qvel, **there), v, 1e-12)
    close(kt.convert(robot, "a", data.qacc, **there), a, 1e-12)
    a_mj = data.qacc.copy()
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, M, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(model, data, M)
    tau = kt.convert(robot, "tau", M @ a_mj + data.qfrc_bias, **there)
    close(tau, robot.inverse_dynamics(q, v, a), 1e-8)
    close(kt.convert(robot, "mass_matrix", M, **there), robot.mass_matrix(q), 1e-8)
    body = robot.body_names[-1]
    jacobian = np.zeros((2, 3, model.nv))
    mujoco.mj_jacBody(model, data, jacobian[0], jacobian[1], model.body(body).id)
    close(kt.convert(robot, "jacobian", jacobian.reshape(6, -1), **there), robot.frame(body).jacobian(q), 1e-8)


def test_batches_convert_as_their_states():
    robot = load(urdf("talos_full_v2.urdf"), base_velocity="mixed", spatial_order="angular-first")
    rng = np.random.default_rng(0)
    q, v, a = robot.random(rng, (2, 3)), rng.normal(size=(2, 3, robot.nv)), rng.normal(size=(2, 3, robot.nv))
    J = rng.normal(size=(2, 3, 6, robot.nv + 12))
    for peer in ("pinocchio", "mujoco"):
        for kind, value in (("q", q), ("v", v), ("a", a), ("tau", v)):
            batch = kt.convert(robot, kind, value, to=peer, q=q, v=v)
            one = kt.convert(robot, kind, value[1, 2], to=peer, q=q[1, 2], v=v[1, 2])
            close(batch[1, 2], one, 1e-14)
        q_peer = kt.convert(robot, "q", q, to=peer)
        batch = kt.convert(robot, "jacobian", J, source=peer, q=q_peer)
        close(batch[0, 1], kt.convert(robot, "jacobian", J[0, 1], source=peer, q=q_peer[0, 1]), 1e-14)


def test_free_joints_inside_the_tree():
    robot = kt.Robot(kt.random_model(5, 6, ("free", "revolute"), base="floating", base_velocity="mixed"))
    q, v, a = state(robot)
    here = {"to": "pinocchio", "q": q, "v": v}
    q_pin, v_pin = kt.convert(robot, "q", q, **here), kt.convert(robot, "v", v, **here)
    there = {"source": "pinocchio", "q": q_pin, "v": v_pin}
    same = kt.Robot(kt.random_model(5, 6, ("free", "revolute"), base="floating"))
    names = [joint.name for joint in same.model.owners][1:]
    in_file_order = {"joints": names} | here
    v_body = kt.convert(robot, "v", v, **in_file_order)
    a_body = kt.convert(robot, "a", a, **in_file_order)
    close(same.kinetic_energy(q, v_body), robot.kinetic_energy(q, v), 1e-12)
    tau = kt.convert(robot, "tau", robot.inverse_dynamics(q, v, a), **in_file_order)
    close(same.inverse_dynamics(q, v_body, a_body), tau, 1e-11)
    close(kt.convert(robot, "a", kt.convert(robot, "a", a, **here), **there), a, 1e-12)


def test_a_follower_off_its_leader_is_refused():
    robot = load(urdf("panda_description/panda.urdf"), "fixed")
    q_pin = kt.convert(robot, "q", robot.random(0), to="pinocchio")
    q_pin[-1] += 0.01
    with pytest.raises(kt.ArgumentError, match=r"q of mimic joint 'panda_finger_joint2' is off by 0\.01"):
        kt.convert(robot, "q", q_pin, source="pinocchio")
    with pytest.raises(kt.ArgumentError, match="v of mimic joint 'panda_finger_joint2' is off by 1"):
        kt.convert(robot, "v", np.eye(9)[-1], source="pinocchio")


def test_wrong_calls():
    arm = kt.load("arm6", "floating")
    q, v = arm.neutral(), np.zeros(arm.nv)
    cases = [
        (("q", q), {}, "give either to= or source="),
        (("q", q), {"to": "mujoco", "source": "mujoco"}, "give either to= or source="),
        (("q", q), {"to": "gazebo"}, "to is 'gazebo'; expected 'pinocchio' or 'mujoco'"),
        (("x", q), {"to": "mujoco"}, "kind is 'x'; expected 'q' or 'v'"),
        (("v", v), {"to": "mujoco"}, "q is needed"),
        (("a", v), {"to": "mujoco", "q": q}, "v is needed"),
        (("v", v[:-1]), {"to": "pinocchio"}, r"v has shape \(11,\); expected \(…, 12\)"),
        (("jacobian", v), {"to": "pinocchio"}, r"jacobian has shape \(12,\); expected \(…, k, 12\)"),
        (("q", q), {"to": "mujoco", "joints": ["elbow"]}, "joints lists 'shoulder_pan' nowhere"),
        (("q", q), {"to": "mujoco", "joints": [*arm.joint_names, "elbow"]}, "joints lists a joint twice"),
        (("q", q), {"to": "mujoco", "joints": ["elbo"]}, "joint 'elbo' does not exist; did you mean 'elbow'"),
        (("q", 2 * q), {"to": "mujoco"}, "expected a unit quaternion"),
    ]
    for arguments, options, sentence in cases:
        with pytest.raises(kt.ArgumentError, match=sentence):
            kt.convert(arm, *arguments, **options)
    panda = load(urdf("panda_description/panda.urdf"), "fixed")
    with pytest.raises(kt.ArgumentError, match="cannot be spread over mimic joints"):
        kt.convert(panda, "jacobian", np.zeros((6, panda.nv)), to="pinocchio")
    alone = kt.convert(panda, "jacobian", np.ones((6, panda.nv)), to="pinocchio", joints=panda.joint_names)
    assert alone.shape == (6, panda.nv)
