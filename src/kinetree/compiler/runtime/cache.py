"""A cache of object code on disk, bytes by key, so that a process need not compile what another one has compiled.

Object code that is read here is executed, so it must come from this user: folder and entries belong to the user, no
other user may write to them, and a checksum over key and content is verified before data is returned. Damaged entries
are deleted and count as missing; entries that others may have written are left in place and not used.

A cache that fails makes calls slower, never wrong: no function here raises. The user gets one `CacheWarning` per
process; if a filter turns it into an error, the sentence goes to stderr instead. An interrupt (Ctrl-C) passes through
and leaves no half-written file behind.

- `KINETREE_CACHE_DIR` names the folder; the default is the platform's usual one.
- `KINETREE_CACHE=0` switches the cache off.
- `KINETREE_CACHE_MB` limits its size, 512 by default; the least recently used entries are removed first.
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
"""The share of the limit that remains after entries are removed, so that not every write removes some."""
TOUCH = 60.0
"""Seconds within which a second read does not update an entry's time of use."""
STRAY = 3600.0
"""Seconds after which a temporary file counts as abandoned."""

MAGIC = b"kinetree object code, format 1\n"
_HEAD = len(MAGIC) + 32 + 8
_KEY = re.compile(r"[0-9a-f]{8,128}")
_ENTRY = re.compile(r"[0-9a-f]{8,128}\.kinetree")  # no other file is ever removed, whatever folder is named
_TEMPORARY = re.compile(r"[0-9a-f]{8,128}(\.[0-9a-f]{16}\.kinetree-part|\.kinetree-lock)")
_HERE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _HERE  # a pipe in place of an entry must not block
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _HERE

_warned = threading.Lock()
"""Taken by the first warning and never released; a forked child inherits it and does not warn again."""


@dataclass(frozen=True, order=True)
class _File:
    """A file of the cache: when it was last used, in nanoseconds, its size in bytes, and its path."""

    used: int
    size: int
    path: str


def folder() -> Path | None:
    """The folder of the entries; None if the cache is switched off or no folder is known."""
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
    """The data stored under this key, a hexadecimal digest; None if there is no valid entry."""
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
    data = unpacked(key, content)
    if data is None:
        _remove(path)  # if another process has just replaced it, it is written once more
    return data


def write(key: str, data: bytes) -> bool:
    """Store the data under this key, and remove old entries for it; do nothing if it alone exceeds the limit. Return
    whether it was stored."""
    bound = limit()
    if _HEAD + len(data) > bound or not _KEY.fullmatch(key):
        return False
    where = _ready(create=True)
    if where is None:
        return False
    path = _entry(where, key)
    temporary = str(where / f"{key}.{os.urandom(8).hex()}.kinetree-part")
    try:
        _put(temporary, packed(key, data))
        os.replace(temporary, path)
    except BaseException as problem:
        _remove(temporary)
        if not isinstance(problem, (OSError, MemoryError)):
            raise
        if not _harmless(problem):
            _not_used(where, f"{os.path.basename(path)} cannot be written ({_reason(problem)})")
        return False
    _make_room(where, bound, path)
    return True


def remove(key: str) -> None:
    """Remove the entry of this key."""
    where = _ready(create=False)
    if where is not None and _KEY.fullmatch(key):
        _remove(_entry(where, key))


def keys(start: str) -> list[str]:
    """The keys of all entries that begin so."""
    where = _ready(create=False)
    found = [os.path.basename(file.path).partition(".")[0] for file in _files(where)[0]] if where else []
    return sorted(key for key in found if key.startswith(start))


def lock_path(key: str) -> str | None:
    """The file whose lock a process holds while it makes the entry of this key (`cache_lock`); None without a cache."""
    where = _ready(create=True) if _KEY.fullmatch(key) else None
    return str(where / f"{key}.kinetree-lock") if where else None


def size() -> int:
    """The size of all entries on disk, in bytes."""
    where = _ready(create=False)
    return sum(file.size for file in _files(where)[0]) if where else 0


def clear() -> int:
    """Remove all entries and the remains of interrupted writes; return the number of entries."""
    where = _ready(create=False)
    if where is None:
        return 0
    entries, temporaries = _files(where)
    for file in temporaries:
        _remove(file.path)
    return sum(_remove(file.path) for file in entries)


# -- the folder ------------------------------------------------------------------------------------------------------


