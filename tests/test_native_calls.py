"""Quantities of robots and frames as native calls: the same results as in Python, to the bit, and the same errors."""

import copy
import functools
import inspect
import pickle
import pydoc
import types
from collections import ChainMap, OrderedDict, UserDict

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler import native
from kinetree.quantities import OF_FRAME, OF_ROBOT
from natively import in_python, native_only, natively, python_calls

REFERENCES = ("world-aligned", "local", "world")


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm6")


@pytest.fixture(scope="module")
def dog():
    return kt.load("quadruped", base="floating")


def every_call(robot):
    """All quantities of a robot and of one of its frames, with their inputs by letter."""
    tool = robot.frame(robot.frame_names[-1])
    listed = [(getattr(robot, name), quantity.inputs) for name, quantity in OF_ROBOT.items()]
    return listed + [(getattr(tool, name), quantity.inputs) for name, quantity in OF_FRAME.items()]


def states(robot, names, rng, batch=()):
    return [robot.random(rng, batch) if name.startswith("q") else rng.normal(size=(*batch, robot.nv)) for name in names]


# -- they are native, and right ----------------------------------------------------------------------------------------


@native_only
@pytest.mark.parametrize(("name", "base"), [("arm6", "fixed"), ("quadruped", "floating")])
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
        assert inspect.getdoc(call) == inspect.getdoc(method)
        owner = type(call.__self__).__name__ if native.available() else method.__qualname__.split(".")[0]
        assert call.__qualname__ == f"{owner}.{method.__name__}"  # natively, also of inherited ones
        assert call.__module__ == method.__module__
        assert call.__name__ in repr(call)
    page = pydoc.plain(pydoc.render_doc(arm.inverse_dynamics))
    assert "inverse_dynamics(q" in page and "out" in page and "by RNEA" in page
    assert str(inspect.signature(arm.inverse_dynamics)).startswith("(q")
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


# -- odd arguments -----------------------------------------------------------------------------------------------------


class FromArray:
    """Calls the robot again while it is being read."""

    def __init__(self, robot, q, depth):
        self.robot, self.q, self.depth = robot, q, depth

    def __array__(self, dtype=None, copy=None):
        if self.depth:
            inner = FromArray(self.robot, self.q, self.depth - 1)
            assert np.array_equal(self.robot.gravity_forces(inner), self.robot.gravity_forces(self.q))
        return np.array(self.q)


def misaligned(q):
    raw = np.zeros(q.nbytes + 1, np.uint8)
    view = raw[1:].view(np.float64)
    view[:] = q
    return view


def mapped(q, path):
    file = np.memmap(path / "q.bin", dtype=np.float64, mode="w+", shape=q.shape)
    file[:] = q
    return file


def test_whatever_reads_as_the_state_gives_the_same_result(arm, tmp_path):
    q = np.array([1.0, 0.0, -1.0, 0.5, 2.0, 0.25])  # exact in every type below
    right = np.array(arm.gravity_forces(q))
    readonly = q.copy()
    readonly.setflags(write=False)
    for name, value, is_native in [
        ("array", q, True),
        ("read-only", readonly, True),
        ("unpickled", pickle.loads(pickle.dumps(q)), True),
        ("row", np.array([q, q])[1], True),
        ("plain view of a file", np.asarray(mapped(q, tmp_path)), True),
        ("list", q.tolist(), False),
        ("tuple", tuple(q), False),
        ("list of numbers", list(q), False),
        ("float32", q.astype(np.float32), False),
        ("float16", q.astype(np.float16), False),
        ("long double", q.astype(np.longdouble), False),
        ("big-endian", q.astype(">f8"), False),
        ("misaligned", misaligned(q), False),
        ("reversed", q[::-1].copy()[::-1], False),
        ("strided", np.repeat(q, 2)[::2], False),
        ("memmap", mapped(q, tmp_path), False),
        ("subclass", q.view(np.recarray), False),
        ("memoryview", memoryview(q), False),
        ("recursive", FromArray(arm, q, 5), False),
    ]:
        with python_calls() as entered:
            result = arm.gravity_forces(value)
        assert type(result) is np.ndarray and np.array_equal(result, right), name
        assert bool(entered) != (is_native and native.available()), name
    whole = np.array([1, 0, -1, 2, 3, 0])
    for kind in (int, np.int8, np.uint16, np.int64):
        positive = np.abs(whole).astype(kind)
        assert np.array_equal(arm.gravity_forces(positive), arm.gravity_forces(positive.astype(float)))
    matrix = q[None].view(np.matrix)
    assert type(arm.gravity_forces(matrix)) is np.ndarray and np.array_equal(arm.gravity_forces(matrix), right[None])


