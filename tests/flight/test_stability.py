import numpy as np
import pytest

from flying import level, load
from kinetree import flight


def test_the_neutral_point_is_where_the_coefficients_say():
    """-(C_mα/C_Lα) c behind the centre of mass, but for drag in the slope of the lift; C_nβ and C_lβ likewise."""
    robot, craft = load("fixed_wing")
    found = flight.static_stability(robot, craft, level())
    pressure = 0.5 * 1.2682 * 25.0**2 * 0.55
    assert found.pitch_stiffness == pytest.approx(-2.74 * pressure * 0.18994, rel=1e-6)
    assert found.yaw_stiffness == pytest.approx(0.073 * pressure * 2.8956, rel=1e-6)
    assert found.roll_stiffness == pytest.approx(-0.13 * pressure * 2.8956, rel=1e-6)
    assert found.lift_slope == pytest.approx((5.61 + 0.05) * pressure, rel=0.01)
    assert found.margin(0.18994) == pytest.approx(2.74 / 5.66, rel=0.01)
    assert found.is_stable


def test_a_wing_behind_the_centre_of_mass_is_stable_and_before_it_not():
    """Of two aircraft that differ in where the force acts: the moment about the centre of mass moves with it."""
    robot, craft = load("fixed_wing")
    part, propeller = craft.parts
    d = part.coefficients
    for shift in (0.5, -0.1):
        pitch = (d.pitch[0], d.pitch[1] * shift, *d.pitch[2:])
        moved = flight.StabilityDerivatives(d.lift, d.drag, pitch, d.side, d.roll, d.yaw, d.aspect_ratio)
        other = flight.Aircraft(
            (flight.Airframe("aero", part.area, part.span, part.chord, moved), propeller), craft.air
        )
        found = flight.static_stability(robot, other, flight.trim(robot, other, 25.0))
        assert found.is_stable == (shift > 0) and np.sign(found.neutral_point) == np.sign(shift)
