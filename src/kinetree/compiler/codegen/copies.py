"""A kernel that runs others, once for each of their copies, on other parts of the same arrays.

The arrays of a copy begin some numbers behind those of the whole; a constant table has these distances for every copy.
The last output, one number, is the status: the sum of those of all copies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kinetree.compiler.codegen.ir import Width
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
    return re.sub(r"@([\w.]+)", lambda m: f"@{own(m[1], k)}" if m[1] in names else m[0], kernel)


def own(name: str, k: int) -> str:
    """The name that something has in the k-th kernel."""
    return f"copies{k}.{name}"


def emit_copies(layout: Layout, places: Sequence[Sequence[Sequence[int]]], width: Width) -> str:
    """void kinetree_single(inputs, outputs, workspace), of kernels with these `places`: of each its copies, and of each
    copy the distances of its inputs and of its outputs but the last."""
    real, inputs, outputs = width.element, len(layout.inputs), len(layout.outputs)
    lines = [
        f"define void @{SINGLE}(ptr %inputs, ptr %outputs, ptr %work) nounwind {{",
        "entry:",
        f"  %in = alloca [{inputs} x ptr]",
        f"  %out = alloca [{outputs} x ptr]",
        f"  %own = alloca {real}",
        *_loads("outputs", outputs - 1, "status"),
        f"  store {real} 0.0, ptr %status",
        "  br label %enter0",
    ]
    for g, listed in enumerate(places):
        body: list[str] = []
        tables = [("inputs", "in", j) for j in range(inputs)] + [("outputs", "out", j) for j in range(outputs - 1)]
        for k, (table, target, j) in enumerate(tables):
            body += [
                *_distance(g, k),
                *_loads(table, j, f"whole{g}.{k}"),
                f"  %part{g}.{k} = getelementptr {real}, ptr %whole{g}.{k}, i64 %far{g}.{k}",
                f"  %to{g}.{k} = getelementptr ptr, ptr %{target}, i64 {j}",
                f"  store ptr %part{g}.{k}, ptr %to{g}.{k}",
            ]
        body += [
            f"  %flag{g} = getelementptr ptr, ptr %out, i64 {outputs - 1}",
            f"  store ptr %own, ptr %flag{g}",
            f"  call void @{own(SINGLE, g)}(ptr %in, ptr %out, ptr %work)",
            f"  %one{g} = load {real}, ptr %own",
            f"  %before{g} = load {real}, ptr %status",
            f"  %sum{g} = fadd {real} %before{g}, %one{g}",
            f"  store {real} %sum{g}, ptr %status",
        ]
        lines += _for_copies(g, inputs + outputs - 1, len(listed), body)
    lines += [f"enter{len(places)}:", "  ret void", "}"]
    return "\n\n".join([*_tables(places), "\n".join(lines)])


def emit_batch_copies(layout: Layout, places: Sequence[Sequence[Sequence[int]]], width: Width) -> str:
    """void kinetree_batch(start, stop, descriptor, workspace) likewise; the workspace begins with the status of the
    states of a chunk, as one copy has it."""
    real, size, inputs, outputs = width.element, width.size, len(layout.inputs), len(layout.outputs)
    words = 3 * inputs + 2 * outputs
    flag = 3 * inputs + 2 * (outputs - 1)
    lines = [
        f"define void @{BATCH}(i64 %start, i64 %stop, ptr %descriptor, ptr %work) nounwind {{",
        "entry:",
        f"  %own = alloca [{words} x i64]",
        f"  %inner = getelementptr i8, ptr %work, i64 {status_space()}",
        "  %base = ptrtoint ptr %work to i64",
        *(line for k in range(words) for line in _loads("descriptor", k, f"word{k}", "i64")),
        f"  %step = mul i64 %word{flag + 1}, {size}",
        "  br label %chunk",
        "chunk:",
        f"  %first = phi i64 [%start, %entry], [%last, %enter{len(places)}]",
        "  %more = icmp slt i64 %first, %stop",
        "  br i1 %more, label %begin, label %done",
        "begin:",
        f"  %past = add i64 %first, {CHUNK}",
        "  %over = icmp sgt i64 %past, %stop",
        "  %last = select i1 %over, i64 %stop, i64 %past",
        f"  %ahead = mul i64 %first, {size}",
        "  %flags = sub i64 %base, %ahead",
        *_rows("clear", "begin", "enter0", [f"  store {real} 0.0, ptr %clear.status"], flag),
    ]
    for g, listed in enumerate(places):
        body: list[str] = []
        for k in range(inputs + outputs - 1):
            at, column = (3 * k, f"%word{3 * k + 2}") if k < inputs else (inputs + 2 * k, "1")
            body += [
                *_distance(g, k),
                f"  %numbers{g}.{k} = mul i64 %far{g}.{k}, {column}",
                f"  %bytes{g}.{k} = mul i64 %numbers{g}.{k}, {size}",
                f"  %part{g}.{k} = add i64 %word{at}, %bytes{g}.{k}",
                *_stores(g, at, f"%part{g}.{k}"),
                *_stores(g, at + 1, f"%word{at + 1}"),
                *(_stores(g, at + 2, column) if k < inputs else ()),
            ]
        adding = [
            f"  %add{g}.far = mul i64 %add{g}, {size}",
            f"  %add{g}.place = add i64 %flags, %add{g}.far",
            f"  %add{g}.at = inttoptr i64 %add{g}.place to ptr",
            f"  %add{g}.one = load {real}, ptr %add{g}.at",
            f"  %add{g}.before = load {real}, ptr %add{g}.status",
            f"  %add{g}.sum = fadd {real} %add{g}.before, %add{g}.one",
            f"  store {real} %add{g}.sum, ptr %add{g}.status",
        ]
        body += [
            *_stores(g, flag, "%flags"),
            *_stores(g, flag + 1, "1"),
            f"  call void @{own(BATCH, g)}(i64 %first, i64 %last, ptr %own, ptr %inner)",
            *_rows(f"add{g}", f"copy{g}", f"added{g}", adding, flag),
            f"added{g}:",
        ]
        lines += _for_copies(g, inputs + outputs - 1, len(listed), body)
    lines += [f"enter{len(places)}:", "  br label %chunk", "done:", "  ret void", "}"]
    return "\n\n".join([*_tables(places), "\n".join(lines)])


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


def _for_copies(g: int, words: int, count: int, body: Sequence[str]) -> list[str]:
    """The loop over the copies of kernel g: %row is the index of its first distance."""
    return [
        f"enter{g}:",
        f"  br label %copy{g}",
        f"copy{g}:",
        f"  %c{g} = phi i64 [0, %enter{g}], [%c{g}.next, %next{g}]",
        f"  %row{g} = mul i64 %c{g}, {words}",
        *body,
        f"  br label %next{g}",
        f"next{g}:",
        f"  %c{g}.next = add i64 %c{g}, 1",
        f"  %c{g}.more = icmp slt i64 %c{g}.next, {count}",
        f"  br i1 %c{g}.more, label %copy{g}, label %enter{g + 1}",
    ]


def _distance(g: int, k: int) -> list[str]:
    return [
        f"  %index{g}.{k} = add i64 %row{g}, {k}",
        f"  %far{g}.{k}.at = getelementptr i64, ptr @kinetree.places{g}, i64 %index{g}.{k}",
        f"  %far{g}.{k} = load i64, ptr %far{g}.{k}.at",
    ]


def _loads(table: str, k: int, name: str, kind: str = "ptr") -> list[str]:
    return [f"  %{name}.at = getelementptr {kind}, ptr %{table}, i64 {k}", f"  %{name} = load {kind}, ptr %{name}.at"]


def _stores(g: int, k: int, value: str) -> list[str]:
    return [f"  %own{g}.{k} = getelementptr i64, ptr %own, i64 {k}", f"  store i64 {value}, ptr %own{g}.{k}"]


def _rows(name: str, before: str, after: str, body: list[str], flag: int) -> list[str]:
    """A loop over the states of a chunk, with the address of the status of each."""
    return [
        f"  br label %{name}.head",
        f"{name}.head:",
        f"  %{name} = phi i64 [%first, %{before}], [%{name}.next, %{name}.head]",
        f"  %{name}.distance = mul i64 %{name}, %step",
        f"  %{name}.address = add i64 %word{flag}, %{name}.distance",
        f"  %{name}.status = inttoptr i64 %{name}.address to ptr",
        *body,
        f"  %{name}.next = add i64 %{name}, 1",
        f"  %{name}.more = icmp slt i64 %{name}.next, %last",
        f"  br i1 %{name}.more, label %{name}.head, label %{after}",
    ]
