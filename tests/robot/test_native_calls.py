"""Quantities of robots and frames as native calls: the same results as in Python, to the bit.

Covers: functions/binding.py, robot/quantity.py.
"""

import copy
import functools
import inspect
import pickle
import pydoc
import types

import numpy as np
import pytest

import kinetree as kt
from declared import OF_FRAME, OF_ROBOT
from kinetree.compiler.runtime import native
from natively import in_python, native_only, natively, python_calls


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm6")


def every_call(robot):
    """All quantities of a robot and of one of its frames, with their inputs by letter."""
    tool = robot.frame(robot.frame_names[-1])
    listed = [(getattr(robot, name), quantity.inputs) for name, quantity in OF_ROBOT.items()]
    return listed + [(getattr(tool, name), quantity.inputs) for name, quantity in OF_FRAME.items()]


def states(robot, names, rng, batch=()):
    return [robot.random(rng, batch) if name.startswith("q") else rng.normal(size=(*batch, robot.nv)) for name in names]


# -- they are native, and right ----------------------------------------------------------------------------------------


@native_only
@pytest.mark.parametrize(("name", "base"), [("planar2", "fixed"), ("arm6", "fixed"), ("quadruped", "floating")])
@pytest.mark.sweep
def test_native_python_and_batch_agree_to_the_bit(name, base):
    robot, rng = kt.load(name, base=base), np.random.default_rng(0)
    for call, names in every_call(robot):
        assert type(call) is types.BuiltinFunctionType
        batch = states(robot, names, rng, (5,))
        rows = np.array(call(*batch))  # of several results, first the one and then the other
        call(*[x[0] for x in batch])
        several = isinstance(call(*[x[0] for x in batch]), tuple)
        out = np.full(rows.shape[1:], np.nan)
        for k in range(5):
            state = [x[k] for x in batch]
            result = np.array(natively(call, *state))
            assert np.array_equal(result, rows[:, k] if several else rows[k]), call
            assert np.array_equal(result, in_python(call, *state)), call
            assert np.array_equal(result, natively(call, **dict(zip(names, state, strict=True)))), call
            assert several or (natively(call, *state, out=out) is out and np.array_equal(out, result)), call
        eager = getattr(
            call.__self__.eager if call.__self__ is robot else robot.eager.frame(call.__self__.name), call.__name__
        )
        assert type(eager) is types.MethodType
        np.testing.assert_allclose(result, eager(*state), rtol=1e-9, atol=1e-9)


@native_only
def test_a_call_taken_before_the_first_is_as_native_as_one_taken_after():
    robot = kt.load("arm6")
    early, tool = robot.mass_matrix, robot.frame("tool0")
    early_pose = tool.pose
    q = robot.random(0)
    with python_calls() as entered:
        first = np.array(early(q))
        assert entered == ["mass_matrix"]  # compiles
        assert np.array_equal(early(q), first) and np.array_equal(robot.mass_matrix(q), first)
        early_pose(q)
        early_pose(q)
        tool.pose(q)
    assert entered == ["mass_matrix", "pose"]
    assert robot.mass_matrix is early and robot.frame("tool0").pose is early_pose
    assert robot.mass_matrix == early and len({early, robot.mass_matrix}) == 1


@native_only
def test_what_is_prepared_is_native_from_the_first_call():
    robot = kt.load("arm6")
    robot.prepare("mass_matrix", "inverse_dynamics", wrenches=[])
    robot.frame("tool0").prepare("jacobian", reference="local")
    q = robot.random(0)
    natively(robot.mass_matrix, q)
    natively(robot.inverse_dynamics, q, q, q)
    natively(robot.frame("tool0").jacobian, q, "local")


@native_only
def test_robots_share_nothing():
    earth, moon = kt.load("arm6"), kt.load("arm6", gravity=(0, 0, -1.62))
    q = earth.random(0)
    for _ in range(3):
        heavy, light = earth.gravity_forces(q), moon.gravity_forces(q)
        np.testing.assert_allclose(heavy * 1.62 / 9.81, light, rtol=1e-12, atol=1e-12)
    assert earth.gravity_forces != moon.gravity_forces


