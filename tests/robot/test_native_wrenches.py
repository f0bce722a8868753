"""Wrenches of native calls: at places that are prepared and others, in all kinds of mappings."""

import types
from collections import ChainMap, OrderedDict, UserDict

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.runtime import native
from natively import in_python, native_only, natively, python_calls
from words import Word, not_interned


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm6")


def feet(robot):
    names = [name for name in robot.frame_names if "foot" in name]
    assert len(names) >= 2
    return names[:2]


@pytest.fixture(scope="module")
def standing():
    """A robot prepared for wrenches at two feet, one of them also in its own axes."""
    robot = kt.load("quadruped", base="floating")
    left, right = feet(robot)
    robot.prepare("inverse_dynamics", "forward_dynamics", wrenches=[left, right, (right, "local")])
    return robot


def test_wrenches_at_prepared_places(standing):
    left, right = feet(standing)
    rng = np.random.default_rng(0)
    q, v, a = standing.random(rng), rng.normal(size=standing.nv), rng.normal(size=standing.nv)
    w, u = rng.normal(size=6), rng.normal(size=6)
    eager = standing.eager
    for wrenches in (
        None,
        {},
        {left: w},
        {right: w},
        {left: w, right: u},
        {right: u, left: w},
        {right: kt.Wrench(u, "local")},
        {right: kt.Wrench(u)},
        {left: kt.Wrench(w, not_interned("world-aligned")), not_interned(right): kt.Wrench(u, not_interned("local"))},
        {left: np.zeros(6)},
    ):
        for call, plain in (
            (standing.inverse_dynamics, eager.inverse_dynamics),
            (standing.forward_dynamics, eager.forward_dynamics),
        ):
            with python_calls() as entered:
                results = [
                    call(q, v, a, wrenches),
                    call(q, v, a, wrenches=wrenches),
                    call(q, v, a, wrenches, out=a * 0),
                ]
            assert not (entered and native.available())
            expected = in_python(call, q, v, a, wrenches)
            assert all(np.array_equal(result, expected) for result in results)
            np.testing.assert_allclose(results[0], plain(q, v, a, wrenches), rtol=1e-9, atol=1e-9)


def test_wrenches_at_places_that_were_not_prepared(arm):
    rng = np.random.default_rng(0)
    robot = kt.load("arm6")
    q, v, w = robot.random(rng), rng.normal(size=6), rng.normal(size=6)
    for wrenches in (
        {"tool0": w},
        {"tool0": kt.Wrench(w, "local")},
        {"tool0": kt.Wrench(w, "world")},
        {"tool0": w, robot.frame_names[3]: 2 * w},
        None,
        {},
    ):
        first = np.array(robot.bias_forces(q, v, wrenches))
        with python_calls() as entered:
            assert np.array_equal(robot.bias_forces(q, v, wrenches), first)
        assert not (entered and native.available()), wrenches
        np.testing.assert_allclose(first, arm.eager.bias_forces(q, v, wrenches), rtol=1e-10, atol=1e-10)


class Alike:
    """Equal to a frame's name, and with its hash, but not a string."""

    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return self.name == other

    def __repr__(self):
        return "Alike"


class Wrenches(dict):
    pass


def test_wrenches_in_other_mappings(arm):
    q, v, w = arm.random(0), np.ones(6), np.arange(6.0)
    right = np.array(arm.bias_forces(q, v, {"tool0": w}))
    for same in (
        Wrenches(tool0=w),
        OrderedDict(tool0=w),
        UserDict(tool0=w),
        ChainMap({"tool0": w}),
        types.MappingProxyType({"tool0": w}),
        {Word("tool0"): w},
        {"tool0": w.tolist()},
        {"tool0": w.astype("f4")},
        {"tool0": kt.Wrench(tuple(w))},
    ):
        assert np.array_equal(arm.bias_forces(q, v, same), right)
    pushed = arm.bias_forces(q, v, {"tool0": np.array([w, 2 * w])})
    assert pushed.shape == (2, 6) and np.array_equal(pushed[0], right)


