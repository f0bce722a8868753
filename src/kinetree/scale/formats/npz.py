"""NPZ: arrays under their names, states along the first axis."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo
from zlib import crc32
from zlib import error as ZlibError

import numpy as np
from numpy.lib import format as npy

from kinetree.errors import ArgumentError, KinetreeError
from kinetree.ops import Array
from kinetree.scale.formats.table import Column, Field, Format, chosen, gathered

PIECE = 2**18
"""Bytes that are read at a time."""


class Npz(Format):
    """Files that NumPy reads. Of a member only the rows of a partition are kept in memory."""

    suffix = ".npz"

    def bounds(self, path: Path) -> list[int]:
        with _opened(path) as archive:
            rows = _count(archive)
        if rows is None:
            raise ArgumentError(f"{path} has no array with an axis of states")
        return [0, rows]

    def read(self, path: Path, start: int, stop: int, columns: Sequence[Column]) -> dict[str, Array]:
        with _opened(path) as archive:
            names, count = _members(archive), _count(archive)
            for name in [name for column in columns for name in chosen(path, names, column)]:
                shape = _header(archive, name)[0]
                if shape[:1] != (count,):
                    raise ArgumentError(f"{path} has {name!r} of shape {shape}; expected {count} rows, as others have")
            return gathered(path, names, columns, stop - start, lambda name: _rows(archive, name, start, stop))

    def write(self, path: Path, arrays: Mapping[str, Array], fields: Sequence[Field], metadata: str) -> None:
        with open(path, "wb") as file:  # to a name that ends otherwise NumPy would add .npz
            named: dict[str, Any] = {field.name: arrays[field.name] for field in fields}
            np.savez(file, kinetree=np.array(metadata), **named)


@contextmanager
def _opened(path: Path) -> Iterator[ZipFile]:
    try:
        with ZipFile(path) as archive:
            yield archive
    except (BadZipFile, EOFError, ZlibError, ValueError) as error:
        if isinstance(error, KinetreeError):
            raise
        raise ArgumentError(f"{path} is not an NPZ file, or damaged: {error}") from error


def _count(archive: ZipFile) -> int | None:
    """The number of states: that of the longest array."""
    shapes = [_header(archive, name)[0] for name in _members(archive)]
    return max((shape[0] for shape in shapes if shape), default=None)


def _members(archive: ZipFile) -> list[str]:
    return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]


def _read_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, is_fortran, dtype = read(file)
    return shape, is_fortran, dtype


def _header(archive: ZipFile, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    with archive.open(f"{name}.npy") as file:
        return _read_header(file)


def _rows(archive: ZipFile, name: str, start: int, stop: int) -> Array:
    """Rows of a member; the whole member passes through memory only where its columns lie together."""
    member = archive.getinfo(f"{name}.npy")
    with archive.open(member) as file:
        shape, is_fortran, dtype = _read_header(file)
        if dtype.hasobject:
            raise ArgumentError(f"{archive.filename} has {name!r} of Python objects; expected real numbers")
        size, header = math.prod(shape[1:]) * dtype.itemsize, file.tell()
        first, last = (0, shape[0]) if is_fortran and len(shape) > 1 else (start, stop)
        if member.compress_type == ZIP_STORED:
            data = _stored(archive, member, header + first * size, (last - first) * size)
        else:
            skip = first * size
            while skip:
                skip -= len(_exactly(file, min(skip, PIECE)))
            data = np.frombuffer(_exactly(file, (last - first) * size), np.uint8)
            if last == shape[0]:
                file.read(1)  # the end of the member, where its checksum is compared
    array = data.view(dtype)
    if is_fortran and len(shape) > 1:
        return array.reshape(shape, order="F")[start:stop].copy()
    return array.reshape(stop - start, *shape[1:])


def _stored(archive: ZipFile, member: ZipInfo, skip: int, count: int) -> Array:
    """Bytes of a member that is not compressed. Its checksum is compared if all of it is read."""
    data = np.empty(count, np.uint8)
    with open(str(archive.filename), "rb") as file:
        file.seek(member.header_offset + 26)
        name_length, extra_length = struct.unpack("<HH", file.read(4))
        file.seek(member.header_offset + 30 + name_length + extra_length)
        if skip + count == member.file_size and skip < PIECE:
            checksum: int | None = crc32(_exactly(file, skip))
        else:
            checksum = None
            file.seek(skip, os.SEEK_CUR)
        for k in range(0, count, PIECE):
            piece = data.data[k : k + PIECE]
            if file.readinto(piece) != len(piece):
                raise EOFError("its end is missing")
            checksum = None if checksum is None else crc32(piece, checksum)  # while it is in the CPU's cache
    if checksum not in (None, member.CRC):
        raise BadZipFile(f"the checksum of {member.filename} is wrong")
    return data


def _exactly(file: Any, count: int) -> bytes:
    data: bytes = file.read(count)
    if len(data) != count:
        raise EOFError(f"{count - len(data)} bytes are missing")
    return data