def test_switched_off_and_eager_robots_keep_to_python(monkeypatch):
    q = np.linspace(0, 1, 6)
    expected = kt.load("arm6").mass_matrix(q)
    monkeypatch.setenv(native.NATIVE, "0")
    assert not native.available()
    robot = kt.load("arm6")
    for _ in range(2):
        assert type(robot.mass_matrix) is types.MethodType
        with python_calls() as entered:
            assert np.array_equal(robot.mass_matrix(q), expected)
        assert entered == ["mass_matrix"]
    assert type(robot.eager.mass_matrix) is types.MethodType


# -- they look like methods --------------------------------------------------------------------------------------------


def test_signature_and_help(arm):
    for call, _ in every_call(arm):
        method = getattr(type(call.__self__), call.__name__)
        written = list(inspect.signature(method).parameters.values())[1:]
        shown = list(inspect.signature(call).parameters.values())
        assert [(p.name, p.kind, p.default) for p in shown] == [(p.name, p.kind, p.default) for p in written]
        assert all(p.kind is not p.VAR_KEYWORD for p in written)  # what **named stands for is spelled out
        assert inspect.getdoc(call) == inspect.getdoc(method)
        owner = type(call.__self__).__name__ if native.available() else method.__qualname__.split(".")[0]
        assert call.__qualname__ == f"{owner}.{method.__name__}"  # natively, also of inherited ones
        assert call.__module__ == method.__module__
        assert call.__name__ in repr(call)
    page = pydoc.plain(pydoc.render_doc(arm.inverse_dynamics))
    assert "inverse_dynamics(q" in page and "out" in page and "by RNEA" in page
    if native.available():  # without, there are annotations too
        assert str(inspect.signature(arm.inverse_dynamics)) == "(q, v, a, wrenches=None, *, parameters=None, out=None)"
        assert str(inspect.signature(arm.newton_euler)) == "(q, v, a, *, parameters=None)"
    assert "mass_matrix" in pydoc.plain(pydoc.render_doc(kt.Robot))


def test_pickling_copying_and_partial(arm):
    q = arm.random(0)
    right = np.array(arm.mass_matrix(q))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(arm.mass_matrix, protocol))
        assert type(again) is type(arm.mass_matrix) and again.__self__ == arm and again.__self__ is not arm
        assert np.array_equal(again(q), right)
    pose = pickle.loads(pickle.dumps(arm.frame("tool0").pose))
    assert pose.__self__ == arm.frame("tool0") and np.array_equal(pose(q), arm.frame("tool0").pose(q))
    for copied in (copy.copy(arm.mass_matrix), copy.deepcopy(arm.mass_matrix)):
        assert np.array_equal(copied(q), right)
    out = np.zeros((6, 6))
    partial = functools.partial(arm.mass_matrix, out=out)
    assert partial(q) is out and np.array_equal(out, right)
    assert np.array_equal(pickle.loads(pickle.dumps(partial))(q), right)
    jacobian = functools.partial(arm.frame("tool0").jacobian, reference="local")
    assert np.array_equal(jacobian(q), arm.frame("tool0").jacobian(q, "local"))
    assert all(np.array_equal(item, right) for item in map(arm.mass_matrix, [q, q]))


def test_robots_with_native_calls_are_still_values(arm):
    fresh = kt.load("arm6")
    assert arm == fresh and hash(arm) == hash(fresh)
    for same in (pickle.loads(pickle.dumps(arm)), copy.copy(arm), copy.deepcopy(arm)):
        assert same == arm
        assert np.array_equal(same.mass_matrix(arm.neutral()), arm.mass_matrix(arm.neutral()))
    with pytest.raises(AttributeError):
        arm.mass_matrix = None
