"""Sheet 9: rotors and multicopters."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.course.exercise import exercise
from kinetree.flight import Allocation, Rotor, aircraft, hover_power
from kinetree.flight.flatness import attitude
from kinetree.ops import Array

QUAD = kt.load("quadrotor", base="floating")
ROTORS = [part for part in aircraft("quadrotor").parts if isinstance(part, Rotor)]
K_T, K_Q = ROTORS[0].thrust, ROTORS[0].torque
PLACES = np.array([[0.12, 0.12], [-0.12, 0.12], [-0.12, -0.12], [0.12, -0.12]])
SENSES = np.array([-1.0, 1.0, -1.0, 1.0])


@exercise("9.1", "Hovering", mass=0.5, k_T=K_T)
def hovering(mass: float, k_T: float) -> Array:
    """A quadrotor hovers on four equal rotors with thrusts k_T ω². Find the speeds ω (4,) [rad/s], with g = 9.81
    m/s²."""
    return np.full(4, np.sqrt(mass * 9.81 / (4.0 * k_T)))


@hovering.mistake("each rotor carries a quarter of the weight")
def _alone(mass: float, k_T: float) -> Array:
    return np.full(4, np.sqrt(mass * 9.81 / k_T))


@exercise("9.2", "The allocation matrix", places=PLACES, senses=SENSES, ratio=K_Q / K_T)
def allocation(places: Array, senses: Array, ratio: float) -> Array:
    """Four rotors at places (x, y) push along z with thrusts f; the drag torque of each is ratio · f, and senses are 1
    for rotors that turn counter-clockwise about z. Find B, (4, 4), with (thrust, roll, pitch, yaw) = B f, moments about
    the origin."""
    return np.array([np.ones(4), places[:, 1], -places[:, 0], -senses * ratio])


@allocation.mistake("the air resists the rotor: the torque on the body is against the sense of rotation")
def _with_the_rotor(places: Array, senses: Array, ratio: float) -> Array:
    return np.array([np.ones(4), places[:, 1], -places[:, 0], senses * ratio])


@allocation.mistake("r × f for f along z has the moments y f about x and -x f about y")
def _pitch(places: Array, senses: Array, ratio: float) -> Array:
    return np.array([np.ones(4), places[:, 1], places[:, 0], -senses * ratio])


@exercise("9.3", "The power of hovering", mass=0.5, radius=0.1, density=1.225)
def power(mass: float, radius: float, density: float) -> Array:
    """Find the least power [W] with which four rotors of this radius carry the mass, by momentum theory."""
    return np.array(4.0 * hover_power(mass * 9.81 / 4.0, density, np.pi * radius**2))


@power.mistake("that is the power of one disc with the whole weight: there are four discs")
def _one_disc(mass: float, radius: float, density: float) -> Array:
    return np.array(hover_power(mass * 9.81, density, np.pi * radius**2))


@exercise(
    "9.4", "The attitude of an acceleration", draw=lambda rng: (rng.normal(size=3) * 3.0, float(rng.uniform(-1.0, 1.0)))
)
def flat_attitude(acceleration: Array, yaw: float) -> Array:
    """Find R, (3, 3), from body to world, of a multicopter whose centre accelerates by `acceleration`: its z is along
    the thrust, and its y is z × (cos yaw, sin yaw, 0), scaled. Gravity is (0, 0, -9.81)."""
    zero = np.zeros(3)
    return np.asarray(attitude(acceleration - QUAD.gravity, zero, zero, yaw, 0.0, 0.0).rotation)


@flat_attitude.mistake("the thrust also carries the weight: it is along a - g")
def _weightless(acceleration: Array, yaw: float) -> Array:
    zero = np.zeros(3)
    return np.asarray(attitude(acceleration, zero, zero, yaw, 0.0, 0.0).rotation)


@exercise(
    "9.5", "The error of an attitude", draw=lambda rng: tuple(kt.rotations.exp(rng.normal(size=3)) for _ in range(2))
)
def attitude_error(R: Array, R_d: Array) -> Array:
    """Find e_R, (3,), of geometric control: [e_R]× = ½ (R_dᵀ R - Rᵀ R_d)."""
    return kt.unskew(R_d.T @ R)


@attitude_error.mistake("that is in world axes: R_d comes first, transposed")
def _in_world(R: Array, R_d: Array) -> Array:
    return kt.unskew(R @ R_d.T)


@exercise("9.6", "A rotor fails", B=allocation.answer(PLACES, SENSES, K_Q / K_T), weight=0.5 * 9.81)
def failure(B: Array, weight: float) -> Array:
    """The third rotor stops. Give up yaw, and find the thrusts f (4,) that carry the weight without roll and pitch."""
    return Allocation(QUAD, ROTORS).without(2, axes=("z", "roll", "pitch")).thrusts([weight, 0.0, 0.0])


@failure.mistake("the third rotor stands: its thrust is zero")
def _all_four(B: Array, weight: float) -> Array:
    return np.full(4, weight / 4.0)
