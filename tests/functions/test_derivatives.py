"""Derivatives of compiled functions against finite differences, complex steps, Pinocchio, and each other."""

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree import ops
from peers import close, pin_from_urdf, urdf_files

ROBOTS = {
    "arm": lambda: kt.load("arm7"),
    "body": lambda: kt.load("quadruped", base="floating"),
    "mixed": lambda: kt.load("quadruped", base="floating", base_velocity="mixed"),
    "angular first": lambda: kt.load("quadruped", base="floating", spatial_order="angular-first"),
}


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request):
    return ROBOTS[request.param]()


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def along_velocities(robot, f, q, h=1e-6):
    """Central differences of f(q ⊕ dv), the last axis over dv."""
    steps = h * np.eye(robot.nv)
    rates = [(f(robot.integrate(q, step)) - f(robot.integrate(q, -step))) / (2 * h) for step in steps]
    return np.stack(rates, axis=-1)


def differences(f, x, h=1e-6):
    x = np.asarray(x, dtype=float)
    rates = []
    for index in np.ndindex(*x.shape):
        step = np.zeros(x.shape)
        step[index] = h
        rates.append((f(x + step) - f(x - step)) / (2 * h))
    return np.stack(rates, axis=-1).reshape((*np.shape(rates[0]), *x.shape))


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.sampled(3)
def test_position_of_a_frame(robot, mode):
    """Its derivative is the geometric Jacobian's upper half."""
    frame = robot.frame_names[-1]
    derivative = kt.jacobian(lambda robot, q: robot.frame(frame).pose(q)[:3, 3], "q", mode)
    q, _, _ = state(robot)
    J = robot.frame(frame).jacobian(q)
    linear = J[:3] if robot.model.spatial_order == "linear-first" else J[3:]
    close(derivative(robot, q), linear, 1e-13)
    close(derivative(robot.eager, q), linear, 1e-13)
    batch = np.stack([q, robot.random(np.random.default_rng(1))])
    assert np.array_equal(derivative(robot, batch)[0], derivative(robot, q))


@pytest.mark.sampled(4)
def test_inverse_dynamics(robot):
    q, v, a = state(robot)
    law = kt.compile(lambda robot, q, v, a: robot.inverse_dynamics(q, v, a))
    by_q, by_v, by_a = kt.jacobian(law, ("q", "v", "a"))(robot, q, v, a)
    close(by_q, along_velocities(robot, lambda q: robot.inverse_dynamics(q, v, a), q), 1e-6)
    close(by_v, differences(lambda v: robot.inverse_dynamics(q, v, a), v), 1e-6)
    close(by_a, robot.mass_matrix(q), 1e-12)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_inverse_dynamics_beside_pinocchio(base):
    path = next(path for path in urdf_files().values() if path.name == "ur5_robot.urdf")
    robot = kt.load(path, base)
    peer = pin_from_urdf(robot, path, base == "floating")
    q, v, a = state(robot, 3)
    by_q, by_v = kt.jacobian(lambda robot, q, v, a: robot.inverse_dynamics(q, v, a), ("q", "v"))(robot, q, v, a)
    data = peer.data()  # the results are views of it
    right_q, right_v, _ = pin.computeRNEADerivatives(peer.model, data, peer.q(q), v, a)
    close(by_q, right_q, 1e-9)
    close(by_v, right_v, 1e-9)


@pytest.mark.sampled(4)
def test_energies(robot):
    """∂V/∂q is gravity's torque; ∂²T/∂v² is the mass matrix; d/dt T along the motion is the power of all forces."""
    q, v, a = state(robot)
    close(kt.gradient(lambda robot, q: robot.potential_energy(q))(robot, q), robot.gravity_forces(q), 1e-11)
    kinetic = kt.compile(lambda robot, q, v: robot.kinetic_energy(q, v))
    H = kt.hessian(kinetic, "v")(robot, q, v)
    close(H, robot.mass_matrix(q), 1e-12)
    assert np.array_equal(H, H.T)
    by_q, by_v = kt.gradient(kinetic, ("q", "v"))(robot, q, v)
    power = robot.inverse_dynamics(q, v, a) @ v - robot.gravity_forces(q) @ v
    close(by_q @ v + by_v @ a, power, 1e-10)