class Liar:
    """Not an array, whatever it says."""

    @property
    def __class__(self):
        return np.ndarray

    def __repr__(self):
        return "Liar"


Q = np.zeros(6)
WRONG = [
    (lambda r: r.gravity_forces(), TypeError, "missing 1 required positional argument: 'q'"),
    (lambda r: r.gravity_forces(Q, Q), TypeError, "takes 2 positional arguments but 3 were given"),
    (lambda r: r.gravity_forces(*[Q] * 3000), TypeError, "takes 2 positional arguments but 3001 were given"),
    (lambda r: r.gravity_forces(Q, **{f"k{k}": Q for k in range(3000)}), TypeError, "unexpected keyword argument 'k0'"),
    (lambda r: r.gravity_forces(Q, velocity=Q), TypeError, "unexpected keyword argument 'velocity'"),
    (lambda r: r.gravity_forces(Q, q=Q), TypeError, "multiple values for argument 'q'"),
    (
        lambda r: r.bias_forces(Q, v=Q, **{"".join(["wren", "ch"]): Q}),
        TypeError,
        "unexpected keyword argument 'wrench'",
    ),
    (lambda r: r.inverse_dynamics(Q, Q, wrenches={}), TypeError, "missing 1 required positional argument: 'a'"),
    (lambda r: r.gravity_forces(None), kt.ArgumentTypeError, "q is None"),
    (lambda r: r.gravity_forces("zeros"), kt.ArgumentTypeError, "q is 'zeros'"),
    (lambda r: r.gravity_forces(b"123456"), kt.ArgumentTypeError, "q is b'123456'"),
    (lambda r: r.gravity_forces(np.zeros((6, 1))), kt.ArgumentError, "is it transposed"),
    (lambda r: r.gravity_forces(np.zeros(7)), kt.ArgumentError, r"q has shape \(7,\)"),
    (lambda r: r.gravity_forces(np.zeros(0)), kt.ArgumentError, r"q has shape \(0,\)"),
    (lambda r: r.gravity_forces(np.zeros(())), kt.ArgumentError, r"q has shape \(\)"),
    (lambda r: r.gravity_forces(np.zeros(6, complex)), kt.ArgumentTypeError, "complex128"),
    (lambda r: r.gravity_forces(np.zeros(6, object)), kt.ArgumentTypeError, "object"),
    (lambda r: r.gravity_forces(np.zeros(6, "M8[s]")), kt.ArgumentTypeError, "datetime64"),
    (lambda r: r.gravity_forces(np.ma.zeros(6)), kt.ArgumentTypeError, "q is masked_array"),
    (lambda r: r.gravity_forces(Q, out=Q.astype("f4")), kt.ArgumentTypeError, "out is an array of float32"),
    (lambda r: r.gravity_forces(Q, out=[0.0] * 6), kt.ArgumentTypeError, "out is "),
    (lambda r: r.gravity_forces(Q, out=np.zeros((6, 1))), kt.ArgumentError, r"out has shape \(6, 1\)"),
    (lambda r: r.gravity_forces(Q, out=np.zeros(7)), kt.ArgumentError, r"out has shape \(7,\)"),
    (lambda r: r.gravity_forces(Q, out=np.broadcast_to(0.0, 6)), kt.ArgumentError, "out is read-only"),
    (lambda r: r.gravity_forces(Q, out=Liar()), kt.ArgumentTypeError, "out is Liar; expected an array"),
    (lambda r: r.gravity_forces(Q, out="out"), kt.ArgumentTypeError, "out is 'out'"),
    (lambda r: r.frame("tool0").jacobian(Q, None), kt.ArgumentError, "reference is None"),
    (lambda r: r.frame("tool0").jacobian(Q, reference="Local"), kt.ArgumentError, "reference is 'Local'"),
    (lambda r: r.frame("tool0").jacobian(Q, Q), kt.ArgumentError, "reference is array"),
    (lambda r: r.frame("tool0").jacobian(Q, "local", reference="local"), TypeError, "multiple values"),
    (lambda r: r.frame("tool0").acceleration(Q, Q, Q, kind=b"spatial"), kt.ArgumentError, "kind is b'spatial'"),
    (lambda r: r.frame("tool0").pose(Q, "local"), TypeError, "takes 2 positional arguments but 3 were given"),
]


@pytest.mark.parametrize(("call", "error", "sentence"), WRONG, ids=range(len(WRONG)))
def test_wrong_arguments_after_a_right_call(arm, call, error, sentence):
    """The native call is there already, and hands over what it does not know."""
    tool = arm.frame("tool0")
    for right in (arm.gravity_forces, tool.jacobian, tool.pose):
        right(Q)
    with pytest.raises(error, match=sentence):
        call(arm)
    assert np.array_equal(arm.gravity_forces(Q), in_python(arm.gravity_forces, Q))


