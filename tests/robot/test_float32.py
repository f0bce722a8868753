"""Robots of dtype float32: every quantity beside float64 and Pinocchio, to the bit the same for one state, for a batch
and on threads; what is too near to singular for float32 is computed in float64; what needs float64 is refused."""

import pickle

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from declared import OF_FRAME, OF_ROBOT
from kinetree.control import ComputedTorque
from natively import in_python, native_only, natively
from peers import urdf

pytestmark = pytest.mark.calls
STATES = 67
"""Four vectors of sixteen, and three states more."""


@pytest.fixture(scope="module", params=["arm6", "quadruped"])
def pair(request):
    """A robot in float64 and in float32."""
    robot = kt.load(request.param, "floating" if request.param == "quadruped" else "fixed")
    return robot, robot.astype("float32")


def inputs(robot, names, count=STATES, seed=0):
    """Arrays that float32 holds exactly."""
    rng = np.random.default_rng(seed)
    sizes = {"restitution": 1}
    drawn = [
        robot.random(rng, count) if name.startswith("q") else rng.uniform(0.1, 1.0, (count, sizes.get(name, robot.nv)))
        for name in names
    ]
    return [array.astype(np.float32) for array in drawn]


def leaves(result):
    return result if isinstance(result, tuple) else (result,)


def check(exact, result, size=3e-5):
    """Float32 arrays whose error is small beside the largest number of their state."""
    for x, y in zip(leaves(exact), leaves(result), strict=True):
        assert y.dtype == np.float32 and y.shape == x.shape
        rows, errors = x.reshape(len(x), -1), np.abs(x - y).reshape(len(x), -1)
        if rows.size:
            assert (errors.max(axis=1) <= size * np.maximum(np.abs(rows).max(axis=1), 1e-3)).all()


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", OF_ROBOT)
def test_every_quantity_of_a_robot(pair, name):
    robot, single = pair
    declared = OF_ROBOT[name]
    arrays = inputs(robot, declared.inputs)
    exact = getattr(robot, declared.method.__name__)(*(array.astype(float) for array in arrays))
    call = getattr(single, declared.method.__name__)
    result = call(*arrays)
    check(exact, result, 3e-3 if name == "forward_dynamics_derivatives" else 3e-5)
    for k in (0, 40, STATES - 1):
        one = leaves(call(*(array[k] for array in arrays)))
        assert all(np.array_equal(x, y[k]) for x, y in zip(one, leaves(result), strict=True))
        assert all(np.asarray(x).dtype == np.float32 for x in one)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", OF_FRAME)
def test_every_quantity_of_a_frame(pair, name):
    robot, single = pair
    declared, frame = OF_FRAME[name], robot.frame_names[-1]
    arrays = inputs(robot, declared.inputs)
    exact = getattr(robot.frame(frame), declared.method.__name__)(*(array.astype(float) for array in arrays))
    if name == "null_space_projector" and robot.nv == 6:
        exact = exact + np.eye(6)  # of an arm with six joints it is zero, but for rounding
        check(exact, (getattr(single.frame(frame), name)(*arrays) + np.eye(6)).astype(np.float32), 1e-3)
    else:
        check(exact, getattr(single.frame(frame), declared.method.__name__)(*arrays), 3e-4)


@pytest.mark.parametrize(
    ("file", "base"), [("ur5_robot.urdf", "fixed"), ("anymal_b_simple_description/anymal.urdf", "floating")]
)
def test_dynamics_beside_pinocchio(file, base):
    path = urdf(file)
    single = kt.load(path, base, dtype="float32")
    model = pin.buildModelFromUrdf(str(path), *((pin.JointModelFreeFlyer(),) if base == "floating" else ()))
    data, rng = model.createData(), np.random.default_rng(1)
    q = single.random(rng, 20)
    v, a = (rng.normal(size=(20, single.nv)).astype(np.float32) for _ in range(2))
    states = {"q": q, "v": v, "a": a}
    rows = [kt.convert(single, kind, array.astype(float), to="pinocchio") for kind, array in states.items()]
    theirs = np.array([pin.rnea(model, data, *row) for row in zip(*rows, strict=True)])
    check(kt.convert(single, "tau", theirs, source="pinocchio"), single.inverse_dynamics(q, v, a))


