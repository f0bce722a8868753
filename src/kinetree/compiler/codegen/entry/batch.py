"""The native way into a kernel for a batch: for batches that one thread does soonest, with one batch axis.

Arrays are (N, …) in C order, or of any strides where one state is a vector; those without a batch axis count for all
states, and may be of other dtypes, lists or tuples where kernels are float64. The interpreter's lock is given up while
the kernel runs. The result is a new array, or `out` if that is one (N, …) in C order beside all arguments. Everything
else is Python's: several batch axes, work for several threads.
"""

from __future__ import annotations

from typing import cast

from kinetree.compiler.codegen.entry import interpreter as python
from kinetree.compiler.codegen.entry.arrays import data, same_lengths
from kinetree.compiler.codegen.entry.conversion import converted
from kinetree.compiler.codegen.entry.interpreter import ALIGNED, C_CONTIGUOUS, Array
from kinetree.compiler.codegen.entry.records import (
    MOST_AXES,
    MOST_DESCRIPTOR,
    MOST_OUTPUTS,
    READ,
    TO_PYTHON,
    WRITTEN,
    Entry,
    Form,
    Variant,
)
from kinetree.compiler.codegen.entry.references import release
from kinetree.compiler.codegen.entry.results import copy, finish, new_array
from kinetree.compiler.codegen.loop_types import Address, Addresses, Integers, Vector, pointer

MOST_COPIED = 32768
"""Numbers that are copied sooner than Python starts the same call."""


def run_batch(entry: Entry, variant: Variant, slots: Addresses, out: Array | None) -> Address | None:
    """The results of a variant's kernel for a batch, or `out` with the one result; or None with an exception set, or
    TO_PYTHON, and then `out` is as it was."""
    descriptor = Integers(MOST_DESCRIPTOR)
    results = Addresses(MOST_OUTPUTS)
    states = count_states(entry, slots)
    if variant.batch is None or states <= 0 or states > variant.most:
        return pointer(TO_PYTHON)
    if states > variant.small and python.threads[0] != 1:
        return pointer(TO_PYTHON)
    places = descriptor[3 * entry.arrays :]
    direct = False
    if out is not None:
        if not takes_batch(entry, variant, out, states):
            return pointer(TO_PYTHON)
        direct = variant.status is None
    if out is not None and direct:
        places[0] = int(out.data)
        places[1] = variant.outputs.count
        results[0] = cast(Address, out)
        python.Py_IncRef(results[0])
    elif not allocate_batch(entry, variant, states, results, places):
        return None
    flags = 0 if variant.status is None else states
    room = python.PyMem_RawMalloc(variant.batch_workspace + variant.room_size + 64 + 8 * flags)
    if room is not None:
        work = room + (-int(room) & 63)
        well = read_batch(entry, variant, slots, states, descriptor, work)
        well = well and not (direct and overlaps_batch(entry, variant, descriptor, states))
        well = well and compute_batch(entry, variant, states, descriptor, work, flags)
        python.PyMem_RawFree(room)
        if well and out is not None and not direct:
            array: Array = results[0]
            copy(array.data, out.data, states * variant.outputs.count)
            release(results, 1)
            python.Py_IncRef(cast(Address, out))
            return cast(Address, out)
        if well:
            return finish(entry, results, None)
    release(results, entry.results)
    return pointer(TO_PYTHON)


def count_states(entry: Entry, slots: Addresses) -> int:
    """The length of the batch axis of the first array that has one; -1 if there is none."""
    for k in range(entry.arrays):
        given: Array = slots[k]
        if given.type is python.ndarray and given.rank == entry.inputs[k].rank + 1:
            return given.shape[0]
    return -1


def allocate_batch(entry: Entry, variant: Variant, states: int, results: Addresses, places: Integers) -> bool:
    """New arrays (N, …) for all results; False with an exception set if there is no memory."""
    shape = Integers(MOST_AXES)
    shape[0] = states
    for k in range(entry.results):
        form = variant.outputs[k]
        for axis in range(form.rank):
            shape[axis + 1] = form.shape[axis]
        array = new_array(entry, form.rank + 1, shape)
        if array is None:
            release(results, k)
            return False
        results[k] = array
        places[2 * k] = int(array.data)
        places[2 * k + 1] = form.count
    return True


