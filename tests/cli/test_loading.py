"""Options of loading are the same for every command that takes a robot, and they reach kt.load."""

import inspect
import json

import pytest

import kinetree as kt
from kinetree.cli.app import app
from kinetree.cli.loading import frames_to_complete, robots_to_complete

WITH_ROBOT = ["info", "check", "view", "ik", "dynamics", "simulate", "equations", "export", "convert", "bench"]
WITH_ROBOT += ["identify", "annotate", "montecarlo"]
OPTIONS = {"base", "gravity", "package_dir", "xacro_arg", "passive", "base_velocity", "spatial_order"}
XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="mass" default="1"/>
<link name="a"/><link name="b"><visual><geometry><mesh filename="package://parts/b.stl"/></geometry></visual>
<inertial><mass value="$(arg mass)"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><dynamics damping="2"/></joint></robot>"""


def test_every_command_has_them():
    commands = {command.callback.__name__: command.callback for command in app.registered_commands}
    for name in WITH_ROBOT:
        assert set(inspect.signature(commands[name]).parameters) >= OPTIONS | {"json"}, name
    assert set(commands) - {"demo"} == set(WITH_ROBOT)


def info(cli, *arguments):
    return json.loads(cli("info", *arguments, "--json").stdout)


def test_gravity_and_base(cli):
    assert info(cli, "arm6", "--gravity", "0,0,-1.62")["gravity"] == [0.0, 0.0, -1.62]
    assert "expected 3 numbers" in cli("info", "arm6", "--gravity", "0,1", code=2).stderr
    assert info(cli, "arm6", "--base", "floating")["nv"] == 12


def test_xacro_arguments_and_packages(cli, tmp_path):
    path = tmp_path / "r.xacro"
    path.write_text(XACRO)
    (tmp_path / "ws" / "parts").mkdir(parents=True)
    (tmp_path / "ws" / "parts" / "b.stl").write_bytes(b"solid b\nendsolid b\n")
    assert info(cli, path, "--xacro-arg", "mass:=2.5")["mass"] == 2.5
    assert info(cli, path)["missing_meshes"] == ["package://parts/b.stl"]
    assert info(cli, path, "--package-dir", tmp_path / "ws")["missing_meshes"] == []
    assert info(cli, path, "--passive")["passive"] is True
    assert "expected NAME:=VALUE" in cli("info", path, "--xacro-arg", "mass=2", code=2).stderr


def test_conventions_reach_the_dynamics(cli):
    def energy(*options):
        text = cli(
            "dynamics", "arm6", "centroidal_momentum", "--base", "floating", "--v", "0,0,0,1,0,0" + ",0" * 6,
            "--q", "floating_base[3]=0.6,floating_base[6]=0.8", "--json", *options,
        ).stdout  # fmt: skip
        return json.loads(text)["quantities"]["centroidal_momentum"]

    mixed = kt.load("arm6", "floating", base_velocity="mixed", spatial_order="angular-first")
    q = mixed.neutral()
    q[3], q[6] = 0.6, 0.8
    v = [0, 0, 0, 1, 0, 0] + [0] * 6
    expected = mixed.centroidal_momentum(q, v).tolist()
    assert energy("--base-velocity", "mixed", "--spatial-order", "angular-first") == expected != energy()


def test_completion(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.urdf").write_text("")
    (tmp_path / "arm.md").write_text("")
    (tmp_path / "arms").mkdir()
    assert list(robots_to_complete("arm")) == ["arm6", "arm7", "arm.urdf", "arms/"]

    class Context:
        def __init__(self, **params):
            self.params = params

    assert frames_to_complete(Context(robot="arm6"), "too") == ["tool0"]
    assert frames_to_complete(Context(robots=["arm6"]), "too") == ["tool0"]
    assert frames_to_complete(Context(robot="nothing"), "") == frames_to_complete(Context(), "") == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [("kinetree info pl", "planar2"), ("kinetree ik arm6 to", "tool0"), ("kinetree dyn", "dynamics")],
)
@pytest.mark.sampled(3)
def test_the_shell_asks(shell, words, expected):
    asking = {"_KINETREE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    assert expected in shell(env=asking).stdout.split()


def test_completion_can_be_shown(shell):
    run = shell("--show-completion", "bash", env={"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"})
    assert run.returncode == 0 and "_KINETREE_COMPLETE" in run.stdout
