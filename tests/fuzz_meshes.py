"""A fuzzer of mesh files, STL, OBJ, PLY, glTF and COLLADA: `python tests/fuzz_meshes.py SECONDS [SEED]`.

Whatever comes out are surfaces that can be shown, or an error of this library that says so in one sentence.
"""

from __future__ import annotations

import io
import random
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import trimesh
from PIL import Image

import kinetree as kt
from fuzzing import check_sentence, damaged_bytes, damaged_words, main
from kinetree.geometry.files import read_mesh
from kinetree.geometry.limits import MOST_TRIANGLES
from kinetree.geometry.surfaces import creased

TEXT = (".obj", ".dae", ".gltf", ".mtl")


@cache
def files() -> dict[str, dict[str, bytes]]:
    """Good files, each with those that it refers to; the mesh itself comes first."""
    box = trimesh.creation.box()
    picture = Image.new("RGB", (4, 4), (255, 0, 0))
    material = trimesh.visual.material.SimpleMaterial(image=picture)
    textured = box.copy()
    textured.visual = trimesh.visual.TextureVisuals(uv=np.zeros((8, 2)), material=material)
    colored = box.copy()
    colored.visual.vertex_colors = [255, 0, 0, 255]
    scene = trimesh.Scene([box, trimesh.creation.icosphere(subdivisions=0)])
    encoded = io.BytesIO()
    picture.save(encoded, "png")
    obj, beside = trimesh.exchange.obj.export_obj(textured, return_texture=True)
    gltf = {name: _as_bytes(content) for name, content in scene.export(file_type="gltf").items()}
    return {
        "binary.stl": {"m.stl": box.export(file_type="stl")},
        "ascii.stl": {"m.stl": box.export(file_type="stl_ascii").encode()},
        "plain.obj": {"m.obj": box.export(file_type="obj").encode()},
        "textured.obj": {"m.obj": obj.encode(), **{k: _as_bytes(v) for k, v in beside.items()}},
        "binary.ply": {"m.ply": colored.export(file_type="ply")},
        "ascii.ply": {"m.ply": colored.export(file_type="ply", encoding="ascii")},
        "scene.glb": {"m.glb": scene.export(file_type="glb")},
        "textured.glb": {"m.glb": textured.export(file_type="glb")},
        "scene.gltf": {"m.gltf": gltf.pop("model.gltf"), **gltf},
        "plain.dae": {"m.dae": box.export(file_type="dae")},
        "textured.dae": {"m.dae": textured.export(file_type="dae"), "m.png": encoded.getvalue()},
    }


def _as_bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def check(content: dict[str, bytes]) -> str:
    """Reads a mesh as the viewer does; says what became of it."""
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        for name, data in content.items():
            (Path(folder) / name).write_bytes(data)
        mesh = next(name for name in content if name.startswith("m."))
        try:
            surfaces = read_mesh.__wrapped__(str(Path(folder) / mesh))
        except kt.KinetreeError as problem:
            check_sentence(problem)
            return "refused"
        assert 0 < sum(len(surface.triangles) for surface in surfaces) <= MOST_TRIANGLES
        for surface in surfaces:
            assert surface.vertices.ndim == surface.triangles.ndim == 2
            assert surface.vertices.shape[1] == surface.triangles.shape[1] == 3
            assert surface.triangles.min() >= 0 and surface.triangles.max() < len(surface.vertices)
            assert np.isfinite(surface.vertices).all()
            assert surface.color is None or np.isfinite(surface.color).all()
            creased(surface)
    return "read"


def run(rng: random.Random) -> str:
    """One damaged mesh."""
    content = dict(rng.choice(list(files().values())))
    name = rng.choice(list(content))
    is_text = name.endswith(TEXT) or content[name].startswith((b"solid", b"ply\nformat ascii"))
    if is_text and rng.random() < 0.7:
        text = content[name].decode("utf-8", "replace").replace(">", ">\n")
        content[name] = damaged_words(text, rng).encode("utf-8", "replace")
    else:
        content[name] = damaged_bytes(content[name], rng)
    return check(content)


if __name__ == "__main__":
    main(run)
