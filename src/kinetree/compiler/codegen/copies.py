"""A kernel that runs others, once for each of their copies, on other parts of the same arrays.

The arrays of a copy begin some numbers behind those of the whole; a constant table has these distances for every copy.
The last output, one number, is the status: the sum of those of all copies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kinetree.compiler.codegen.ir import Lines, Width
from kinetree.compiler.runtime.code import BATCH, SINGLE, Layout

CHUNK = 512
"""States of a batch for which all copies run one after the other."""
_METADATA = re.compile(r"^!\d+ = .*$", re.MULTILINE)
_DEFINED = re.compile(r"^(?:define [^@\n]*)?@([\w.]+)(?:\(| =)", re.MULTILINE)


def joined_kernels(texts: Sequence[str], kernels: Sequence[str]) -> str:
    """One module of kernels, each with names of its own, and of other definitions."""
    renamed = [_METADATA.sub("", _renamed(kernel, k)) for k, kernel in enumerate(kernels)]
    metadata = dict.fromkeys(line for kernel in kernels for line in _METADATA.findall(kernel))
    return "\n\n".join([*texts, *renamed, *metadata])


def _renamed(kernel: str, k: int) -> str:
    names = set(_DEFINED.findall(kernel))
    return re.sub(r"@([\w.]+)", lambda m: f"@{own_name(m[1], k)}" if m[1] in names else m[0], kernel)


def own_name(name: str, k: int) -> str:
    """The name that something has in the k-th kernel."""
    return f"copies{k}.{name}"


def emit_copies(layout: Layout, places: Sequence[Sequence[Sequence[int]]], width: Width) -> str:
    """void kinetree_single(inputs, outputs, workspace), of kernels with these `places`: of each its copies, and of each
    copy the distances of its inputs and of its outputs but the last."""
    b, real, inputs, outputs = Lines(width), width.element, len(layout.inputs), len(layout.outputs)
    into, out, own = (b.let(f"alloca {kind}") for kind in (f"[{inputs} x ptr]", f"[{outputs} x ptr]", real))
    tables = [("%inputs", into, j) for j in range(inputs)] + [("%outputs", out, j) for j in range(outputs - 1)]
    status = b.word("%outputs", outputs - 1, "ptr")
    b.store(real, "0.0", status, width.size)
    b.store("ptr", own, b.at(out, outputs - 1, "ptr"))
    for g, listed in enumerate(places):
        with b.loop(0, 1, len(listed)) as copy:
            for (table, target, j), far in zip(tables, _distances(b, g, copy, len(tables)), strict=True):
                b.store("ptr", b.at(b.word(table, j, "ptr"), far, real), b.at(target, j, "ptr"))
            b.add(f"call void @{own_name(SINGLE, g)}(ptr {into}, ptr {out}, ptr %work)")
            _add_status(b, own, status)
    return "\n\n".join([*_tables(places), b.function(SINGLE, "ptr %inputs, ptr %outputs, ptr %work")])


def emit_batch_copies(layout: Layout, places: Sequence[Sequence[Sequence[int]]], width: Width) -> str:
    """void kinetree_batch(start, stop, descriptor, workspace) likewise; the workspace begins with the status of the
    states of a chunk, as one copy has it."""
    b, size, inputs, outputs = Lines(width), width.size, len(layout.inputs), len(layout.outputs)
    flag = 3 * inputs + 2 * (outputs - 1)
    own, inner = b.let(f"alloca [{flag + 2} x i64]"), b.at("%work", status_space())
    words = [b.word("%descriptor", k) for k in range(flag + 2)]
    step, status = b.i64("mul", words[flag + 1], size), b.let(f"inttoptr i64 {words[flag]} to ptr")

    def set_word(k: int, value: str) -> None:
        b.store("i64", value, b.at(own, k, "i64"))

    with b.loop("%start", CHUNK, "%stop") as first:
        past = b.i64("add", first, CHUNK)
        last = b.let(f"select i1 {b.i64('icmp sgt', past, '%stop')}, i64 %stop, i64 {past}")
        flags = b.at("%work", b.i64("sub", 0, b.i64("mul", first, size)))
        with b.loop(first, 1, last) as state:
            b.store(width.element, "0.0", b.at(status, b.i64("mul", state, step)), size)
        for g, listed in enumerate(places):
            with b.loop(0, 1, len(listed)) as copy:
                for k, far in enumerate(_distances(b, g, copy, inputs + outputs - 1)):
                    at, column = (3 * k, words[3 * k + 2]) if k < inputs else (inputs + 2 * k, "1")
                    set_word(at, b.i64("add", words[at], b.i64("mul", b.i64("mul", far, column), size)))
                    set_word(at + 1, words[at + 1])
                    if k < inputs:
                        set_word(at + 2, column)
                set_word(flag, b.let(f"ptrtoint ptr {flags} to i64"))
                set_word(flag + 1, "1")
                b.add(f"call void @{own_name(BATCH, g)}(i64 {first}, i64 {last}, ptr {own}, ptr {inner})")
                with b.loop(first, 1, last) as state:
                    there = b.at(status, b.i64("mul", state, step))
                    _add_status(b, b.at(flags, state, width.element), there)
    return "\n\n".join([*_tables(places), b.function(BATCH, "i64 %start, i64 %stop, ptr %descriptor, ptr %work")])


def status_space() -> int:
    """Bytes of the workspace of a batch before that of the kernels."""
    return 8 * CHUNK


def _tables(places: Sequence[Sequence[Sequence[int]]]) -> list[str]:
    texts = []
    for g, listed in enumerate(places):
        numbers = [far for copy in listed for far in copy]
        values = ", ".join(f"i64 {far}" for far in numbers)
        texts.append(f"@kinetree.places{g} = internal constant [{len(numbers)} x i64] [{values}], align 8")
    return texts


def _distances(b: Lines, g: int, copy: str, count: int) -> list[str]:
    """The distances of the arrays of a copy of kernel g."""
    row = b.i64("mul", copy, count)
    return [b.word(f"@kinetree.places{g}", b.i64("add", row, k)) for k in range(count)]


def _add_status(b: Lines, one: str, total: str) -> None:
    """Add the number at an address to that at another one."""
    real, size = b.width.element, b.width.size
    b.store(real, b.let(f"fadd {real} {b.load(real, total, size)}, {b.load(real, one, size)}"), total, size)
