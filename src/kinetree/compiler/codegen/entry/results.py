"""The results of a call: the arrays a kernel writes into, new or used again, and what Python gets of them.

A result that nobody but the entry refers to any more is used again for the next one: in a loop, two arrays take turns,
and nothing is allocated. All that shows of it is the entry's reference: `ndarray.resize` wants to be told
refcheck=False, and a result that only weak references know may live on.
"""

from __future__ import annotations

from kinetree.compiler.codegen.entry import interpreter as python
from kinetree.compiler.codegen.entry.arrays import data
from kinetree.compiler.codegen.entry.interpreter import Array
from kinetree.compiler.codegen.entry.records import RECYCLED, Entry, Form, Variant
from kinetree.compiler.codegen.entry.references import release
from kinetree.compiler.codegen.loop_types import Address, Addresses, Integers, Vector


def recycled(form: Form, result: Array) -> Address | None:
    """The memory of an earlier result, if nobody else refers to it, not even weakly, and it still is what it was."""
    if result is None or result.references != 1 or result.weak is not None or result.base is not None:
        return None
    return data(result, form, RECYCLED)


def remember(entry: Entry, result: Address) -> None:
    """Remember a new result in place of the earlier one."""
    earlier = entry.earlier
    entry.earlier = entry.last
    entry.last = result
    python.Py_IncRef(result)
    python.Py_DecRef(earlier)


def new_array(entry: Entry, rank: int, shape: Integers) -> Array | None:
    """An array of this shape; None with an exception set if there is no memory."""
    python.Py_IncRef(entry.dtype)
    return python.PyArray_NewFromDescr(python.ndarray, entry.dtype, rank, shape, None, None, 0, None)


def allocate(entry: Entry, variant: Variant, results: Addresses, outputs: Addresses) -> bool:
    """Arrays for all results that are arrays; False with an exception set if there is no memory."""
    if entry.recycles:
        result = entry.earlier
        memory = recycled(variant.outputs, result)
        if memory is None:
            result = entry.last
            memory = recycled(variant.outputs, result)
        if memory is not None:
            python.Py_IncRef(result)
            results[0] = result
            outputs[0] = memory
            return True
    for k in range(entry.results):
        form = variant.outputs[k]
        if form.rank == 0:
            results[k] = None
            outputs[k] = variant.scratch + 8 * form.offset
        else:
            array = new_array(entry, form.rank, form.shape)
            if array is None:
                release(results, k)
                return False
            results[k] = array
            outputs[k] = array.data
    if entry.recycles:
        remember(entry, results[0])
    return True


def finish(entry: Entry, results: Addresses, outputs: Addresses) -> Address | None:
    """The results as Python has them: a number for each that has no axes, and a tuple if there are several."""
    for k in range(entry.results):
        if results[k] is None:
            results[k] = python.PyArray_Scalar(outputs[k], python.float64, None)
            if results[k] is None:
                release(results, entry.results)
                return None
    if entry.bare:
        return results[0]
    several = python.PyTuple_New(entry.results)
    if several is None:
        release(results, entry.results)
        return None
    for k in range(entry.results):
        python.PyTuple_SetItem(several, k, results[k])
    return several


def copy(source: Vector, target: Vector, count: int) -> None:
    """Copy so many numbers."""
    for k in range(count):
        target[k] = source[k]
