"""Λ, μ, p, J̄, N, J⁺ and 1 - J⁺J are those of pseudo-inverses wherever a robot is, for every choice of directions."""

import numpy as np
import pytest

import kinetree as kt
from extended_precision import Decomposed, agree
from kinetree.algorithms.arguments.directions import DIRECTIONS, task_rows
from kinetree.model.random import EVERY_JOINT

TASKS = ("pose", "position", "orientation", ("x", "z"), ("x", "y", "rz"), ("ry",), ("x", "z", "rx", "ry", "rz"))


def check(robot, frame, q, v, task, reference):
    """All quantities of one state beside 40 digits; whether its rank is clear, and less than the number of rows."""
    whole = frame.jacobian(q, reference)
    J = whole[task_rows(task, robot.model.spatial_order)]
    M = robot.mass_matrix(q)
    exact, plain = Decomposed(J, M, whole), Decomposed(J, whole=whole)
    if not (exact.is_clear and plain.is_clear):
        return False, False
    Lambda = frame.operational_space_inertia(q, reference, task)
    np.testing.assert_array_equal(Lambda, Lambda.T)
    accuracy = max(1e-9, exact.accuracy * np.sqrt(np.linalg.cond(M)))
    values = np.linalg.eigvalsh(Lambda)
    assert values[0] >= -1e-13 * values[-1]
    expected, J_bar = exact.inertia(), exact.inverse()
    assert agree(Lambda, expected, accuracy)
    assert agree(frame.consistent_inverse(q, reference, task), J_bar, accuracy)
    assert agree(frame.null_space_projector(q, reference, task), exact.null_space(), accuracy * np.abs(M).max())
    assert agree(frame.pseudo_inverse(q, reference, task), plain.inverse(), max(1e-9, plain.accuracy))
    assert agree(
        frame.null_space_projector(q, reference, task, "euclidean"), plain.null_space(), max(1e-9, plain.accuracy)
    )
    g, b = robot.gravity_forces(q), robot.bias_forces(q, v)
    kind = "classical" if reference == "world-aligned" else "spatial"
    drift = frame.bias_acceleration(q, v, reference, kind)[task_rows(task, robot.model.spatial_order)]
    size = 1.0 + np.abs(g).max() + np.abs(b).max() + np.abs(drift).max() * np.abs(expected).max()
    assert agree(frame.operational_space_gravity(q, reference, task), J_bar.T @ g, accuracy * size)
    mu = J_bar.T @ (b - g) - expected @ drift
    assert agree(frame.operational_space_bias(q, v, reference, task), mu, accuracy * size)
    return True, exact.rank < len(J)


def degenerate_states(robot, rng, count):
    """Joints at zero or at right angles, where axes meet, and some a little off."""
    for q in robot.random(rng, count):
        often = rng.choice([0.5, 1.0])
        for joint in robot.model.owners:
            if joint.nq == 1 and rng.random() < often:
                q[joint.iq] = rng.choice([0.0, 0.0, 0.5 * np.pi]) + rng.choice([0.0, 0.0, 0.0, 1e-13, 1e-5, 1e-3])
        yield q


def sweep(robot, frame, rng, count):
    seen = np.zeros(2, dtype=int)
    for q in degenerate_states(robot, rng, count):
        task = TASKS[rng.integers(len(TASKS))]
        reference = ("world-aligned", "local", "world")[rng.integers(3)]
        seen += check(robot, robot.frame(frame), q, rng.normal(size=robot.nv), task, reference)
    return seen


@pytest.mark.parametrize("name, frame", [("arm7", "tool0"), ("arm6", "tool0"), ("planar2", "tip")])
@pytest.mark.sampled(3)
def test_arms_at_degenerate_configurations(name, frame):
    robot = kt.load(name).eager
    counts = sweep(robot, frame, np.random.default_rng(0), 20)
    assert counts[0] > 10 and counts[1] > 2


@pytest.mark.parametrize("task", ["pose", "orientation"])
def test_machine_code_is_as_right_as_the_textbook_where_rank_is_lost(task):
    robot, rng = kt.load("arm6"), np.random.default_rng(4)
    q = np.array(list(degenerate_states(robot, rng, 40)))
    compiled, textbook = robot.frame("tool0"), robot.eager.frame("tool0")
    lost = 0
    for name in ("operational_space_inertia", "pseudo_inverse"):
        for k, got in enumerate(getattr(compiled, name)(q, task=task)):
            rows = task_rows(task, "linear-first")
            s = np.linalg.svd(compiled.jacobian(q[k])[rows], compute_uv=False)
            relative = s / np.linalg.norm(s)
            if np.any((relative > 1e-13) & (relative < 1e-8)):
                continue
            lost += relative[-1] < 1e-10
            accuracy = 1e-13 / relative[relative > 1e-10].min() ** 1.5
            assert agree(got, getattr(textbook, name)(q[k], task=task), max(1e-9, accuracy))
    assert lost > 1


