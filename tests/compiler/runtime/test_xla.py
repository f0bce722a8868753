"""Handlers for XLA, called with frames as XLA makes them: one state, batches, refused states, questions for a version.

Covers: compiler/codegen/xla.py.
"""

import ctypes
from ctypes import addressof, pointer, sizeof

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler import Handler
from kinetree.compiler.codegen import xla
from kinetree.errors import ArgumentError, PlatformError
from kinetree.functions.compiled_function import PLAIN
from kinetree.interop.exported import resolved

CALL = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


@pytest.fixture(scope="module")
def robot():
    return kt.load("quadruped", base="floating")


def handler_of(function, kind, dtype="float64", minor=3):
    compiled, key, _ = resolved(function)
    compiled = compiled.astype(np.dtype(dtype))
    made = compiled.specialization(key)
    return Handler(made.kernel, kind, list(compiled.arrays.values()), made.shapes, (0, minor)), made


def buffers(arrays):
    """XLA's structure for these arrays, and all that it refers to."""
    shapes = [(ctypes.c_int64 * array.ndim)(*array.shape) for array in arrays]
    made = [
        xla.Buffer(sizeof(xla.Buffer), None, 0, array.ctypes.data, array.ndim, shape)
        for array, shape in zip(arrays, shapes, strict=True)
    ]
    table = (ctypes.c_void_p * len(made))(*map(addressof, made))
    return xla.Buffers(sizeof(xla.Buffers), None, len(made), None, table), (shapes, made, table)


def called(handler, arguments, results):
    """The arrays that a handler has written, without its workspace."""
    room = np.empty(handler.workspace, np.uint8)
    given, keep = buffers([np.ascontiguousarray(array) for array in arguments])
    taken, keep_too = buffers([*results, room])
    frame = xla.Frame(sizeof(xla.Frame), None, None, None, 3, given, taken)
    assert CALL(handler.address)(addressof(frame)) is None
    del keep, keep_too
    return results


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_one_state_and_a_batch_are_those_of_the_call(robot, dtype):
    own = robot.astype(dtype)
    q, v, a = own.random(0, size=7), np.ones((7, robot.nv), dtype), np.ones(robot.nv, dtype)
    batch, made = handler_of(robot.inverse_dynamics, "batch", dtype)
    assert made.refuses
    expected = own.inverse_dynamics(q, v, a)
    tau, flags = called(batch, [q, v, a], [np.empty((7, robot.nv), dtype), np.empty(7, dtype)])
    np.testing.assert_array_equal(tau, expected)
    assert not flags.any()
    single, _ = handler_of(robot.inverse_dynamics, "single", dtype)
    tau, _ = called(single, [q[2], v[2], a], [np.empty(robot.nv, dtype), np.empty((), dtype)])
    np.testing.assert_array_equal(tau, expected[2])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_refused_states_are_nan_and_no_others(robot, dtype):
    q = robot.astype(dtype).random(0, size=(2, 3))
    q[1, 0, 3:7] *= 1.5
    batch, _ = handler_of(robot.poses, "batch", dtype)
    shape = robot.poses(q[0, 0].astype(float)).shape
    poses, _ = called(batch, [q], [np.empty((2, 3, *shape), dtype), np.empty((2, 3), dtype)])
    assert np.isnan(poses[1, 0]).all() and np.isfinite(np.delete(poses.reshape(6, -1), 3, 0)).all()
    single, _ = handler_of(robot.poses, "single", dtype)
    poses, _ = called(single, [q[1, 0]], [np.empty(shape, dtype), np.empty((), dtype)])
    assert np.isnan(poses).all()


def test_an_empty_batch(robot):
    batch, _ = handler_of(robot.center_of_mass, "batch")
    (com, _) = called(batch, [np.empty((0, robot.nq))], [np.empty((0, 3)), np.empty(0)])
    assert com.shape == (0, 3)


@pytest.mark.parametrize("minor", [1, 3])
def test_it_answers_the_question_for_its_version(robot, minor):
    handler, _ = handler_of(robot.center_of_mass, "single", minor=minor)
    metadata = xla.Metadata(sizeof(xla.Metadata), xla.Version(0, None, -1, -1), 7, 7)
    extension = xla.Extension(sizeof(xla.Extension), xla.METADATA, None, pointer(metadata))
    frame = xla.Frame(sizeof(xla.Frame), pointer(extension), None, None, 3)
    assert CALL(handler.address)(addressof(frame)) is None
    assert (metadata.version.major, metadata.version.minor) == (xla.MAJOR, minor)
    assert (metadata.traits, metadata.state_type) == (0, 0)
    older = xla.Metadata(xla.Metadata.state_type.offset, xla.Version(), 7, 7)
    extension = xla.Extension(sizeof(xla.Extension), xla.METADATA, None, pointer(older))
    frame = xla.Frame(sizeof(xla.Frame), pointer(extension), None, None, 3)
    CALL(handler.address)(addressof(frame))
    assert older.state_type == 7, "it did not exist"


def test_another_interface_is_refused(robot):
    compiled, key, _ = resolved(robot.center_of_mass)
    made = compiled.specialization(key)
    with pytest.raises(PlatformError, match="XLA has version 1 of its foreign function interface; expected version 0"):
        Handler(made.kernel, "single", [(robot.nq,)], made.shapes, (1, 0))


def test_layouts_are_those_of_c():
    assert [getattr(xla.Frame, name).offset for name in ("stage", "arguments", "results")] == [32, 40, 80]
    assert [getattr(xla.Buffer, name).offset for name in ("data", "rank", "shape")] == [24, 32, 40]
    assert (xla.Metadata.traits.offset, xla.Metadata.state_type.offset, sizeof(xla.Metadata)) == (32, 40, 48)
    assert xla.Extension.metadata.offset == 24


def test_too_many_arguments():
    count = xla.MOST + 1
    names = [f"x{k}" for k in range(count)]
    text = f"def many({', '.join(names)}):\n    return {' + '.join(names)}\n"
    space = {}
    exec(text, space)
    law = kt.compile(space["many"], shapes=dict.fromkeys(names, ()))
    compiled = law.inspect()
    made = compiled.specialization(PLAIN)
    with pytest.raises(ArgumentError, match=f"has {count} arguments"):
        Handler(made.kernel, "single", [()] * count, made.shapes, (0, 3))
