"""Files that are written whole or not at all, and what to say when there is no such file or no room for it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kinetree.errors import ArgumentTypeError, short


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name to write to, in the folder of the file and with its suffix. At the end what is there takes the place of
    the file; where anything fails, or it is read-only, the file stays as it was. A device or a pipe is written as it
    is."""
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentTypeError(f"path is {short(path)}; expected the name of a file")
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if target.exists() and not target.is_file():
        yield target
        return
    if target.is_file() and not (target.stat().st_mode & 0o222 and os.access(target, os.W_OK)):
        raise PermissionError(errno.EACCES, "It is read-only", str(path))  # to put another in its place would not ask
    try:
        temporary = _new_beside(target)
    except OSError as problem:  # of the name that was asked for, not of the temporary one
        raise OSError(problem.errno, problem.strerror, str(path)) from None
    try:
        yield Path(temporary)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _new_beside(target: Path) -> str:
    """An empty file in the same folder, which may be read and written by whom the file may be; where there is no such
    file yet, by whom the system lets new files be."""
    mode = stat.S_IMODE(target.stat().st_mode) & 0o777 if target.exists() else None
    name = str(target.parent / f".{target.name[:100]}.{os.urandom(8).hex()}{target.suffix}")
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
    os.close(handle)
    if mode is not None:
        os.chmod(name, mode)
    return name


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """A text in UTF-8, in the place of what was there."""
    with replaced(path) as file:
        file.write_text(text, encoding="utf-8")


def why_not_written(problem: OSError) -> str:
    """An error of the operating system about a file that was to be written, as a sentence without its number."""
    said = problem.strerror or str(problem)
    reason = said[:1].lower() + said[1:]
    if problem.filename is None:
        return reason
    path = Path(os.fsdecode(problem.filename))
    if path.is_dir():
        return f"{path} is a folder; expected the name of a file"
    if problem.errno == errno.ENOENT:
        reason = "its folder takes none" if path.parent.is_dir() else f"there is no folder {path.parent}"
    return f"{path} cannot be written: {reason}"
