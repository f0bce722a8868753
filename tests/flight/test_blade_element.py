import numpy as np
import pytest

import kinetree as kt
from flying import one_body
from kinetree import flight
from kinetree.flight.part import Airflow

ROTOR = flight.BladeRotor("part", radius=0.2, chord=0.02, pitch=0.25, twist=-0.1, drag=0.012)


def test_hover_in_closed_form():
    """λ = (σa/16) (√(1 + 64 θ/3σa) - 1) for blades without twist (Leishman, eq. 3.61 with θ₀ constant)."""
    plain = flight.BladeRotor("part", 0.2, 0.02, 0.2, drag=0.0)
    s, a = plain.solidity, plain.lift_slope
    inflow = s * a / 16.0 * (np.sqrt(1.0 + 64.0 * 0.2 / (3.0 * s * a)) - 1.0)
    found = plain.coefficients(0.0, 0.0)
    assert found.inflow == pytest.approx(inflow, rel=1e-5)
    assert found.thrust == pytest.approx(2.0 * inflow**2, rel=1e-5)
    assert found.torque == pytest.approx(found.thrust**1.5 / np.sqrt(2.0), rel=1e-5)  # ideal power


def test_both_theories_agree_on_the_thrust():
    for mu in (0.0, 0.05, 0.2, 0.4):
        for climb in (-0.01, 0.0, 0.05):
            c = ROTOR.coefficients(mu, climb)
            assert c.thrust == pytest.approx(2.0 * (c.inflow - climb) * np.hypot(mu, c.inflow), rel=1e-6)


def test_thrust_by_integration_along_the_blade():
    """dC_T = σa/2 <(θ U_T² - U_P U_T)> dr over the blade and over a turn, by quadrature."""
    mu = 0.15
    c = ROTOR.coefficients(mu, 0.0)
    r = (np.arange(2000) + 0.5) / 2000
    psi = (np.arange(720) + 0.5) / 720 * 2 * np.pi
    U = r[:, None] + mu * np.sin(psi)
    dT = (ROTOR.pitch + ROTOR.twist * r[:, None]) * U**2 - c.inflow * U
    assert c.thrust == pytest.approx(0.5 * ROTOR.solidity * ROTOR.lift_slope * dT.mean(), rel=1e-4)
    drag = 0.5 * ROTOR.solidity * ROTOR.drag
    assert c.torque - c.inflow * c.thrust == pytest.approx(drag * (r[:, None] * U**2).mean(), rel=1e-3)
    assert c.hub_force == pytest.approx(drag * (np.sin(psi) * U**2).mean(), rel=1e-3)


def test_it_is_a_part_and_a_rotor_that_stands_does_nothing():
    robot, craft = one_body(), flight.Aircraft(ROTOR)
    rest = craft.efforts(robot, robot.neutral(), np.zeros(6), 0.0, [0.0])
    assert np.array_equal(rest, np.zeros(6))
    law = kt.compile(lambda robot, q, v, u: craft.efforts(robot, q, v, 0.0, u), shapes={"u": (1,)})
    q, v = robot.neutral(), np.array([5.0, 0, 0, 0, 0, 0])
    pushed = law(robot, q, v, [600.0])
    assert np.allclose(pushed, craft.efforts(robot, q, v, 0.0, [600.0]), rtol=1e-9)
    assert pushed[0] < 0.0 < pushed[2] and pushed[5] < 0.0


def test_near_the_ground_it_has_more_thrust_at_the_same_torque():
    near = flight.BladeRotor("part", 0.2, 0.02, 0.25, -0.1, drag=0.012, ground=True)
    for height in (0.05, 0.2, 5.0):
        flow = Airflow(np.zeros(3), np.zeros(3), 1.225, height)
        ours, free = near.force(flow, np.array([600.0])), ROTOR.force(flow, np.array([600.0]))
        assert ours.force[2] == pytest.approx(flight.ground_effect(height, 0.2) * free.force[2])
        assert np.array_equal(ours.moment, free.moment)


def test_flapping_tilts_the_thrust_backwards():
    stiff, free = ROTOR, flight.BladeRotor("part", 0.2, 0.02, 0.25, -0.1, drag=0.012, flapping=1.0)
    flow = Airflow(np.array([10.0, 0.0, 0.0]), np.zeros(3), 1.225, 10.0)
    tilt = free.coefficients(10.0 / 120.0, 0.0).tilt
    back = free.force(flow, np.array([600.0])).force - stiff.force(flow, np.array([600.0])).force
    assert 0.0 < tilt < 0.1
    assert back[0] == pytest.approx(-tilt * stiff.force(flow, np.array([600.0])).force[2], rel=1e-6)
