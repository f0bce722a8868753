"""An entry that is not what was written is never returned."""

import hashlib
import os

from cache_entries import DATA, KEY, OTHER, entry, names
from kinetree.compiler.runtime import cache


def spoiled(where, content):
    """Whether an entry of this content is missing, and quietly gone."""
    entry(where).write_bytes(content)
    return cache.read(KEY) is None and names(where) == []


def test_truncated_anywhere(where):
    cache.write(KEY, b"machine code")
    content = entry(where).read_bytes()
    assert all(spoiled(where, content[:length]) for length in range(len(content)))
    assert spoiled(where, content + b"\0")
    assert spoiled(where, content + content)
    entry(where).write_bytes(content)
    assert cache.read(KEY) == b"machine code"


def test_any_bit_flipped(where):
    cache.write(KEY, b"machine code")
    content = entry(where).read_bytes()
    for bit in range(8 * len(content)):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        assert spoiled(where, changed), bit


def test_an_entry_of_another_format(where):
    cache.write(KEY, DATA)
    content = entry(where).read_bytes()
    digest = hashlib.sha256(KEY.encode() + b"\n" + DATA).digest()
    assert content == b"kinetree object code, format 1\n" + digest + len(DATA).to_bytes(8, "big") + DATA
    assert spoiled(where, content.replace(b"format 1", b"format 2"))


def test_an_entry_renamed_to_another_key(where):
    cache.write(KEY, DATA)
    entry(where).rename(entry(where, OTHER))
    assert cache.read(OTHER) is None
    assert names(where) == []


def test_where_key_and_data_meet_matters(where):
    cache.write(KEY, b"0123")
    os.rename(entry(where), entry(where, KEY[:-1]))
    content = entry(where, KEY[:-1]).read_bytes()
    entry(where, KEY[:-1]).write_bytes(content[:-12] + (5).to_bytes(8, "big") + KEY[-1:].encode() + b"0123")
    assert cache.read(KEY[:-1]) is None


def test_a_damaged_entry_is_written_anew(where):
    cache.write(KEY, DATA)
    entry(where).write_bytes(b"")
    assert cache.read(KEY) is None
    cache.write(KEY, DATA)
    assert cache.read(KEY) == DATA
