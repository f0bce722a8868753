"""A shared library of Linux from one object file, without a linker: an ELF file that dlopen loads.

The object is position-independent code that refers to itself and, by addresses in its data, to the C library. Three
segments hold it: names and constants, code, data. References inside are resolved here; the loader adds the address of
the library to the others and looks up functions of the C library.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

from kinetree.errors import PlatformError

X86_64, AARCH64 = 62, 183
"""Machines of ELF files."""
PAGE = {X86_64: 0x1000, AARCH64: 0x10000}
"""The largest page that the system of a machine may have."""
RELATIVE = {X86_64: 8, AARCH64: 1027}
ABSOLUTE = {X86_64: 1, AARCH64: 257}
"""Relocations of 8 bytes: the address of the library and a number, or of a symbol and a number."""

_HEADER, _SECTION = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ")
_SEGMENT, _SYMBOL, _RELA = struct.Struct("<IIQQQQQQ"), struct.Struct("<IBBHQQ"), struct.Struct("<QQq")
_ALLOC, _WRITE, _EXECUTE = 2, 1, 4
_NOBITS, _SYMTAB, _RELAS = 8, 2, 4
_LOAD, _DYNAMIC, _STACK = 1, 2, 0x6474E551
_SEGMENTS = 5
_NEEDED, _HASHES, _NAMES, _TABLE, _REFERENCES = 1, 4, 5, 6, 7
"""Tags of what the loader is told."""
_READ_SEGMENT, _WRITE_SEGMENT, _EXECUTE_SEGMENT = 4, 6, 5


class _Section(NamedTuple):
    name: str
    kind: int
    flags: int
    data: bytes
    link: int
    target: int
    alignment: int


class _Symbol(NamedTuple):
    name: str
    section: int
    """0 if it is defined elsewhere."""
    value: int
    size: int
    is_global: bool


class _Object:
    """What an object file has: its machine, sections and symbols."""

    def __init__(self, data: bytes) -> None:
        head = _HEADER.unpack_from(data)
        self.machine, start, count, names = head[2], head[6], head[12], head[13]
        if data[:5] != b"\x7fELF\x02" or self.machine not in PAGE:
            raise PlatformError("a shared library is made for x86-64 and AArch64 with Linux")
        found = [_SECTION.unpack_from(data, start + k * _SECTION.size) for k in range(count)]
        bodies = [bytes(x[5]) if x[1] == _NOBITS else data[x[4] : x[4] + x[5]] for x in found]
        self.sections = [
            _Section(_text(bodies[names], x[0]), x[1], x[2], body, x[6], x[7], max(1, x[8]))
            for x, body in zip(found, bodies, strict=True)
        ]
        (table,) = (section for section in self.sections if section.kind == _SYMTAB)
        strings = self.sections[table.link].data
        self.symbols = [
            _Symbol(_text(strings, name), section, value, size, info >> 4 == 1)
            for name, info, _, section, value, size in _SYMBOL.iter_unpack(table.data)
        ]


def shared_library(object_file: bytes) -> bytes:
    """The shared library with all global functions of an object file."""
    return _Image(_Object(object_file)).data()


class _Image:
    """The file as it lies in memory: every byte is at its address."""

    def __init__(self, given: _Object) -> None:
        self._given, self._page = given, PAGE[given.machine]
        self._absolute = ABSOLUTE[given.machine]
        self._kept = [
            k
            for k, x in enumerate(given.sections)
            if x.flags & _ALLOC and x.data and not x.name.startswith(".eh_frame")
        ]
        self._references = [
            (x.target, offset, kind & 0xFFFFFFFF, given.symbols[kind >> 32], addend)
            for x in given.sections
            if x.kind == _RELAS and x.target in self._kept
            for offset, kind, addend in _RELA.iter_unpack(x.data)
        ]
        self._named = [x for x in given.symbols if x.is_global]  # defined here, or looked up elsewhere
        self._bytes = bytearray(_HEADER.size + _SEGMENTS * _SEGMENT.size)
        self._where: dict[int, int] = {}

    def data(self) -> bytes:
        """The whole file."""
        tags = self._tables()
        segments: list[tuple[int, ...]] = []
        for flags, wanted in ((_READ_SEGMENT, 0), (_EXECUTE_SEGMENT, _EXECUTE), (_WRITE_SEGMENT, _WRITE)):
            self._bytes += bytes(-len(self._bytes) % self._page if segments else 0)
            start = len(self._bytes) if segments else 0
            for k in self._kept:
                section = self._given.sections[k]
                if section.flags & (_EXECUTE | _WRITE) == wanted:
                    self._where[k] = self._append(section.data, section.alignment)
            if wanted == _WRITE:
                at = self._append(b"".join(struct.pack("<QQ", *tag) for tag in (*tags.items(), (0, 0))), 8)
                size = len(self._bytes) - at
                segments.append((_DYNAMIC, flags, at, at, at, size, size, 8))
            size = len(self._bytes) - start
            segments.append((_LOAD, flags, start, start, start, size, size, self._page))
        segments.append((_STACK, _WRITE_SEGMENT, 0, 0, 0, 0, 0, 16))  # it needs no code on the stack
        self._fill_symbols(tags[_TABLE])
        self._fill_references(tags[_REFERENCES])
        _HEADER.pack_into(
            self._bytes, 0, b"\x7fELF\x02\x01\x01", 3, self._given.machine, 1, 0, _HEADER.size, 0, 0, _HEADER.size,
            _SEGMENT.size, len(segments), 0, 0, 0,
        )  # fmt: skip
        for k, segment in enumerate(sorted(segments, key=lambda found: found[0])):
            _SEGMENT.pack_into(self._bytes, _HEADER.size + k * _SEGMENT.size, *segment)
        return bytes(self._bytes)

    def _tables(self) -> dict[int, int]:
        """Adds room for tables of names, symbols and references; returns what the loader is told of them, by tag."""
        strings = bytearray(1)
        self._names = []
        for text in (*(x.name for x in self._named), "libm.so.6"):
            self._names.append(len(strings))
            strings += text.encode() + b"\0"
        references = _RELA.size * sum(kind == self._absolute for _, _, kind, _, _ in self._references)
        return {
            _NEEDED: self._names[-1],
            _HASHES: self._append(_hash_table([x.name for x in self._named]), 8),
            _TABLE: self._append(bytes(_SYMBOL.size * (len(self._named) + 1)), 8),
            _NAMES: self._append(bytes(strings), 1),
            _REFERENCES: self._append(bytes(references), 8),
            8: references, 9: _RELA.size, 10: len(strings), 11: _SYMBOL.size,
        }  # fmt: skip

    def _append(self, data: bytes, alignment: int) -> int:
        """Adds data at a multiple of the alignment; returns where."""
        self._bytes += bytes(-len(self._bytes) % alignment)
        self._bytes += data
        return len(self._bytes) - len(data)

    def _fill_symbols(self, table: int) -> None:
        for k, (symbol, name) in enumerate(zip(self._named, self._names, strict=False), 1):
            is_own = bool(symbol.section)
            address = self._where[symbol.section] + symbol.value if is_own else 0
            kind = 0x12 if is_own else 0x10  # a global function, or anything global
            _SYMBOL.pack_into(self._bytes, table + k * _SYMBOL.size, name, kind, 0, is_own, address, symbol.size)

    def _fill_references(self, table: int) -> None:
        numbers = {x.name: k for k, x in enumerate(self._named, 1)}
        for target, offset, kind, symbol, addend in self._references:
            place = self._where[target] + offset
            value = self._where[symbol.section] + symbol.value + addend if symbol.section else addend
            if kind == self._absolute:
                told = RELATIVE[self._given.machine] if symbol.section else numbers[symbol.name] << 32 | kind
                _RELA.pack_into(self._bytes, table, place, told, value)
                table += _RELA.size
            elif symbol.section and kind in _KINDS[self._given.machine]:
                _KINDS[self._given.machine][kind](self._bytes, place, value)
            else:
                raise PlatformError(
                    f"code for a shared library refers to {symbol.name or 'itself'} in a way that is not known ({kind})"
                )


def _text(strings: bytes, start: int) -> str:
    return strings[start : strings.index(b"\0", start)].decode()


def _hash_table(names: list[str]) -> bytes:
    """The table by which a loader finds symbols, numbered from 1; symbols of one bucket form a chain."""
    buckets, chain = [0] * max(1, len(names)), [0] * (len(names) + 1)
    for k, name in enumerate(names, 1):
        value = 0
        for byte in name.encode():
            value = (value << 4) + byte
            value = (value ^ (value & 0xF0000000) >> 24) & 0x0FFFFFFF
        bucket = value % len(buckets)
        chain[k], buckets[bucket] = buckets[bucket], k
    return struct.pack(f"<{2 + len(buckets) + len(chain)}I", len(buckets), len(chain), *buckets, *chain)


# -- references inside -------------------------------------------------------------------------------------------------


def _relative(image: bytearray, place: int, value: int) -> None:
    struct.pack_into("<i", image, place, value - place)


def _or(image: bytearray, place: int, bits: int) -> None:
    """Set bits of an instruction of AArch64, where they are zero."""
    (instruction,) = struct.unpack_from("<I", image, place)
    struct.pack_into("<I", image, place, instruction | bits)


def _page(image: bytearray, place: int, value: int) -> None:
    pages = (value >> 12) - (place >> 12)
    _or(image, place, (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5)


def _low(scale: int) -> Callable[[bytearray, int, int], None]:
    """The last 12 bits of an address, in units of so many bytes as a power of two."""
    return lambda image, place, value: _or(image, place, (value & 0xFFF) >> scale << 10)


def _branch(image: bytearray, place: int, value: int) -> None:
    _or(image, place, value - place >> 2 & 0x3FFFFFF)


_KINDS: dict[int, dict[int, Callable[[bytearray, int, int], None]]] = {
    X86_64: {2: _relative, 4: _relative},
    AARCH64: {
        261: _relative, 275: _page, 277: _low(0), 278: _low(0), 282: _branch, 283: _branch, 284: _low(1),
        285: _low(2), 286: _low(3), 299: _low(4),
    },
}  # fmt: skip