def _home() -> Path | None:
    """The home directory; None for root in another user's (sudo): that user could not use the files of root."""
    if os.environ.get("HOME") == "":
        return None
    home = os.path.expanduser("~")
    with suppress(OSError):
        if hasattr(os, "geteuid") and os.geteuid() == 0 != os.stat(home).st_uid:
            return None
    return Path(home) if os.path.isabs(home) else None


def limit() -> float:
    """The limit on the size of all entries, in bytes."""
    text = os.environ.get(BOUND, "").strip()
    with suppress(ValueError):
        megabytes = float(text) if text else MEGABYTES
        if megabytes >= 0.0:
            return megabytes * 1e6
    if folder() is not None:
        _warn(f"{BOUND} is {short(text)}; expected a number of megabytes; the default of {MEGABYTES:g} is used")
    return MEGABYTES * 1e6


def _ready(create: bool) -> Path | None:
    """The folder if it exists, or after `create`, and no other user may write to it; else None."""
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
    fault = fault_of(status) if stat.S_ISDIR(status.st_mode) else "is not a folder"
    if fault:
        _not_used(where, f"it {fault}")
    return None if fault else where


def fault_of(status: os.stat_result) -> str:
    """The reason why others may have written a file or folder; empty if none, or if the platform has no owners."""
    if not hasattr(os, "geteuid"):
        return ""
    if status.st_uid != os.geteuid():
        return f"belongs to another user (number {status.st_uid})"
    return f"may be written by others (mode {status.st_mode & 0o777:03o})" if status.st_mode & 0o022 else ""


def _not_used(where: Path, reason: str) -> None:
    _warn(f"compiled code is not kept in {where}: {reason}; {FOLDER} can name another folder, {SWITCH}=0 does without")


def _warn(sentence: str) -> None:
    """Warn once per process; a warning that the user's filters turn into an error is printed to stderr."""
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


def packed(key: str, data: bytes) -> bytes:
    """The content of an entry: the data behind a header."""
    return _head(key, data) + data


def unpacked(key: str, content: bytes) -> bytes | None:
    """The data of an entry with this content; None if it is damaged, or of another key."""
    data = content[_HEAD:]
    return data if content[:_HEAD] == _head(key, data) else None


def _head(key: str, data: bytes) -> bytes:
    """The header before the data: format, SHA-256 of key and data, length."""
    digest = sha256(key.encode() + b"\n")
    digest.update(data)
    return MAGIC + digest.digest() + len(data).to_bytes(8, "big")


def _content(path: str, where: Path) -> bytes | None:
    """The content of a file, whose time of use is updated; None if others may have written it, empty if it is no
    regular file. The checks and the read use one descriptor, so the name cannot change to another file between them."""
    descriptor = os.open(path, _READ)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return b""
        fault = fault_of(status)
        if fault:
            _not_used(where, f"{os.path.basename(path)} {fault}")
            return None
        content = all_of(descriptor, status.st_size)
        if abs(time.time() - status.st_mtime) > TOUCH:
            with suppress(OSError):
                os.utime(descriptor if os.utime in os.supports_fd else path)
        return content
    finally:
        os.close(descriptor)


def all_of(descriptor: int, size: int) -> bytes:
    """All bytes of an open file of about this size."""
    pieces = []
    while piece := os.read(descriptor, size + 1):
        pieces.append(piece)
    return b"".join(pieces)


def _put(path: str, content: bytes) -> None:
    """Write a new file without fsync: the checksum rejects what a power cut leaves of it."""
    descriptor = os.open(path, _WRITE, 0o600)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)


def _harmless(problem: BaseException) -> bool:
    """Whether a write failed because another process cleared the cache or (Windows) has the entry open."""
    return isinstance(problem, FileNotFoundError) or (os.name == "nt" and isinstance(problem, PermissionError))


def _reason(problem: BaseException) -> str:
    return (isinstance(problem, OSError) and problem.strerror) or type(problem).__name__


def _remove(path: str) -> bool:
    """Remove a file; return whether it existed."""
    with suppress(OSError):
        os.unlink(path)
        return True
    return False


def _files(where: Path) -> tuple[list[_File], list[_File]]:
    """Entries and temporary files, without those that vanish meanwhile."""
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
    """Remove abandoned temporary files and, above the limit, the least recently used entries, but not `keep`."""
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
