"""A mesh file is read only if its format is known and its size is bounded, counted as it is after it has expanded.

Covers: geometry/files.py, geometry/limits.py.
"""

import json
import os
import struct
import subprocess
import sys
import zipfile

import pytest

import kinetree as kt
from kinetree.geometry import limits
from kinetree.geometry.files import read_mesh

trimesh, Image = pytest.importorskip("trimesh"), pytest.importorskip("PIL.Image")
pytest.importorskip("collada")

CORNERS = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\n"
COLLADA = (
    "<COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' version='1.4.1'><asset><unit meter='1'/></asset>"
    "{body}<library_visual_scenes><visual_scene id='s'>{scene}</visual_scene></library_visual_scenes>"
    "<scene><instance_visual_scene url='#s'/></scene></COLLADA>"
)
GEOMETRY = (
    "<library_geometries><geometry id='g'><mesh><source id='p'><float_array id='a' count='9'>0 0 0 1 0 0 0 1 0"
    "</float_array><technique_common><accessor source='#a' count='3' stride='3'><param name='X' type='float'/>"
    "<param name='Y' type='float'/><param name='Z' type='float'/></accessor></technique_common></source>"
    "<vertices id='v'><input semantic='POSITION' source='#p'/></vertices><triangles count='{n}'>"
    "<input semantic='VERTEX' source='#v' offset='0'/><p>{faces}</p></triangles></mesh></geometry></library_geometries>"
)
PLACED = "<instance_geometry url='#g'/>"


def collada(scene, body="", triangles=1):
    return COLLADA.format(body=GEOMETRY.format(n=triangles, faces="0 1 2 " * triangles) + body, scene=scene)


def gltf(**changes):
    return json.dumps(
        {
            "asset": {"version": "2.0"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "mode": 4}]}],
            "accessors": [{"componentType": 5126, "count": 3, "type": "VEC3"}],
            **changes,
        }
    )


def ply(vertices=3, faces=1, count="uchar", content=b""):
    head = f"ply\nformat binary_little_endian 1.0\nelement vertex {vertices}\n"
    head += "".join(f"property float {axis}\n" for axis in "xyz")
    return f"{head}element face {faces}\nproperty list {count} int vertex_indices\nend_header\n".encode() + content


