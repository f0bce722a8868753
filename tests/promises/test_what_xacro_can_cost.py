"""A xacro file is a program of somebody else: what it can cost is bounded, and it leaves this process as it was.

Covers: model/loaders/limited_child.py, model/loaders/limited_process.py.
"""

import contextlib
import io
import os
import sys
import threading
import time

import pytest

import kinetree as kt
from kinetree.model.loaders import xacro

pytest.importorskip("xacro")

DOCUMENT = "<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'>{}<link name='a'/></robot>"
BOMB = "".join(f"<xacro:macro name='m{k}'><xacro:m{k + 1}/><xacro:m{k + 1}/></xacro:macro>" for k in range(30))
LAUGHS = "".join(f'<!ENTITY a{k + 1} "{f"&a{k};" * 10}">' for k in range(12))


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Loads a document with these elements in it, in a child of little memory."""
    monkeypatch.setattr(xacro, "MEMORY", 200 * 2**20)

    def load(elements, **options):
        (tmp_path / "r.xacro").write_text(DOCUMENT.format(elements))
        return kt.load(tmp_path / "r.xacro", **options)

    return load


ENDLESS = {
    "a number of all digits": "<a b='${9**9**9}'/>",
    "macros that call two others": BOMB + "<xacro:macro name='m30'/><xacro:m0/>",
    "a pipe": "<xacro:include filename='pipe.xacro'/>",
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
@pytest.mark.parametrize("name", ENDLESS)
def test_a_file_that_computes_for_ever_is_not_waited_for(name, load, tmp_path, monkeypatch):
    monkeypatch.setattr(xacro, "SECONDS", 1)
    os.mkfifo(tmp_path / "pipe.xacro")
    begin = time.monotonic()
    with pytest.raises(kt.ModelError, match=r"r\.xacro: xacro takes more than (1 s|0\.2 GB of memory) to expand it"):
        load(ENDLESS[name])
    assert time.monotonic() - begin < 20.0


LARGE = {
    "a list": "<a b='${len([0]*10**10)}'/>",
    "a text": "<a b=\"${'a'*10**10}\"/>",
    "entities of an included file": "<xacro:include filename='laughs.xacro'/>",
}


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is bounded on Linux only")
@pytest.mark.parametrize("name", LARGE)
def test_a_file_that_fills_the_memory_ends(name, load, tmp_path, monkeypatch):
    monkeypatch.setattr(xacro, "SECONDS", 3)
    (tmp_path / "laughs.xacro").write_text(f'<!DOCTYPE r [<!ENTITY a0 "aaaa">{LAUGHS}]><robot>&a12;</robot>')
    with pytest.raises(kt.ModelError, match=r"takes more than 0\.2 GB of memory|limit on input amplification|than 3 s"):
        load(LARGE[name])


def test_what_it_expands_to_is_bounded(load, monkeypatch):
    monkeypatch.setattr(xacro, "MOST_BYTES", 2**20)
    with pytest.raises(kt.ModelError, match="it expands to 3 MB; expected at most 1 MB"):
        load("<xacro:property name='s' value=\"${'a'*10**6}\"/>" + "<a b='${s}'/>" * 4)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="devices")
def test_devices_are_no_files_to_include(load, tmp_path):
    (tmp_path / "zero.xacro").symlink_to("/dev/zero")
    with pytest.raises(kt.ModelError, match=r"in \S+zero\.xacro: xacro|takes more than"):
        load("<xacro:include filename='zero.xacro'/>")


@pytest.mark.parametrize(
    "expression",
    [
        "[c.__class__ for c in [1]]",
        "(lambda: ().__class__)()",
        "(x for x in [1]).gi_frame.f_back",
        "len.__self__",
        "__import__('os')",
    ],
)
def test_expressions_do_not_reach_into_python(load, expression):
    """In the process of the file, as a first hurdle: no promise, since Python has too many ways."""
    with pytest.raises(kt.ModelError, match="expressions may not use"):
        load(f'<a b="${{{expression}}}"/>')


def test_names_of_properties_may_look_like_pythons_own(load):
    elements = "<xacro:property name='f_max' value='3'/><xacro:property name='gi' value='${dict(f_back=2)}'/>"
    assert load(f"{elements}<link name='b${{f_max + 1}}'/>" + joint("b4")).frame_names == ("a", "b4")


def joint(child):
    return f"<joint name='j' type='fixed'><parent link='a'/><child link='{child}'/></joint>"


def test_nothing_of_a_file_stays_in_this_process(load, monkeypatch):
    """Neither modules, nor changes to the package or to YAML, nor the environment."""
    monkeypatch.delitem(sys.modules, "xacro", raising=False)
    before, folder, environment = set(sys.modules), os.getcwd(), dict(os.environ)
    assert load("<link name='b'/>" + joint("b")).frame_names == ("a", "b")
    assert not {name for name in set(sys.modules) - before if name.partition(".")[0] in ("xacro", "yaml")}
    assert (os.getcwd(), dict(os.environ)) == (folder, environment)


def test_what_other_threads_write_to_stderr_arrives(load):
    """While the package speaks on its own stderr."""
    heard, over = io.StringIO(), threading.Event()

    def write():
        k = 0
        while not over.is_set():
            print(f"line {k}", file=sys.stderr)
            k += 1
            time.sleep(0.001)
        lines.append(k)

    lines = []
    with contextlib.redirect_stderr(heard):
        thread = threading.Thread(target=write)
        thread.start()
        robot = load("${xacro.warning('old')}")
        over.set()
        thread.join()
    assert any("old" in str(finding) for finding in robot.check())
    assert heard.getvalue().splitlines() == [f"line {k}" for k in range(lines[0])] and lines[0] > 3


def test_remarks_are_kept_within_bounds(load):
    robot = load("<a b=\"${[xacro.warning(str(k) + 'w' * 1000, print_location=False) for k in range(300)] and 1}\"/>")
    remarks = [finding for finding in robot.check() if finding.element == "xacro"]
    assert len(remarks) == 100 and all(len(remark.message) <= 500 for remark in remarks)


def test_a_child_that_cannot_start_is_a_sentence(load, monkeypatch, tmp_path):
    for executable, reason in ((str(tmp_path / "none"), "No such file or directory"), (None, "there is no Python")):
        monkeypatch.setattr("multiprocessing.spawn.get_executable", lambda found=executable: found)
        with pytest.raises(kt.ModelError, match=reason):
            load("")
