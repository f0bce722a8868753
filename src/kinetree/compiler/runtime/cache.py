"""Object code kept on disk, so that no process compiles what another one has: bytes in, bytes out, by key.

What is read here will be run, so it must be what this user wrote: folder and entries belong to the user, nobody else
may write to them, and a checksum over key and content is verified before anything is handed out. What is damaged is
deleted and counts as missing; what others may have touched is left alone and not used.

A cache that does not work makes things slower, never wrong: no function here raises. What the user should know is said
in one `CacheWarning` per process; where the user's filters turn it into an error, the sentence goes to stderr instead.
An interrupt (Ctrl-C) passes through and leaves no half-written file behind.

- `KINETREE_CACHE_DIR` names the folder; otherwise it is the platform's usual one.
- `KINETREE_CACHE=0` switches the cache off.
- `KINETREE_CACHE_MB` bounds its size, 512 if not set; the least recently used entries make room.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import threading
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from kinetree.errors import CacheWarning, short

SWITCH, FOLDER, BOUND = "KINETREE_CACHE", "KINETREE_CACHE_DIR", "KINETREE_CACHE_MB"
MEGABYTES = 512.0
ROOM = 0.9
"""Share of the bound that may stay when entries have to go, so that not every write has to make room."""
TOUCH = 60.0
"""Seconds within which an entry that is read again is not marked as used again."""
STRAY = 3600.0
"""Seconds after which a temporary file is one that nobody will finish."""

MAGIC = b"kinetree object code, format 1\n"
_HEAD = len(MAGIC) + 32 + 8
_KEY = re.compile(r"[0-9a-f]{8,128}")
_ENTRY = re.compile(r"[0-9a-f]{8,128}\.kinetree")  # so that nothing else is ever removed, whatever folder is named
_TEMPORARY = re.compile(r"[0-9a-f]{8,128}\.[0-9a-f]{16}\.kinetree-part")
_HERE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _HERE  # a pipe in place of an entry must not make us wait
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _HERE

_warned = threading.Lock()
"""Taken by the first who warns and never given back; a forked child inherits it, and need not say it again."""


@dataclass(frozen=True, order=True)
class _File:
    """A file of the cache: when it was last used, in nanoseconds, its size in bytes, and its path."""

    used: int
    size: int
    path: str


def folder() -> Path | None:
    """Where entries are kept; None if the cache is switched off, or there is no place to keep it in."""
    if os.environ.get(SWITCH) == "0":
        return None
    named = os.environ.get(FOLDER)
    if named:
        with suppress(OSError):  # the working directory may be gone
            return Path(os.path.abspath(os.path.expanduser(named)))
        return None
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", "")
        return Path(local, "kinetree", "Cache") if local else None
    caches = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(caches) and sys.platform != "darwin":
        return Path(caches, "kinetree")
    home = _home()
    return home and home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "kinetree"


def read(key: str) -> bytes | None:
    """What was written under this key, a hexadecimal digest; None if there is no sound entry."""
    where = _ready(create=False)
    if where is None or not _KEY.fullmatch(key):
        return None
    path = _entry(where, key)
    try:
        content = _content(path, where)
    except (OSError, MemoryError):
        content = b"" if os.path.islink(path) else None
    if content is None:
        return None
    data = content[_HEAD:]
    if content[:_HEAD] == _head(key, data):
        return data
    _remove(path)  # should another process have mended it just now, it will be written once more
    return None


def write(key: str, data: bytes) -> None:
    """Keep the data under this key, and make room for it; not if it alone exceeds the bound."""
    bound = _bound()
    if _HEAD + len(data) > bound or not _KEY.fullmatch(key):
        return
    where = _ready(create=True)
    if where is None:
        return
    path = _entry(where, key)
    temporary = str(where / f"{key}.{os.urandom(8).hex()}.kinetree-part")
    try:
        _put(temporary, _head(key, data) + data)
        os.replace(temporary, path)
    except BaseException as problem:
        _remove(temporary)
        if not isinstance(problem, (OSError, MemoryError)):
            raise
        if not _harmless(problem):
            _not_used(where, f"{os.path.basename(path)} cannot be written ({_reason(problem)})")
        return
    _make_room(where, bound, path)


def size() -> int:
    """Bytes on disk of all entries."""
    where = _ready(create=False)
    return sum(file.size for file in _files(where)[0]) if where else 0


def clear() -> int:
    """Remove all entries, and what interrupted writes have left; how many entries that were."""
    where = _ready(create=False)
    if where is None:
        return 0
    entries, temporaries = _files(where)
    for file in temporaries:
        _remove(file.path)
    return sum(_remove(file.path) for file in entries)


# -- where ----------------------------------------------------------------------------------------------------------


def _home() -> Path | None:
    """The home directory. Root in someone else's, as by sudo, has none: that user could not use what it left there."""
    if os.environ.get("HOME") == "":
        return None
    home = os.path.expanduser("~")
    with suppress(OSError):
        if hasattr(os, "geteuid") and os.geteuid() == 0 != os.stat(home).st_uid:
            return None
    return Path(home) if os.path.isabs(home) else None


