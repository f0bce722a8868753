"""kinetree info: its JSON has the numbers of the library, its text the same, and wrong input gets a sentence.

Covers: cli/facts.py.
"""

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import kinetree as kt
from kinetree.cli.facts import facts_of
from kinetree.cli.info import show
from peers import readable_urdfs, urdf, urdf_files

FINITE_KEYS = {"lower": "q_index", "upper": "q_index", "velocity": "v_index", "effort": "v_index"}
SMALL = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/>{inside}</joint></robot>"""


def info(cli, *arguments):
    return json.loads(cli("info", *arguments, "--json").stdout)


def check(facts, robot):
    """Everything in the JSON beside what the library says itself."""
    assert (facts["name"], facts["nq"], facts["nv"]) == (robot.name, robot.nq, robot.nv)
    assert facts["mass"] == robot.mass
    assert facts["gravity"] == list(robot.gravity)
    owners = [joint for joint in facts["joints"] if joint["q_index"] is not None]
    base = ["floating_base"] if facts["base"] == "floating" else []
    assert [joint["name"] for joint in owners] == [*base, *robot.joint_names]
    assert [joint["q_index"] for joint in owners] == [joint.iq for joint in robot.model.owners]
    assert [joint["v_index"] for joint in owners] == [joint.iv for joint in robot.model.owners]
    assert sum(joint["q_size"] for joint in owners) == robot.nq
    assert sum(joint["v_size"] for joint in owners) == robot.nv
    for joint in owners:
        for key, index in FINITE_KEYS.items():
            bound = getattr(robot.limits, key)[joint[index]]
            assert joint[key] == (bound if np.isfinite(bound) else None)
    assert [body["name"] for body in facts["bodies"]] == list(robot.body_names)
    assert np.isclose(sum(body["share"] for body in facts["bodies"]), 1.0 if robot.mass else 0.0)
    for i, body in enumerate(facts["bodies"], start=1):
        assert body["mass"] == robot.model.inertias[i].mass
        p = robot.model.parents[i]
        assert body["parent"] == (robot.model.names[p] if p else None)
    assert [frame["name"] for frame in facts["frames"]] == list(robot.frame_names)
    assert all(frame["body"] == robot.frame(frame["name"]).body for frame in facts["frames"])
    assert [finding["message"] for finding in facts["findings"]] == [finding.message for finding in robot.check()]
    children = [joint["child"] for joint in facts["joints"]]
    assert sorted([facts["root"], *children] if facts["base"] == "fixed" else children) == sorted(
        robot.model.description.links
    )


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", kt.bundled_robots())
def test_json_of_bundled_robots(cli, name, base):
    facts = info(cli, name, "--base", base)
    assert facts["base"] == base
    check(facts, kt.load(name, base))


@pytest.mark.parametrize("name", readable_urdfs())
def test_json_and_text_of_real_robots(cli, name):
    path = urdf_files()[name]
    facts = info(cli, path, "--base", "floating")
    check(facts, kt.load(path, "floating"))
    text = cli("info", path, "--base", "floating").stdout
    for joint in facts["joints"]:
        assert joint["name"] in text
        assert joint["child"] in text
    assert "…" not in re.sub(r"(\S+) … (\S+)", "", text), "something was cut"


def test_the_keys_stay_as_they_are(cli):
    facts = info(cli, "arm6")
    assert " ".join(facts) == (
        "name base nq nv mass gravity passive root joints bodies frames "
        "visuals collisions missing_meshes findings warnings"
    )
    assert " ".join(facts["joints"][0]) == (
        "name type parent child axis unit q_index q_size v_index v_size lower upper velocity effort "
        "armature damping friction stiffness mimics"
    )
    assert list(facts["bodies"][0]) == ["name", "joint", "parent", "mass", "share"]
    assert list(facts["frames"][0]) == ["name", "body"]
    assert list(info(cli, urdf("ur5_robot.urdf"))["findings"][0]) == [
        "severity", "element", "line", "message",
    ]  # fmt: skip


def test_a_mimic_joint_says_whom_it_follows(cli):
    facts = info(cli, urdf("panda_description/panda.urdf"))
    (follower,) = [joint for joint in facts["joints"] if joint["mimics"] is not None]
    assert follower["mimics"] == {"joint": "panda_finger_joint1", "multiplier": 1.0, "offset": 0.0}
    assert follower["q_index"] is None and follower["lower"] is None
    assert "= panda_finger_joint1" in cli("info", urdf("panda_description/panda.urdf")).stdout


def test_the_text_shows_limits_degrees_masses_and_findings(cli):
    text = cli("info", "arm6").stdout
    assert re.search(r"shoulder_lift +revolute y +-2.2 … 2.2 rad +upper_arm_link +8.00", text)
    assert re.search(r"1 +1 +shoulder_lift +-2.200 +2.200 +rad +-126.1° … 126.1° +2.6 rad/s +150 N m", text)
    assert re.search(r"upper_arm_link +8.00 +41.8% +━", text)
    assert "\n9 visuals · 7 collisions\n" in text
    assert "Nothing looks wrong." in text
    cart = cli("info", "cartpole").stdout
    assert re.search(r" m +\d[\d.]* m/s +\d+ N\n", cart), "a slider has metres and newtons"
    assert "0–6  0–5  floating_base" in cli("info", "arm6", "--base", "floating").stdout


def test_damping_and_friction_have_columns_where_there_is_some(cli, tmp_path):
    path = tmp_path / "damped.urdf"
    path.write_text(SMALL.format(inside='<dynamics damping="0.25"/>'))
    (joint,) = info(cli, path)["joints"]
    assert (joint["damping"], joint["friction"], joint["armature"], joint["stiffness"]) == (0.25, 0.0, 0.0, 0.0)
    text = cli("info", path).stdout
    assert re.search(r"effort +damping \(off\)\n.* 0.25\n", text)
    assert "friction (off)" not in text
    assert "joint 'j' (line 3): damping or friction of a joint is not part of the dynamics" in text
    assert info(cli, path)["passive"] is False


def test_missing_meshes_are_counted_and_listed(cli, tmp_path):
    path = tmp_path / "meshes.urdf"
    mesh = '<visual><geometry><mesh filename="none.stl"/></geometry></visual>'
    path.write_text(SMALL.format(inside="").replace('<link name="a"/>', f'<link name="a">{mesh * 2}</link>'))
    facts = info(cli, path)
    assert (facts["visuals"], facts["collisions"], facts["missing_meshes"]) == (2, 0, ["none.stl"])
    text = cli("info", path).stdout
    assert "2 visuals · 0 collisions · 1 mesh not found\n" in text
    assert "link 'a' (line 1): mesh 'none.stl' was not found" in text


def test_a_robot_that_warns_is_shown_all_the_same(cli, tmp_path):
    path = tmp_path / "odd.urdf"
    path.write_text(SMALL.format(inside='<mimic joint="nobody"/>'))
    result = cli("info", path)
    assert "does not exist" in result.stdout and "nobody" in result.stdout
    assert result.stdout.count("nobody") == 1, "a warning is a finding, too, but it is said once"
    result = cli("info", path, "--json")
    (warning,) = json.loads(result.stdout)["warnings"]
    assert "nobody" in warning
    assert "warning: " in result.stderr


def test_links_and_joints_with_the_names_that_we_use_ourselves(cli, tmp_path):
    path = tmp_path / "world.urdf"
    text = SMALL.format(inside="").replace('"a"', '"world"').replace('"j"', '"floating_base"')
    path.write_text(text)
    for base in ("fixed", "floating"):
        check(info(cli, path, "--base", base), kt.load(path, base))
        assert "continuous x" in cli("info", path, "--base", base).stdout


def test_a_robot_without_joints(cli, tmp_path):
    path = tmp_path / "rock.urdf"
    path.write_text('<robot name="rock"><link name="all"/></robot>')
    assert info(cli, path)["joints"] == []
    text = cli("info", path).stdout
    assert "all" in text and "Nothing looks wrong." in text


def test_names_are_shown_as_they_are(cli, tmp_path):
    path = tmp_path / "[bold].urdf"
    path.write_text(SMALL.format(inside="").replace('"b"', '"[red]b[/] :smile: ü"'))
    assert "[red]b[/] :smile: ü" in cli("info", path).stdout


def test_a_narrow_terminal_loses_nothing():
    lines = Console(width=40, record=True, file=io.StringIO())
    show(facts_of(kt.load("humanoid")), lines)
    text = lines.export_text()
    assert "right_shoulder_pitch_link" in text
    assert "-2.800" in text


# -- wrong input ----------------------------------------------------------------------------------------------------


def sentence(cli, *arguments):
    result = cli("info", *arguments, code=1)
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    said = result.stderr.removeprefix("error: ").strip()
    assert result.stdout == "" or json.loads(result.stdout) == {"error": said}
    return result.stderr


def test_a_name_that_does_not_exist(cli):
    assert "did you mean 'arm6'?" in sentence(cli, "armm6")
    assert "did you mean 'arm6'?" in sentence(cli, "armm6", "--json")


def test_a_name_that_is_empty(cli):
    assert "ROBOT is empty; expected the path of a URDF file" in sentence(cli, "")


@pytest.mark.sweep
def test_a_document_on_stdin(shell, cli, tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(SMALL.format(inside=""))
    run = shell("info", "-", "--json", input=path.read_text())
    assert json.loads(run.stdout) == info(cli, path)
    for text in ("", "arm6"):
        run = shell("info", "-", input=text)
        assert run.returncode == 1
        assert run.stderr == f"error: stdin has {repr(text) if text else 'nothing'}; expected a URDF document\n"


def test_a_broken_file_says_where(cli, tmp_path):
    path = tmp_path / "broken.urdf"
    path.write_text(SMALL.format(inside="").replace("continuous", "hinge"))
    said = sentence(cli, path)
    assert f"{path}, line 3: joint 'j': type is 'hinge'" in said
    path.write_text("<robot>\n<link>\n</robot>")
    assert f"{path}, line 3" in sentence(cli, path)


def test_files_that_cannot_be_read(cli, tmp_path):
    assert "is a folder" in sentence(cli, tmp_path)
    assert "does not exist; expected a model file" in sentence(cli, tmp_path / "none.urdf")
    (tmp_path / "latin.urdf").write_bytes('<robot name="ä"><link name="b"/></robot>'.encode("latin-1"))
    assert "latin.urdf" in sentence(cli, tmp_path / "latin.urdf")
    (tmp_path / "empty.urdf").write_bytes(b"")
    assert "empty.urdf" in sentence(cli, tmp_path / "empty.urdf")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that nobody can read from the start")
def test_a_file_that_refuses_to_be_read(cli):
    assert "/proc/self/mem cannot be read" in sentence(cli, "/proc/self/mem")


def test_wrong_usage_is_another_code(cli):
    assert "ROBOT" in cli("info", code=2).stderr
    assert "floating" in cli("info", "arm6", "--base", "flying", code=2).stderr
    assert "--jsn" in cli("info", "arm6", "--jsn", code=2).stderr


def test_joints_with_several_coordinates():
    chain = kt.ModelBuilder("plate")
    chain.link("table")
    chain.link("plate", kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3)))
    chain.link("ball", kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3)))
    chain.joint("slide", "planar", "table", "plate", lower=(-1, -2, -np.inf), upper=3, velocity=4)
    chain.joint("ball", "spherical", "plate", "ball", effort=(1, 2, 3))
    robot = kt.Robot(chain.build())
    slide, ball = facts_of(robot).joints
    assert (slide.lower, slide.upper, slide.velocity, slide.effort) == ([-1.0, -2.0, None], 3.0, 4.0, None)
    assert (slide.axis, slide.unit, slide.q_size) == ([0.0, 0.0, 1.0], "m, m, rad", 3)
    assert (ball.lower, ball.effort, ball.axis, ball.unit) == (None, [1.0, 2.0, 3.0], None, "rad")
    console = Console(file=io.StringIO(), width=200)
    show(facts_of(robot), console)
    text = console.file.getvalue()
    assert "-1.000, -2.000, –" in text and "planar z" in text and "1, 2, 3 N m" in text