@pytest.mark.parametrize("threads", [1, 2])
def test_large_batches_have_the_same_bits_on_threads(pair, threads):
    robot, single = pair
    q, v, a = inputs(robot, ("q", "v", "a"), 40_003)
    before = kt.get_num_threads()
    kt.set_num_threads(threads)
    try:
        tau, M = single.inverse_dynamics(q, v, a), single.mass_matrix(q)
    finally:
        kt.set_num_threads(before)
    for k in (0, 17, 20_000, 40_002):
        assert np.array_equal(tau[k], single.inverse_dynamics(q[k], v[k], a[k]))
        assert np.array_equal(M[k], single.mass_matrix(q[k]))


@native_only
def test_batches_are_native_and_the_same_in_python(pair):
    robot, single = pair
    q, v, a = inputs(robot, ("q", "v", "a"))
    call = single.inverse_dynamics
    call(q, v, a)
    wide = np.zeros((STATES, 2 * robot.nv), np.float32)
    wide[:, ::2] = v
    for velocities in (v, np.asfortranarray(v), wide[:, ::2], v[0], np.broadcast_to(v[0], v.shape)):
        assert np.array_equal(natively(call, q, velocities, a), in_python(call, q, velocities, a))


def test_other_arguments_are_rounded(pair):
    robot, single = pair
    q, v, a = inputs(robot, ("q", "v", "a"), 5)
    right = single.inverse_dynamics(q, v, a)
    fine = np.nextafter(v.astype(float), 10.0)  # rounds to v
    for velocities in (v.astype(float), fine, v.tolist(), v.astype(">f4"), v.astype(object).astype(float)):
        assert np.array_equal(single.inverse_dynamics(q, velocities, a), right)
        assert np.array_equal(single.inverse_dynamics(q[0], velocities[0], a[0]), right[0])
    whole = np.arange(robot.nv)
    assert np.array_equal(single.inverse_dynamics(q, whole, a), single.inverse_dynamics(q, whole.astype(np.float32), a))


def test_numbers_beyond_float32_are_refused(pair):
    robot, single = pair
    q, v, a = inputs(robot, ("q", "v", "a"), 5)
    large = v.astype(float)
    large[3, 0] = 1e39
    with pytest.raises(kt.ArgumentError, match="v has a number that float32 cannot hold; expected numbers below"):
        single.inverse_dynamics(q, large, a)
    large[3, 0] = np.inf
    assert not np.isfinite(single.inverse_dynamics(q, large, a)[3]).all()


def test_options_wrenches_and_out(pair):
    robot, single = pair
    frame = robot.frame_names[-1]
    (q, v, a), push = inputs(robot, ("q", "v", "a"), 5), np.linspace(1.0, 2.0, 6)
    wide = [array.astype(float) for array in (q, v, a)]
    wrenches = {frame: kt.Wrench(push, "local")}
    check(robot.inverse_dynamics(*wide, wrenches), single.inverse_dynamics(q, v, a, wrenches))
    check(robot.frame(frame).jacobian(wide[0], "local"), single.frame(frame).jacobian(q, "local"))
    out = np.empty((5, robot.nv), np.float32)
    assert single.inverse_dynamics(q, v, a, out=out) is out
    assert np.array_equal(out, single.inverse_dynamics(q, v, a))
    with pytest.raises(kt.ArgumentTypeError, match="out is an array of float64; expected an array of float32"):
        single.inverse_dynamics(q, v, a, out=np.empty((5, robot.nv)))
    with pytest.raises(kt.ArgumentTypeError, match="out is an array of float32; expected an array of float64"):
        robot.inverse_dynamics(q, v, a, out=out)


def test_several_batch_axes_and_none(pair):
    robot, single = pair
    q, v = inputs(robot, ("q", "v"), 30)
    nested = single.coriolis_matrix(q.reshape(5, 6, -1), v[0])
    assert np.array_equal(nested[2, 3], single.coriolis_matrix(q[15], v[0]))
    assert single.coriolis_matrix(q[:0], v[:0]).dtype == np.float32


def test_float32_arguments_of_a_float64_robot_are_computed_in_float64(pair):
    robot, _ = pair
    q, v, a = inputs(robot, ("q", "v", "a"), 5)
    tau = robot.inverse_dynamics(q, v, a)
    assert tau.dtype == np.float64
    assert np.array_equal(tau, robot.inverse_dynamics(*(array.astype(float) for array in (q, v, a))))


