"""The twelve numbers of flight dynamics, beside the equations of motion as books print them."""

import numpy as np
import pytest

import kinetree as kt
from flying import load
from kinetree import flight
from kinetree.flight.aerospace import TO_NED, body_rates, euler_rates

JX, JY, JZ, JXZ, MASS = 0.8244, 1.135, 1.759, 0.1204, 11.0


def state(rng):
    x = rng.normal(size=12)
    x[3:6] *= [0.8, 0.4, 1.0]
    x[6:9] = np.array([25.0, 2.0, 3.0]) + rng.normal(size=3)
    return x


def test_there_and_back():
    robot, _ = load("fixed_wing")
    rng = np.random.default_rng(0)
    for frame in ("aero", "propeller"):
        x = state(rng)
        q, v = flight.robot_state(robot, frame, x)
        assert np.allclose(flight.flight_state(robot.eager, frame, q, v), x)
    phi, theta, psi = flight.flight_attitude(robot.eager, "propeller", q)
    assert np.allclose([phi, theta, psi], x[3:6])


def test_rates_of_angles_are_inverse():
    for rates in np.random.default_rng(1).normal(size=(5, 3)):
        assert np.allclose(body_rates(0.4, -0.7, euler_rates(0.4, -0.7, rates)), rates)


def test_heading_is_positive_to_the_right():
    R = flight.euler_matrix(0.0, 0.0, 0.3)
    world = TO_NED @ R @ [1.0, 0, 0]
    assert world[1] < 0.0  # the world's y is to the left
    up = TO_NED @ flight.euler_matrix(0.0, 0.2, 0.0) @ [1.0, 0, 0]
    assert up[2] > 0.0
    assert np.allclose(flight.euler_angles(flight.euler_matrix(0.3, -0.5, 2.0)), (0.3, -0.5, 2.0))


def test_the_equations_of_motion_of_the_book():
    """Beard and McLain, eqs (3.14)-(3.17) with the forces of chapter 4, in NumPy, beside forward dynamics."""
    robot, craft = load("fixed_wing")
    rng = np.random.default_rng(2)
    law = kt.compile(lambda robot, x, u: flight.state_rates(robot, craft, "aero", x, u), shapes={"x": (12,), "u": (4,)})
    for _ in range(5):
        x, u = state(rng), np.append(rng.normal(size=3) * 0.1, 0.6)
        assert np.allclose(law(robot, x, u), book(x, u, craft), rtol=1e-9, atol=1e-9)


def book(x, delta, craft):
    phi, theta, psi, u, v, w, p, q, r = x[3:]
    force, moment = aerodynamics(x, delta, craft)
    G = JX * JZ - JXZ**2
    G1, G2 = JXZ * (JX - JY + JZ) / G, (JZ * (JZ - JY) + JXZ**2) / G
    G3, G4, G5, G6 = JZ / G, JXZ / G, (JZ - JX) / JY, JXZ / JY
    G7, G8 = ((JX - JY) * JX + JXZ**2) / G, JX / G
    sf, cf, st, ct, sp, cp = np.sin(phi), np.cos(phi), np.sin(theta), np.cos(theta), np.sin(psi), np.cos(psi)
    place = [
        ct * cp * u + (sf * st * cp - cf * sp) * v + (cf * st * cp + sf * sp) * w,
        ct * sp * u + (sf * st * sp + cf * cp) * v + (cf * st * sp - sf * cp) * w,
        st * u - sf * ct * v - cf * ct * w,
    ]
    velocity = np.array([r * v - q * w, p * w - r * u, q * u - p * v]) + force / MASS
    angles = [p + np.tan(theta) * (sf * q + cf * r), cf * q - sf * r, (sf * q + cf * r) / ct]
    rates = [
        G1 * p * q - G2 * q * r + G3 * moment[0] + G4 * moment[2],
        G5 * p * r - G6 * (p**2 - r**2) + moment[1] / JY,
        G7 * p * q - G1 * q * r + G4 * moment[0] + G8 * moment[2],
    ]
    return np.concatenate([place, angles, velocity, rates])


def aerodynamics(x, delta, craft):
    """Forces with gravity, and moments, in body axes."""
    phi, theta, (u, v, w, p, q, r) = x[3], x[4], x[6:]
    frame, propeller = craft.parts
    d, rho = frame.coefficients, craft.air.density
    V = np.linalg.norm([u, v, w])
    alpha, beta = np.arctan2(w, u), np.arcsin(v / V)
    de, da, dr, dt = delta
    b, c, S = frame.span, frame.chord, frame.area
    sigma = (1 + np.exp(-50 * (alpha - 0.47)) + np.exp(50 * (alpha + 0.47))) / (
        (1 + np.exp(-50 * (alpha - 0.47))) * (1 + np.exp(50 * (alpha + 0.47)))
    )
    CL = (1 - sigma) * (d.lift[0] + d.lift[1] * alpha) + sigma * 2 * np.sign(alpha) * np.sin(alpha) ** 2 * np.cos(alpha)
    CL += d.lift[2] * c * q / (2 * V) + d.lift[3] * de
    CD = d.drag[0] + (d.lift[0] + d.lift[1] * alpha) ** 2 / (np.pi * 0.9 * b**2 / S) + d.drag[2] * de
    pressure = 0.5 * rho * V**2 * S
    lateral = np.array([1.0, beta, b * p / (2 * V), b * r / (2 * V), da, dr])
    CY, Cl, Cn = (np.dot(row, lateral) for row in (d.side, d.roll, d.yaw))
    Cm = d.pitch[0] + d.pitch[1] * alpha + d.pitch[2] * c * q / (2 * V) + d.pitch[3] * de
    f = pressure * np.array([-CD * np.cos(alpha) + CL * np.sin(alpha), CY, -CD * np.sin(alpha) - CL * np.cos(alpha)])
    thrust, torque = turned(propeller, dt, u, rho)
    f = (
        f
        + [thrust, 0, 0]
        + MASS * 9.81 * np.array([-np.sin(theta), np.cos(theta) * np.sin(phi), np.cos(theta) * np.cos(phi)])
    )
    return f, pressure * np.array([b * Cl, c * Cm, b * Cn]) + [-torque, 0, 0]


def turned(propeller, throttle, V, rho):
    """Thrust and torque of the propeller by the supplement of the book."""
    D, K, R = propeller.diameter, propeller.motor.torque_constant, propeller.motor.resistance
    C, T = propeller.torque, propeller.thrust
    a = C[0] * rho * D**5 / (2 * np.pi) ** 2
    b = C[1] * rho * D**4 / (2 * np.pi) * V + K**2 / R
    c = C[2] * rho * D**3 * V**2 - K / R * 44.4 * throttle + K * 1.5
    W = (-b + np.sqrt(b**2 - 4 * a * c)) / (2 * a)
    J, n = 2 * np.pi * V / (W * D), W / (2 * np.pi)
    return rho * n**2 * D**4 * (T[0] + T[1] * J + T[2] * J**2), rho * n**2 * D**5 * (C[0] + C[1] * J + C[2] * J**2)


def test_robots_with_joints_are_refused():
    with pytest.raises(kt.ArgumentError, match="has joints"):
        flight.robot_state(load("quadrotor_arm")[0], "tool0", np.zeros(12))
