"""The step loop of one state: the results of a kernel are its arguments in the next step."""

from __future__ import annotations

from kinetree.compiler.codegen.tiles import loop

LOOP_SINGLE = "kinetree_loop_single"


def single_state_loop_assembly() -> str:
    """void loop_single(kernel, steps, until, every, inputs, outputs, words, workspace).

    The words are: the number of inputs, and the stride of each between steps in bytes; the addresses of the state and
    of the results that replace it, and their size in numbers; the number of records, and for each its source, its
    target, its size in numbers and its stride in bytes. Records are written after `until` steps and then after every
    `every` steps.
    """
    step = [
        "  call void %kernel(ptr %inputs, ptr %outputs, ptr %work)",
        "  br label %carry.enter",
        *_copy("carry", "%result", "%state", "%total", "move.enter"),
        "move.enter:",
        *loop("move", "0", 1, "%count", _moved(), "judge"),
        "judge:",
        "  %waited = load i64, ptr %waiting, align 8",
        "  %left = sub i64 %waited, 1",
        "  store i64 %left, ptr %waiting, align 8",
        "  %due = icmp eq i64 %left, 0",
        "  br i1 %due, label %due.enter, label %step.done",
        "due.enter:",
        "  store i64 %every, ptr %waiting, align 8",
        "  br label %record.enter",
        "record.enter:",
        *loop("record", "0", 1, "%records", _recorded(), "step.done", last="record.done"),
        "step.done:",
    ]
    lines = [
        f"define void @{LOOP_SINGLE}(ptr %kernel, i64 %steps, i64 %until, i64 %every, ptr %inputs, ptr %outputs, "
        "ptr %words, ptr %work) nounwind {",
        "  %waiting = alloca i64, align 8",
        "  store i64 %until, ptr %waiting, align 8",
        "  %count = load i64, ptr %words, align 8",
        "  %distances = getelementptr i64, ptr %words, i64 1",
        "  %fixed = getelementptr i64, ptr %distances, i64 %count",
        *_fields("%fixed", {"state": "ptr", "result": "ptr", "total": "i64", "records": "i64"}),
        "  %table = getelementptr i64, ptr %fixed, i64 4",
        "  br label %step.enter",
        "step.enter:",
        *loop("step", "0", 1, "%steps", step, "end", last="step.done"),
        "end:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines)


def _fields(pointer: str, kinds: dict[str, str]) -> list[str]:
    """Instructions that load consecutive words."""
    lines = []
    for k, (name, kind) in enumerate(kinds.items()):
        lines.append(f"  %{name}.at = getelementptr i64, ptr {pointer}, i64 {k}")
        lines.append(f"  %{name} = load {kind}, ptr %{name}.at, align 8")
    return lines


def _copy(name: str, source: str, target: str, size: str, after: str) -> list[str]:
    """A loop that copies `size` numbers."""
    body = [
        f"  %{name}.from = getelementptr double, ptr {source}, i64 %{name}",
        f"  %{name}.to = getelementptr double, ptr {target}, i64 %{name}",
        f"  %{name}.value = load double, ptr %{name}.from, align 8",
        f"  store double %{name}.value, ptr %{name}.to, align 8",
    ]
    return [f"{name}.enter:", *loop(name, "0", 1, size, body, after)]


def _moved() -> list[str]:
    """Instructions that move the address of an input to the next step."""
    return [
        "  %input.at = getelementptr i64, ptr %inputs, i64 %move",
        "  %by.at = getelementptr i64, ptr %distances, i64 %move",
        "  %old = load i64, ptr %input.at, align 8",
        "  %by = load i64, ptr %by.at, align 8",
        "  %new = add i64 %old, %by",
        "  store i64 %new, ptr %input.at, align 8",
    ]


def _recorded() -> list[str]:
    """Instructions that copy one array of a record and move its target to the next record."""
    return [
        "  %place = mul i64 %record, 4",
        "  %row = getelementptr i64, ptr %table, i64 %place",
        *_fields("%row", {"source": "ptr", "target": "ptr", "size": "i64", "ahead": "i64"}),
        "  br label %number.enter",
        *_copy("number", "%source", "%target", "%size", "record.done"),
        "record.done:",
        "  %following = getelementptr i8, ptr %target, i64 %ahead",
        "  store ptr %following, ptr %target.at, align 8",
    ]