def test_the_dtype_is_part_of_a_robot(pair):
    robot, single = pair
    assert robot.dtype == np.float64 and single.dtype == "float32"
    assert single != robot and single.astype(np.float64) == robot and single.astype("float32") is single
    again = pickle.loads(pickle.dumps(single))
    assert again == single and hash(again) == hash(single) and again.dtype == np.float32
    assert single.neutral().dtype == single.random(0, 3).dtype == np.float32
    assert np.array_equal(single.random(0, 3), robot.random(0, 3).astype(np.float32))
    assert kt.load("arm6", dtype=np.float32).dtype == np.float32
    assert single.eager.dtype == np.float64
    with pytest.raises(kt.ArgumentError, match=r"dtype is 'float16'; expected"):
        kt.load("arm6", dtype="float16")


def test_a_changed_robot_keeps_its_dtype():
    single = kt.load("arm6", dtype="float32")
    assert kt.edit.scale(single, 2.0).dtype == np.float32


def test_the_textbook_path_rounds_results_of_float64(pair):
    robot, _ = pair
    q, v, a = inputs(robot, ("q", "v", "a"), 3)
    by_hand = kt.Robot(robot.model, textbook=True, dtype="float32")
    exact = robot.eager.inverse_dynamics(q, v, a)
    assert np.array_equal(by_hand.inverse_dynamics(q, v, a), exact.astype(np.float32))
    assert by_hand.inverse_dynamics(q[0], v[0], a[0]).dtype == np.float32


# -- states at which float32 has too few digits ------------------------------------------------------------------------


def coaxial(inertia):
    """Two joints about the same axis, with only this inertia between them."""
    builder = kt.ModelBuilder("coaxial")
    builder.link("base")
    for k, size in ((1, inertia), (2, 1.0)):
        builder.link(f"link{k}", kt.Inertia.from_com(size, (0, 0, 0), np.eye(3) * size))
    builder.joint("first", "revolute", "base", "link1", axis=(0, 0, 1))
    builder.joint("second", "revolute", "link1", "link2", axis=(0, 0, 1))
    return kt.Robot(builder.build())


@pytest.mark.sweep
def test_a_mass_matrix_too_near_to_singular_is_divided_by_in_float64():
    robot = coaxial(1e-6)
    single = robot.astype("float32")
    q = v = np.zeros((40, 2), np.float32)
    tau = np.random.default_rng(0).normal(size=(40, 2)).astype(np.float32)
    exact = robot.forward_dynamics(q.astype(float), v.astype(float), tau.astype(float))
    for got in (single.forward_dynamics(q, v, tau), single.forward_dynamics(q[None], v, tau)[0]):
        assert np.array_equal(got, exact.astype(np.float32))
    assert np.array_equal(single.forward_dynamics(q[3], v[3], tau[3]), exact[3].astype(np.float32))
    push = {"link2": np.ones(6)}
    exact = robot.forward_dynamics(*(array.astype(float) for array in (q, v, tau)), push)
    assert np.array_equal(single.forward_dynamics(q, v, tau, push), exact.astype(np.float32))
    inverse = robot.inverse_mass_matrix(q.astype(float))
    assert np.array_equal(single.inverse_mass_matrix(q), inverse.astype(np.float32))


def test_a_singular_mass_matrix_is_refused():
    single = coaxial(0.0).astype("float32")
    zeros = np.zeros((5, 2), np.float32)
    with pytest.raises(kt.SingularMassMatrixError, match=r"'first' can move .* in state \[0\] of the batch"):
        single.forward_dynamics(zeros, zeros, zeros)
    with pytest.raises(kt.SingularMassMatrixError, match="'first' can move without moving any mass"):
        single.forward_dynamics(zeros[0], zeros[0], zeros[0])


def test_a_quaternion_that_is_not_of_unit_length_is_refused(pair):
    robot, single = pair
    if not robot.model.quaternions:
        pytest.skip("this robot has no quaternion")
    (q,) = inputs(robot, ("q",), 20)
    single.mass_matrix(q)
    q[7, 3:7] *= 1.001
    with pytest.raises(kt.ArgumentError, match="7"):
        single.mass_matrix(q)
    steps = np.full((1, robot.nv), 0.1, np.float32)
    q, small = single.neutral()[None], 1000
    for _ in range(small):  # rounding does not add up
        q = single.integrate(q, steps)
    single.mass_matrix(q)


