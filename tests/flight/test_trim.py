import numpy as np
import pytest

import kinetree as kt
from flying import AEROSONDE_TRIM, aerosonde, level, load
from kinetree import flight
from kinetree.flight.trim import required


def test_the_published_trim_of_aerosonde():
    """Theirs takes the airspeed for the speed along the propeller's axis, which is 0.1 % less."""
    robot, craft = aerosonde()
    found = flight.trim(robot, craft, 25.0)
    assert found.success and found.residual < 1e-10
    elevator, aileron, rudder, throttle = found.u
    assert elevator == pytest.approx(AEROSONDE_TRIM["elevator"], abs=1e-5)
    assert aileron == pytest.approx(AEROSONDE_TRIM["aileron"], abs=2e-5)
    assert rudder == pytest.approx(AEROSONDE_TRIM["rudder"], abs=2e-5)
    assert throttle == pytest.approx(AEROSONDE_TRIM["throttle"], rel=2e-3)


@pytest.mark.parametrize("climb, radius", [(0.0, None), (0.1, None), (-0.15, 200.0), (0.1, -150.0)])
def test_a_trim_stays_where_it_is(climb, radius):
    """Flown with its inputs held, airspeed, bank and climb stay, and the turn has its radius."""
    robot, craft = load("fixed_wing")
    found = flight.trim(robot, craft, 25.0, climb=climb, radius=radius, height=100.0)
    assert found.success, found.reason
    law = kt.compile(lambda robot, q, v, u: craft.efforts(robot, q, v, 0.0, u), shapes={"u": (4,)})
    path = robot.rollout(found.q, found.v, law, 5e-3, 400, "rk4", parameters={"u": found.u})
    assert np.allclose(path.v, found.v, atol=1e-6)
    start, end = path.q[0, :3], path.q[-1, :3]
    assert start[2] == pytest.approx(100.0)
    assert (end[2] - start[2]) / 2.0 == pytest.approx(25.0 * np.sin(climb), abs=1e-6)
    if radius is None:
        assert np.hypot(*(end - start)[:2]) / 2.0 == pytest.approx(25.0 * np.cos(climb))
    else:
        turned = 2.0 * 25.0 * np.cos(climb) / abs(radius)
        assert np.hypot(*(end - start)[:2]) == pytest.approx(2.0 * abs(radius) * np.sin(turned / 2.0), rel=1e-6)
        side = np.cross(np.append((path.q[1] - path.q[0])[:2], 0), np.append((end - start)[:2], 0))[2]
        assert (side < 0.0) == (radius > 0.0)  # positive to the right
        assert found.phi * radius > 0.0


def test_where_there_is_none_it_says_why():
    robot, craft = load("fixed_wing")
    slow = flight.trim(robot, craft, 8.0)
    assert not slow.success and "accelerations of" in slow.reason and "its bound" in slow.reason
    assert "no trim" in repr(slow)
    with pytest.raises(flight.NoTrimError, match="there is no steady flight"):
        required(slow)
    fast = flight.trim(robot, craft, 25.0, climb=1.0)
    assert not fast.success and "throttle is at 1" in fast.reason
    assert "trim" in repr(level())


def test_inputs_can_be_held_and_bounded():
    robot, craft = load("fixed_wing")
    gliding = flight.trim(robot, craft, 25.0, climb=-0.1, held={"throttle": 0.5})
    assert not gliding.success, "one unknown too few"
    tight = flight.trim(robot, craft, 25.0, bounds={"aero elevator": (-0.05, 0.05)})
    assert not tight.success and "elevator" in tight.reason
    assert np.abs(tight.u[0]) <= 0.05 + 1e-12
    assert flight.trim(robot, craft, 25.0, held={"throttle": 2.0}).inputs["propeller throttle"] == 2.0, "as it is given"


def test_wind_plays_no_part():
    """Airspeed is through the air: trim, modes, neutral point and polar in a headwind are those in still air."""
    robot, craft = load("fixed_wing")
    windy = flight.aircraft("fixed_wing", flight.Air(1.2682, flight.UniformWind((-8.0, 3.0, 0.0))))
    found = flight.trim(robot, windy, 25.0)
    assert found.success and np.allclose(found.u, level().u)
    assert np.allclose(flight.linearize(robot, windy, found).A, flight.linearize(robot, craft, level()).A)
    assert flight.static_stability(robot, windy, found) == pytest.approx(flight.static_stability(robot, craft, level()))
    speeds = (22.0, 25.0, 28.0)
    assert flight.Performance.of(robot, windy, speeds).drag == flight.Performance.of(robot, craft, speeds).drag


@pytest.mark.parametrize(
    "options, words",
    [
        ({"airspeed": -1.0}, "airspeed is -1"),
        ({"climb": 1.5}, "climb is 1.5"),
        ({"radius": 0.0}, "radius is 0"),
        ({"radius": 100.0, "turn_rate": 0.1}, "expected one of them"),
        ({"bounds": {"flaps": (0, 1)}}, "flaps"),
        ({"bounds": {"elevator": (1, 0)}}, "lower one first"),
        ({"bounds": {"throttle": 0.5}}, "bounds of 'throttle' has shape"),
        ({"iterations": -1}, "iterations is -1"),
        ({"frame": "nose"}, "nose"),
        ({"sideslip": np.inf}, "sideslip is inf"),
    ],
)
def test_what_is_no_flight_is_refused(options, words):
    robot, craft = load("fixed_wing")
    with pytest.raises(kt.KinetreeError, match=words):
        flight.trim(robot, craft, **{"airspeed": 25.0, **options})
