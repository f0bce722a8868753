"""Sheet 5: equations of motion by hand."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.course.exercise import exercise
from kinetree.ops import Array

PLANAR = kt.load("planar2")
CART = kt.load("cartpole", passive=False)
G = 9.81


def _state(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    return rng.uniform(-2.0, 2.0, 2), rng.normal(size=2), rng.normal(size=2)


@exercise("5.1", "The inertia of a cube about its corner", mass=2.0, side=0.3)
def cube(mass: float, side: float) -> Array:
    """A cube has uniform density. Find its inertia matrix (3, 3) about a corner from which the edges run along x, y and
    z."""
    c = np.full(3, side / 2.0)
    return mass * side**2 / 6.0 * np.eye(3) + mass * (c @ c * np.eye(3) - np.outer(c, c))


@cube.mistake("that is the inertia about its centre: move it by Steiner's theorem")
def _about_center(mass: float, side: float) -> Array:
    return mass * side**2 / 6.0 * np.eye(3)


@cube.mistake("products of inertia are negative where the mass is on one side: - m c_x c_y")
def _other_products(mass: float, side: float) -> Array:
    right = cube.answer(mass, side)
    return 2.0 * np.diag(right.diagonal()) - right


@exercise("5.2", "The mass matrix of two links", draw=lambda rng: _state(rng)[:1])
def two_link_mass_matrix(q: Array) -> Array:
    """The bundled robot "planar2" has the links of exercise 3.1, and all its mass in spheres at their ends: 2 kg with
    0.002 kg m² on the first, 1 kg with 0.001 kg m² on the second. Write a function that returns its mass matrix
    (2, 2)."""
    return PLANAR.mass_matrix(q)


@two_link_mass_matrix.mistake("the second sphere moves with both joints: M_11 depends on q_2")
def _at_stretch(q: Array) -> Array:
    return PLANAR.mass_matrix(np.zeros(2))


def _is_coriolis(C: Array, q: Array, v: Array) -> bool:
    force = PLANAR.bias_forces(q, v) - PLANAR.gravity_forces(q)
    skew = PLANAR.mass_matrix_rate(q, v) - 2.0 * C
    return bool(np.abs(C @ v - force).max() < 1e-6 and np.abs(skew + skew.T).max() < 1e-6)


@exercise("5.3", "A Coriolis matrix", draw=lambda rng: _state(rng)[:2], holds=_is_coriolis)
def coriolis(q: Array, v: Array) -> Array:
    """Write a function that returns a matrix C(q, v), (2, 2), for "planar2", with C v the Coriolis and centrifugal
    forces and Ṁ - 2C skew-symmetric."""
    return PLANAR.coriolis_matrix(q, v)


@coriolis.mistake("C v is right, but Ṁ - 2C is not skew-symmetric: take Christoffel symbols")
def _not_skew(q: Array, v: Array) -> Array:
    C, s = PLANAR.coriolis_matrix(q, v), np.array([[0.0, 0.0], [1.0, 0.0]])
    return C + s @ np.outer(v, [v[1], -v[0]])


@exercise("5.4", "Gravity on two links", draw=lambda rng: _state(rng)[:1])
def gravity(q: Array) -> Array:
    """Write a function that returns the gravity forces G(q), (2,), of "planar2": what its motors hold at rest."""
    return PLANAR.gravity_forces(q)


@gravity.mistake("the second sphere also loads the first joint")
def _own_link_only(q: Array) -> Array:
    return np.array([2.0 * G * np.cos(q[0]), 0.5 * G * np.cos(q.sum())])


@exercise("5.5", "Newton and Euler for two links", draw=_state)
def inverse_dynamics(q: Array, v: Array, a: Array) -> Array:
    """Write a function that returns the torques (2,) of "planar2" for a motion, by the recursion of Newton and
    Euler."""
    return PLANAR.inverse_dynamics(q, v, a)


@inverse_dynamics.mistake("gravity is missing: let the base accelerate by -g")
def _without_gravity(q: Array, v: Array, a: Array) -> Array:
    return PLANAR.inverse_dynamics(q, v, a) - PLANAR.gravity_forces(q)


@inverse_dynamics.mistake("velocities are missing: centripetal and Coriolis accelerations")
def _without_velocity(q: Array, v: Array, a: Array) -> Array:
    return PLANAR.inverse_dynamics(q, np.zeros(2), a)


@exercise("5.6", "A cart with a pole by Lagrange", draw=_state)
def cart_pole(q: Array, v: Array, a: Array) -> Array:
    """The bundled robot "cartpole" is a cart of 1 kg that slides along x, with a pole of 0.2 kg whose centre is 0.5 m
    from the pivot, with 0.0166717 kg m² about it; at q_2 = 0 the pole stands up, and q_2 > 0 leans it along x. Write a
    function that returns the generalized forces (2,) for a motion, from d/dt ∂L/∂q̇ - ∂L/∂q."""
    return CART.inverse_dynamics(q, v, a)


@cart_pole.mistake("d/dt of ∂L/∂q̇ also has the rate of the mass matrix: Ṁ q̇ is missing")
def _without_rate(q: Array, v: Array, a: Array) -> Array:
    return CART.mass_matrix(q) @ a + CART.gravity_forces(q)


@exercise("5.7", "Kinetic energy", robot=kt.load("arm6"), q=np.full(6, 0.4), v=np.linspace(-1.0, 1.0, 6))
def kinetic_energy(robot: kt.Robot, q: Array, v: Array) -> Array:
    """Find the kinetic energy ½ q̇ᵀ M q̇ of the arm, a number."""
    return np.asarray(robot.kinetic_energy(q, v))


@exercise("5.8", "Columns of the mass matrix by Newton and Euler", robot=kt.load("arm6"), q=np.full(6, 0.4))
def column(robot: kt.Robot, q: Array) -> Array:
    """Find the third column of M(q), (6,), by inverse dynamics alone."""
    return robot.mass_matrix(q)[:, 2]


@column.mistake("gravity is still in it: subtract inverse dynamics at rest")
def _with_gravity(robot: kt.Robot, q: Array) -> Array:
    return robot.mass_matrix(q)[:, 2] + robot.gravity_forces(q)


@exercise(
    "5.9",
    "Forward dynamics",
    robot=kt.load("arm6"),
    q=np.full(6, 0.4),
    v=np.linspace(-1.0, 1.0, 6),
    tau=np.full(6, 2.0),
)
def forward_dynamics(robot: kt.Robot, q: Array, v: Array, tau: Array) -> Array:
    """Find the accelerations (6,) of the arm under the torques tau."""
    return robot.forward_dynamics(q, v, tau)


@forward_dynamics.mistake("bias forces push against the torques: M a = τ - (C v + G)")
def _added(robot: kt.Robot, q: Array, v: Array, tau: Array) -> Array:
    return np.linalg.solve(robot.mass_matrix(q), tau + robot.bias_forces(q, v))


@exercise("5.10", "What a pendulum can tell", draw=lambda rng: tuple(rng.normal(size=2)))
def regressor(q: float, a: float) -> Array:
    """A pendulum has mass m, its centre at c from the axis and inertia I about the axis; at q = 0 it hangs down. With φ
    = (m c, I), write a function that returns Y, (1, 2), with τ = Y φ."""
    return np.array([[G * np.sin(q), a]])


@regressor.mistake("q = 0 hangs down: gravity pulls with sin q")
def _from_horizontal(q: float, a: float) -> Array:
    return np.array([[G * np.cos(q), a]])
