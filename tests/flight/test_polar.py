import numpy as np
import pytest

import kinetree as kt
from kinetree import flight
from kinetree.flight.polar import flat_plate, stalled


def test_a_line_before_stall_and_a_plate_behind():
    polar = flight.LinearPolar(5.0, lift=0.2, drag=0.02, induced=0.04, moment=-0.05, stall=0.26)
    small = polar.at(0.05)
    assert small.lift == pytest.approx(0.45, rel=1e-3) and small.drag == pytest.approx(0.02 + 0.04 * 0.45**2, rel=1e-2)
    deep = polar.at(1.0)
    assert deep.lift == pytest.approx(2 * np.sin(1.0) ** 2 * np.cos(1.0)) == flat_plate(1.0)
    assert deep.drag == pytest.approx(0.02 + 2 * np.sin(1.0) ** 2)
    assert polar.at(np.pi / 2).lift == pytest.approx(0.0, abs=1e-12)
    assert polar.at(-1.0).lift == -flat_plate(1.0)


def test_the_blend_is_half_at_the_angle_of_stall():
    assert stalled(0.26, 0.26, 50.0) == pytest.approx(0.5, abs=1e-9)
    assert stalled(0.0, 0.26, 50.0) < 1e-5 and stalled(3.1, 0.26, 50.0) == pytest.approx(1.0)
    assert np.isfinite(stalled(np.array([-np.pi, np.pi]), 0.47, 50.0)).all()
    law = kt.compile(lambda alpha: flight.LinearPolar(5.0, sharpness=1e4).at(alpha), shapes={"alpha": ()})
    for alpha in (-np.pi, 0.0, 0.2, 0.3, np.pi):  # as sharp as a step, backwards too: no infinity by another
        section, slope = law(alpha), kt.jacobian(law, wrt="alpha")(alpha)
        assert section[0] == pytest.approx(5.0 * alpha if abs(alpha) < 0.26 else flat_plate(alpha), abs=1e-12)
        assert np.isfinite(slope[0])


def test_a_measured_polar():
    angles = np.radians([-10, 0, 10, 15, 20])
    polar = flight.TablePolar(angles, [-0.8, 0.2, 1.2, 1.4, 1.0], [0.05, 0.01, 0.03, 0.08, 0.2])
    assert polar.at(np.radians(5.0)) == pytest.approx((0.7, 0.02, 0.0))
    with pytest.raises(kt.ArgumentError, match="x is"):
        flight.TablePolar([0.0, 0.0], [1.0, 2.0], [1.0, 2.0])
