"""What an MJCF file can cost is bounded, whatever is in it: MuJoCo compiles it in a process with limits.

Covers: model/loaders/mjcf_guard.py, model/loaders/mujoco_child.py, model/loaders/mujoco_compiler.py.
"""

import json
import os
import resource
import subprocess
import sys
import threading
import time
import zipfile

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.loaders import mujoco_compiler

mujoco = pytest.importorskip("mujoco")

BODY = "<body><joint/><geom size='1'/></body>"
DOCUMENT = "<mujoco>{before}<worldbody>{bodies}</worldbody>{after}</mujoco>"


def document(bodies=BODY, before="", after=""):
    return DOCUMENT.format(before=before, bodies=bodies, after=after)


def attached(folder):
    """Each file attaches the one before twice: 2^40 bodies."""
    (folder / "m0.xml").write_text("<mujoco><worldbody><body name='b'><geom size='1'/></body></worldbody></mujoco>")
    for k in range(1, 41):
        parts = "".join(f"<attach model='p' body='b' prefix='{side}'/>" for side in "xy")
        (folder / f"m{k}.xml").write_text(
            f"<mujoco><asset><model name='p' file='m{k - 1}.xml'/></asset>"
            f"<worldbody><body name='b'>{parts}</body></worldbody></mujoco>"
        )
    return folder / "m40.xml"


def zipped(folder):
    """A mesh of 1.5 GB, in an archive of 1.5 MB."""
    with zipfile.ZipFile(folder / "m.zip", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("m.obj", "w") as file:
        for _ in range(190):
            file.write(b"v 0 0 0\n" * 2**20)
    text = document("<geom type='mesh' mesh='m'/>", "<asset><mesh name='m' file='m.zip/m.obj'/></asset>")
    (folder / "zipped.xml").write_text(text)
    return folder / "zipped.xml"


def textures(count, side):
    each = "<texture name='t{}' type='2d' builtin='flat' width='{}' height='{}'/>"
    return document(before=f"<asset>{''.join(each.format(k, side, side) for k in range(count))}</asset>")


EXPENSIVE = {
    "repeated bodies between comments in attributes": lambda _: document(
        f"<body name='<!--'/><replicate count='1e8'>{BODY}</replicate><body name='-->'/>"
    ),
    "repeated bodies behind an attribute": lambda _: document(
        f"<body name='&lt;!--'/><replicate count='100000000'>{BODY}</replicate><body name='--&gt;'/>"
    ),
    "keyframes": lambda _: document(before="<size nkey='99999999'/>"),
    "numbers of the user's for bodies": lambda _: document(BODY * 9, "<size nuser_body='99999999'/>"),
    "numbers of the user's for sensors": lambda _: document(after="<sensor><user dim='999999999'/></sensor>"),
    "stack": lambda _: document(before="<size memory='200G'/>"),
    "many textures": lambda _: textures(60, 9000),
    "files that attach each other": attached,
    "a mesh in an archive": zipped,
    "a mesh of a formula": lambda _: document(
        "<geom type='mesh' mesh='m'/>", "<asset><mesh name='m' builtin='supersphere' params='60000 1 1'/></asset>"
    ),
}
QUICK = ("numbers of the user's for sensors", "many textures", "a mesh of a formula")
LOAD = """
import json, re, resource, sys, time
from pathlib import Path
import kinetree as kt
from kinetree.model.loaders import mjcf, mujoco_compiler
if sys.argv[4] == "child":
    mjcf.check_cost = lambda *_: None
mujoco_compiler.MEMORY, mujoco_compiler.SECONDS = map(int, sys.argv[2:4])
begin = time.monotonic()
try:
    said = f"loaded {kt.load(sys.argv[1]).nv}"
except kt.KinetreeError as error:
    said = str(error)
status = Path("/proc/self/status").read_text()  # what getrusage says has the peak of the process that forked it
peaks = [int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) * 1024]
peaks.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
print(json.dumps({"said": said, "peaks": peaks, "seconds": time.monotonic() - begin}))
"""


def cost(content, memory, seconds, held_by):
    command = [sys.executable, "-c", LOAD, str(content), str(memory), str(seconds), held_by]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def check(content, memory, seconds, held_by="both"):
    found = cost(content, memory, seconds, held_by)
    assert "loaded" not in found["said"] and "\n" not in found["said"]
    assert found["peaks"][0] < 400 * 2**20 and found["peaks"][1] < memory + 100 * 2**20
    assert found["seconds"] < seconds + 10


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is bounded on Linux only")
@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in EXPENSIVE]
)
@pytest.mark.sampled(3)
def test_an_expensive_file_is_refused_within_the_limits_of_memory_and_time(tmp_path, name):
    """By the process alone, whatever the reader in front of it finds."""
    check(EXPENSIVE[name](tmp_path), 300 * 2**20, 10, held_by="child")


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is bounded on Linux only")
@pytest.mark.parametrize("name", EXPENSIVE)
def test_an_expensive_file_is_refused_within_the_limits_that_users_have(tmp_path, name):
    check(EXPENSIVE[name](tmp_path), mujoco_compiler.MEMORY, mujoco_compiler.SECONDS)


