"""What a mesh file may cost, counted before a reader is given it and again after it has expanded.

Only files of formats that are listed here are read, no archives among them, and only regular files. A file says how
large it will be in its own way: by counts in a header, by nodes that place a mesh again, by entities of XML.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.model.loaders.xml import Element, parse

SUFFIXES = (".stl", ".obj", ".ply", ".glb", ".gltf", ".dae")
BESIDE = (".mtl", ".bin", ".png", ".jpg", ".jpeg", ".tga", ".bmp", ".tif", ".tiff", ".gif", ".webp")
"""Files that a mesh may refer to."""
MOST_BYTES = 256 * 2**20
"""Of a file with all that it refers to."""
MOST_TEXT = 64 * 2**20
"""Of a file of text, which has six bytes or more for a triangle."""
MOST_TRIANGLES = 5_000_000
MOST_NODES = 5000
"""Places at which a scene has a mesh; readers take some milliseconds for each."""
MOST_MATERIALS = 1000
"""Of an OBJ file, which becomes a mesh for each of them."""
MOST_PIXELS = 2**26
"""Of all pictures on a mesh."""
MOST_NUMBERS = 10 * MOST_TRIANGLES
PLY_ELEMENT = re.compile(rb"element\s+\S+\s+(\S+)")
OBJ_MATERIAL = re.compile(rb"^[ \t]*+usemtl[ \t]++([^\r\n]*+)", re.MULTILINE)
LONGEST_HEADER = 2**16


class TooLargeError(KinetreeError):
    """A mesh beyond one of the limits."""


class Files:
    """A mesh's file and those that it refers to, which may lie in its own folder, the one around it, or below."""

    def __init__(self, path: str) -> None:
        self.folder = os.path.dirname(os.path.abspath(path))
        self.left = MOST_BYTES

    def read(self, path: str) -> bytes:
        """All of a regular file: reading from a pipe or a device might never end."""
        with open(path, "rb", opener=_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError("it is a device, a pipe or a folder; expected a file")
            content = file.read(self.left + 1)
        if len(content) > self.left:
            raise TooLargeError(f"with all that belongs to it, it has more than {MOST_BYTES >> 20} MB")
        self.left -= len(content)
        return content

    def get(self, name: str) -> bytes:
        """A file that the mesh refers to: a material, a picture, a buffer. This is how trimesh asks for it."""
        path = os.path.normpath(os.path.join(self.folder, name))
        if Path(path).suffix.lower() not in BESIDE:
            raise OSError(f"it refers to {name!r}, which is no picture, material or buffer")
        if os.path.commonpath([path, os.path.dirname(self.folder)]) != os.path.dirname(self.folder):
            raise OSError(f"it refers to {name!r}, which lies outside of its folder and of the one around it")
        return self.read(path)

    __getitem__ = get

    def keys(self) -> tuple[str, ...]:
        """No names are known beforehand."""
        return ()

    def namespaced(self, _: str) -> Files:
        """All names are relative to the same folder."""
        return self


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # a pipe that nobody writes to would be waited for


def check_content(suffix: str, content: bytes) -> None:
    """Raises for a file that would become too large."""
    is_text = suffix in (".obj", ".dae", ".gltf") or content[:5].lower() == b"solid" or b"ascii" in content[:40]
    if is_text and len(content) > MOST_TEXT:
        raise TooLargeError(f"it has {len(content) >> 20} MB of text; expected at most {MOST_TEXT >> 20} MB")
    if suffix == ".obj":
        _check_obj(content)
    elif suffix == ".ply":
        _check_ply(content)
    elif suffix in (".glb", ".gltf"):
        length = int.from_bytes(content[12:16], "little")
        _check_gltf(json.loads(content if suffix == ".gltf" else content[20 : 20 + length]))
    elif suffix == ".dae":
        _check_collada(parse(content, "it", most_bytes=MOST_TEXT, sizes=True))


def check_scene(scene: Any) -> None:
    """Raises for a scene whose meshes, each as often as it is placed, or their pictures are too large."""
    nodes = list(scene.graph.nodes_geometry)
    if len(nodes) > MOST_NODES:
        raise TooLargeError(f"it places meshes at {len(nodes)} nodes; expected at most {MOST_NODES}")
    triangles = {name: len(getattr(part, "faces", ())) for name, part in scene.geometry.items()}
    count = sum(triangles.get(scene.graph[node][1], 0) for node in nodes)
    if count > MOST_TRIANGLES:
        raise TooLargeError(f"it has {count} triangles; expected at most {MOST_TRIANGLES}")
    pixels = sum({id(picture): int(np.prod(picture.size)) for picture in _pictures(scene)}.values())
    if pixels > MOST_PIXELS:
        raise TooLargeError(f"its pictures have {pixels >> 20} million pixels; expected at most {MOST_PIXELS >> 20}")


def _pictures(scene: Any) -> Iterator[Any]:
    for part in scene.geometry.values():
        material = getattr(getattr(part, "visual", None), "material", None)
        for each in (material, *(getattr(material, "materials", None) or ())):
            for value in list(vars(each).values()) if hasattr(each, "__dict__") else []:
                for picture in value.values() if isinstance(value, dict) else (value,):
                    if hasattr(picture, "size") and hasattr(picture, "getbands"):
                        yield picture


# -- what files say of themselves ----------------------------------------------------------------------------------


def _check_obj(content: bytes) -> None:
    count = len(set(OBJ_MATERIAL.findall(content)))
    if count > MOST_MATERIALS:
        raise TooLargeError(f"it has {count} materials; expected at most {MOST_MATERIALS}")


def _check_ply(content: bytes) -> None:
    """Every element takes a byte or more."""
    end = content.find(b"end_header", 0, LONGEST_HEADER)
    if end < 0:
        raise ValueError("its header does not end")
    for count in PLY_ELEMENT.findall(content[:end]):
        if not count.isdigit() or len(count) > 12 or int(count) > len(content) - end:
            raise ValueError(
                f"its header announces {count[:20].decode('ascii', 'replace')} elements, which are missing"
            )


def _check_gltf(header: Any) -> None:
    """The numbers in accessors, which take room also where no bytes of the file stand behind them."""
    count = 0
    for accessor in header.get("accessors", ()):
        each = accessor.get("count", 0)
        if type(each) is not int or each < 0:
            raise ValueError("an accessor has no count")
        count += 16 * each if accessor.get("type") == "MAT4" else 4 * each
    if count > MOST_NUMBERS:
        raise TooLargeError(f"it has {count} numbers; expected at most {MOST_NUMBERS}")
    parts = sum(len(mesh.get("primitives", ())) for mesh in header.get("meshes", ())) + len(header.get("nodes", ()))
    if parts > MOST_NODES:
        raise TooLargeError(f"it has {parts} nodes and parts of meshes; expected at most {MOST_NODES}")


def _check_collada(root: Element) -> None:
    """Nodes and geometries as often as they are instantiated: a node may stand for two that each stand for two."""
    inside: dict[str, list[str]] = {"": []}
    bytes_of: dict[str, int] = {}
    waiting: list[tuple[Element, str]] = [(root, "")]
    while waiting:
        element, owner = waiting.pop()
        tag, name = element.tag.rpartition(":")[2], element.attributes.get("id", "")
        if tag in ("instance_node", "instance_geometry", "instance_controller"):
            inside[owner].append(element.attributes.get("url", "").removeprefix("#"))
        elif tag in ("geometry", "controller"):
            bytes_of[name] = element.size
        elif tag == "node":
            name = name or f" {len(inside)}"
            inside.setdefault(name, [])
            inside[owner].append(name)
            owner = name
        waiting += [(child, owner) for child in element.children]
    _check_instances(inside, bytes_of)


def _check_instances(inside: dict[str, list[str]], bytes_of: dict[str, int]) -> None:
    """Counts nodes and bytes from the leaves on; a node that contains itself is refused."""
    counted: dict[str, tuple[int, int]] = {name: (1, size) for name, size in bytes_of.items()}
    try:
        nodes_of = {name: parts for name, parts in inside.items() if name not in counted}
        leaves_first = list(TopologicalSorter(nodes_of).static_order())
    except CycleError as problem:
        raise ValueError(f"its node {problem.args[1][0]!r} contains itself") from None
    for name in leaves_first:
        if name not in counted:
            parts = [counted[part] for part in inside.get(name, ())]
            nodes, size = 1 + sum(count for count, _ in parts), sum(size for _, size in parts)
            if nodes > MOST_NODES or size > MOST_TEXT:
                raise TooLargeError(f"its scene has {nodes} nodes and {size >> 20} MB of meshes, counted as placed")
            counted[name] = nodes, size
