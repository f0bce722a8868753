"""What all fuzzers share: damage to bytes and to words, what may come out of a reader, and the loop of a script.

    python tests/fuzz_mjcf.py 60 [SEED]      for a minute; shows the seed that it is at

A seed that fails can be run alone: `python tests/fuzz_mjcf.py 0 SEED` runs just that one.
"""

from __future__ import annotations

import collections
import faulthandler
import random
import re
import sys
import time
from collections.abc import Callable

import kinetree as kt

LONGEST_SENTENCE = 3000
MEMORY = 6 * 2**30
"""What a script may have in all [bytes]: whoever wants more fails."""
HANG = 120
"""A document that takes longer is a failure [s]."""
GOOD_NUMBERS = ("0", "-0.0", "1", "-1", "1e308", "-1e308", "1e-320", "+3", ".5", "5.", "1e-300", "255", "65536")
BAD_NUMBERS = (
    "1e400", "nan", "inf", "-inf", "0x10", "1_000", "1,5", "1e", "3.4.5", "--1", "١٢", "true", "1;2", "4294967296",
    "9223372036854775808", "-9223372036854775809", "9" * 400, "99999999",
)  # fmt: skip
WORDS = (
    "", " ", "world", "\u00e9\u4e2d", "a" * 3000, "{name}", "%s", "<&>\"'", "../..", "\x1b[31m", "\u202e", "/dev/zero",
    "none", "auto", "\\", "#",
)  # fmt: skip


def damaged_bytes(data: bytes, rng: random.Random) -> bytes:
    """With a few of its bytes changed, lost, doubled, moved, or made into large numbers."""
    content = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at, length = rng.randrange(len(content) + 1), rng.choice((1, 2, 4, 8, 40))
        kind = rng.randrange(8)
        if kind == 0 and at < len(content):
            content[at] = rng.randrange(256)
        elif kind == 1 and at < len(content):
            content[at] ^= 1 << rng.randrange(8)
        elif kind == 2 and rng.random() < 0.3:
            del content[at:]
        elif kind == 3:
            del content[at : at + length]
        elif kind == 4:
            content[at:at] = bytes(rng.randrange(256) for _ in range(length))
        elif kind == 5:
            content[at:at] = content[at : at + length] * rng.choice((1, 3, 200))
        elif kind == 6:
            number = rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1, 10**6, 10**9))
            size = rng.choice((4, 8))
            content[at : at + size] = (number % 2 ** (8 * size)).to_bytes(size, rng.choice(("little", "big")))
        else:
            other = rng.randrange(len(content) + 1)
            content[at : at + length] = content[other : other + length]
    return bytes(content)


def damaged_words(text: str, rng: random.Random) -> str:
    """With some of its numbers and quoted words changed, and some of its lines lost, doubled or moved."""
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        kind = rng.randrange(4)
        if kind < 2:
            places = list(re.finditer(r"[-+]?\d[\d.eE+-]*|\"[^\"\n]*\"|'[^'\n]*'|\b[A-Za-z_]\w*\b", text))
            if places:
                found = rng.choice(places)
                quote = found[0][0] if found[0][0] in "\"'" else ""
                new = rng.choice(GOOD_NUMBERS + BAD_NUMBERS + WORDS + (found[0] * 2, rng.choice(places)[0]))
                text = text[: found.start()] + quote + new.strip(quote or None) + quote + text[found.end() :]
        else:
            lines = text.split("\n")
            at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
            line = lines[at] if kind == 2 else lines.pop(at)
            if rng.random() < 0.7:
                lines.insert(other, line)
            text = "\n".join(lines)
    return text


def check_sentence(problem: kt.KinetreeError) -> None:
    """One sentence, of bounded length, with nothing in it that a terminal would obey."""
    sentence = str(problem)
    assert sentence and sentence.isprintable() and len(sentence) < LONGEST_SENTENCE, repr(sentence)


def main(run: Callable[[random.Random], str]) -> None:
    """Documents of one seed after the other, until the time is over; anything unexpected ends it with its seed."""
    seconds, first = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    _bound_memory()
    end, outcomes = time.monotonic() + seconds, collections.Counter[str]()
    slowest = (0.0, first)
    while outcomes.total() == 0 or time.monotonic() < end:
        seed = first + outcomes.total()
        print(f"\r{seed}", end="", flush=True)
        faulthandler.dump_traceback_later(HANG, exit=True)
        begin = time.monotonic()
        outcomes[run(random.Random(seed))] += 1
        slowest = max(slowest, (time.monotonic() - begin, seed))
        faulthandler.cancel_dump_traceback_later()
    print(f"\r{dict(outcomes)}; the slowest took {slowest[0]:.2f} s, seed {slowest[1]}")


def _bound_memory() -> None:
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