@pytest.mark.sweep
def test_random_trees_of_every_joint():
    rng = np.random.default_rng(2)
    counts = np.zeros(2, dtype=int)
    for k in range(18):
        model = kt.random_model(
            rng,
            int(rng.integers(1, 7)),
            EVERY_JOINT,
            base="floating" if k % 3 == 0 else "fixed",
            spatial_order="angular-first" if k % 2 else "linear-first",
        )
        robot = kt.Robot(model).eager
        if robot.nv:
            frame = str(rng.choice([frame.name for frame in model.frames]))
            counts += sweep(robot, frame, rng, 2)
    assert counts[0] > 20 and counts[1] > 10


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_thousands_of_degenerate_draws(seed):
    rng = np.random.default_rng(100 + seed)
    counts = np.zeros(2, dtype=int)
    for k in range(60):
        base = "floating" if k % 3 == 0 else "fixed"
        robot = kt.Robot(kt.random_model(rng, int(rng.integers(1, 10)), EVERY_JOINT, base=base)).eager
        if robot.nv:
            counts += sweep(robot, str(rng.choice(robot.frame_names)), rng, 2)
    for name in ("arm6", "arm7", "puma560", "planar2"):
        robot = kt.load(name).eager
        counts += sweep(robot, robot.frame_names[-1], rng, 10)
    assert counts[0] > 100 and counts[1] > 20


def test_a_planar_arm_has_the_two_by_two_inertia_of_the_lectures():
    """Λ of (x, z) by the closed form J⁻ᵀ M J⁻¹, and the equation of motion of the tip."""
    robot = kt.load("planar2")
    tip, rng = robot.frame("tip"), np.random.default_rng(0)
    for _ in range(20):
        q, v, F = robot.random(rng), rng.normal(size=2), rng.normal(size=2)
        q[1] = rng.uniform(0.2, 2.9)
        J = tip.jacobian(q)[[0, 2]]
        Lambda = tip.operational_space_inertia(q, task=("x", "z"))
        inverse = np.linalg.inv(J)
        np.testing.assert_allclose(Lambda, inverse.T @ robot.mass_matrix(q) @ inverse, rtol=1e-9)
        a = tip.acceleration(q, v, robot.forward_dynamics(q, v, J.T @ F))[[0, 2]]
        left = Lambda @ a + tip.operational_space_bias(q, v, task=("x", "z"))
        np.testing.assert_allclose(left + tip.operational_space_gravity(q, task=("x", "z")), F, atol=1e-8)
        np.testing.assert_allclose(tip.consistent_inverse(q, task=("z", "x")), inverse, atol=1e-9)
        np.testing.assert_allclose(tip.pseudo_inverse(q, task=("x", "z")), inverse, atol=1e-9)


@pytest.mark.sweep
def test_a_batch_has_the_same_bits_as_its_states_where_rank_is_lost_and_where_not():
    robot = kt.load("arm7")
    tool, q = robot.frame("tool0"), robot.random(np.random.default_rng(3), 12)
    q[4], q[7, 3] = 0.0, 0.0
    for metric in ("kinetic", "euclidean"):
        N = tool.null_space_projector(q, metric=metric)
        for k in range(12):
            np.testing.assert_array_equal(tool.null_space_projector(q[k], metric=metric), N[k])
    Lambda = tool.operational_space_inertia(q)
    out = np.empty_like(Lambda)
    assert tool.operational_space_inertia(q, out=out) is out
    np.testing.assert_array_equal(out, Lambda)
    for k in range(12):
        np.testing.assert_array_equal(tool.operational_space_inertia(q[k]), Lambda[k])
    assert np.linalg.matrix_rank(Lambda[4]) < 6 and np.isfinite(Lambda).all()


def test_inside_compiled_functions_and_their_derivatives():
    """Right where rank is lost; and derivatives are finite there, and right where it is not."""
    robot = kt.load("planar2")
    law = kt.compile(lambda robot, q: robot.frame("tip").operational_space_inertia(q, task=("x", "z")))
    tip = robot.frame("tip")
    straight, bent = np.array([0.3, 0.0]), np.array([0.3, 0.9])
    for q in (straight, bent):
        np.testing.assert_allclose(law(robot, q), tip.operational_space_inertia(q, task=("x", "z")), atol=1e-10)
    slopes = kt.jacobian(law, "q")
    assert np.isfinite(slopes(robot, straight)).all()
    h = 1e-6
    for k in range(2):
        step = h * np.eye(2)[k]
        numbers = (law(robot, bent + step) - law(robot, bent - step)) / (2 * h)
        np.testing.assert_allclose(slopes(robot, bent)[..., k], numbers, atol=1e-6)


