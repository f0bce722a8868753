"""Names in files of others reach a terminal only as something to read, wherever they are shown."""

import warnings

import numpy as np
import pytest

import kinetree as kt

typer = pytest.importorskip("typer")
from typer.testing import CliRunner  # noqa: E402

from kinetree.cli.app import app  # noqa: E402

HOSTILE = {
    "an escape sequence": "\x1b]0;title\x07\x1b[2J\x1b[31m",
    "a C1 code": "\x9b31m",
    "a mark of direction": "\u202eevil",
    "a carriage return": "good\rbad",
    "a line break": "good\nerror: bad",
    "no width": "a\u200bb\u2066c",
}
URDF = """<robot name="{name}"><link name="a{name}"/><link name="b{name}"><visual><geometry>
<mesh filename="package://{name}/{name}.stl"/></geometry></visual></link>
<joint name="j{name}" type="continuous"><parent link="a{name}"/><child link="b{name}"/><mimic joint="{name}"/>
</joint><gazebo/></robot>"""


def document(name):
    """None where XML has no such character."""
    written = "".join(f"&#{ord(character)};" if character in "\r\n" else character for character in name)
    return None if "\x1b" in name else URDF.format(name=written)


def loaded(name):
    """A robot whose names are such; XML has no control characters, code has."""
    builder = kt.ModelBuilder(name)
    builder.link(f"a{name}")
    builder.link(f"b{name}")
    builder.joint(f"j{name}", "continuous", f"a{name}", f"b{name}", axis=(0, 0, 2), mimic=kt.Mimic(name))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = kt.Robot(builder.build())
    return robot, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("name", HOSTILE)
def test_in_errors_warnings_and_findings(name):
    robot, said = loaded(HOSTILE[name])
    said += [*map(str, robot.check()), repr(robot)]
    for attempt in (
        lambda: robot.frame(HOSTILE[name]),
        lambda: robot.mass_matrix(np.zeros(3)),
        lambda: kt.edit.lock(robot, [HOSTILE[name]]),
        lambda: kt.load(f"<robot name='r'><link name='a'/><joint name='{name}' type='{HOSTILE[name]}'/></robot>"),
        lambda: kt.load(f"/nowhere/{HOSTILE[name]}.urdf"),
    ):
        with pytest.raises(kt.KinetreeError) as caught:
            attempt()
        said.append(str(caught.value))
    assert len(said) > 6 and all(sentence.isprintable() for sentence in said), said


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("command", [["info"], ["check"], ["info", "--json"], ["check", "--json"], ["dynamics"]])
def test_on_the_command_line(name, command, tmp_path):
    text = document(HOSTILE[name])
    if text is None:
        pytest.skip("not a character that XML has")
    (tmp_path / "r.urdf").write_text(text, encoding="utf-8")
    quantity = ["mass_matrix"] if command == ["dynamics"] else []
    result = CliRunner().invoke(app, [command[0], str(tmp_path / "r.urdf"), *quantity, *command[1:]])
    shown = result.output.replace("\n", "")
    assert shown.isprintable() and shown
