"""kinetree check: what it finds, and the exit code that tells."""

import json

import kinetree as kt
from peers import urdf

ODD = """<robot name="r"><link name="a"/><link name="b"/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/>{}</joint></robot>"""
TWO_FAULTS = ODD.format('<axis xyz="0 0 0"/><origin xyz="x"/>').replace('<link name="a"/>', "")


def test_nothing(cli):
    assert cli("check", "arm6").stdout == "Nothing looks wrong.\n"
    assert json.loads(cli("check", "arm6", "--json").stdout) == {"name": "arm6", "findings": []}


def test_something(cli):
    path = urdf("ur5_robot.urdf")
    content = json.loads(cli("check", path, "--json").stdout)
    assert [finding["message"] for finding in content["findings"]] == [found.message for found in kt.load(path).check()]
    text = cli("check", path).stdout
    assert text.split()[1] in ("note", "notes", "warning", "warnings")
    assert all(finding["message"] in text for finding in content["findings"])


def test_warnings_end_with_one_only_if_that_is_wanted(cli, tmp_path):
    path = tmp_path / "odd.urdf"
    path.write_text(ODD.format('<mimic joint="nobody"/>'))
    text = cli("check", path).stdout
    assert text.count("nobody") == 1 and "warning joint 'j'" in text
    assert cli("check", path, "--strict", code=1).stdout == text
    assert cli("check", "arm6", "--strict").stdout == "Nothing looks wrong.\n"


def test_all_faults_are_listed_the_worst_first(cli, tmp_path):
    path = tmp_path / "odd.urdf"
    path.write_text(TWO_FAULTS)
    text = cli("check", path, code=1).stdout
    lines = text.splitlines()
    assert lines[0].startswith("3 errors, ") and all(line.startswith("error   ") for line in lines[1:4])
    assert "parent link 'a' does not exist" in text and "a link without mass of that name is added" in text
    assert [
        finding["severity"] for finding in json.loads(cli("check", path, "--json", code=1).stdout)["findings"]
    ].count("error") == 3


def test_what_cannot_be_repaired_comes_after_what_was_found(cli, tmp_path):
    path = tmp_path / "odd.urdf"
    path.write_text('<robot name="r">\n<link name="a"><visual/></link><joint name="j" type="odd"/></robot>')
    text = cli("check", path, code=1).stdout
    assert "error   joint 'j' (line 2): type is 'odd'" in text and "<visual> has no <geometry>" in text


def test_what_does_not_load(cli, tmp_path):
    path = tmp_path / "broken.urdf"
    path.write_text("<robot>")
    result = cli("check", path, code=1)
    assert result.stdout == "" and result.stderr.startswith(f"error: {path}")