def test_the_two_projectors_differ_and_each_does_what_it_says():
    robot = kt.load("arm7")
    tool, rng = robot.frame("tool0"), np.random.default_rng(5)
    q, v, tau = robot.random(rng), rng.normal(size=7), rng.normal(size=7)
    J, M = tool.jacobian(q), robot.mass_matrix(q)
    kinetic, euclidean = tool.null_space_projector(q), tool.null_space_projector(q, metric="euclidean")
    assert np.abs(kinetic - euclidean).max() > 0.05
    np.testing.assert_allclose(euclidean, np.eye(7) - np.linalg.pinv(J) @ J, atol=1e-10)
    np.testing.assert_allclose(euclidean, euclidean.T, atol=1e-12)
    for N in (kinetic, euclidean):
        np.testing.assert_allclose(J @ N @ v, 0.0, atol=1e-9)
        np.testing.assert_allclose(N @ N, N, atol=1e-9)
    accelerations = [np.abs(J @ np.linalg.solve(M, N.T @ tau)).max() for N in (kinetic, euclidean)]
    assert accelerations[0] < 1e-8 and accelerations[1] > 1.0
    away = [v - N @ v for N in (kinetic, euclidean)]
    assert away[0] @ M @ away[0] < away[1] @ M @ away[1] and away[1] @ away[1] < away[0] @ away[0]


def test_what_is_wrong_is_said():
    tool = kt.load("arm7").frame("tool0")
    q = np.zeros(7)
    with pytest.raises(kt.UnknownNameError, match="direction 'w' does not exist"):
        tool.operational_space_inertia(q, task=("x", "w"))
    with pytest.raises(kt.ArgumentError, match="task has 'x' 2 times; expected each direction once"):
        tool.operational_space_inertia(q, task=("x", "y", "x"))
    with pytest.raises(kt.ArgumentError, match="metric is 'mass'"):
        tool.null_space_projector(q, metric="mass")
    with pytest.raises(kt.ArgumentError, match="reference is 'nowhere'"):
        tool.pseudo_inverse(q, "nowhere", ("x",))
    assert tool.operational_space_inertia(q, task=DIRECTIONS).shape == (6, 6)


@pytest.mark.sweep
def test_preparing_compiles_for_every_rank():
    tool = kt.load("arm6").frame("tool0")
    tool.prepare("operational_space_inertia", "null_space_projector", task="position", metric="euclidean")
    tool.prepare("operational_space_inertia", "pseudo_inverse")
    assert tool.operational_space_inertia(np.zeros(6), task="position").shape == (3, 3)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.sampled(2)
def test_rows_that_are_rounding_alone_are_no_directions(compiled):
    """A straight arm that points along z cannot move its tip along z; a frame on the axis of a joint does not move."""
    robot = kt.load("planar2") if compiled else kt.load("planar2").eager
    tip, q = robot.frame("tip"), np.array([np.pi / 2, 0.0])
    assert 0.0 < np.abs(tip.jacobian(q)[2]).max() < 1e-15
    for task in (("z",), ("y", "z"), ("z", "rx")):
        assert np.abs(tip.operational_space_inertia(q, task=task)).max() == 0.0
        assert np.abs(tip.consistent_inverse(q, task=task)).max() == 0.0
        assert np.abs(tip.pseudo_inverse(q, task=task)).max() == 0.0
        assert np.abs(tip.operational_space_gravity(q, task=task)).max() == 0.0
        for metric in ("kinetic", "euclidean"):
            np.testing.assert_array_equal(tip.null_space_projector(q, task=task, metric=metric), np.eye(2))
    for off, reference in ((1e-12, 0.0), (1e-7, 1.0)):
        near = np.array([np.pi / 2 + off, 0.0])
        Lambda = tip.operational_space_inertia(near, task=("z",))[0, 0]
        J = tip.jacobian(near)[2]
        exact = 1.0 / (J @ np.linalg.solve(robot.mass_matrix(q), J))
        np.testing.assert_allclose(Lambda, reference * exact, rtol=1e-6)


@pytest.mark.parametrize("compiled", [True, False])
def test_constraints_that_are_rounding_alone_hold_nothing(compiled):
    robot = kt.load("planar2") if compiled else kt.load("planar2").eager
    q = np.array([np.pi / 2, 0.0])
    held = robot.constrained(kt.Contact("tip", "sliding"))
    np.testing.assert_array_equal(held.projector(q), np.eye(2))
    a, f = held.forward_dynamics(q, np.zeros(2), np.array([1.0, 2.0]))
    np.testing.assert_allclose(a, robot.forward_dynamics(q, np.zeros(2), np.array([1.0, 2.0])), rtol=1e-12)
    assert np.abs(f).max() < 1e-9
