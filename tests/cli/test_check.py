"""kinetree check: what it finds, and the exit code that tells."""

import json

import kinetree as kt
from peers import urdf

ODD = """<robot name="r"><link name="a"/><link name="b"/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/>{}</joint></robot>"""


def test_nothing(cli):
    assert cli("check", "arm6").stdout == "Nothing looks wrong.\n"
    assert json.loads(cli("check", "arm6", "--json").stdout) == {"name": "arm6", "findings": [], "warnings": []}


def test_something(cli):
    path = urdf("ur5_robot.urdf")
    content = json.loads(cli("check", path, "--json", code=1).stdout)
    assert [finding["message"] for finding in content["findings"]] == [found.message for found in kt.load(path).check()]
    text = cli("check", path, code=1).stdout
    assert text.startswith(f"{len(content['findings'])} thing")
    assert all(finding["message"] in text for finding in content["findings"])


def test_a_warning_is_said_once(cli, tmp_path):
    path = tmp_path / "odd.urdf"
    path.write_text(ODD.format('<mimic joint="nobody"/>'))
    text = cli("check", path, code=1).stdout
    assert text.count("nobody") == 1


def test_what_does_not_load(cli, tmp_path):
    path = tmp_path / "broken.urdf"
    path.write_text("<robot>")
    result = cli("check", path, code=1)
    assert result.stdout == "" and result.stderr.startswith(f"error: {path}")
