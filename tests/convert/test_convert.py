"""kt.convert against the packages themselves: what Pinocchio and MuJoCo compute, in our coordinates.

Covers: model/joints/coordinates.py, convert/peer.py.
"""

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
        return kt.load(path, base, **options).eager


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
@pytest.mark.sampled(2)
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
        (("q", 2 * q), {"source": "pinocchio"}, r"entries 3 to 6, xyzw\) of norm 2; expected a unit quaternion"),
        (("q", 0 * q), {"source": "mujoco"}, r"entries 3 to 6, wxyz\) of norm 0; expected a unit quaternion"),
        (("v", v), {"source": "mujoco", "q": 0 * q}, r"entries 3 to 6, wxyz\) of norm 0; expected a unit quaternion"),
        (("tau", v), {"to": "pinocchio", "q": q[1:]}, r"q has shape \(12,\)"),
        (("tau", v), {"to": "pinocchio", "v": q}, r"v has shape \(13,\)"),
        (("wrench", v[:6]), {"to": "pinocchio", "q": 2 * q}, "expected a unit quaternion"),
        (
            ("v", np.zeros((2, 12))),
            {"to": "mujoco", "q": np.tile(q, (3, 1))},
            r"the batch axes do not broadcast: value \(2,\), q \(3,\)",
        ),
    ]
    for arguments, options, sentence in cases:
        with pytest.raises(kt.ArgumentError, match=sentence):
            kt.convert(arm, *arguments, **options)
    for joints, sentence in [
        ("elbow", "joints is 'elbow'; expected a list of joint names"),
        (3, "joints is 3; expected a list of joint names"),
        ([3], "joints has 3; expected the name of a joint"),
        ([["elbow"]], r"joints has \['elbow'\]; expected the name of a joint"),
    ]:
        with pytest.raises(kt.ArgumentTypeError, match=sentence):
            kt.convert(arm, "q", q, to="mujoco", joints=joints)
    with pytest.raises(kt.ArgumentTypeError, match=r"robot is .*; expected a kinetree\.Robot"):
        kt.convert(arm.model, "q", q, to="mujoco")
    for junk in (None, "v", [[0.0], [0.0, 1.0]]):
        with pytest.raises((kt.ArgumentError, kt.ArgumentTypeError), match=r"^(jacobian|v) "):
            kt.convert(arm, "jacobian" if junk is None else "v", junk, to="pinocchio")
    panda = load(urdf("panda_description/panda.urdf"), "fixed")
    with pytest.raises(kt.ArgumentError, match="cannot be spread over mimic joints"):
        kt.convert(panda, "jacobian", np.zeros((6, panda.nv)), to="pinocchio")
    alone = kt.convert(panda, "jacobian", np.ones((6, panda.nv)), to="pinocchio", joints=panda.joint_names)
    assert alone.shape == (6, panda.nv)


def wheels(*mimics, kinds=("continuous", "revolute", "continuous", "fixed")):
    """A row of links, each turned about z against the one before it; `mimics` are tags inside the joints."""
    text = "<robot name='wheels'><link name='l0'/>"
    for k, kind in enumerate(kinds):
        text += (
            f"<link name='l{k + 1}'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0'"
            f" izz='1'/></inertial></link><joint name='j{k + 1}' type='{kind}'><parent link='l{k}'/>"
            f"<child link='l{k + 1}'/><origin xyz='0.1 0 0'/><axis xyz='0 0 1'/>"
            "<limit lower='-99' upper='99' effort='9' velocity='9'/>"
            + (mimics[k] if k < len(mimics) and mimics[k] else "")
            + "</joint>"
        )
    return text + "</robot>"


def unrolled(robot, q):
    """Through Pinocchio's positions and back."""
    return kt.convert(robot, "q", kt.convert(robot, "q", q, to="pinocchio"), source="pinocchio")


def test_a_continuous_leader_is_wound_as_its_followers_say():
    robot = kt.load(wheels(None, "<mimic joint='j1' multiplier='0.5' offset='0.3'/>", "<mimic joint='j1'/>"))
    q = np.linspace(-40.0, 40.0, 21)[:, None]
    close(unrolled(robot, q), q, 1e-12)
    model = pin.buildModelFromXML(wheels())
    assert kt.convert(robot, "q", q[0], to="pinocchio").shape == (model.nq,)
    q_pin = kt.convert(robot, "q", np.array([7.0]), to="pinocchio")
    q_pin[2] += 0.1
    with pytest.raises(kt.ArgumentError, match=r"q of mimic joint 'j2' is off by 0\.1"):
        kt.convert(robot, "q", q_pin, source="pinocchio")


def test_followers_on_circles_are_compared_on_the_circle():
    ratio = "<mimic joint='j1' multiplier='0.3' offset='0.2'/>"
    robot = kt.load(wheels(None, ratio, "<mimic joint='j1'/>", kinds=("continuous",) * 3))
    q = np.array([[0.4], [7.0], [-8.0], [25.0]])
    close(unrolled(robot, q), q, 1e-12)
    wrong = kt.convert(robot, "q", q, to="pinocchio")
    wrong[2, 4:] = np.cos(0.3), np.sin(0.3)
    with pytest.raises(kt.ArgumentError, match="q of mimic joint 'j3' is off by"):
        kt.convert(robot, "q", wrong, source="pinocchio")
    by_line = kt.load(wheels(None, ratio, kinds=("revolute", "continuous")))
    wrong = kt.convert(by_line, "q", np.array([2.0]), to="pinocchio")
    wrong[1:] = 1.0, 0.0
    with pytest.raises(kt.ArgumentError, match=r"q of mimic joint 'j2' is off by 0\.8"):
        kt.convert(by_line, "q", wrong, source="pinocchio")


