"""What the user gave, as a document: a file, a string or bytes, a bundled robot, a robot description."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from kinetree.errors import ArgumentError, ArgumentTypeError, ModelError, short, unknown
from kinetree.model.loaders import mjcf_guard
from kinetree.model.loaders.descriptions import NEED, describes, find_description
from kinetree.model.loaders.xml import MOST_BYTES, check_size

EXPECTED = "expected a path, a URDF document or a bundled name"
LONGEST_NAME = 200
MJCF = (".xml", ".mjcf")
"""Suffixes of files that may have meshes in them, number by number."""


@dataclass(frozen=True)
class Document:
    """The text of a model."""

    text: bytes | str
    source: str
    """What to call it in errors."""
    suffix: str = ""
    """Of its file, in small letters; a document without one is URDF."""
    path: Path | None = None
    """Its file."""
    package_dirs: tuple[str, ...] = ()
    """Folders of packages that whoever provides it knows of."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """The same, by the names of the packages."""
    xacro_args: Mapping[str, str] = field(default_factory=dict)
    """Arguments that it is to be expanded with."""


def bundled_robots() -> list[str]:
    """Names of the robots that come with the package."""
    return sorted(_bundled_files())


def _bundled_files() -> dict[str, Traversable]:
    folder = resources.files("kinetree") / "robots"
    files = [entry for entry in folder.iterdir() if entry.name.endswith((".urdf", ".toml"))]
    return {file.name.rpartition(".")[0]: file for file in files}


def read_document(path_or_xml: str | bytes | os.PathLike[str]) -> Document:
    """The document, wherever it is."""
    if not isinstance(path_or_xml, (str, bytes, os.PathLike)):
        raise ArgumentTypeError(f"path_or_xml is {short(path_or_xml)}; {EXPECTED}")
    if isinstance(path_or_xml, (str, bytes)):
        if not path_or_xml.strip():
            raise ArgumentError(f"path_or_xml is empty; {EXPECTED}")
        if isinstance(path_or_xml, bytes):
            return Document(path_or_xml, "the given document")
        text = path_or_xml.removeprefix("\ufeff")  # the byte order mark that some editors save
        if text.lstrip().startswith("<"):
            return Document(text, "the given URDF document")
        if "://" in path_or_xml and not os.path.exists(path_or_xml):
            raise ModelError(f"{short(path_or_xml)} is an address; expected the path of a file on this machine")
        if not os.path.isfile(path_or_xml) and (named := _by_name(path_or_xml)):
            return named
    return _from_file(Path(path_or_xml))


def _by_name(name: str) -> Document | None:
    """A bundled robot or a robot description; None if it can only be a path."""
    bundled = _bundled_files()
    if name in bundled:
        return Document(bundled[name].read_bytes(), name, Path(bundled[name].name).suffix)
    if len(name) > LONGEST_NAME or Path(name).name != name or Path(name).suffix or os.path.lexists(name):
        return None
    if not describes(name):
        raise unknown("bundled robot", name, sorted(bundled))
    found = find_description(name)
    if found is None:
        raise ModelError(f"{name} is not here, and is no bundled robot; {NEED}")
    path, known = found
    return replace(_from_file(Path(path)), **known)


def _from_file(path: Path) -> Document:
    name = str(path) if len(str(path)) < 500 else short(str(path))
    try:
        return Document(_read(path, name), name, path.suffix.lower(), path)
    except FileNotFoundError:
        raise ModelError(f"{name} does not exist; expected a model file") from None
    except (OSError, ValueError) as problem:  # ValueError: a path with a null character
        if isinstance(problem, ModelError):
            raise
        raise ModelError(f"{name} cannot be read: {getattr(problem, 'strerror', None) or problem}") from None


def _read(path: Path, name: str) -> bytes:
    """All of a file, if it is one: reading from a pipe might never end."""
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise ModelError(f"{name} is a folder; expected a model file")
    if not stat.S_ISREG(status.st_mode):
        raise ModelError(f"{name} is a device or a pipe; expected a model file")
    most = mjcf_guard.MOST_BYTES if path.suffix.lower() in MJCF else MOST_BYTES
    check_size(status.st_size, name, most)
    with open(path, "rb") as file:
        text = file.read(most + 1)
    check_size(len(text), name, most)
    if not text.strip():
        raise ModelError(f"{name} is empty; expected a model file")
    return text
