"""Files that cannot be a robot, whatever is in them: none is waited for, none is read without bound.

Covers: model/loaders/document.py, model/loaders/xml.py.
"""

import os
import resource
import subprocess
import sys
import time

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.loaders.xml import MOST_BYTES

ROBOT = '<robot name="arm"><link name="Spitze_ä"/></robot>'
ROOT = os.geteuid() == 0


def sentence(path):
    start = time.process_time()
    with pytest.raises(kt.ModelError) as caught:
        kt.load(path)
    assert time.process_time() - start < 5.0
    said = str(caught.value)
    assert said.startswith(str(path)) and "\n" not in said
    return said.removeprefix(str(path))


# -- not a file -----------------------------------------------------------------------------------------------------


def test_a_folder(tmp_path):
    assert sentence(tmp_path) == " is a folder; expected a model file"


def test_nothing(tmp_path):
    assert sentence(tmp_path / "none.urdf") == " does not exist; expected a model file"
    assert sentence(tmp_path / "none" / "none.urdf") == " does not exist; expected a model file"


@pytest.mark.parametrize("address", ["https://example.org/arm.urdf", "package://arm/arm.urdf"])
def test_an_address(address):
    with pytest.raises(kt.ModelError, match=rf"^'{address}' is an address; expected the path of a file"):
        kt.load(address)


def test_a_file_as_a_folder(tmp_path):
    (tmp_path / "arm").write_text(ROBOT)
    assert sentence(tmp_path / "arm" / "arm.urdf") == " cannot be read: Not a directory"


def test_a_pipe_that_nobody_writes_to(tmp_path):
    os.mkfifo(tmp_path / "pipe.urdf")
    assert sentence(tmp_path / "pipe.urdf") == " is a device or a pipe; expected a model file"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/random"])
def test_a_device(device):
    assert sentence(device) == " is a device or a pipe; expected a model file"


def test_links_that_lead_in_a_circle_or_nowhere(tmp_path):
    (tmp_path / "a.urdf").symlink_to(tmp_path / "b.urdf")
    (tmp_path / "b.urdf").symlink_to(tmp_path / "a.urdf")
    assert sentence(tmp_path / "a.urdf") == " cannot be read: Too many levels of symbolic links"
    (tmp_path / "c.urdf").symlink_to(tmp_path / "nowhere.urdf")
    assert sentence(tmp_path / "c.urdf") == " does not exist; expected a model file"


