"""Four times as much of anything in a file takes about four times as long to read, or to refuse."""

import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import unknown
from kinetree.geometry.files import read_mesh
from kinetree.model.loaders.dh import read_dh
from kinetree.model.loaders.mjcf_guard import check_cost, is_mjcf

INERTIAL = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"

LONG = "a" * 99
UNDEFINED = "<box size='1 1 1'/></geometry><material name='{}'/>"
FACET = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"


def robot(elements):
    return f"<robot name='r'>{elements}</robot>"


def joint(k, parent, child, inside=""):
    ends = f"<parent link='{parent}'/><child link='{child}'/>"
    return f"<joint name='j{k}' type='continuous'>{ends}{inside}</joint>"


def tree(n, parent, inside=lambda k: ""):
    links = "".join(f"<link name='l{k}'>{INERTIAL}</link>" for k in range(n + 1))
    return robot(links + "".join(joint(k, f"l{parent(k)}", f"l{k + 1}", inside(k)) for k in range(n)))


def mass(value):
    return robot(f"<link name='a'><inertial><mass value='{value}'/></inertial></link>")


def follows(k):
    return f"<mimic joint='j{k}'/>"


def similar(k):
    return f"<link name='{LONG}{k}'/>"


def visuals(n, shape):
    end = "" if "</geometry>" in shape else "</geometry>"
    geometry = "".join(f"<visual><geometry>{shape.format(k)}{end}</visual>" for k in range(n))
    return robot(f"<link name='a'>{geometry}</link>")


URDF = {
    "comments that do not end": (300_000, lambda n: "<robot name='r'>" + "<!--" * n),
    "text that does not end": (300_000, lambda n: "<robot name='r'>" + "<![CDATA[" * n),
    "instructions before the root": (100_000, lambda n: "<?a?>" * n),
    "comments before the root": (100_000, lambda n: "<!-- -->" * n),
    "document types": (100_000, lambda n: "<!DOCTYPE a [" * n),
    "spaces": (1_000_000, lambda n: "<?a?>" + " " * n + "x"),
    "a long name": (1_000_000, lambda n: robot(f"<link name='{'a' * n}'/>")),
    "many numbers": (300_000, lambda n: mass("1 " * n)),
    "many digits": (1_000_000, lambda n: mass("1" * n)),
    "many attributes": (10_000, lambda n: robot("<link name='a' " + " ".join(f"a{k}='1'" for k in range(n)) + "/>")),
    "words between elements": (10_000, lambda n: robot("x<a/>" * n + "<link name='a'/>")),
    "character references": (200_000, lambda n: robot("&#65;" * n + "<link name='a'/>")),
    "tags that nobody knows": (5000, lambda n: robot("".join(f"<t{k}/>" for k in range(n)) + "<link name='a'/>")),
    "links of one name": (5000, lambda n: robot("<link name='a'/>" * n)),
    "links without joints": (1000, lambda n: robot("".join(f"<link name='l{k}'/>" for k in range(n)))),
    "origins of one joint": (5000, lambda n: robot(joint(0, "a", "b", "<origin/>" * n))),
    "a chain": (150, lambda n: tree(n, lambda k: k)),
    "a star": (150, lambda n: tree(n, lambda k: 0)),
    "followers of nobody": (150, lambda n: tree(n, lambda k: 0, lambda k: "<mimic joint='nobody'/>")),
    "followers of followers": (150, lambda n: tree(n, lambda k: 0, lambda k: follows(k + 1) * (k < n - 1))),
    "followers in a circle": (150, lambda n: tree(n, lambda k: 0, lambda k: follows((k + 1) % n))),
    "similar names": (300, lambda n: robot("".join(map(similar, range(n))) + joint(0, LONG, "b"))),
    "materials that are not defined": (500, lambda n: visuals(n, UNDEFINED)),
    "packages that are missing": (500, lambda n: visuals(n, "<mesh filename='package://p{}/a.stl'/>")),
    "a file name of slashes": (300_000, lambda n: visuals(1, f"<mesh filename='package:{'/' * n}'/>")),
    "a file name of escapes": (50_000, lambda n: visuals(1, f"<mesh filename='{'%41' * n}'/>")),
}


def frames(n, on):
    listed = "".join(f"<frame name='f{k}' attached_to='{on(k)}'><pose>0 0 1 0 0 0</pose></frame>" for k in range(n))
    return f"<sdf version='1.9'><model name='m'><link name='a'/>{listed}</model></sdf>"