@pytest.mark.parametrize(
    ("wrenches", "error", "sentence"),
    [
        ({"tol0": np.zeros(6)}, kt.UnknownNameError, "frame 'tol0' does not exist; did you mean 'tool0'"),
        ({"tool0": np.zeros(6), "x": np.zeros(6)}, kt.UnknownNameError, "frame 'x' does not exist"),
        ({None: np.zeros(6)}, kt.UnknownNameError, "frame None does not exist"),
        ({0: np.zeros(6)}, kt.UnknownNameError, "frame 0 does not exist"),
        ({b"tool0": np.zeros(6)}, kt.UnknownNameError, "frame b'tool0' does not exist"),
        ({"tool0": np.zeros(5)}, kt.ArgumentError, r"wrenches\['tool0'\] has shape \(5,\)"),
        ({"tool0": np.zeros((6, 1))}, kt.ArgumentError, r"wrenches\['tool0'\] has shape \(6, 1\)"),
        ({"tool0": None}, kt.ArgumentTypeError, r"wrenches\['tool0'\] is None"),
        ({"tool0": "down"}, kt.ArgumentTypeError, r"wrenches\['tool0'\] is 'down'"),
        ({"tool0": kt.Wrench(np.zeros(7))}, kt.ArgumentError, r"wrenches\['tool0'\] has shape \(7,\)"),
        ({"tool0": np.zeros(6, complex)}, kt.ArgumentTypeError, "complex128"),
        ([("tool0", np.zeros(6))], kt.ArgumentTypeError, "wrenches is .*; expected a dict"),
        ("tool0", kt.ArgumentTypeError, "wrenches is 'tool0'; expected a dict"),
        (np.zeros(6), kt.ArgumentTypeError, "wrenches is array.*; expected a dict"),
        (1, kt.ArgumentTypeError, "wrenches is 1; expected a dict"),
    ],
)
def test_wrong_wrenches(arm, wrenches, error, sentence):
    zero = np.zeros(6)
    arm.bias_forces(zero, zero, {"tool0": zero})
    out = np.full(6, 7.0)
    for named in ({}, {"out": out}):
        with pytest.raises(error, match=sentence):
            arm.bias_forces(zero, zero, wrenches, **named)
    assert np.all(out == 7.0)


def test_a_key_that_only_equals_a_name(arm):
    """Python decides, and it decides the same each time."""
    zero, w = np.zeros(6), np.ones(6)
    outcomes = []
    for call in (arm.bias_forces, arm.bias_forces, arm.eager.bias_forces):
        try:
            outcomes.append(np.round(call(zero, zero, {Alike("tool0"): w}), 9).tolist())
        except kt.UnknownNameError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1] == outcomes[2]


@native_only
def test_of_two_prepared_sets_native_and_python_choose_the_same(monkeypatch):
    """The first of those with the fewest places."""
    robot = kt.load("quadruped", base="floating")
    left, right = feet(robot)
    called = []
    set_variants = native.NativeEntry.set_variants
    monkeypatch.setattr(native.NativeEntry, "set_variants", lambda self, variants: called.append(list(variants)))
    robot.bias_forces  # noqa: B018 - makes the native entry
    sets = [(left, right), (left, (left, "local")), (left,)]
    q, v = robot.random(0), np.ones(robot.nv)
    robot.prepare("bias_forces", wrenches=sets[0], batch=True)
    robot.prepare("bias_forces", wrenches=sets[1])
    robot.bias_forces(q, v, {right: v[:6]})  # for one state, the first set is compiled after the second
    assert [variant.places for variant in called[-1]] == [
        ((left, "world-aligned"), (right, "world-aligned")),
        ((left, "local"), (left, "world-aligned")),
    ]
    monkeypatch.setattr(native.NativeEntry, "set_variants", set_variants)
    robot.prepare("bias_forces", wrenches=sets[2])
    for wrenches in ({left: v[:6]}, {right: v[:6]}, {left: kt.Wrench(v[:6], "local")}, None):
        result = np.array(natively(robot.bias_forces, q, v, wrenches))
        assert np.array_equal(result, in_python(robot.bias_forces, q, v, wrenches))