def test_out_that_overlaps_or_is_strided(arm):
    for shift in range(7):
        memory = np.zeros(20)
        memory[5:11] = q = arm.random(0)
        right = np.array(arm.gravity_forces(q))
        out = memory[5 + shift : 11 + shift]
        assert arm.gravity_forces(memory[5:11], out=out) is out and np.array_equal(out, right)
    wide = np.full((6, 12), 7.0)
    assert np.array_equal(arm.mass_matrix(q, out=wide[:, ::2]), arm.mass_matrix(q))
    assert np.all(wide[:, 1::2] == 7.0)
    turned = np.zeros((6, 6), order="F")
    assert arm.mass_matrix(q, out=turned) is turned and np.array_equal(turned, arm.mass_matrix(q))
    both = q.copy()
    assert arm.integrate(both, both, out=both) is both and np.array_equal(both, arm.integrate(q, q))


def test_no_joints():
    stone = kt.load('<robot name="stone"><link name="stone"/></robot>')
    nothing, frame = np.zeros(0), stone.frame("stone")
    for _ in range(3):
        assert stone.inverse_dynamics(nothing, nothing, nothing).shape == (0,)
        assert stone.mass_matrix(nothing).shape == (0, 0) and stone.poses(nothing).shape == (0, 4, 4)
        assert stone.kinetic_energy(nothing, nothing) == 0.0
        assert np.array_equal(frame.pose(nothing), np.eye(4))
        assert frame.jacobian(nothing).shape == (6, 0)
        out = np.zeros((0, 0))
        assert stone.mass_matrix(nothing, out=out) is out
        with pytest.raises(kt.ArgumentError, match="no moving mass"):
            stone.center_of_mass(nothing)
        with pytest.raises(kt.ArgumentError, match=r"q has shape \(1,\)"):
            stone.mass_matrix(np.zeros(1))


# -- states that are refused -------------------------------------------------------------------------------------------


def test_quaternions_off_unit_are_refused_with_the_same_words(dog):
    q, v = dog.random(0), np.zeros(dog.nv)
    for call in (dog.mass_matrix, dog.bias_forces, dog.poses, dog.forward_dynamics, dog.frame("base_link").jacobian):
        extra = {"mass_matrix": 0, "poses": 0, "bias_forces": 1, "forward_dynamics": 2, "jacobian": 0}[call.__name__]
        for scale, fine in [(1.0, True), (1 + 4e-7, True), (1 + 6e-7, False), (0.975, False), (0.0, False)]:
            state = q.copy()
            state[3:7] *= scale
            args = [state] + [v] * extra
            out = np.full(in_python(call, q, *args[1:]).shape, 7.0)
            if fine:
                expected = in_python(call, *args)
                assert np.array_equal(call(*args), expected)
                assert np.array_equal(call(*args, out=out), expected)
                continue
            with pytest.raises(kt.ArgumentError, match=r"^q has a quaternion \(entries 3 to 6, xyzw\)") as from_python:
                in_python(call, *args)
            for named in ({}, {"out": out}):
                with pytest.raises(kt.ArgumentError) as caught:
                    call(*args, **named)
                assert str(caught.value) == str(from_python.value)
            assert np.all(out == 7.0)


def test_a_singular_mass_matrix_is_refused_and_out_left_alone():
    builder = kt.ModelBuilder("loose")
    builder.link("ground")
    builder.link("arm", kt.Inertia.from_com(1, (0.1, 0, 0), np.eye(3)))
    builder.link("ring")
    builder.joint("hinge", "revolute", "ground", "arm", axis=(0, 0, 1))
    builder.joint("spin", "revolute", "arm", "ring", axis=(0, 0, 1))
    robot = kt.Robot(builder.build())
    zero = np.zeros(2)
    for _ in range(3):
        out = np.full(2, 7.0)
        with pytest.raises(kt.SingularMassMatrixError, match="joint 'spin' can move without moving any mass"):
            robot.forward_dynamics(zero, zero, zero)
        with pytest.raises(kt.SingularMassMatrixError, match="joint 'spin'"):
            robot.forward_dynamics(zero, zero, zero, out=out)
        with pytest.raises(kt.SingularMassMatrixError, match="joint 'spin'"):
            robot.inverse_mass_matrix(zero)
        assert np.all(out == 7.0)
        assert robot.mass_matrix(zero)[1, 1] == 0.0


