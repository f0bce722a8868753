"""What the URDF reader takes, and the sentence it gives for what it does not.

Covers: model/loaders/urdf.py.
"""

import warnings

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from peers import close, urdf

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><mass value="2"/><origin xyz="0 0 0.5"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tip"/>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="upper"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="30" velocity="4"/></joint>
  <joint name="mount" type="fixed"><parent link="upper"/><child link="tip"/>
    <origin xyz="0 0 1" rpy="0 0 1.57079632679"/></joint>
</robot>"""


def test_what_a_file_says_is_what_the_robot_has():
    robot = kt.load(ARM)
    assert (robot.name, robot.nq, robot.nv, robot.mass) == ("arm", 1, 1, 2.0)
    assert robot.joint_names == ("hinge",)
    assert robot.body_names == ("upper",)
    assert robot.frame_names == ("base", "upper", "tip")
    assert robot.limits.lower == [-1.0] and robot.limits.upper == [2.0]
    assert robot.limits.effort == [30.0] and robot.limits.velocity == [4.0]
    close(robot.mass_matrix([0.3]), [[0.1 + 2 * 0.25]], 1e-14)
    close(robot.frame("tip").pose([np.pi / 2])[:3, 3], [1.0, 0.0, 0.0], 1e-14)
    assert robot.check() == ()


def test_paths_documents_and_bundled_names(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(ARM)
    assert kt.load(file) == kt.load(str(file)) == kt.load(ARM)
    assert hash(kt.load(file)) == hash(kt.load(ARM))
    assert kt.load("arm6").name == "arm6"
    assert "arm6" in kt.bundled_robots()


def test_a_string_is_what_it_is_whatever_it_declares():
    named = ARM.replace("tip", "Spitze_ä")
    assert "Spitze_ä" in kt.load(f'<?xml version="1.0" encoding="iso-8859-1"?>{named}').frame_names


def test_keeping_a_fixed_joint():
    robot = kt.load(ARM, keep_fixed=["mount"])
    assert robot.body_names == ("upper", "tip")
    assert robot.nv == 1
    plain = kt.load(ARM)
    close(robot.inverse_dynamics([0.3], [1.0], [2.0]), plain.inverse_dynamics([0.3], [1.0], [2.0]), 1e-14)
    close(robot.poses([0.3])[1], plain.frame("tip").pose([0.3]), 1e-14)
    close(robot.forward_dynamics([0.3], [1.0], [2.0]), plain.forward_dynamics([0.3], [1.0], [2.0]), 1e-12)
    with pytest.raises(kt.UnknownNameError, match="fixed joint 'mont' does not exist; did you mean 'mount'"):
        kt.load(ARM, keep_fixed=["mont"])


def test_floating_joint_in_the_tree():
    text = ARM.replace('name="hinge" type="revolute"', 'name="loose" type="floating"')
    robot = kt.load(text)
    assert (robot.nq, robot.nv, robot.joint_names) == (7, 6, ("loose",))
    same = kt.load(
        '<robot name="a">' + ARM[ARM.index('<link name="upper">') : ARM.index('<link name="tip"')] + "</robot>",
        "floating",
    )
    q, v = robot.random(1), np.arange(6.0)
    close(robot.inverse_dynamics(q, v, v), same.inverse_dynamics(q, v, v), 1e-12)


def test_order_is_depth_first_in_file_order():
    joints = [("z", "root", "a"), ("m", "a", "b"), ("y", "root", "c"), ("b", "a", "d")]
    text = "<robot name='t'><link name='root'/>" + "".join(f"<link name='{c}'/>" for _, _, c in joints)
    for name, parent, child in joints:
        text += f"<joint name='{name}' type='continuous'><parent link='{parent}'/><child link='{child}'/></joint>"
    robot = kt.load(text + "</robot>")
    assert robot.joint_names == ("z", "m", "b", "y")
    assert robot.body_names == ("a", "b", "d", "c")
    assert [tuple(robot.model.support(i)) for i in (1, 3, 4)] == [(1,), (1, 3), (4,)]
    assert robot.model.subtree(1) == (1, 2, 3) and robot.model.children(0) == (1, 4)


def test_chain_of_mimics_and_a_fixed_leader():
    def joint(i, extra, kind="revolute"):
        return (
            f"<link name='l{i}'><inertial><mass value='1'/><origin xyz='0.1 0 0'/><inertia ixx='1' iyy='1' izz='1'"
            f" ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='j{i}' type='{kind}'><parent link='l{i - 1}'/>"
            f"<child link='l{i}'/><axis xyz='0 0 1'/><limit lower='-1' upper='1'/>{extra}</joint>"
        )

    text = "<robot name='t'><link name='l0'/>" + joint(1, "<mimic joint='j2' multiplier='2' offset='0.5'/>")
    text += joint(2, "<mimic joint='j3' multiplier='-3' offset='0.1'/>") + joint(3, "")
    text += joint(4, "", "fixed") + joint(5, "<mimic joint='j4' offset='0.7'/>") + "</robot>"
    robot = kt.load(text)
    assert robot.joint_names == ("j3",)
    assert robot.body_names == ("l1", "l2", "l3")
    first = robot.model.joints[1]
    assert (first.ratio, first.offset) == (-6.0, pytest.approx(0.7))
    total = -6 * 0.2 + 0.7 + -3 * 0.2 + 0.1 + 0.2 + 0.7  # all axes are parallel, so the angles add up
    close(robot.frame("l5").pose([0.2])[:2, 0], [np.cos(total), np.sin(total)], 1e-13)
    assert any("which is fixed, so it is fixed too" in str(finding) for finding in robot.check())


def test_a_mimic_of_a_missing_joint_warns_and_stays_free():
    with pytest.warns(kt.ModelWarning, match=r"line \d+: joint 'Left_index_q2': cannot mimic: joint 'index_q1'"):
        robot = kt.load(urdf("alex_psyonic_hands.urdf"))
    assert "Left_index_q2" in robot.joint_names
    assert any("cannot mimic" in finding.message for finding in robot.check())


def test_check_lists_what_is_odd():
    text = ARM.replace('ixx="0.1"', 'ixx="0.001"').replace('<link name="base"/>', '<link name="base"/><gazebo/>')
    text = text.replace("<limit", '<dynamics damping="1"/><limit').replace('xyz="0 1 0"', 'xyz="0 2 0"')
    text = text.replace('"mount" type="fixed"', '"mount" type="prismatic"')
    found = "\n".join(map(str, kt.load(text).check()))
    assert "link 'upper' (line 3): principal moments 0.001, 0.02, 0.1 kg m² break the triangle inequality" in found
    assert "<gazebo> (line 2): 1 element was ignored" in found
    assert "joint 'hinge' (line 6): damping or friction of a joint is not part of the dynamics" in found
    assert "axis has length 2; it was normalized" in found
    assert "joint 'mount' moves nothing that has mass" in found
    assert "a prismatic joint without <limit>; it is unlimited" in found


def test_negative_principal_moments_are_reported():
    found = [str(finding) for finding in kt.load(urdf("romeo_laas_small.urdf")).check()]
    assert any("link 'body'" in line and "is negative" in line for line in found)


@pytest.mark.parametrize("bad", [None, 3, ["arm6"]])
def test_not_a_model_at_all(bad):
    with pytest.raises(kt.ArgumentTypeError, match="expected a path, a URDF document or a bundled name"):
        kt.load(bad)


def test_names_that_do_not_exist():
    with pytest.raises(kt.UnknownNameError, match="bundled robot 'arm66' does not exist; did you mean 'arm6'"):
        kt.load("arm66")


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("base", "free", "base is 'free'; expected 'fixed' or 'floating'"),
        ("spatial_order", "linear", "spatial_order is 'linear'; expected 'linear-first' or 'angular-first'"),
        ("base_velocity", None, "base_velocity is None; expected 'body' or 'mixed'"),
        ("passive", 1, "passive is 1; expected True, False or None"),
        ("friction_width", 0, "friction_width is 0; expected a speed above zero"),
        ("gravity", 9.81, "gravity is 9.81; expected three finite numbers"),
        ("gravity", "down", "gravity is 'down'; expected three finite numbers"),
        ("gravity", ("0", "0", "-9.81"), "gravity is .*; expected three finite numbers"),
        ("gravity", (False, False, True), "gravity is .*; expected three finite numbers"),
    ],
)
def test_wrong_options(option, value, sentence):
    with pytest.raises(kt.KinetreeError, match=sentence):
        kt.load("arm6", **{option: value})


def test_deep_chains():
    n = 1500  # deeper than Python's recursion limit
    text = "<robot name='t'>" + "".join(f"<link name='l{i}'/>" for i in range(n + 1))
    text += "".join(
        f"<joint name='j{i}' type='fixed'><parent link='l{i}'/><child link='l{i + 1}'/>"
        "<origin xyz='0.001 0 0'/></joint>"
        for i in range(n)
    )
    close(kt.load(text + "</robot>").frame(f"l{n}").pose([])[0, 3], 1.5, 1e-12)


def test_real_files_load_without_a_warning_of_numpy():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kt.load(urdf("talos_full_v2.urdf"), "floating")


SUSPICIOUS = [
    (
        "<limit",
        '<mimic joint="mount" multipler="2"/><limit',
        "joint 'hinge' (line 7): <mimic> has multipler, which was",
    ),
    ('rpy="0', 'quat_xyzw="0 0 0 1" rpy="0', "joint 'mount' (line 9): <origin> has quat_xyzw, which was ignored"),
    (
        "<parent",
        '<parent frame="x" colour="red"',
        "joint 'hinge' (line 6): <parent> has frame, colour, which was ignored",
    ),
    ('<mass value="2"', '<mass value="2" unit="kg"', "link 'upper' (line 3): <mass> has unit, which was ignored"),
    ('<link name="tip"', '<link name="tip" type="laser"', "link 'tip' (line 5): <link> has type, which was ignored"),
    ('<robot name="arm"', '<robot name="arm" nam="x"', "robot (line 1): <robot> has nam, which was ignored"),
    (
        '"revolute"',
        '"continuous"',
        "joint 'hinge' (line 7): it is continuous, so its <limit> lower and upper was ignored",
    ),
    ('lower="-1" upper="2"', "", "joint 'hinge' (line 7): <limit> has neither lower nor upper, so both are 0"),
    ('velocity="4"', 'velocity="-4"', "joint 'hinge' (line 6): its velocity limit -4 is negative"),
    ('effort="30"', 'effort="-30"', "joint 'hinge' (line 6): its effort limit -30 is negative"),
    ("<axis", "oops <axis", "joint 'hinge' (line 6): <joint> contains the text 'oops', which was ignored"),
    ("</robot>", "stray</robot>", "robot (line 1): <robot> contains the text 'stray', which was ignored"),
    ('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0">y</axis>', "<axis> contains the text 'y', which was ignored"),
]


@pytest.mark.parametrize(("old", "new", "sentence"), SUSPICIOUS, ids=range(len(SUSPICIOUS)))
def test_what_is_not_read_is_listed(old, new, sentence):
    assert old in ARM
    found = [str(finding) for finding in kt.load(ARM.replace(old, new, 1)).check()]
    assert any(sentence in line for line in found), found


def test_text_and_attributes_in_ignored_elements_are_not_listed():
    extra = "<gazebo reference='tip'><kp colour='red'>1e6</kp></gazebo><!-- a comment -->"
    text = ARM.replace("</robot>", extra + "</robot>").replace("<robot ", '<robot xmlns:x="y" version="1.0" ')
    assert [str(finding) for finding in kt.load(text).check()] == ["<gazebo> (line 10): 1 element was ignored"]


@pytest.mark.parametrize(
    ("multiplier", "offset", "limit", "sentence", "narrowed"),
    [
        (
            -2, 0, 'lower="-4" upper="1.9" velocity="8"',
            "its limits -4 to 1.9 are stricter than -4 to 2, where its leader", (-0.95, 2.0, 4.0),
        ),
        (
            -2, 0, 'lower="-3" upper="2" velocity="8"',
            "its limits -3 to 2 are stricter than -4 to 2, where its leader 'hinge'", (-1.0, 1.5, 4.0),
        ),
        (
            -2, 0.5, 'lower="-3" upper="1" velocity="8"',
            "its limits -3 to 1 are stricter than -3.5 to 2.5, where its leader 'hinge'", (-0.25, 1.75, 4.0),
        ),
        (
            -2, 0, 'lower="-4" upper="2" velocity="7"',
            "its velocity limit 7 is stricter than 8, which its leader 'hinge' may", (-1.0, 2.0, 3.5),
        ),
        (
            -1, 0, 'lower="1" upper="2"',
            "they would leave its leader no room, and are not counted", (-1.0, 2.0, 4.0),
        ),
        (-2, 0, 'lower="-4" upper="2" velocity="8"', None, (-1.0, 2.0, 4.0)),
        (1, 0, 'lower="-9" upper="9"', None, (-1.0, 2.0, 4.0)),
        (0, 0, 'lower="-0.1" upper="0.1" velocity="1"', None, (-1.0, 2.0, 4.0)),
    ],
)  # fmt: skip
def test_limits_of_a_follower_narrow_those_of_its_leader(multiplier, offset, limit, sentence, narrowed):
    mimic = f'<mimic joint="hinge" multiplier="{multiplier}" offset="{offset}"/>'
    robot = kt.load(ARM.replace('type="fixed">', f'type="revolute"><limit {limit}/>{mimic}'))
    found = [str(finding) for finding in robot.check() if "stricter" in str(finding)]
    assert len(found) == (sentence is not None)
    assert all(sentence in line for line in found)
    limits = robot.limits
    np.testing.assert_allclose([*limits.lower, *limits.upper, *limits.velocity], narrowed)
    if sentence is not None and "no room" in sentence:
        return
    for bound in (limits.lower, limits.upper):  # where the leader may go, so may the follower
        low, high = sorted(float(text.split('"')[0]) for text in limit.split('er="')[1:3])
        assert multiplier == 0 or low - 1e-12 <= multiplier * bound[0] + offset <= high + 1e-12


def test_nothing_to_load():
    for nothing in ("", "  \n"):
        with pytest.raises(kt.ArgumentError, match="path_or_xml is empty; expected a path, a URDF document or"):
            kt.load(nothing)


def test_a_document_with_a_byte_order_mark(tmp_path):
    assert kt.load("\ufeff" + ARM) == kt.load(ARM)
    file = tmp_path / "arm.urdf"
    file.write_text(ARM, encoding="utf-8-sig")
    assert kt.load(file) == kt.load(ARM)


def test_bundled_names_beside_folders_and_files_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm6").mkdir()
    assert kt.load("arm6").name == "arm6"
    with pytest.raises(kt.ModelError, match="arm6 is a folder"):
        kt.load(tmp_path / "arm6")
    (tmp_path / "arm6").rmdir()
    (tmp_path / "arm6").write_text(ARM)
    assert kt.load("arm6").name == "arm"


# -- damping and friction --------------------------------------------------------------------------------------------

DAMPED = ARM.replace("<limit", '<dynamics damping="0.5" friction="2"/><limit')


def test_damping_and_friction_are_read_and_left_out_unless_asked_for():
    plain, read, used = kt.load(ARM), kt.load(DAMPED), kt.load(DAMPED, passive=True, friction_width=0.1)
    assert read.model.description.joints["hinge"].dynamics == kt.JointDynamics(damping=0.5, friction=2.0)
    state = [0.3], [0.7], [0.2]
    close(read.inverse_dynamics(*state), plain.inverse_dynamics(*state), 1e-15)
    felt = 0.5 * 0.7 + 2.0 * 0.7 / np.sqrt(0.7**2 + 0.1**2)
    close(used.inverse_dynamics(*state), plain.inverse_dynamics(*state) + felt, 1e-14)
    assert kt.load(DAMPED, passive=False) == read
    assert used != read


def test_check_says_that_they_are_off():
    sentence = (
        "joint 'hinge' (line 6): damping or friction of a joint is not part of the dynamics; load it with passive=True"
    )
    assert [str(finding) for finding in kt.load(DAMPED).check()] == [f"{sentence} to have it"]
    assert kt.load(DAMPED, passive=True).check() == ()
    assert kt.load(ARM).check() == ()


def test_real_damping_is_that_of_pinocchio():
    path = urdf("panda_description/panda.urdf")
    peer = pin.buildModelFromUrdf(str(path))
    joints = kt.load(path).model.description.joints
    for name in list(peer.names)[1:]:
        v = peer.joints[peer.getJointId(name)].idx_v
        assert joints[name].dynamics.damping == peer.damping[v]
        assert joints[name].dynamics.friction == getattr(peer, "friction", peer.upperDryFrictionLimit)[v]


def test_the_safety_controller():
    inside = '<safety_controller soft_lower_limit="-0.9" soft_upper_limit="1.9" k_position="10" k_velocity="5"/>'
    robot = kt.load(ARM.replace("<limit", f"{inside}<limit"))
    safety = robot.model.description.joints["hinge"].safety
    assert (safety.soft_lower, safety.soft_upper, safety.k_position, safety.k_velocity) == (-0.9, 1.9, 10.0, 5.0)
    assert robot.check() == () and robot == kt.load(ARM)
    assert kt.load(ARM).model.description.joints["hinge"].safety is None
    (finding,) = kt.load(ARM.replace("<limit", "<safety_controller/><limit")).check()
    assert str(finding) == "joint 'hinge' (line 7): <safety_controller> has no k_velocity, so it is 0"


@pytest.mark.parametrize("kind", ["continuous", "planar", "floating"])
def test_position_limits_of_joints_that_have_none_are_listed(kind):
    document = f"""<robot name="r"><link name="a"/><link name="b"/>
      <joint name="j" type="{kind}"><parent link="a"/><child link="b"/>
        <limit lower="-1" upper="1" velocity="2" effort="3"/></joint></robot>"""
    found = [str(finding) for finding in kt.load(document).check()]
    assert any(f"it is {kind}, so its <limit> lower and upper was ignored" in words for words in found)