def takes_batch(entry: Entry, variant: Variant, out: Array, states: int) -> bool:
    """Whether an array can hold the one result of so many states."""
    form = variant.outputs
    if not entry.bare or out.type is not python.ndarray or out.flags & WRITTEN != WRITTEN:
        return False
    if out.dtype is not entry.dtype or out.rank != form.rank + 1 or out.shape[0] != states:
        return False
    if variant.status is not None and (entry.dtype is not python.float64 or states * form.count > MOST_COPIED):
        return False  # results of states that may be refused are copied, as words
    return same_lengths(out.shape[1:], form.shape, form.rank)


def overlaps_batch(entry: Entry, variant: Variant, descriptor: Integers, states: int) -> bool:
    """Whether the memory of the one result and of any input may have a byte in common."""
    start = descriptor[3 * entry.arrays]
    end = start + entry.size * states * variant.outputs.count
    for k in range(entry.arrays):
        first = descriptor[3 * k]
        last = first
        for axis in range(2):
            steps = (states if axis == 0 else entry.inputs[k].count) - 1
            span = entry.size * steps * descriptor[3 * k + 1 + axis]
            if span < 0:
                first = first + span
            else:
                last = last + span
        if first < end and start < last + entry.size:
            return True
    return False


def read_batch(
    entry: Entry, variant: Variant, slots: Addresses, states: int, descriptor: Integers, work: Address
) -> bool:
    """Describe all inputs, with room for them behind the workspace; False if one is not what it should be."""
    room = work + variant.batch_workspace
    for k in range(entry.arrays):
        memory = batch_input(entry, slots[k], entry.inputs[k], states, descriptor[3 * k + 1 :], room)
        if memory is None:
            return False
        descriptor[3 * k] = int(memory)
        room = room + 8 * entry.inputs[k].count
    return True


def compute_batch(entry: Entry, variant: Variant, states: int, descriptor: Integers, work: Address, flags: int) -> bool:
    """Run the kernel, with so many flags behind its workspace and the room; False if a flag is not 0.0."""
    flag: Integers = work + variant.batch_workspace + variant.room_size
    words = (flags * entry.size + 7) >> 3
    if words > 0:
        flag[words - 1] = 0  # half of it may be no flag
    status = descriptor[3 * entry.arrays + 2 * entry.results :]
    status[0] = int(flag)
    status[1] = 1
    state = python.PyEval_SaveThread()
    variant.batch(0, states, descriptor, work)
    well = all_zero(flag, words)
    python.PyEval_RestoreThread(state)
    return well


def batch_input(entry: Entry, given: Array, form: Form, states: int, strides: Integers, room: Vector) -> Address | None:
    """The memory of an input, and its strides [numbers] from state to state and from number to number. Numbers that
    count for all states and are not laid out as the kernel reads them are copied to the room."""
    if given.type is not python.ndarray or given.rank != form.rank + 1:
        strides[0] = 0
        strides[1] = 1
        if entry.dtype is not python.float64:
            return single_data(entry, given, form)
        memory = data(given, form, READ)
        return converted(given, form, room) if memory is None else memory
    if given.dtype is not entry.dtype or not given.flags & ALIGNED or given.shape[0] != states:
        return None
    if not same_lengths(given.shape[1:], form.shape, form.rank):
        return None
    if given.flags & C_CONTIGUOUS:
        strides[0] = form.count
        strides[1] = 1
    elif form.rank == 1 and (given.strides[0] | given.strides[1]) & (entry.size - 1) == 0:
        strides[0] = given.strides[0] >> entry.shift
        strides[1] = given.strides[1] >> entry.shift
    else:
        return None
    return given.data


def single_data(entry: Entry, given: Array, form: Form) -> Address | None:
    """The memory of an array of float32 of exactly this form."""
    if given.type is not python.ndarray or given.flags & READ != READ or given.rank != form.rank:
        return None
    if given.dtype is not entry.dtype or not same_lengths(given.shape, form.shape, form.rank):
        return None
    return given.data


def all_zero(words: Integers, count: int) -> bool:
    """Whether so many words are zero, as those of flags 0.0 are."""
    for k in range(count):
        if words[k] != 0:
            return False
    return True