SDF = {
    "a chain of frames": (1000, lambda n: frames(n, lambda k: f"f{k - 1}" if k else "a")),
    "a chain of frames, the last first": (1000, lambda n: frames(n, lambda k: f"f{k + 1}" if k < n - 1 else "a")),
    "frames in a circle": (5000, lambda n: frames(n, lambda k: f"f{(k + 1) % n}")),
}
MJCF = {
    "comments that do not end": (100_000, lambda n: "<mujoco>" + "<!--" * n),
    "quotes that do not end": (100_000, lambda n: "<mujoco>" + "<a b='" * n),
    "text that does not end": (100_000, lambda n: "<mujoco>" + "<![CDATA[" * n),
    "instructions that do not end": (100_000, lambda n: "<mujoco>" + "<?" * n),
    "comments": (50_000, lambda n: "<mujoco>" + "<!-- -- -->" * n + "</mujoco>"),
    "comments in attributes": (20_000, lambda n: "<mujoco>" + "<a b='<!--'/>" * n + "</mujoco>"),
    "numbers": (300_000, lambda n: f"<mujoco><mesh vertex='{'1 ' * n}'/></mujoco>"),
    "words of spaces": (300_000, lambda n: f"<mujoco><replicate count='{' ' * n}1'/></mujoco>"),
    "digits": (300_000, lambda n: f"<mujoco><replicate count='{'1' * n}'/></mujoco>"),
}
TOML = {
    "rows": (100, lambda n: "[[link]]\na = 1.0\n" * n),
    "keys of parts": (3000, lambda n: "[[link]]\n" + "a.b.c.d = 1\n" + ".".join("a" * n) + " = 1"),
    "keys of spaces": (30_000, lambda n: "a" + " " * n + "." + " " * n + "b = 1"),
    "quotes": (30_000, lambda n: '"' * n),
    "escapes": (10_000, lambda n: 'a = "' + "\\u0041" * n + '"'),
    "brackets": (30_000, lambda n: "[" * n),
    "commas": (8000, lambda n: "a = [" + "1," * n),
    "dots": (30_000, lambda n: "a." * n),
    "comments": (30_000, lambda n: "# a\n" * n),
    "entries that nobody knows": (1000, lambda n: "".join(f"a{k} = 1\n" for k in range(n))),
}
MESHES = {
    "faces.obj": (5000, lambda n: "v 0 0 0\nv 1 0 0\nv 0 1 0\n" + "f 1 2 3\n" * n),
    "polygon.obj": (20_000, lambda n: "v 0 0 0\nv 1 0 0\nv 0 1 0\nf " + "1 2 3 " * n),
    "junk.obj": (50_000, lambda n: "usemtl " * n),
    "facets.stl": (2000, lambda n: "solid a\n" + FACET * n),
    "junk.stl": (100_000, lambda n: "solid a\n" + "facet " * n),
    "comments.ply": (100_000, lambda n: "ply\n" + "comment element\n" * n),
    "nodes.dae": (5000, lambda n: "<COLLADA>" + "<node/>" * n + "</COLLADA>"),
    "comments.dae": (200_000, lambda n: "<COLLADA>" + "<!--" * n),
}


def seconds(read, content):
    """Of this process alone, the least of two."""
    spent = []
    for _ in range(2):
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read(content)
            except kt.KinetreeError as problem:
                assert len(str(problem)) < 2000
        spent.append(time.process_time() - begin)
    return min(spent)


def check(read, n, made):
    """A quadratic reader would take sixteen times as long."""
    small, large = seconds(read, made(n)), seconds(read, made(4 * n))
    assert large < 9.0 * small + 0.1, f"{n}: {small:.3f} s, {4 * n}: {large:.3f} s"


@pytest.mark.parametrize("name", URDF)
@pytest.mark.sampled(5)
def test_urdf(name):
    check(kt.load, *URDF[name])


@pytest.mark.parametrize("name", SDF)
def test_sdf(name):
    check(kt.load, *SDF[name])


@pytest.mark.parametrize("name", MJCF)
def test_mjcf_before_it_is_compiled(name):
    def read(text):
        assert is_mjcf(text)
        check_cost(text, "a document", Path())

    check(read, *MJCF[name])


@pytest.mark.parametrize("name", TOML)
def test_tables(name):
    check(lambda text: read_dh(text, "a table"), *TOML[name])


@pytest.mark.parametrize("name", MESHES)
def test_meshes(name, tmp_path):
    pytest.importorskip("trimesh")
    pytest.importorskip("collada")

    def read(text):
        (tmp_path / name).write_text(text)
        read_mesh.__wrapped__(str(tmp_path / name))

    seconds(read, MESHES[name][1](1))  # imports
    check(read, *MESHES[name])


def test_names_that_do_not_exist():
    check(
        lambda names: unknown("frame", "tool" * 10_000, names), 600, lambda n: [f"{'tool' * 20}{k}" for k in range(n)]
    )


@pytest.mark.parametrize("kind", ["to_urdf", "check", "lock", "scale", "plot"])
@pytest.mark.sampled(4)
def test_what_is_done_with_a_long_chain(kind):
    """Deeper than Python's stack."""
    chain = kt.load(tree(1500, lambda k: k))
    if kind == "plot":
        pytest.importorskip("matplotlib")
        from kinetree.plot.tree import _rows  # noqa: PLC0415 - to draw so many names takes long

        assert _rows(chain.model.parents) == [0.0] * 1501
    elif kind == "lock":
        assert kt.edit.lock(chain, ["j700"]).nv == 1499
    elif kind == "scale":
        assert kt.edit.scale(chain, 2.0).nv == 1500
    else:
        assert len(getattr(chain, kind)()) == 0 if kind == "check" else len(getattr(chain, kind)()) > 1500


def test_recordings(tmp_path):
    def made(n):
        return kt.Trajectory(np.arange(n) * 0.1, {"q": np.zeros((n, 2)), "v": np.zeros((n, 2))}, steps=np.array(n - 1))

    def read(trajectory):
        for suffix in (".npz", ".parquet"):
            trajectory.save(tmp_path / f"a{suffix}")
            kt.Trajectory.load(tmp_path / f"a{suffix}")

    pytest.importorskip("pyarrow")
    read(made(4))
    check(read, 50_000, made)