HIDDEN = {
    "in a comment's clothes": "<body name='<!--'/>{}<body name='-->'/>",
    "in a quoted comment": '<body name="&lt;!--"/>{}<body name="--&gt;"/>',
    "in text": "<![CDATA[<!--]]>{}<![CDATA[-->]]>",
    "by an instruction": "<?a <!--?>{}<?a -->?>",
}


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.parametrize("count", ["100000000", "1e8", "+1.0E08"])
def test_repetitions_are_counted_wherever_marks_of_comments_stand(name, count):
    begin = time.monotonic()
    with pytest.raises(kt.ModelError, match=r"more than 300000 elements|not well-formed XML"):
        kt.load(document(HIDDEN[name].format(f"<replicate count='{count}'>{BODY}</replicate>")))
    assert time.monotonic() - begin < 1.0


def test_elements_are_counted_after_expansion(monkeypatch):
    monkeypatch.setattr("kinetree.model.loaders.mjcf.MOST_ELEMENTS", 50)
    with pytest.raises(kt.ModelError, match=r"it has 1\d\d bodies, joints, shapes and other parts; no robot has that"):
        kt.load(document(f"<replicate count='40'>{BODY}</replicate>"))


def test_a_compiled_model_that_is_too_large_is_not_read(monkeypatch):
    monkeypatch.setattr(mujoco_compiler, "MOST_BYTES", 2**20)
    with pytest.raises(kt.ModelError, match=r"its compiled model takes 1[12] MB; expected at most 1 MB"):
        kt.load(textures(1, 2000))


def test_a_file_that_never_ends_is_not_waited_for(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.obj")
    monkeypatch.setattr(mujoco_compiler, "SECONDS", 1)
    (tmp_path / "m.xml").write_text(
        document("<geom type='mesh' mesh='m'/>", "<asset><mesh name='m' file='pipe.obj'/></asset>")
    )
    begin = time.monotonic()
    with pytest.raises(kt.ModelError, match=r"m\.xml: MuJoCo takes more than 1 s to compile it; if you trust the file"):
        kt.load(tmp_path / "m.xml")
    assert time.monotonic() - begin < 5.0


def test_a_child_that_cannot_start_is_a_sentence(monkeypatch, tmp_path):
    for executable, reason in ((str(tmp_path / "none"), "No such file or directory"), (None, "there is no Python")):
        monkeypatch.setattr("multiprocessing.spawn.get_executable", lambda found=executable: found)
        with pytest.raises(kt.ModelError, match=reason):
            kt.load(document())
    assert kt.load(mujoco.MjModel.from_xml_string(document())).nv == 1, "a model that the user compiled needs no child"


def test_the_child_compiles_what_the_package_compiles(tmp_path):
    """Meshes, includes, plugins' folder, sensors, keyframes: the same model to the last byte."""
    (tmp_path / "part.xml").write_text("<mujocoinclude><body name='p'><joint/><geom size='.1'/></body></mujocoinclude>")
    (tmp_path / "m.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (tmp_path / "m.xml").write_text(
        document(
            "<include file='part.xml'/><body><freejoint/><geom type='mesh' mesh='m'/></body>",
            "<asset><mesh name='m' file='m.obj'/><texture name='t' type='2d' builtin='checker' width='9' height='9'/>"
            "</asset>",
            "<keyframe><key name='k' qpos='0 1 2 3 1 0 0 0'/></keyframe>",
        )
    )
    compiled = mujoco_compiler.compile_mjcf(mujoco, b"", "", tmp_path / "m.xml")
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    buffer = np.empty(mujoco.mj_sizeModel(theirs), dtype=np.uint8)
    mujoco.mj_saveModel(theirs, None, buffer)
    ours = mujoco.MjModel.from_binary_path("m.mjb", {"m.mjb": compiled.model})
    assert len(compiled.model) == len(buffer)
    for name in ("body_mass", "body_inertia", "mesh_vert", "tex_data", "key_qpos", "names", "geom_pos"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))


def test_threads_compile_at_the_same_time():
    found = []
    threads = [
        threading.Thread(target=lambda k=k: found.append((k, kt.load(document(BODY * k)).nv))) for k in range(1, 7)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(k, k) for k in range(1, 7)]


def test_limits_of_this_process_stay_as_they_are():
    before = [resource.getrlimit(limit) for limit in (resource.RLIMIT_DATA, resource.RLIMIT_AS, resource.RLIMIT_CPU)]
    kt.load(document())
    assert before == [
        resource.getrlimit(limit) for limit in (resource.RLIMIT_DATA, resource.RLIMIT_AS, resource.RLIMIT_CPU)
    ]
