"""One call of a kernel for one state: inputs taken, results made or `out` used, status looked at."""

from __future__ import annotations

from typing import cast

from kinetree.base.locks import FREE_THREADED
from kinetree.compiler.codegen.entry import interpreter as python
from kinetree.compiler.codegen.entry.arrays import data
from kinetree.compiler.codegen.entry.batch import run_batch
from kinetree.compiler.codegen.entry.conversion import converted
from kinetree.compiler.codegen.entry.records import (
    MOST_INPUTS,
    MOST_OUTPUTS,
    READ,
    TO_PYTHON,
    VARIANT,
    WRITTEN,
    Entry,
    Variant,
)
from kinetree.compiler.codegen.entry.references import release
from kinetree.compiler.codegen.entry.results import allocate, copy, finish
from kinetree.compiler.codegen.loop_types import Address, Addresses, Integers, Vector, pointer


def run(entry: Entry, variant: Variant, slots: Addresses, found: Addresses, places: int) -> Address | None:
    """The results of a variant's kernel; or None with an exception set, or TO_PYTHON."""
    inputs = Addresses(MOST_INPUTS)
    outputs = Addresses(MOST_OUTPUTS)
    results = Addresses(MOST_OUTPUTS)
    if variant.kernel is not None:
        if not allocate(entry, variant, results, outputs):
            return None
        if take(entry, variant, slots, found, places, inputs):
            if compute(entry, variant, inputs, outputs):
                return finish(entry, results, outputs)
            release(results, entry.results)
            return pointer(TO_PYTHON)
        release(results, entry.results)
    if places > 0:
        return pointer(TO_PYTHON)
    return run_batch(entry, variant, slots, None)


def run_into(
    entry: Entry, variant: Variant, slots: Addresses, found: Addresses, places: int, out: Address
) -> Address | None:
    """`out`, with the result of a variant's kernel; or TO_PYTHON, and then `out` is as it was."""
    inputs = Addresses(MOST_INPUTS)
    outputs = Addresses(MOST_OUTPUTS)
    memory = None if variant.kernel is None or not entry.bare else data(out, variant.outputs, WRITTEN)
    if memory is None:
        return pointer(TO_PYTHON) if places > 0 else run_batch(entry, variant, slots, out)
    if not take(entry, variant, slots, found, places, inputs):
        return pointer(TO_PYTHON)
    outputs[0] = memory if variant.status is None else variant.scratch
    if overlaps(entry, variant, memory, inputs, places) or not compute(entry, variant, inputs, outputs):
        return pointer(TO_PYTHON)
    if variant.status is not None:
        copy(variant.scratch, memory, variant.outputs.count)
    python.Py_IncRef(out)
    return out


def run_apart(entry: Entry, variant: Variant, slots: Addresses, found: Addresses, places: int) -> Address | None:
    """`run` in memory that no other thread uses."""
    own = Variant()
    memory = with_own_memory(variant, own)
    if memory is None:
        return pointer(TO_PYTHON)
    result = run(entry, own, slots, found, places)
    python.PyMem_RawFree(memory)
    return result


def run_into_apart(
    entry: Entry, variant: Variant, slots: Addresses, found: Addresses, places: int, out: Address
) -> Address | None:
    """`run_into` in memory that no other thread uses."""
    own = Variant()
    memory = with_own_memory(variant, own)
    if memory is None:
        return pointer(TO_PYTHON)
    result = run_into(entry, own, slots, found, places, out)
    python.PyMem_RawFree(memory)
    return result


def with_own_memory(variant: Variant, own: Variant) -> Address | None:
    """Memory to be freed, and a copy of a variant that works in it; None if there is none."""
    memory = python.PyMem_RawMalloc(variant.memory_size + 64)
    if memory is None:
        return None
    words: Integers = cast(Address, variant)
    copied: Integers = cast(Address, own)
    for k in range(VARIANT):
        copied[k] = words[k]
    own.workspace = memory + (-int(memory) & 63)
    own.scratch = own.workspace + (int(variant.scratch) - int(variant.workspace))
    own.room = own.workspace + (int(variant.room) - int(variant.workspace))
    if variant.status is not None:
        own.status = own.workspace + (int(variant.status) - int(variant.workspace))
    return memory


call, call_into = (run_apart, run_into_apart) if FREE_THREADED else (run, run_into)


def take(entry: Entry, variant: Variant, slots: Addresses, found: Addresses, places: int, inputs: Addresses) -> bool:
    """The memory of all inputs, as the kernel takes it; False if any is not what it should be."""
    room = variant.room
    for k in range(entry.arrays + places):
        form = entry.inputs[k] if k < entry.arrays else entry.mapped
        given = slots[k] if k < entry.arrays else found[k - entry.arrays]
        if given is None:
            inputs[k] = variant.zeros
            continue
        numbers = data(given, form, READ)
        if numbers is None:
            numbers = converted(given, form, room)
            if numbers is None:
                return False
            room = room + 8 * form.count
        inputs[k] = numbers
    return True


def compute(entry: Entry, variant: Variant, inputs: Addresses, outputs: Addresses) -> bool:
    """Run the kernel; False if its status is not 0.0."""
    outputs[entry.results] = variant.status
    variant.kernel(inputs, outputs, variant.workspace)
    if variant.status is None:
        return True
    status: Vector = variant.status
    return status[0] == 0.0


def overlaps(entry: Entry, variant: Variant, out: Address, inputs: Addresses, places: int) -> bool:
    """Whether the memory of `out` and of any input have a byte in common."""
    for k in range(entry.arrays + places):
        form = entry.inputs[k] if k < entry.arrays else entry.mapped
        if inputs[k] < out + 8 * variant.outputs.count and out < inputs[k] + 8 * form.count:
            return True
    return False
