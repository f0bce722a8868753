"""MuJoCo's compiler in a child process with limits: what a document costs is bounded, whatever is in it.

MuJoCo makes of a file what the file asks for: a line of it may stand for a billion bodies, a mesh of some megabytes
may unpack to gigabytes. No reader in front of it knows all such ways, so the operating system holds the limits: of
memory, of time, and of the size of what comes back.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass, field
from glob import escape, glob
from multiprocessing import spawn
from pathlib import Path
from typing import Any

from kinetree.errors import ModelError
from kinetree.model.loaders import mujoco_child

MEMORY = 2 * 2**30
"""What the child may have [bytes]."""
SECONDS = 60
"""How long it may compute, and be waited for [s]."""
MOST_BYTES = 2**29
"""The largest compiled model, textures and meshes included."""
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
        "path": None if path is None else str(path),
        "memory": MEMORY,
        "seconds": SECONDS,
        "size": MOST_BYTES,
    }
    document = b"" if path is not None else text if isinstance(text, bytes) else text.encode()
    done = _run(json.dumps(order).encode() + b"\n" + document, source)
    if done.returncode:
        raise ModelError(f"{source}: MuJoCo {_end(done.returncode)} when it compiled it; {ALTERNATIVE}")
    head, _, model = done.stdout.partition(b"\n")
    said = json.loads(head)
    if said["error"] is not None:
        raise Refused(said["error"])
    return Compiled(model, said["warnings"])


def _run(order: bytes, source: str) -> subprocess.CompletedProcess[bytes]:
    executable = spawn.get_executable()  # an application that embeds Python sets it, as for multiprocessing
    if not executable:
        raise ModelError(f"{source}: there is no Python to compile it in a process of its own; {ALTERNATIVE}")
    command = [os.fsdecode(executable), "-I", "-S", mujoco_child.__file__]
    environment = os.environ | {"MALLOC_ARENA_MAX": "2"}  # of each arena glibc reserves 64 MB
    try:
        return subprocess.run(command, input=order, capture_output=True, check=False, timeout=SECONDS, env=environment)
    except subprocess.TimeoutExpired:
        raise ModelError(f"{source}: MuJoCo takes more than {SECONDS} s to compile it; {ALTERNATIVE}") from None
    except OSError as problem:
        reason = problem.strerror or problem
        raise ModelError(f"{source}: no process can be started to compile it ({reason}); {ALTERNATIVE}") from None


def _library(mujoco: Any, folder: str) -> str:
    """MuJoCo's library, or a module of its package, which is linked to it."""
    found = (file for pattern in LIBRARIES for file in sorted(glob(f"{escape(folder)}/{pattern}")))
    return next(found, str(mujoco._structs.__file__))


def _end(code: int) -> str:
    """How a child ended that did not answer; C++ aborts where memory ends."""
    if code == -getattr(signal, "SIGXCPU", 0):
        return f"takes more than {SECONDS} s"
    if code in (-signal.SIGABRT, -getattr(signal, "SIGKILL", 0), 1):
        return f"takes more than {MEMORY >> 30} GB of memory"
    return f"crashes (exit code {code})"
