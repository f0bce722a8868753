"""The native way into a kernel for a batch: for batches that one thread does soonest, with one batch axis.

Arrays are (N, …) in C order, or of any strides where one state is a vector; those without a batch axis count for all
states. The interpreter's lock is given up while the kernel runs. Everything else is Python's: `out`, several batch
axes, work for several threads.
"""

from __future__ import annotations

from kinetree.compiler.codegen.entry import interpreter as python
from kinetree.compiler.codegen.entry.arrays import data, same_lengths
from kinetree.compiler.codegen.entry.interpreter import ALIGNED, C_CONTIGUOUS, Array
from kinetree.compiler.codegen.entry.records import (
    MOST_AXES,
    MOST_DESCRIPTOR,
    MOST_OUTPUTS,
    READ,
    TO_PYTHON,
    Entry,
    Form,
    Variant,
)
from kinetree.compiler.codegen.entry.references import release
from kinetree.compiler.codegen.entry.results import finish, new_array
from kinetree.compiler.codegen.loop_types import Address, Addresses, Integers, Vector, pointer


def run_batch(entry: Entry, variant: Variant, slots: Addresses) -> Address | None:
    """The results of a variant's kernel for a batch; or None with an exception set, or TO_PYTHON."""
    descriptor = Integers(MOST_DESCRIPTOR)
    results = Addresses(MOST_OUTPUTS)
    states = count_states(entry, slots)
    if variant.batch is None or states <= 0 or states > variant.most:
        return pointer(TO_PYTHON)
    if states > variant.small and python.threads[0] != 1:
        return pointer(TO_PYTHON)
    if not allocate_batch(entry, variant, states, results, descriptor[3 * entry.arrays :]):
        return None
    flags = 0 if variant.status is None else states
    room = python.PyMem_RawMalloc(variant.batch_workspace + 64 + 8 * flags)
    if room is not None:
        well = compute_batch(entry, variant, slots, states, descriptor, room + (-int(room) & 63), flags)
        python.PyMem_RawFree(room)
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
        array = new_array(form.rank + 1, shape)
        if array is None:
            release(results, k)
            return False
        results[k] = array
        places[2 * k] = int(array.data)
        places[2 * k + 1] = form.count
    return True


def compute_batch(
    entry: Entry, variant: Variant, slots: Addresses, states: int, descriptor: Integers, work: Address, flags: int
) -> bool:
    """Run the kernel, with so many flags behind its workspace; False if an input is not what it should be, or a flag is
    not 0.0."""
    for k in range(entry.arrays):
        memory = batch_input(slots[k], entry.inputs[k], states, descriptor[3 * k + 1 :])
        if memory is None:
            return False
        descriptor[3 * k] = int(memory)
    flag: Vector = work + variant.batch_workspace
    status = descriptor[3 * entry.arrays + 2 * entry.results :]
    status[0] = int(flag)
    status[1] = 1
    state = python.PyEval_SaveThread()
    variant.batch(0, states, descriptor, work)
    well = all_zero(flag, flags)
    python.PyEval_RestoreThread(state)
    return well


def batch_input(given: Array, form: Form, states: int, strides: Integers) -> Address | None:
    """The memory of an input, and its strides [numbers] from state to state and from number to number."""
    if given.type is not python.ndarray or given.rank != form.rank + 1:
        strides[0] = 0
        strides[1] = 1
        return data(given, form, READ)
    if given.dtype is not python.float64 or not given.flags & ALIGNED or given.shape[0] != states:
        return None
    if not same_lengths(given.shape[1:], form.shape, form.rank):
        return None
    if given.flags & C_CONTIGUOUS:
        strides[0] = form.count
        strides[1] = 1
    elif form.rank == 1 and (given.strides[0] | given.strides[1]) & 7 == 0:
        strides[0] = given.strides[0] >> 3
        strides[1] = given.strides[1] >> 3
    else:
        return None
    return given.data


def all_zero(numbers: Vector, count: int) -> bool:
    """Whether so many numbers are 0.0."""
    for k in range(count):
        if numbers[k] != 0.0:
            return False
    return True