@pytest.mark.sampled(4)
def test_hessian_on_the_tangent_space(robot):
    """That of f(q ⊕ dv), symmetric, also for quaternions."""
    q, v, _ = state(robot, 5)
    law = kt.compile(lambda robot, q, v: robot.potential_energy(q) + 0.1 * robot.kinetic_energy(q, v))
    H = kt.hessian(law)(robot, q, v)
    assert np.array_equal(H, H.T)

    def f(dv):
        moved = robot.integrate(q, dv)
        return robot.potential_energy(moved) + 0.1 * robot.kinetic_energy(moved, v)

    E, n = 1e-3 * np.eye(robot.nv), robot.nv
    expected = np.empty((n, n))
    for i, j in np.ndindex(n, n):
        expected[i, j] = f(E[i] + E[j]) - f(E[i] - E[j]) - f(E[j] - E[i]) + f(-E[i] - E[j])
    close(H, expected / 4e-6, 2e-5)


def test_arguments_of_any_shape():
    law = kt.compile(shapes={"A": (2, 3), "x": (3,), "c": ()})(
        lambda A, x, c: {"y": c * (A @ np.sin(x)), "s": kt.exp(c) * x[0]}
    )
    rng = np.random.default_rng(0)
    A, x, c = rng.normal(size=(2, 3)), rng.normal(size=3), 0.7
    for name, values in (("A", A), ("x", x), ("c", np.array(c))):
        got = kt.jacobian(law, name)(A, x, c)
        for key in ("y", "s"):

            def f(value, name=name, key=key):
                return law(**{**{"A": A, "x": x, "c": c}, name: value})[key]

            close(got[key], differences(f, values), 1e-8)
            assert got[key].shape == np.shape(law(A, x, c)[key]) + np.shape(values)
    batch = kt.jacobian(law, "A")(np.stack([A] * 4), x, c)
    assert batch["y"].shape == (4, 2, 2, 3)


def test_by_complex_step():
    """To the last digits: no cancellation in either."""
    law = kt.compile(shapes={"x": (4,)})(
        lambda x: np.array([kt.sin(x[0]) * kt.exp(x[1]), kt.sqrt(x[2]) / x[3], kt.log(x[2]) * kt.cos(x[0] * x[3])])
    )
    x = np.array([0.3, -0.2, 1.7, 0.9])
    h = 1e-30
    right = np.stack([np.imag(law.function(x + 1j * h * e)) / h for e in np.eye(4)], axis=-1)
    close(kt.jacobian(law, "x")(x), right, 2e-15)


@pytest.mark.sampled(2)
def test_derivatives_of_derivatives(robot):
    q, v, _ = state(robot)
    gravity = kt.gradient(lambda robot, q: robot.potential_energy(q))
    stiffness = kt.jacobian(gravity)
    close(stiffness(robot, q), along_velocities(robot, robot.gravity_forces, q), 1e-6)
    inside = kt.compile(lambda robot, q, v: kt.gradient(lambda robot, q: robot.potential_energy(q))(robot, q) - 2.0 * v)
    close(inside(robot, q, v), robot.gravity_forces(q) - 2.0 * v, 1e-11)


def test_of_a_value_that_depends_on_another():
    """A derivative inside a law, by an argument that is itself computed, and by a constant."""
    square = kt.compile(shapes={"x": (2,)})(lambda x: x * x * x)
    outer = kt.compile(shapes={"y": (2,)})(lambda y: kt.jacobian(square, "x")(kt.sin(y) + 0.0 * y[0]) @ np.ones(2))
    y = np.array([0.4, 1.1])
    close(outer(y), 3.0 * np.sin(y) ** 2, 1e-14)
    constant = kt.compile(shapes={"y": ()})(lambda y: kt.jacobian(square, "x")(np.array([y, 0.0]))[1, 1] + y)
    assert constant(2.0) == 2.0


