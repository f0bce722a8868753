"""Odd arguments, states and options of native calls: the same results as in Python, and the same errors."""

import pickle
import threading

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.runtime import native
from natively import in_python, native_only, natively, python_calls
from words import Word, not_interned

REFERENCES = ("world-aligned", "local", "world")


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm6")


@pytest.fixture(scope="module")
def dog():
    return kt.load("quadruped", base="floating")


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
        ("list", q.tolist(), True),
        ("tuple", tuple(q), True),
        ("list of numbers", list(q), True),
        ("float32", q.astype(np.float32), True),
        ("float16", q.astype(np.float16), False),
        ("long double", q.astype(np.longdouble), False),
        ("big-endian", q.astype(">f8"), False),
        ("misaligned", misaligned(q), False),
        ("reversed", q[::-1].copy()[::-1], True),
        ("strided", np.repeat(q, 2)[::2], True),
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
    (lambda r: r.gravity_forces(), TypeError, "missing a required argument: 'q'"),
    (lambda r: r.gravity_forces(Q, Q), TypeError, "too many positional arguments"),
    (lambda r: r.gravity_forces(*[Q] * 3000), TypeError, "too many positional arguments"),
    (lambda r: r.gravity_forces(Q, **{f"k{k}": Q for k in range(3000)}), TypeError, "gravity_forces 'k0' does not"),
    (lambda r: r.gravity_forces(Q, velocity=Q), TypeError, "argument of gravity_forces 'velocity' does not exist"),
    (lambda r: r.gravity_forces(Q, q=Q), TypeError, "multiple values for argument 'q'"),
    (
        lambda r: r.bias_forces(Q, v=Q, **{"".join(["wren", "ch"]): Q}),
        TypeError,
        "argument of bias_forces 'wrench' does not exist; did you mean 'wrenches'",
    ),
    (lambda r: r.inverse_dynamics(Q, Q, wrenches={}), TypeError, "missing a required argument: 'a'"),
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
    (lambda r: r.frame("tool0").pose(Q, "local"), TypeError, "too many positional arguments"),
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
            for word in (reference, not_interned(reference)):
                assert np.array_equal(tool.jacobian(q, word), right)
                assert np.array_equal(tool.jacobian(q, reference=word), right)
                assert np.array_equal(tool.jacobian(reference=word, q=q), right)
                out = np.zeros((6, 6))
                assert tool.jacobian(q, word, out=out) is out and np.array_equal(out, right)
                for kind, expected in zip(("classical", "spatial"), results, strict=True):
                    assert np.array_equal(tool.acceleration(q, v, a, word, not_interned(kind)), expected)
                    assert np.array_equal(tool.acceleration(q, v, a=a, kind=kind, reference=word), expected)
        assert not (entered and native.available())
    assert np.array_equal(
        tool.acceleration(q, v, a, kind="spatial"), tool.acceleration(q, v, a, REFERENCES[0], "spatial")
    )
    assert np.array_equal(tool.jacobian(q, **{not_interned("reference"): "local"}), tool.jacobian(q, "local"))


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


@native_only
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int32, int, float])
def test_every_layout_of_numbers_is_read_natively(kind):
    """Arrays of any strides and nested lists, for arguments without axes, vectors and matrices."""

    @kt.compile(shapes={"x": (), "y": (3,), "Z": (2, 3)})
    def law(x, y, Z):
        return Z @ y * x

    call = law.bind()
    x, y, Z = 3, np.array([1, -2, 3]), np.array([[1, 0, 2], [5, 7, -1]])
    right = call(3.0, y.astype(float), Z.astype(float)).copy()
    if kind in (int, float):
        forms = [(kind(x), [kind(n) for n in y], [tuple(map(kind, row)) for row in Z])]
    else:
        Z = Z.astype(kind)
        spread = np.zeros((2, 6, 2), kind)
        spread[:, ::2, 1] = Z
        y, x = y.astype(kind), np.array(x, kind)
        forms = [(x, y, Z), (x, y[::-1].copy()[::-1], Z.T.copy().T), (x, np.repeat(y, 3)[1::3], spread[:, ::2, 1])]
        forms += [(x, y, Z[::-1].copy()[::-1]), (x, np.broadcast_to(y, (2, 3))[1], np.asfortranarray(Z))]
    for form in forms:
        with python_calls() as entered:
            result = call(*form)
        assert np.array_equal(result, right) and not entered


def test_lists_of_another_form_are_refused_with_the_same_words(arm):
    arm.gravity_forces(np.zeros(6))
    for wrong in (
        [0.0] * 5,
        [[0.0] * 6] * 2 + [[0.0] * 5],
        [0.0, "a", 0.0, 0.0, 0.0, 0.0],
        [0.0] * 5 + [None],
        [True] * 6,
    ):
        outcomes = []
        for call in (arm.gravity_forces, lambda q: kt.Robot.gravity_forces(arm, q)):
            try:
                outcomes.append(call(wrong).tolist())
            except kt.KinetreeError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


@native_only
def test_arguments_for_all_states_of_a_batch_come_in_any_kind(arm):
    rng = np.random.default_rng(5)
    q, v, a = rng.normal(size=(20, 6)), rng.normal(size=(20, 6)), np.array([1.0, -2.0, 3.0, 0.0, 5.0, -6.0])
    right = arm.inverse_dynamics(q, v, np.broadcast_to(a, (20, 6)))
    spread = np.zeros(12)
    spread[::2] = a
    kinds = (a, spread[::2], a.astype(np.float32), a.astype(int), a.astype(np.int32), a.tolist(), tuple(a), list(a))
    for kind in kinds:
        assert np.array_equal(natively(arm.inverse_dynamics, q, v, kind), right)
    assert np.array_equal(
        natively(arm.inverse_dynamics, q.tolist()[0], v, a.tolist()), arm.inverse_dynamics(np.array([q[0]] * 20), v, a)
    )
    for wrong in ([1.0] * 5, [*a[:5], "6"], a.astype(complex), a[:5], None):
        with pytest.raises(kt.KinetreeError):
            arm.inverse_dynamics(q, v, wrong)


@native_only
def test_batches_of_several_threads_do_not_share_copies(arm):
    rng = np.random.default_rng(6)
    q, v = rng.normal(size=(200, 6)), rng.normal(size=(200, 6))
    right = [arm.inverse_dynamics(q, v, np.full((200, 6), float(k))) for k in range(4)]
    wrong = []

    def ask(k):
        wrong.extend(n for n in range(300) if not np.array_equal(arm.inverse_dynamics(q, v, [k] * 6), right[k]))

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
