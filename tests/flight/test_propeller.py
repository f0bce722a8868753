import numpy as np
import pytest

import kinetree as kt
from flying import load
from kinetree import flight
from kinetree.flight.part import Airflow


def felt(speed, density=1.2682):
    return Airflow(np.array([speed, 0.0, 0.0]), np.zeros(3), density, 100.0)


def test_coefficients_at_an_advance_ratio():
    """T = ρ n² D⁴ C_T(J), Q = ρ n² D⁵ C_Q(J), written out."""
    propeller = flight.Propeller("part", 0.5, (0.09, -0.06, -0.1), (0.005, 0.005, -0.016), direction=-1)
    w, V = 500.0, 20.0
    n = w / (2 * np.pi)
    J = V / (n * 0.5)
    force = propeller.force(felt(V), np.array([w]))
    assert force.force[0] == pytest.approx(1.2682 * n**2 * 0.5**4 * (0.09 - 0.06 * J - 0.1 * J**2))
    assert force.moment[0] == pytest.approx(1.2682 * n**2 * 0.5**5 * (0.005 + 0.005 * J - 0.016 * J**2))
    standing = propeller.force(felt(0.0), np.array([0.0]))
    assert np.array_equal(standing.vector(), np.zeros(6))


def test_in_a_flow_from_behind_the_blades_still_drag():
    """A propeller that stands is a brake both ways; with J < 0 the thrust goes on growing."""
    propeller = flight.Propeller("part", 0.5, (0.09, -0.06, -0.1), (0.005, 0.005, -0.016))
    for V in (20.0, -20.0):
        assert propeller.force(felt(V), np.array([0.0])).force[0] * V < 0.0
    thrusts = [propeller.force(felt(V), np.array([500.0])).force[0] for V in (-30.0, -10.0, 0.0, 10.0, 30.0)]
    assert (np.diff(thrusts) < 0.0).all()


def test_with_a_motor_its_torque_balances():
    _, craft = load("fixed_wing")
    propeller = craft.parts[1]
    for throttle in (0.5, 0.8, 1.0):
        w = propeller.speed(felt(25.0), np.array([throttle]))
        Q = -propeller.force(felt(25.0), np.array([throttle])).moment[0]
        assert propeller.motor.torque(w, 44.4 * throttle) == pytest.approx(Q, rel=1e-9)
    full = propeller.force(felt(25.0), np.array([1.0])).force[0]
    assert propeller.force(felt(25.0), np.array([5.0])).force[0] == full  # throttle ends at 1


def test_a_motor_of_another_kind_is_refused():
    with pytest.raises(kt.ArgumentTypeError, match="motor is 3"):
        flight.Propeller("part", 0.5, (0.1, 0, 0), (0.01, 0, 0), motor=3)