def test_finite_at_guarded_points():
    norm = kt.gradient(kt.linalg.norm, "x", shapes={"x": (3,)})
    assert np.array_equal(norm(np.zeros(3)), np.zeros(3))
    close(norm(np.array([3.0, 0.0, 4.0])), [0.6, 0.0, 0.8], 1e-15)
    assert np.all(np.isfinite(kt.hessian(kt.linalg.norm, "x", shapes={"x": (3,)})(np.zeros(3))))
    robot = kt.load("quadruped", base="floating")
    difference = kt.jacobian(lambda robot, q0, q1: robot.difference(q0, q1), ("q0", "q1"))
    q, _, _ = state(robot)
    near = robot.integrate(q, 1e-9 * np.ones(robot.nv))
    for other in (q, near):
        by_q0, by_q1 = difference(robot, q, other)
        close(by_q1, np.eye(robot.nv), 1e-7)  # d(q1 ⊖ q0) is the step itself where they meet
        close(by_q0, -np.eye(robot.nv), 1e-7)
    distance = kt.gradient(lambda robot, q, goal: kt.linalg.norm(robot.difference(q, goal)), shapes={"goal": "q"})
    for one in (robot, kt.load("quadruped", base="floating", base_velocity="mixed")):
        many = one.random(np.random.default_rng(2), 50)
        assert np.array_equal(one.difference(many, many), np.zeros((50, one.nv)))
        assert np.array_equal(distance(one, many, many), np.zeros((50, one.nv)))
    bounded = kt.jacobian(lambda x: (kt.clip(x, -1.0, 1.0), kt.sign(x)), "x", shapes={"x": (4,)})
    of_clip, of_sign = bounded(np.array([-2.0, 0.0, 0.5, 3.0]))
    assert np.array_equal(of_clip, np.diag([0.0, 1.0, 1.0, 0.0])) and not of_sign.any()
    step = kt.jacobian(lambda robot, q, dv: robot.difference(q, robot.integrate(q, dv)), "dv")
    for dv in (np.zeros(robot.nv), np.full(robot.nv, 1e-12), np.full(robot.nv, 0.4)):
        close(step(robot, q, dv), np.eye(robot.nv), 1e-9)


@pytest.mark.sampled(4)
def test_what_is_refused(robot):
    q, v, _ = state(robot)
    law = kt.compile(lambda robot, q, v: robot.bias_forces(q, v))
    with pytest.raises(kt.UnknownNameError, match=r"argument of .* 'p' does not exist"):
        kt.jacobian(law, "p")
    with pytest.raises(kt.ArgumentError, match="expected one number"):
        kt.gradient(law)(robot, q, v)
    with pytest.raises(kt.ArgumentError, match="mode is 'backward'"):
        kt.jacobian(law, "q", "backward")
    with pytest.raises(kt.ArgumentError, match="already knows its shapes"):
        kt.jacobian(law, "q", shapes={"q": (3,)})
    with pytest.raises(kt.ArgumentTypeError, match="robot is a robot; a derivative is with respect to"):
        kt.jacobian(law, "robot")(robot, q, v)
    if robot.model.quaternions:
        for one in (robot, robot.eager):
            with pytest.raises(kt.ArgumentError, match="expected a unit quaternion"):
                kt.jacobian(law)(one, 1.1 * q, v)


def test_position_rates_are_those_of_integrate(robot):
    from kinetree.algorithms.configuration import position_rates  # noqa: PLC0415

    q, v, _ = state(robot)
    h = 1e-6
    close(position_rates(robot.model, q) @ v, (robot.integrate(q, h * v) - robot.integrate(q, -h * v)) / (2 * h), 1e-8)
    assert ops.is_scalar_array(position_rates(robot.model, q.astype(object)))