def _bound() -> float:
    """How many bytes all entries may take."""
    text = os.environ.get(BOUND, "").strip()
    with suppress(ValueError):
        megabytes = float(text) if text else MEGABYTES
        if megabytes >= 0.0:
            return megabytes * 1e6
    if folder() is not None:
        _warn(f"{BOUND} is {short(text)}; expected a number of megabytes, so that it is {MEGABYTES:g}")
    return MEGABYTES * 1e6


def _ready(create: bool) -> Path | None:
    """The folder, if it is there and nobody else may write to it; made if it is to be."""
    where = folder()
    if where is None:
        return None
    try:
        if create and not os.path.lexists(where):
            os.makedirs(where, mode=0o700, exist_ok=True)
        status = os.stat(where)
    except OSError as problem:
        if create or not isinstance(problem, FileNotFoundError):
            _not_used(where, f"it cannot be {'made' if create else 'read'} ({_reason(problem)})")
        return None
    fault = _fault(status) if stat.S_ISDIR(status.st_mode) else "is not a folder"
    if fault:
        _not_used(where, f"it {fault}")
    return None if fault else where


def _fault(status: os.stat_result) -> str:
    """Why a file or folder is not this user's alone; nothing if it is, or where the platform does not say so."""
    if not hasattr(os, "geteuid"):
        return ""
    if status.st_uid != os.geteuid():
        return f"belongs to another user (number {status.st_uid})"
    return f"may be written by others (mode {status.st_mode & 0o777:03o})" if status.st_mode & 0o022 else ""


def _not_used(where: Path, reason: str) -> None:
    _warn(f"compiled code is not kept in {where}: {reason}; {FOLDER} can name another folder, {SWITCH}=0 does without")


def _warn(sentence: str) -> None:
    """Say what is wrong, once per process, whatever the user's filters make of warnings."""
    if not _warned.acquire(blocking=False):
        return
    try:
        warnings.warn(sentence, CacheWarning, stacklevel=2)
    except Exception:
        with suppress(Exception):
            print(f"CacheWarning: {sentence}", file=sys.stderr)


# -- entries --------------------------------------------------------------------------------------------------------


def _entry(where: Path, key: str) -> str:
    return str(where / f"{key}.kinetree")


def _head(key: str, data: bytes) -> bytes:
    """What comes before the data: format, SHA-256 of key and data, length."""
    digest = sha256(key.encode() + b"\n")
    digest.update(data)
    return MAGIC + digest.digest() + len(data).to_bytes(8, "big")


def _content(path: str, where: Path) -> bytes | None:
    """The whole file, and a mark that it was used; None if it is not to be trusted, empty if it is no plain file.

    The file that is judged is the one that is read, whatever happens to its name meanwhile.
    """
    descriptor = os.open(path, _READ)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return b""
        fault = _fault(status)
        if fault:
            _not_used(where, f"{os.path.basename(path)} {fault}")
            return None
        pieces = []
        while piece := os.read(descriptor, status.st_size + 1):
            pieces.append(piece)
        if abs(time.time() - status.st_mtime) > TOUCH:
            with suppress(OSError):
                os.utime(descriptor if os.utime in os.supports_fd else path)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def _put(path: str, content: bytes) -> None:
    """Write a new file. It is not forced to the disk: what a power cut leaves of it will not pass the checksum."""
    descriptor = os.open(path, _WRITE, 0o600)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)


def _harmless(problem: BaseException) -> bool:
    """Whether a write failed for what others did meanwhile: cleared the cache, or (Windows) hold the entry open."""
    return isinstance(problem, FileNotFoundError) or (os.name == "nt" and isinstance(problem, PermissionError))


def _reason(problem: BaseException) -> str:
    return (isinstance(problem, OSError) and problem.strerror) or type(problem).__name__


def _remove(path: str) -> bool:
    """Whether the file was there and is gone."""
    with suppress(OSError):
        os.unlink(path)
        return True
    return False


def _files(where: Path) -> tuple[list[_File], list[_File]]:
    """Entries and temporaries, without those that vanish meanwhile."""
    entries: list[_File] = []
    temporaries: list[_File] = []
    with suppress(OSError), os.scandir(where) as items:
        for item in items:
            kind = entries if _ENTRY.fullmatch(item.name) else temporaries if _TEMPORARY.fullmatch(item.name) else None
            if kind is not None:
                with suppress(OSError):
                    status = item.stat(follow_symlinks=False)
                    if not stat.S_ISDIR(status.st_mode):
                        kind.append(_File(status.st_mtime_ns, status.st_size, item.path))
    return entries, temporaries


def _make_room(where: Path, bound: float, keep: str) -> None:
    """Remove stray temporaries and, above the bound, entries from the least recently used on, but not `keep`."""
    entries, temporaries = _files(where)
    for file in temporaries:
        if file.used < (time.time() - STRAY) * 1e9:
            _remove(file.path)
    total = sum(file.size for file in entries)
    if total <= bound:
        return
    for file in sorted(entries):
        if total <= ROOM * bound:
            return
        if file.path != keep and (_remove(file.path) or not os.path.lexists(file.path)):
            total -= file.size
