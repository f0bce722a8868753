"""kinetree bench: the peers do the same work, the ratios are those of the times, and it runs without peers.

Covers: cli/contest.py, cli/measure.py, cli/peers.py.
"""

import json
import sys
from importlib import resources

import pytest

import kinetree as kt
from kinetree.cli.contest import ARGUMENTS, STATES, contest
from kinetree.cli.measure import Effort, best_loops
from peers import urdf

HASTE = Effort(repeats=1, seconds=1e-5)
PEERS = {"pinocchio", "mujoco"}


def text_of(name):
    return (resources.files("kinetree") / "robots" / f"{name}.urdf").read_text()


def raced(robot, text):
    words = []
    report = contest(robot, text, HASTE, words.append)
    assert words[0] == "compiling pose" and words[-1] == "measuring"
    return report


@pytest.fixture
def without_peers(monkeypatch):
    for name in PEERS:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize(
    ("name", "base"), [("cartpole", "fixed"), ("arm7", "fixed"), ("quadruped", "floating"), ("humanoid", "floating")]
)
@pytest.mark.sampled(4)
def test_the_peers_compute_the_same(name, base):
    report = raced(kt.load(name, base), text_of(name))
    assert report.notes == []
    assert [row.quantity for row in report.single] == list(ARGUMENTS)
    for row in report.single:
        assert set(row.microseconds) == {"kinetree", *PEERS}
    batches = {row.quantity for row in report.batch if "pinocchio" in row.microseconds}
    assert batches == {"inverse_dynamics", "forward_dynamics"}


def test_one_joint():
    """Pinocchio's batch functions crash for it."""
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
    text = f'<robot name="r"><link name="a"/><link name="b">{inertial}</link>{joint}</robot>'
    report = raced(kt.load(text), text)
    assert all("pinocchio" in row.microseconds for row in report.single)
    assert not any("pinocchio" in row.microseconds for row in report.batch)


def test_another_robot_is_found_out():
    text = text_of("planar2").replace('mass value="2"', 'mass value="2.5"')
    assert text != text_of("planar2")
    report = raced(kt.load("planar2"), text)
    left_out = [note for note in report.notes if note.endswith("has another result, so it is left out.")]
    assert {note.split()[0] for note in left_out} == {"inverse_dynamics", "mass_matrix", "forward_dynamics"}
    for row in report.single:
        assert ("pinocchio" in row.microseconds) == (row.quantity in ("pose", "poses", "jacobian"))


def test_a_robot_that_peers_refuse():
    report = raced(kt.load("planar2"), "<robot/>")
    assert set(report.versions) == {"kinetree"}
    assert any(note.startswith("mujoco cannot use this robot: ") for note in report.notes)


@pytest.mark.sweep
def test_mimic_joints_are_not_compared():
    path = urdf("panda_description/panda.urdf")
    report = raced(kt.load(path), path.read_text())
    assert set(report.versions) == {"kinetree"}
    assert all("mimic" in note for note in report.notes)


def test_what_a_robot_does_not_have_is_said(without_peers):
    builder = kt.ModelBuilder("light")
    builder.link("base")
    builder.link("feather")
    builder.joint("j", "revolute", "base", "feather", axis=(0, 0, 1))
    report = raced(kt.Robot(builder.build()), "")
    assert {row.quantity for row in report.single} == set(ARGUMENTS) - {"forward_dynamics"}
    assert any(note.startswith("forward_dynamics: the mass matrix") for note in report.notes)


def test_json(cli):
    threads = kt.get_num_threads()
    content = json.loads(cli("bench", "planar2", "--quick", "--json").stdout)
    assert list(content) == ["name", "base", "nq", "nv", "frame", "versions", "states", "single", "batch", "notes"]
    assert (content["name"], content["base"], content["nv"], content["states"]) == ("planar2", "fixed", 2, STATES)
    assert content["versions"]["kinetree"] == kt.__version__
    for row in content["single"] + content["batch"]:
        assert list(row) == ["quantity", "threads", "microseconds", "ratios"]
        assert set(row["ratios"]) == set(row["microseconds"]) - {"kinetree"}
        for name, ratio in row["ratios"].items():
            assert ratio == pytest.approx(row["microseconds"][name] / row["microseconds"]["kinetree"])
        assert all(0 < us < 1e5 for us in row["microseconds"].values())
    assert {row["threads"] for row in content["single"]} == {None}
    assert {row["threads"] for row in content["batch"]} == {1, threads}
    assert kt.get_num_threads() == threads


@pytest.mark.sweep
def test_a_frame_of_ones_choice(cli, without_peers):
    assert json.loads(cli("bench", "arm7", "--frame", "tool0", "--quick", "--json").stdout)["frame"] == "tool0"
    assert (
        "frame 'tool' does not exist; did you mean 'tool0'?" in cli("bench", "arm7", "--frame", "tool", code=1).stderr
    )


def test_text_without_peers(cli, without_peers):
    result = cli("bench", "planar2", "--quick")
    for quantity in ARGUMENTS:
        assert result.stdout.count(f"\n{quantity} ") == 2
    assert "pinocchio is not installed." in result.stdout
    assert "×" not in result.stdout.split("Best of")[0]
    assert result.stderr == ""


def test_text_with_peers(cli):
    text = cli("bench", "planar2", "--quick").stdout
    assert "kinetree" in text and "pinocchio" in text and "mujoco" in text
    assert text.count("×") > 12


def test_nothing_to_measure(cli, tmp_path):
    path = tmp_path / "rock.urdf"
    path.write_text('<robot name="rock"><link name="all"/></robot>')
    assert "error: 'rock' has no joint that moves" in cli("bench", path, code=1).stderr
    assert "did you mean" in cli("bench", "armm6", code=1).stderr


def test_the_best_run_counts_and_all_take_turns():
    order, given = [], {"a": iter([1.0] * 2 + [5.0, 3.0, 4.0]), "b": iter([1.0] * 2 + [2.0, 9.0, 7.0])}

    def loop(name):
        def run(count):
            order.append(name)
            return next(given[name]) * count

        return run

    best = best_loops({name: loop(name) for name in "ab"}, Effort(repeats=3, seconds=1.0), lambda: order.append("|"))
    assert best == {"a": 3.0, "b": 2.0}
    assert "".join(order) == "aabb" + "ab|" * 3