DOUBLED = "".join(
    f"<node id='n{k}'><instance_node url='#n{k + 1}'/><instance_node url='#n{k + 1}'/></node>" for k in range(40)
)
ENTITY = '<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;&a;">]>'
HOSTILE = {
    "entities": ("m.dae", ENTITY + collada(PLACED), "document type declaration"),
    "a node that stands for two, forty times": (
        "m.dae",
        collada(
            "<node id='r'><instance_node url='#n0'/></node>",
            f"<library_nodes>{DOUBLED}<node id='n40'>{PLACED}</node></library_nodes>",
        ),
        "its scene has 6143 nodes",
    ),
    "a node that contains itself": (
        "m.dae",
        collada("<node id='a'><instance_node url='#a'/></node>"),
        "'a' contains itself",
    ),
    "a mesh that is placed at many nodes": (
        "m.dae",
        collada("".join(f"<node id='n{k}'>{PLACED}</node>" for k in range(2400)), "", 9000),
        "MB of meshes, counted as placed",
    ),
    "vertices that are not there": ("m.ply", ply(2 * 10**9), "announces 2000000000 elements, which are missing"),
    "a number of vertices that is none": ("m.ply", ply("9" * 5000), "which are missing"),
    "a list without end": ("m.ply", ply(3, 1, "uint", bytes(36) + struct.pack("<I", 2**31)), "cannot be read"),
    "a header without end": ("m.ply", b"ply\n" + b"comment a\n" * 10**5, "its header does not end"),
    "triangles that are not there": ("m.stl", bytes(80) + struct.pack("<I", 2**32 - 1), "no triangles|cannot be read"),
    "zeros that stand nowhere": (
        "m.gltf",
        gltf(accessors=[{"componentType": 5126, "count": 10**9, "type": "VEC3"}]),
        "it has 4000000000 numbers; expected at most",
    ),
    "a count that is no number": ("m.gltf", gltf(accessors=[{"componentType": 5126, "count": "x"}]), "has no count"),
    "many nodes": ("m.gltf", gltf(nodes=[{"mesh": 0}] * 10**4), "it has 10001 nodes and parts of meshes"),
    "brackets": ("m.gltf", "[" * 10**5, "RecursionError"),
    "a file from elsewhere": (
        "m.gltf",
        gltf(buffers=[{"uri": "../../../../../etc/passwd", "byteLength": 1}]),
        "refers to '../../../../../etc/passwd', which is no picture, material or buffer",
    ),
    "a buffer from elsewhere": (
        "m.gltf",
        gltf(buffers=[{"uri": "../../../a.bin", "byteLength": 1}]),
        "lies outside of its folder and of the one around it",
    ),
    "many materials": (
        "m.obj",
        CORNERS + "".join(f"usemtl m{k}\nf 1 2 3\n" for k in range(5000)),
        "it has 5000 materials; expected at most 1000",
    ),
    "corners that are not there": ("m.obj", CORNERS + "f 1 2 9\n", "cannot be read"),
    "a vertex that is nowhere": ("m.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "a vertex is not finite"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_mesh_that_would_grow_is_refused_before_it_does(name, tmp_path):
    file, content, expected = HOSTILE[name]
    (tmp_path / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(kt.KinetreeError, match=f"{file}.*({expected})") as caught:
        read_mesh(str(tmp_path / file))
    assert len(str(caught.value)) < 600


def test_the_same_kinds_of_files_are_read_if_nothing_is_wrong_with_them(tmp_path):
    square = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0) + struct.pack("<B3i", 3, 0, 1, 2)
    for name, content in (
        ("m.dae", collada(f"<node id='a'>{PLACED}</node><node id='b'>{PLACED}</node>").encode()),
        ("m.ply", ply(content=square)),
        ("m.obj", (CORNERS + "".join(f"usemtl m{k % 3}\nf 1 2 3\n" for k in range(2000))).encode()),
        ("M.OBJ", (CORNERS + "f 1 2 3\n").encode()),
    ):
        (tmp_path / name).write_bytes(content)
        count = sum(len(surface.triangles) for surface in read_mesh(str(tmp_path / name)))
        assert count == {"m.dae": 2, "m.ply": 1, "m.obj": 2000, "M.OBJ": 1}[name]


def test_archives_and_other_formats_are_not_opened(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "m.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m.obj", CORNERS + "f 1 2 3\n")
    monkeypatch.setattr(trimesh, "load_scene", lambda *_, **__: pytest.fail("it was opened"))
    for suffix in (".zip", ".3mf", ".zae", ".gz", ".3dxml", ".off", ".xyz", ".json", ".step", ".dxf", ".svg", ""):
        (tmp_path / "m.zip").rename(tmp_path / f"mesh{suffix}")
        with pytest.raises(kt.KinetreeError, match=r"expected a file that ends with \.stl, \.obj, \.ply, \.glb"):
            read_mesh(str(tmp_path / f"mesh{suffix}"))
        (tmp_path / f"mesh{suffix}").rename(tmp_path / "m.zip")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_pipes_and_devices_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.stl")
    (tmp_path / "zero.stl").symlink_to("/dev/zero")
    (tmp_path / "folder.stl").mkdir()
    for name in ("pipe.stl", "zero.stl", "folder.stl"):
        with pytest.raises(kt.KinetreeError, match=r"a device, a pipe or a folder|Is a directory"):
            read_mesh(str(tmp_path / name))
    os.mkfifo(tmp_path / "pipe.mtl")
    (tmp_path / "zero.mtl").symlink_to("/dev/zero")
    for k, name in enumerate(("pipe.mtl", "zero.mtl", "/etc/passwd", "http://127.0.0.1:9/a.mtl")):
        (tmp_path / f"{k}.obj").write_text(f"mtllib {name}\n{CORNERS}usemtl a\nf 1 2 3\n")
        assert len(read_mesh(str(tmp_path / f"{k}.obj"))) == 1, "without its material"


def test_sizes_are_bounded(tmp_path, monkeypatch):
    (tmp_path / "m.obj").write_text(CORNERS + "f 1 2 3\n" * 200)
    for limit, most, expected in (
        ("MOST_BYTES", 1000, "more than 0 MB"),
        ("MOST_TEXT", 1000, "MB of text; expected at most"),
        ("MOST_TRIANGLES", 100, "it has 200 triangles; expected at most 100"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(limits, limit, most)
            with pytest.raises(kt.KinetreeError, match=expected):
                read_mesh(str(tmp_path / "m.obj"))
    assert len(read_mesh(str(tmp_path / "m.obj"))[0].triangles) == 200


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_pictures_are_counted_by_their_pixels(tmp_path):
    """18 kB of PNG for 150 million pixels."""
    Image.new("1", (30000, 5000)).save(tmp_path / "large.png")
    Image.new("RGB", (8, 8)).save(tmp_path / "small.png")
    for size, expected in (("large", True), ("small", False)):
        (tmp_path / f"{size}.mtl").write_text(f"newmtl a\nmap_Kd {size}.png\n")
        (tmp_path / f"{size}.obj").write_text(f"mtllib {size}.mtl\n{CORNERS}usemtl a\nf 1/1 2/1 3/1\n")
        if expected:
            with pytest.raises(kt.KinetreeError, match="its pictures have 143 million pixels; expected at most 64"):
                read_mesh(str(tmp_path / f"{size}.obj"))
        else:
            assert read_mesh(str(tmp_path / f"{size}.obj"))[0].textured is not None


WITHIN = """
import resource, sys
from kinetree.geometry.files import read_mesh
import kinetree as kt
resource.setrlimit(resource.RLIMIT_DATA, (4 * 2**30,) * 2)
try:
    print(sum(len(surface.triangles) for surface in read_mesh(sys.argv[1])))
except kt.KinetreeError as problem:
    print(problem)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is bounded on Linux only")
@pytest.mark.parametrize("kind", ["dae", "obj"])
def test_the_largest_mesh_takes_less_than_four_gigabytes(kind, tmp_path):
    n = 4_500_000
    text = collada(f"<node id='n'>{PLACED}</node>", "", n) if kind == "dae" else CORNERS + "f 1 2 3\n" * n
    (tmp_path / f"m.{kind}").write_text(text)
    command = [sys.executable, "-c", WITHIN, str(tmp_path / f"m.{kind}")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == str(n)
