"""Files that are written completely or not at all, and sentences about files that cannot be written."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kinetree.errors import ArgumentError, ArgumentTypeError, short


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside the file, with its suffix, which replaces the file at the end of the context.

    If anything fails, or the file is read-only, the file stays as it was. A device or a pipe is written directly.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentTypeError(f"path is {short(path)}; expected the name of a file")
    if "\0" in os.fsdecode(path):
        raise ArgumentError(f"path is {short(path)}; expected the name of a file")
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if target.exists() and not target.is_file():
        yield target
        return
    if target.is_file() and not (target.stat().st_mode & 0o222 and os.access(target, os.W_OK)):
        raise PermissionError(errno.EACCES, "It is read-only", str(path))  # os.replace would not check that
    try:
        temporary = _new_beside(target)
    except OSError as problem:  # name the file, not the temporary one
        raise OSError(problem.errno, problem.strerror, str(path)) from None
    try:
        yield Path(temporary)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _new_beside(target: Path) -> str:
    """The path of a new empty file in the same folder, with the permissions of the file if it exists, else of any new
    file."""
    mode = stat.S_IMODE(target.stat().st_mode) & 0o777 if target.exists() else None
    name = str(target.parent / f".{target.name[:100]}.{os.urandom(8).hex()}{target.suffix}")
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
    os.close(handle)
    if mode is not None:
        os.chmod(name, mode)
    return name


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Replace a file by this text in UTF-8."""
    with replaced(path) as file:
        file.write_text(text, encoding="utf-8")


def why_not_written(problem: OSError) -> str:
    """A sentence for the error of a file that could not be written, without the error number."""
    message = problem.strerror or str(problem)
    reason = message[:1].lower() + message[1:]
    if problem.filename is None:
        return reason
    path = Path(os.fsdecode(problem.filename))
    if os.path.isdir(path):  # False also for a name that is too long
        return f"{path} is a folder; expected the name of a file"
    if problem.errno == errno.ENOENT:
        reason = "its folder accepts no files" if path.parent.is_dir() else f"there is no folder {path.parent}"
    return f"{path} cannot be written: {reason}"