def test_points_that_are_not_on_the_circle_are_refused():
    robot = kt.load(wheels())
    q_pin = kt.convert(robot, "q", np.zeros((2, 3)), to="pinocchio")
    q_pin[1, 3:] *= 0.9
    sentence = r"q\[1\] has a cosine and sine \(entries 3 and 4\) of norm 0\.9; expected cos² \+ sin² = 1"
    with pytest.raises(kt.ArgumentError, match=sentence):
        kt.convert(robot, "q", q_pin, source="pinocchio")
    with pytest.raises(kt.ArgumentError, match=sentence):
        kt.convert(robot, "tau", np.zeros(3), source="pinocchio", q=q_pin)


@pytest.mark.parametrize(
    "first", ["<mimic joint='j4' offset='0.7'/>", "<mimic joint='j4' multiplier='3' offset='-2'/>"]
)
def test_joints_that_mimic_a_fixed_one_are_constants(first):
    """We freeze them; Pinocchio gives them a coordinate."""
    kinds = ("revolute", "continuous", "revolute", "fixed")
    text = wheels(first, first, kinds=kinds)
    robot, model = kt.load(text), pin.buildModelFromXML(text)
    assert (robot.nv, model.nv) == (1, 3)
    data, q, v = model.createData(), np.array([0.4]), np.array([1.5])
    q_pin, v_pin = kt.convert(robot, "q", q, to="pinocchio"), kt.convert(robot, "v", v, to="pinocchio")
    assert q_pin.shape == (model.nq,)
    assert v_pin.tolist() == [0.0, 0.0, 1.5]
    pin.framesForwardKinematics(model, data, q_pin)
    for name in robot.frame_names:
        pose = data.oMf[model.getFrameId(name, pin.FrameType.BODY)].homogeneous
        close(robot.frame(name).pose(q), pose, 1e-12)
    there = {"source": "pinocchio", "q": q_pin, "v": v_pin}
    close(kt.convert(robot, "q", q_pin, source="pinocchio"), q, 1e-14)
    close(kt.convert(robot, "v", v_pin, **there), v, 0.0)
    close(
        kt.convert(robot, "tau", pin.rnea(model, data, q_pin, v_pin, 2 * v_pin), **there),
        robot.inverse_dynamics(q, v, 2 * v),
    )
    close(kt.convert(robot, "mass_matrix", pin.crba(model, data, q_pin), **there), robot.mass_matrix(q))
    with pytest.raises(kt.ArgumentError, match="q of mimic joint 'j1' is off by"):
        kt.convert(robot, "q", q_pin + np.array([0.1, 0, 0, 0]), source="pinocchio")
    with pytest.raises(kt.ArgumentError, match="v of mimic joint 'j1' is off by"):
        kt.convert(robot, "v", np.ones(3), source="pinocchio")
    still = kt.load(wheels(first, kinds=("revolute", "fixed", "fixed", "fixed")))
    assert kt.convert(still, "q", [], to="pinocchio").shape == (1,)


@pytest.mark.parametrize("place", ["xyz='0.1 0 0'", "rpy='0 0 0.1'", "above"])
def test_free_joints_that_mujoco_places_in_the_world_are_refused(place):
    """MuJoCo's free joint has a pose in the world, ours one in its parent."""
    kinds = ("revolute", "floating") if place == "above" else ("floating",)
    text = wheels(kinds=kinds).replace("xyz='0.1 0 0'", "" if place == "above" else place)
    robot = kt.load(text)
    q = robot.random(0)
    with pytest.raises(kt.ArgumentError, match=f"free joint 'j{len(kinds)}' is not at the origin of the world"):
        kt.convert(robot, "q", q, to="mujoco")
    assert kt.convert(robot, "q", q, to="pinocchio").shape == q.shape
    at_origin = kt.load(wheels(kinds=("floating",)).replace("<origin xyz='0.1 0 0'/>", ""))
    assert kt.convert(at_origin, "q", at_origin.random(0), to="mujoco").shape == (7,)


def test_jacobians_of_several_frames_and_of_a_single_joint():
    arm = kt.load("arm6", spatial_order="angular-first")
    q = arm.random(0)
    J = arm.frame("tool0").jacobian(q)
    both = kt.convert(arm, "jacobian", np.vstack([J, 2 * J]), to="pinocchio")
    one = kt.convert(arm, "jacobian", J, to="pinocchio")
    close(one, np.vstack([J[3:], J[:3]]), 0.0)
    close(both, np.vstack([one, 2 * one]), 0.0)
    close(kt.convert(arm, "jacobian", J[:4], to="pinocchio"), J[:4], 0.0)
    text = wheels(kinds=("revolute",))
    robot, model = kt.load(text), pin.buildModelFromXML(text)
    frame = model.getFrameId("l1", pin.FrameType.BODY)
    J = pin.computeFrameJacobian(model, model.createData(), np.array([0.3]), frame, pin.LOCAL)
    assert J.shape == (6,)
    close(kt.convert(robot, "jacobian", J, source="pinocchio"), robot.frame("l1").jacobian([0.3], "local"), 1e-14)