@pytest.mark.skipif(ROOT, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    (tmp_path / "arm.urdf").write_text(ROBOT)
    (tmp_path / "arm.urdf").chmod(0)
    assert sentence(tmp_path / "arm.urdf") == " cannot be read: Permission denied"


def test_a_file_that_the_system_refuses(tmp_path, monkeypatch):
    """As for a file without permission, also where root runs the tests."""
    (tmp_path / "arm.urdf").write_text(ROBOT)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    assert sentence(tmp_path / "arm.urdf") == " cannot be read: Permission denied"


def test_names_that_no_file_has():
    with pytest.raises(kt.ModelError, match="cannot be read: File name too long") as caught:
        kt.load("x" * 5000)
    assert len(str(caught.value)) < 200
    with pytest.raises(kt.ModelError, match="cannot be read"):
        kt.load("a\0b.urdf")
    with pytest.raises(kt.ModelError, match="cannot be read"):
        kt.load("\ud800.urdf")


# -- too much, too little -------------------------------------------------------------------------------------------


def test_empty_files(tmp_path):
    for content in (b"", b" \n\t\n"):
        (tmp_path / "empty.urdf").write_bytes(content)
        assert sentence(tmp_path / "empty.urdf") == " is empty; expected a model file"
    (tmp_path / "mark.urdf").write_bytes(b"\xef\xbb\xbf")
    assert "not well-formed XML (no element found)" in sentence(tmp_path / "mark.urdf")


def test_a_file_of_200_megabytes(tmp_path):
    with open(tmp_path / "large.urdf", "wb") as file:
        file.write(b"<robot>")
        file.truncate(200 * 2**20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert sentence(tmp_path / "large.urdf") == " has 200 MB; expected a robot's description, of at most 32 MB"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000, "kilobytes, of which it read none"


def test_a_document_of_200_megabytes():
    with pytest.raises(kt.ModelError, match="the given URDF document has 200 MB; expected a robot's description"):
        kt.load("<robot>".ljust(200 * 2**20))


SIZE = MOST_BYTES - 1000
WORST = {
    "elements": lambda: "<robot>" + "<a/>" * (SIZE // 4),
    "one name": lambda: f'<robot><link name="{"a" * SIZE}"',
    "numbers": lambda: (
        f'<robot><link name="a"><inertial><mass value="{"1 " * (SIZE // 2)}"/></inertial></link></robot>'
    ),
    "attributes": lambda: "<robot>" + '<a b="" c="" d="" e=""/>' * (SIZE // 24),
    "names": lambda: "<robot>" + "".join(f"<a{k} b{k}=''/>" for k in range(290_000)),
    "text": lambda: "<robot>" + "x<a/>" * 250_000,
    "one text": lambda: "<robot>" + "x" * SIZE,
}
ONE_LOAD = """
import resource, sys
import kinetree as kt
resource.setrlimit(resource.RLIMIT_DATA, (900 * 2**20, 900 * 2**20))
try:
    kt.load(sys.argv[1])
except kt.ModelError as error:
    print(error)
"""


@pytest.mark.parametrize(
    "name", [*list(WORST)[:2], *(pytest.param(x, marks=pytest.mark.long) for x in list(WORST)[2:])]
)
def test_the_largest_files_cost_no_more_than_a_few_hundred_megabytes(tmp_path, name):
    """Just below the bound, in a process that may not have more."""
    (tmp_path / "large.urdf").write_text(WORST[name]())
    command = [sys.executable, "-c", ONE_LOAD, str(tmp_path / "large.urdf")]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(str(tmp_path)) and len(run.stdout) < 2000


# -- bytes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_noise(tmp_path, seed):
    (tmp_path / "noise.urdf").write_bytes(np.random.default_rng(seed).bytes(5000))
    assert "not well-formed XML" in sentence(tmp_path / "noise.urdf")


@pytest.mark.parametrize(
    "start", [b"\x7fELF\x02\x01", b"PK\x03\x04", b"\x1f\x8b\x08", b"solid arm\n", b"{}", b"%PDF-1.7", b"---\nrobot:"]
)
def test_other_kinds_of_files(tmp_path, start):
    (tmp_path / "other.urdf").write_bytes(start + bytes(100))
    assert "line 1: not well-formed XML" in sentence(tmp_path / "other.urdf")


def test_null_bytes(tmp_path):
    (tmp_path / "null.urdf").write_bytes(ROBOT.encode().replace(b"arm", b"a\0m"))
    assert "line 1: not well-formed XML" in sentence(tmp_path / "null.urdf")
    (tmp_path / "padded.urdf").write_bytes(ROBOT.encode() + bytes(10))
    assert "line 1: not well-formed XML" in sentence(tmp_path / "padded.urdf")


READABLE = {
    "UTF-8": ROBOT.encode(),
    "UTF-8 with a mark": ROBOT.encode("utf-8-sig"),
    "UTF-16 with a mark": ROBOT.encode("utf-16"),
    "UTF-16, declared, with a mark": f'<?xml version="1.0" encoding="utf-16"?>{ROBOT}'.encode("utf-16"),
    "UTF-16 without a mark, little end first": ROBOT.encode("utf-16-le"),
    "UTF-16 without a mark, declared, big end first": f'<?xml version="1.0" encoding="utf-16"?>{ROBOT}'.encode(
        "utf-16-be"
    ),
    "Latin 1, declared": f'<?xml version="1.0" encoding="iso-8859-1"?>{ROBOT}'.encode("latin-1"),
    "Windows 1252, declared": f'<?xml version="1.0" encoding="windows-1252"?>{ROBOT}'.encode("cp1252"),
}
UNREADABLE = {
    "Latin 1, not declared": (ROBOT.encode("latin-1"), "line 1: not well-formed XML"),
    "Latin 1, called UTF-8": (
        b'<?xml version="1.0" encoding="utf-8"?>' + ROBOT.encode("latin-1"),
        "not well-formed XML",
    ),
    "UTF-32": (ROBOT.encode("utf-32"), "not well-formed XML"),
    "UTF-16 cut in half": (ROBOT.encode("utf-16")[:-1], "not well-formed XML"),
    "UTF-8, called UTF-16": (f'<?xml version="1.0" encoding="utf-16"?>{ROBOT}'.encode(), "not well-formed XML"),
    "an encoding that nobody knows": (
        b'<?xml version="1.0" encoding="klingon"?>' + ROBOT.encode(),
        "cannot be read as XML (unknown encoding: klingon)",
    ),
    "an encoding of several bytes": (
        f'<?xml version="1.0" encoding="utf-7"?>{ROBOT}'.encode("utf-7"),
        "cannot be read as XML (multi-byte encodings are not supported)",
    ),
    "surrogates": (ROBOT.replace("ä", "\ud800").encode("utf-8", "surrogatepass"), "not well-formed XML"),
    "UTF-8 that is longer than it must be": (ROBOT.encode().replace("ä".encode(), b"\xc0\xbc"), "not well-formed XML"),
}


@pytest.mark.parametrize("name", READABLE)
def test_encodings(tmp_path, name):
    (tmp_path / "arm.urdf").write_bytes(READABLE[name])
    assert kt.load(tmp_path / "arm.urdf").frame_names == ("Spitze_ä",)
    assert kt.load(READABLE[name]).frame_names == ("Spitze_ä",)


@pytest.mark.parametrize("name", UNREADABLE)
def test_wrong_encodings(tmp_path, name):
    content, expected = UNREADABLE[name]
    (tmp_path / "arm.urdf").write_bytes(content)
    assert expected in sentence(tmp_path / "arm.urdf")


def test_a_string_with_a_lone_surrogate():
    with pytest.raises(kt.ModelError, match="cannot be read as XML"):
        kt.load(ROBOT.replace("ä", "\ud800"))