@native_only
def test_nan_and_infinity_go_through_natively(arm, dog):
    for robot, special in [(arm, np.nan), (arm, np.inf), (dog, np.nan)]:
        q = robot.neutral()
        q[-1] = special
        robot.poses(robot.neutral())
        assert np.array_equal(natively(robot.poses, q), in_python(robot.poses, q), equal_nan=True)


# -- options of frames -------------------------------------------------------------------------------------------------


def made(word):
    return "".join(list(word))


def test_options_by_position_and_name(arm):
    tool, rng = arm.frame("tool0"), np.random.default_rng(0)
    q, v, a = arm.random(rng), rng.normal(size=6), rng.normal(size=6)
    for reference in REFERENCES:
        right = np.array(in_python(tool.jacobian, q, reference))
        results = [
            np.array(in_python(tool.acceleration, q, v, a, reference, kind)) for kind in ("classical", "spatial")
        ]
        tool.jacobian(q, reference)
        with python_calls() as entered:
            for word in (reference, made(reference)):
                assert np.array_equal(tool.jacobian(q, word), right)
                assert np.array_equal(tool.jacobian(q, reference=word), right)
                assert np.array_equal(tool.jacobian(reference=word, q=q), right)
                out = np.zeros((6, 6))
                assert tool.jacobian(q, word, out=out) is out and np.array_equal(out, right)
                for kind, expected in zip(("classical", "spatial"), results, strict=True):
                    assert np.array_equal(tool.acceleration(q, v, a, word, made(kind)), expected)
                    assert np.array_equal(tool.acceleration(q, v, a=a, kind=kind, reference=word), expected)
        assert not (entered and native.available())
    assert np.array_equal(
        tool.acceleration(q, v, a, kind="spatial"), tool.acceleration(q, v, a, REFERENCES[0], "spatial")
    )
    assert np.array_equal(tool.jacobian(q, **{made("reference"): "local"}), tool.jacobian(q, "local"))


class Word(str):
    pass


@pytest.mark.parametrize("kind", [Word, np.str_])
def test_options_that_are_almost_strings(kind):
    """Also when nobody has asked for them before."""
    robot = kt.load("arm6")
    tool, q, w = robot.frame("tool0"), robot.random(0), np.ones(6)
    jacobian = np.array(tool.jacobian(q, kind("local")))
    assert np.array_equal(jacobian, tool.jacobian(q, "local"))
    acceleration = np.array(tool.acceleration(q, q, q, kind("world"), kind("spatial")))
    assert np.array_equal(acceleration, tool.acceleration(q, q, q, "world", "spatial"))
    forces = np.array(robot.bias_forces(q, q, {kind("tool0"): kt.Wrench(w, kind("local"))}))
    assert np.array_equal(forces, robot.bias_forces(q, q, {"tool0": kt.Wrench(w, "local")}))
    robot.prepare("inverse_dynamics", wrenches=[(kind("tool0"), kind("world"))])
    tool.prepare("velocity", reference=kind("local"))
    assert np.array_equal(tool.velocity(q, q, "local"), tool.velocity(q, q, kind("local")))
    wrenches = {"tool0": kt.Wrench(w, "world")}
    assert np.array_equal(
        robot.inverse_dynamics(q, q, q, wrenches), in_python(robot.inverse_dynamics, q, q, q, wrenches)
    )


# -- wrenches ----------------------------------------------------------------------------------------------------------


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
        {left: kt.Wrench(w, made("world-aligned")), made(right): kt.Wrench(u, made("local"))},
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
    lead_to = native.Door.lead_to
    monkeypatch.setattr(native.Door, "lead_to", lambda self, variants: called.append(list(variants)))
    robot.bias_forces  # noqa: B018 - a door to lead somewhere
    sets = [(left, right), (left, (left, "local")), (left,)]
    q, v = robot.random(0), np.ones(robot.nv)
    robot.prepare("bias_forces", wrenches=sets[0], batch=True)
    robot.prepare("bias_forces", wrenches=sets[1])
    robot.bias_forces(q, v, {right: v[:6]})  # for one state, the first set is compiled after the second
    assert [variant.places for variant in called[-1]] == [
        ((left, "world-aligned"), (right, "world-aligned")),
        ((left, "local"), (left, "world-aligned")),
    ]
    monkeypatch.setattr(native.Door, "lead_to", lead_to)
    robot.prepare("bias_forces", wrenches=sets[2])
    for wrenches in ({left: v[:6]}, {right: v[:6]}, {left: kt.Wrench(v[:6], "local")}, None):
        result = np.array(natively(robot.bias_forces, q, v, wrenches))
        assert np.array_equal(result, in_python(robot.bias_forces, q, v, wrenches))
