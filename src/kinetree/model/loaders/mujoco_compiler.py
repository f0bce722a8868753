"""MuJoCo's compiler in a child process with limits: what a document costs is bounded, whatever is in it.

MuJoCo makes of a file what the file asks for: a line of it may stand for a billion bodies, a mesh of some megabytes
may unpack to gigabytes. No reader in front of it knows all such ways, so the operating system holds the limits: of
memory, of time, and of the size of what comes back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from glob import escape, glob
from pathlib import Path
from typing import Any

from kinetree.errors import ModelError
from kinetree.model.loaders import mujoco_child
from kinetree.model.loaders.limited_process import Limits, started

MEMORY = 2 * 2**30
"""What the child may have [bytes]."""
SECONDS = 60
"""How long it may compute, and be waited for [s]."""
MOST_BYTES = 2**29
"""The largest compiled model, textures and meshes included."""
OUT_OF_MEMORY = "allocate memory"
"""What MuJoCo says where it needs more: its own buffers grow with the square of the number of joints."""
LIBRARIES = ("libmujoco.so*", "libmujoco*.dylib", "mujoco.dll")
PLUGINS = (".so", ".dylib", ".dll")
ALTERNATIVE = "if you trust the file, give kt.load the model itself: mujoco.MjModel.from_xml_path(…)"


@dataclass(frozen=True)
class Compiled:
    """A model in MuJoCo's binary form, and what its compiler warned of."""

    model: bytes
    warnings: list[str] = field(default_factory=list)


class Refused(Exception):
    """MuJoCo's own reason why a document is not a model."""


def compile_mjcf(mujoco: Any, text: bytes | str, source: str, path: Path | None) -> Compiled:
    """The compiled model of a document, or of the file it was read from, so that includes and meshes are found."""
    folder = str(Path(mujoco.__file__).parent)
    order = {
        "library": _library(mujoco, folder),
        "plugins": sorted(file for file in glob(f"{escape(folder)}/plugin/*") if file.endswith(PLUGINS)),
        "path": None if path is None else str(path.absolute()),
        "size": MOST_BYTES,
    }
    document = b"" if path is not None else text if isinstance(text, bytes) else text.encode()
    with started(mujoco_child, source, Limits(MEMORY, SECONDS), hint=f"; {ALTERNATIVE}") as child:
        child.send(json.dumps(order).encode() + b"\n", document, last=True)
        answer = child.read(MOST_BYTES + 2**20)
        problem = child.end()
    if problem is not None:
        raise ModelError(f"{source}: MuJoCo {problem} to compile it; {ALTERNATIVE}")
    head, _, model = answer.partition(b"\n")
    said = json.loads(head)
    if said["error"] is not None and OUT_OF_MEMORY in said["error"]:
        memory = f"takes more than {MEMORY / 2**30:.2g} GB of memory"
        raise ModelError(f"{source}: MuJoCo {memory} to compile it; {ALTERNATIVE}")
    if said["error"] is not None:
        raise Refused(said["error"])
    return Compiled(model, said["warnings"])


def _library(mujoco: Any, folder: str) -> str:
    """MuJoCo's library, or a module of its package, which is linked to it."""
    found = (file for pattern in LIBRARIES for file in sorted(glob(f"{escape(folder)}/{pattern}")))
    return next(found, str(mujoco._structs.__file__))