def test_a_singular_task_is_inverted_in_float64():
    robot = kt.load("arm6")
    single = robot.astype("float32")
    q = np.zeros((9, 6), np.float32)  # stretched out
    exact = robot.frame("tool0").operational_space_inertia(q.astype(float))
    assert np.array_equal(single.frame("tool0").operational_space_inertia(q), exact.astype(np.float32))


# -- laws, derivatives and controllers ---------------------------------------------------------------------------------


@kt.compile(shapes={"gain": ()})
def law(robot, q, v, gain):
    M = robot.mass_matrix(q)
    return {"tau": M @ (-gain * v) + robot.gravity_forces(q), "energy": robot.kinetic_energy(q, v)}


def test_a_law_of_a_float32_robot(pair):
    robot, single = pair
    q, v = inputs(robot, ("q", "v"))
    exact, got = law(robot, q.astype(float), v.astype(float), 3.0), law(single, q, v, 3.0)
    check((exact["tau"], exact["energy"]), (got["tau"], got["energy"]))
    one = law(single, q[5], v[5], 3.0)
    assert np.array_equal(one["tau"], got["tau"][5]) and one["energy"] == got["energy"][5]


@kt.compile
def energy(robot, q, v):
    return robot.kinetic_energy(q, v)


def test_derivatives_of_a_law(pair):
    robot, single = pair
    q, v = inputs(robot, ("q", "v"))
    for name in ("q", "v"):
        slope = kt.jacobian(energy, name)
        check(slope(robot, q.astype(float), v.astype(float)), slope(single, q, v))


def test_a_law_of_robots_of_both_dtypes_is_refused():
    @kt.compile
    def both(robot, other, q):
        return robot.gravity_forces(q) + other.gravity_forces(q)

    robot = kt.load("arm6")
    with pytest.raises(kt.ArgumentError, match="both got robots of dtype float64 and float32; expected robots of one"):
        both(robot, robot.astype("float32"), np.zeros(6))


def test_a_controller(pair):
    robot, single = pair
    if robot.model.quaternions:
        pytest.skip("computed torque is for robots with a motor in every joint")
    q, v, wanted = inputs(robot, ("q", "v", "q"))
    exact = ComputedTorque(robot, 100.0, 20.0)(*(array.astype(float) for array in (q, v, wanted)))
    check(exact, ComputedTorque(single, 100.0, 20.0)(q, v, wanted))


@pytest.mark.sweep
def test_a_rank_is_decided_by_what_float32_knows():
    @kt.compile
    def inverse(robot, q):
        J = robot.frame("tool0").jacobian(q)
        return kt.linalg.pseudo_inverse(np.concatenate([J, J]))

    robot = kt.load("arm6")
    (q,) = inputs(robot, ("q",), 50)
    exact, got = inverse(robot, q.astype(float)), inverse(robot.astype("float32"), q)
    assert np.median(np.abs(exact - got).max(axis=(1, 2)) / np.abs(exact).max(axis=(1, 2))) < 1e-4


REFUSED = {
    "a rollout": lambda robot: robot.rollout(robot.neutral(), np.zeros(6), None, 0.01, 10),
    "inverse kinematics": lambda robot: robot.ik("tool0", np.array([0.4, 0.0, 0.4])),
    "inverse kinematics in closed form": lambda robot: kt.ik.closed_form(robot, "tool0", np.eye(4)),
    "differential inverse kinematics": lambda robot: kt.ik.DifferentialIK(robot, kt.ik.Pose("tool0")),
    "whole-body control": lambda robot: kt.control.WholeBody(robot, kt.control.Posture()),
    "a robot under constraints": lambda robot: robot.constrained(kt.Contact("tool0")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_float64_says_so(name):
    single = kt.load("arm6", dtype="float32")
    expected = r"needs the digits of float64, and 'arm6' is .* dtype float32; expected robot.astype\(\"float64\"\)"
    with pytest.raises(kt.ArgumentError, match=expected):
        REFUSED[name](single)
