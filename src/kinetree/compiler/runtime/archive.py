"""Entries of the cache as one file: what one machine has compiled, others of the same build and CPU load.

An archive is lines of text (its format, the build, the number of entries), and for every entry its key, the size of its
content, and the content as on disk, with its checksum. The code will be run, so the file must be one that no other user
can have written, or have the SHA-256 that the caller knows. All of it is checked before anything is stored. Keys are
digests, so that nothing is written outside of the cache, and entries that are there already stay as they are.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from io import BytesIO

from kinetree.compiler.runtime import cache as disk
from kinetree.compiler.runtime.jit import host
from kinetree.compiler.runtime.stored import build, build_tag, cpu_tag
from kinetree.compiler.runtime.target import cpu_names
from kinetree.errors import ArgumentError, KinetreeError, short

MAGIC = b"kinetree archive of object code, format 1\n"
_KEY, _NUMBER = re.compile(r"[0-9a-f]{88}"), re.compile(r"[0-9]{1,15}")
_LONGEST = 200
"""Characters of a line."""
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def keys_here(cpu: str | None = None) -> list[str]:
    """The keys of what is on disk of this build, for all CPUs or for one of `cpu_names`."""
    return disk.keys(build_tag(build()) + ("" if cpu is None else cpu_tag(host(cpu))))


def own_cpu() -> str:
    """The name of the CPU that this process makes code for; LLVM's name if it is this machine's own."""
    return _names()[cpu_tag(host())]


def counted(keys: Iterable[str]) -> dict[str, int]:
    """The number of entries for each CPU, by its name."""
    names = _names()
    return dict(Counter(names.get(key[16:24], "another CPU") for key in keys))


def _names() -> dict[str, str]:
    """Names of CPUs by their tags."""
    return {cpu_tag(host()): host().cpu} | {cpu_tag(host(name)): name for name in cpu_names()}


def packed(entries: Mapping[str, bytes]) -> Iterator[bytes]:
    """The archive of these entries, data by key, in pieces."""
    yield MAGIC + "".join(f"{line}\n" for line in (*build().values(), len(entries))).encode()
    for key, data in entries.items():
        content = disk.packed(key, data)
        yield f"{key}\n{len(content)}\n".encode() + content


def unpacked(archive: bytes, name: str) -> dict[str, bytes]:
    """The entries of an archive, data by key. `name` is that of the file.

    Raises if anything is damaged, or if this build would not find the entries.
    """
    file = BytesIO(archive)
    if file.read(len(MAGIC)) != MAGIC:
        raise ArgumentError(f"{name} is not an archive of kinetree's cache")
    here = build()
    for part, own in here.items():
        other = _line(file)
        if other != own:
            raise ArgumentError(
                f"{name} is of another build, whose code is not found here: its {part} is {short(other)}, here it is "
                f"{short(own)}"
            )
    entries: dict[str, bytes] = {}
    with suppress(ValueError):
        for _ in range(_number(file)):
            key, size = _line(file), _number(file)
            content = file.read(size)
            data = disk.unpacked(key, content)
            known = _KEY.fullmatch(key) and key.startswith(build_tag(here)) and key not in entries
            if data is None or len(content) != size or not known:
                break
            entries[key] = data
        else:
            if file.tell() == len(archive):
                return entries
    raise ArgumentError(f"{name} is damaged at byte {file.tell():,} of {len(archive):,}; nothing was imported")


def _line(file: BytesIO) -> str:
    return file.readline(_LONGEST).decode("latin-1").removesuffix("\n")


def _number(file: BytesIO) -> int:
    text = _line(file)
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return int(text)


def trusted_content(path: str, digest: str | None) -> bytes:
    """The content of a file with this SHA-256; without one, of a file that no other user but root can have written."""
    try:
        descriptor = os.open(path, _READ)
    except OSError as problem:
        raise ArgumentError(f"{path} cannot be read: {problem.strerror}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ArgumentError(f"{path} is not a file")
        if status.st_size > disk.ROOM * disk.limit():
            size, most = status.st_size / 1e6, disk.limit() / 1e6
            raise ArgumentError(f"{path} has {size:.1f} MB, too many for the cache, whose {disk.BOUND} is {most:g}")
        fault = disk.fault_of(status)
        if digest is None and fault and not (status.st_uid == 0 and not status.st_mode & 0o022):
            raise ArgumentError(f"{path} {fault}, so it is only imported if its SHA-256 is given")
        content = disk.all_of(descriptor, status.st_size)
    finally:
        os.close(descriptor)
    found = sha256(content).hexdigest()
    if digest is not None and digest.lower() != found:
        raise ArgumentError(f"{path} has the SHA-256 {found}; expected {short(digest)}")
    return content


def store(entries: Mapping[str, bytes]) -> int:
    """Store entries that are not on disk yet, all or none; return how many those were."""
    added: list[str] = []
    try:
        for key, data in entries.items():
            if disk.read(key) is None:
                added.append(key)
                if not disk.write(key, data):
                    raise KinetreeError(f"nothing was imported: {disk.folder()} does not take {len(data):,} bytes more")
    except BaseException:
        for key in added:
            disk.remove(key)
        raise
    return len(added)
