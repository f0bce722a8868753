"""Finding the files a model refers to: meshes, textures, and the packages they lie in.

package://arm/meshes/elbow.stl    in the folder of the package arm, and so is model://arm/…
file:///home/me/elbow.stl         as it says
meshes/elbow.stl                  beside the model's own file
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

from kinetree.errors import ArgumentError, ArgumentTypeError, short

PACKAGE = re.compile(r"(?:package|model):/+([^/]+)/*(.*)", re.DOTALL)
PACKAGE_FOLDERS = ("ROS_PACKAGE_PATH", "GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH")
"""Environment variables with folders that hold packages, or are one."""
NESTING = 2
"""How deep packages may lie in those folders: a workspace has repositories, which have packages."""
MANIFEST_NAME = re.compile(rb"<name>\s*([^<\s]+)\s*</name>")


Folder: TypeAlias = str | os.PathLike[str]
Folders: TypeAlias = Folder | Iterable[Folder] | Mapping[str, Folder]
"""A folder that holds packages, or is one; or several; or folders by the names of the packages that they are."""


class Resources:
    """Where to look, in this order: the folders given, the environment's, and those around the model's own file."""

    def __init__(self, folder: Folder | None = None, package_dirs: Folders = ()) -> None:
        """`folder` holds the model's file; `package_dirs` are those that the user names."""
        self.given: list[Path] = []
        self.packages: dict[str, Path] = {}
        self.add(package_dirs)
        self.own: tuple[Path, ...] = ()
        if folder is not None:
            here = Path(os.path.abspath(folder))
            self.own = (here, *here.parents)
        self._found: dict[str, str | None] = {}
        self._places: dict[str, list[Path]] = {}

    def add(self, package_dirs: Folders) -> None:
        """More folders to look in, after those that are known. Each must be there: whoever names one has a reason."""
        if isinstance(package_dirs, (str, os.PathLike)):
            package_dirs = [package_dirs]
        if isinstance(package_dirs, Mapping):
            for name, folder in package_dirs.items():
                self.packages.setdefault(name, _checked(folder))
        elif isinstance(package_dirs, Iterable):
            self.given += map(_checked, package_dirs)
        else:
            raise ArgumentTypeError(f"package_dirs is {short(package_dirs)}; expected a folder, or several")

    def find(self, written: str) -> str | None:
        """The path of the file that was written so, or None."""
        if written not in self._found:
            self._found[written] = next(filter(os.path.isfile, self._candidates(written)), None)
        return self._found[written]

    def package(self, name: str) -> str | None:
        """The folder of a package."""
        places = self._package_places(name)
        return str(places[0]) if places else None

    @staticmethod
    def package_of(written: str) -> str | None:
        """The package that a file is said to lie in."""
        match = PACKAGE.match(written)
        return match[1] if match else None

    # -- files -------------------------------------------------------------------------------------------------

    def _candidates(self, written: str) -> Iterator[str]:
        for spelling in dict.fromkeys((written, unquote(written), written.replace("\\", "/"))):
            match = PACKAGE.match(spelling)
            if match:
                places, rest = self._package_places(match[1]), match[2]
            elif spelling.startswith("file:"):
                places, rest = self._beside(), spelling.removeprefix("file:").removeprefix("//")
            elif "://" in spelling:
                continue
            else:
                places, rest = self._beside(), spelling
            for place in places:
                yield os.path.join(place, rest)  # which is `rest` alone, if that is absolute

    def _beside(self) -> list[Path]:
        """Relative paths start at the model's own folder; those of a package often at the folder above."""
        return [*self.own[:1], *self.given, *self.own[1:2]] if self.own else [*self.given, Path.cwd()]

    # -- packages ----------------------------------------------------------------------------------------------

    def _package_places(self, name: str) -> list[Path]:
        if name not in self._places:
            self._places[name] = list(dict.fromkeys(filter(os.path.isdir, self._package_candidates(name))))
        return self._places[name]

    def _package_candidates(self, name: str) -> Iterator[Path]:
        if name in self.packages:
            yield self.packages[name]
        for folder in chain(self.given, _from_environment(PACKAGE_FOLDERS)):
            yield from _named(folder, name)
            yield folder / name
        for prefix in _from_environment(("AMENT_PREFIX_PATH",)):
            yield prefix / "share" / name
        for folder in self.own:
            yield from _named(folder, name)
            yield folder / name
        for folder in chain(self.given, _from_environment(PACKAGE_FOLDERS)):
            yield from _below(folder, name, NESTING)


def _named(folder: Path, name: str) -> Iterator[Path]:
    """The folder, if it is the package: by its own name, or by that in its manifest."""
    if folder.name == name:
        yield folder
        return
    try:
        with open(folder / "package.xml", "rb") as manifest:
            match = MANIFEST_NAME.search(manifest.read(20_000))
    except OSError:
        return
    if match and match[1] == name.encode():
        yield folder


def _below(folder: Path, name: str, depth: int) -> Iterator[Path]:
    """Folders of that name below others."""
    try:
        with os.scandir(folder) as entries:
            inside = sorted(entry.path for entry in entries if entry.name[0] != "." and entry.is_dir())
    except OSError:
        return
    for path in map(Path, inside):
        yield path / name
        if depth > 1:
            yield from _below(path, name, depth - 1)


def _from_environment(names: Iterable[str]) -> Iterator[Path]:
    for name in names:
        for folder in os.environ.get(name, "").split(os.pathsep):
            if folder:
                yield Path(folder)


def _checked(folder: object) -> Path:
    if not isinstance(folder, (str, os.PathLike)):
        raise ArgumentTypeError(f"package_dirs has {short(folder)}; expected the path of a folder")
    if not os.path.isdir(folder):
        raise ArgumentError(f"package_dirs has {str(folder)!r}, which is no folder")
    return Path(os.path.abspath(folder))
