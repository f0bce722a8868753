"""The step loop of one state: the results of a kernel are its arguments in the next step."""

from __future__ import annotations

from ctypes import POINTER, Structure, c_int64, c_void_p

from kinetree.compiler.codegen.loop_types import Address, Addresses, Integers, Vector


class Record(Structure):
    """An array that is copied now and then, each time to the next place."""

    _fields_ = (
        ("source", c_void_p),
        ("target", c_void_p),
        ("size", c_int64),  # in numbers
        ("stride", c_int64),  # between targets, in bytes
    )


class Steps(Structure):
    """What every step does after the kernel."""

    _fields_ = (
        ("inputs", c_int64),  # how many, and
        ("strides", POINTER(c_int64)),  # by how many bytes each moves
        ("result", c_void_p),  # what becomes the state,
        ("state", c_void_p),
        ("size", c_int64),  # of so many numbers
        ("record_count", c_int64),
        ("records", POINTER(Record)),
    )


def advance(
    kernel: Address, count: int, until: int, every: int, inputs: Integers, outputs: Addresses, steps: Steps,
    work: Address,
) -> None:  # fmt: skip
    """Do `count` steps; records are written after `until` of them and then after every `every`."""
    waiting = until
    result = steps.result
    state = steps.state
    size = steps.size
    moving = steps.inputs
    strides = steps.strides
    for _ in range(count):
        kernel(inputs, outputs, work)
        copy(result, state, size)
        for k in range(moving):
            inputs[k] += strides[k]
        waiting -= 1
        if waiting == 0:
            waiting = every
            for k in range(steps.record_count):
                record = steps.records[k]
                copy(record.source, record.target, record.size)
                record.target = record.target + record.stride


def copy(source: Vector, target: Vector, size: int) -> None:
    """Copy so many numbers."""
    for k in range(size):
        target[k] = source[k]
