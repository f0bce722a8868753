"""Sheet 10: aerodynamics, performance and fixed-wing aircraft."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.course.exercise import exercise
from kinetree.flight import Performance, guidance_acceleration, standard_atmosphere
from kinetree.flight.aerospace import body_rates
from kinetree.ops import Array


@exercise("10.1", "The density of the air", draw=lambda rng: (float(rng.uniform(0.0, 11000.0)),))
def density(height: float) -> Array:
    """Find ρ [kg/m³] of the standard atmosphere at a height [m] below 11 km: T = 288.15 K - 6.5 K/km · h, p = 101325 Pa
    (T/288.15 K)^(g/RL) with g = 9.80665 m/s², R = 287.05287 J/(kg K)."""
    return np.array(standard_atmosphere(height).density)


@density.mistake("that is 1.225 times the ratio of pressures: colder air is denser, ρ = p/(R T)")
def _isothermal(height: float) -> Array:
    return np.array(1.225 * standard_atmosphere(height).pressure / 101325.0)


WING: dict[str, Any] = {"weight": 107.91, "area": 0.55, "density": 1.2682, "speed": 25.0, "lift": 0.23, "slope": 5.61}


@exercise("10.2", "The angle of attack of level flight", **WING)
def angle_of_attack(weight: float, area: float, density: float, speed: float, lift: float, slope: float) -> Array:
    """Find α [rad] at which the wing carries the weight, with C_L = lift + slope · α and the thrust along the path."""
    return np.array((weight / (0.5 * density * speed**2 * area) - lift) / slope)


@angle_of_attack.mistake("the dynamic pressure is ½ρV²")
def _no_half(weight: float, area: float, density: float, speed: float, lift: float, slope: float) -> Array:
    return np.array((weight / (density * speed**2 * area) - lift) / slope)


@exercise("10.3", "Glide", drag=0.043, induced=0.0232, area=0.55, weight=107.91, density=1.2682)
def glide(drag: float, induced: float, area: float, weight: float, density: float) -> Array:
    """C_D = drag + induced · C_L². Find the speed [m/s] and the ratio L/D of the flattest glide, (2,)."""
    best = Performance(drag, induced, area, weight).best_glide(density)
    return np.array([best.speed, best.glide_ratio])


@glide.mistake("that is the glide with the least sink: flattest is where drag, not power, is least")
def _sink(drag: float, induced: float, area: float, weight: float, density: float) -> Array:
    best = Performance(drag, induced, area, weight).minimum_sink(density)
    return np.array([best.speed, best.glide_ratio])


@exercise(
    "10.4", "From lift and drag to body axes", draw=lambda rng: tuple(rng.uniform((-0.3, 0.2, 0.02), (0.3, 1.2, 0.1)))
)
def body_axes(alpha: float, lift: float, drag: float) -> Array:
    """Find C_X and C_Z, (2,), along x forward and z down of the body, at an angle of attack, from C_L and C_D."""
    c, s = np.cos(alpha), np.sin(alpha)
    return np.array([lift * s - drag * c, -lift * c - drag * s])


@body_axes.mistake("lift is across the flow, not along -z of the body: turn by α")
def _not_turned(alpha: float, lift: float, drag: float) -> Array:
    return np.array([-drag, -lift])


@exercise("10.5", "A coordinated turn", speed=25.0, radius=120.0)
def turn(speed: float, radius: float) -> Array:
    """Find the bank φ [rad] and the load factor n, (2,), of a level turn, with g = 9.81 m/s²."""
    bank = np.arctan2(speed**2, 9.81 * radius)
    return np.array([bank, 1.0 / np.cos(bank)])


@turn.mistake("the lift is inclined: its vertical part carries the weight, so that tan φ = V²/(g R)")
def _sine(speed: float, radius: float) -> Array:
    bank = np.arcsin(speed**2 / (9.81 * radius))
    return np.array([bank, 1.0 / np.cos(bank)])


@exercise("10.6", "Rates of a steady turn", draw=lambda rng: tuple(rng.uniform((-1.0, -0.5, -0.5), (1.0, 0.5, 0.5))))
def rates(phi: float, theta: float, turn_rate: float) -> Array:
    """Find p, q, r (3,) [rad/s] in body axes, x forward, y right, z down, of an aircraft whose bank and pitch stay
    while its heading turns by turn_rate."""
    return np.asarray(body_rates(phi, theta, np.array([0.0, 0.0, turn_rate])))


@rates.mistake("the turn is about the vertical, not about z of the body")
def _about_z(phi: float, theta: float, turn_rate: float) -> Array:
    return np.array([0.0, 0.0, turn_rate])


@exercise("10.7", "The phugoid", speed=25.0)
def phugoid(speed: float) -> Array:
    """Find ω [rad/s] of an aircraft without drag that trades height for speed at a constant angle of attack, with g =
    9.81 m/s²: lift grows with V²."""
    return np.array(np.sqrt(2.0) * 9.81 / speed)


@phugoid.mistake("lift changes by 2 δV/V: there is a √2")
def _without_root(speed: float) -> Array:
    return np.array(9.81 / speed)


@exercise("10.8", "A roll loop", a_1=22.6, a_2=131.0, frequency=12.0, damping=1.1)
def roll_loop(a_1: float, a_2: float, frequency: float, damping: float) -> Array:
    """p' = -a_1 p + a_2 δ, and φ' = p. Find k and k_p, (2,), of δ = k (φ* - φ) - k_p p for this frequency ω [rad/s] and
    damping ratio ζ."""
    return np.array([frequency**2 / a_2, (2.0 * damping * frequency - a_1) / a_2])


@roll_loop.mistake("the aircraft damps itself: a_1 counts as well")
def _undamped(a_1: float, a_2: float, frequency: float, damping: float) -> Array:
    return np.array([frequency**2 / a_2, 2.0 * damping * frequency / a_2])


@exercise("10.9", "Guidance to a point", draw=lambda rng: tuple(rng.normal(size=2) * s for s in (1.0, 20.0, 50.0)))
def guidance(position: Array, velocity: Array, target: Array) -> Array:
    """Find the acceleration to the left [m/s²] that leads along a circle, tangent to the velocity, through the target:
    2 V²/L sin η."""
    return np.array(guidance_acceleration(position, velocity, target))
