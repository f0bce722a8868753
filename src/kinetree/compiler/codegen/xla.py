"""Kernels as custom calls of XLA: handlers of its foreign function interface, in the loop language.

XLA calls a handler with a frame that holds buffers of arguments and results, in C order, leading axes being batch axes.
Behind a kernel's own outputs, the last result is memory for its workspace. A state that is refused gets NaN.

Layouts are those of version 0 of the interface (`xla/ffi/api/c_api.h`), whose structures only grow at their ends.
"""

from __future__ import annotations

from ctypes import POINTER, Structure, c_int32, c_int64, c_void_p

from kinetree.compiler.codegen.loop_types import Address, Addresses, Integers

MOST = 64
"""Arguments or results of a handler."""
MOST_DESCRIPTOR = 5 * MOST
METADATA = 1
"""The type of the extension that asks a handler for its version."""
MAJOR = 0
"""The version of the interface before the point."""
NAN64, NAN32 = 0x7FF8000000000000, 0x7FC00000
"""NaN in the two types of numbers, as integers."""


class Version(Structure):
    """XLA_FFI_Api_Version."""

    _fields_ = (("size", c_int64), ("extension", c_void_p), ("major", c_int32), ("minor", c_int32))


class Metadata(Structure):
    """XLA_FFI_Metadata."""

    _fields_ = (("size", c_int64), ("version", Version), ("traits", c_int32), ("state_type", c_int64))


class Extension(Structure):
    """XLA_FFI_Metadata_Extension."""

    _fields_ = (("size", c_int64), ("type", c_int32), ("next", c_void_p), ("metadata", POINTER(Metadata)))


class Buffer(Structure):
    """XLA_FFI_Buffer."""

    _fields_ = (
        ("size", c_int64),
        ("extension", c_void_p),
        ("dtype", c_int32),
        ("data", c_void_p),
        ("rank", c_int64),
        ("shape", POINTER(c_int64)),
    )


class Buffers(Structure):
    """XLA_FFI_Args or XLA_FFI_Rets."""

    _fields_ = (
        ("size", c_int64),
        ("extension", c_void_p),
        ("count", c_int64),
        ("types", c_void_p),
        ("items", POINTER(c_void_p)),
    )


class Frame(Structure):
    """XLA_FFI_CallFrame, as far as its results."""

    _fields_ = (
        ("size", c_int64),
        ("extension", POINTER(Extension)),
        ("api", c_void_p),
        ("context", c_void_p),
        ("stage", c_int32),
        ("arguments", Buffers),
        ("results", Buffers),
    )


class Form(Structure):
    """What a handler knows of its kernel."""

    _fields_ = (
        ("kernel", c_void_p),
        ("inputs", c_int64),
        ("outputs", c_int64),  # with that for refused states, which is the last
        ("refuses", c_int64),  # whether there is one
        ("bytes", c_int64),  # of a number
        ("minor", c_int64),  # the version of XLA's interface after the point
        ("ranks", POINTER(c_int64)),  # of one state, of each input and output
        ("counts", POINTER(c_int64)),  # numbers of one state, likewise
    )


class Word(Structure):
    """A number of 4 bytes."""

    _fields_ = (("bits", c_int32),)


def single(frame: Frame, form: Form) -> Address | None:
    """A handler for one state."""
    inputs = Addresses(MOST)
    outputs = Addresses(MOST)
    if is_question(frame, form):
        return None
    for k in range(form.inputs):
        given: Buffer = frame.arguments.items[k]
        inputs[k] = given.data
    for k in range(form.outputs):
        result: Buffer = frame.results.items[k]
        outputs[k] = result.data
    form.kernel(inputs, outputs, workspace(frame, form))
    if form.refuses:
        mark_refused(frame, form, 1)
    return None


def batch(frame: Frame, form: Form) -> Address | None:
    """A handler for a batch. An argument has all batch axes, or none and counts for all states."""
    descriptor = Integers(MOST_DESCRIPTOR)
    if is_question(frame, form):
        return None
    states = count_states(frame.results.items[0], form.ranks[form.inputs])
    if states == 0:
        return None
    for k in range(form.inputs):
        given: Buffer = frame.arguments.items[k]
        descriptor[3 * k] = int(given.data)
        descriptor[3 * k + 1] = form.counts[k] if given.rank > form.ranks[k] else 0
        descriptor[3 * k + 2] = 1
    places = descriptor[3 * form.inputs :]
    for k in range(form.outputs):
        result: Buffer = frame.results.items[k]
        places[2 * k] = int(result.data)
        places[2 * k + 1] = form.counts[form.inputs + k]
    form.kernel(0, states, descriptor, workspace(frame, form))
    if form.refuses:
        mark_refused(frame, form, states)
    return None


def is_question(frame: Frame, form: Form) -> bool:
    """Whether the frame asks for the version of the handler, which is then answered."""
    if frame.extension is None:
        return False
    if frame.extension.type != METADATA:
        return False
    metadata = frame.extension.metadata
    metadata.version.major = MAJOR
    metadata.version.minor = form.minor
    metadata.traits = 0
    if metadata.size >= 48:
        metadata.state_type = 0
    return True


def workspace(frame: Frame, form: Form) -> Address:
    """The memory of the last result, from an address that is a multiple of 64."""
    room: Buffer = frame.results.items[form.outputs]
    return room.data + (-int(room.data) & 63)


def count_states(buffer: Buffer, rank: int) -> int:
    """The product of the lengths of all axes before the last ones, which are those of one state."""
    states = 1
    for axis in range(buffer.rank - rank):
        states = states * buffer.shape[axis]
    return states


def mark_refused(frame: Frame, form: Form, states: int) -> None:
    """Fill the results of refused states with NaN."""
    flags: Buffer = frame.results.items[form.outputs - 1]
    for k in range(states):
        if is_set(flags.data, k, form.bytes):
            for j in range(form.outputs - 1):
                result: Buffer = frame.results.items[j]
                fill(result.data, k * form.counts[form.inputs + j], form.counts[form.inputs + j], form.bytes)


def is_set(flags: Address, k: int, width: int) -> bool:
    """Whether a flag of 8 or 4 bytes is not 0.0."""
    if width == 8:
        wide: Integers = flags
        return wide[k] != 0
    words: Word = flags
    return words[k].bits != 0  # type: ignore[index]


def fill(numbers: Address, start: int, count: int, width: int) -> None:
    """Write NaN into so many numbers of 8 or 4 bytes."""
    if width == 8:
        wide: Integers = numbers
        for k in range(count):
            wide[start + k] = NAN64
    else:
        words: Word = numbers
        for k in range(count):
            words[start + k].bits = NAN32  # type: ignore[index]
