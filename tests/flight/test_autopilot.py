"""Loops of a fixed-wing aircraft, closed together. Covers: flight/total_energy.py flight/path_following.py"""

import numpy as np
import pytest

import kinetree as kt
from flying import level, load
from kinetree import flight
from kinetree.flight.path_following import wrapped

DT = 0.01


@pytest.fixture(scope="module")
def pilot():
    robot, _ = load("fixed_wing")
    return robot, flight.Autopilot(robot, level()), flight.TotalEnergyControl(robot, level())


def test_at_trim_it_does_nothing(pilot):
    _, autopilot, tecs = pilot
    about = level()
    found = autopilot(about.q, about.v, np.zeros(2), DT, about.phi, about.theta)
    assert np.allclose(found["u"], about.u) and np.allclose(found["memory"], 0.0, atol=1e-12)
    energy = tecs(about.q, about.v, np.zeros(2), DT, about.q[2])
    assert energy["pitch"] == pytest.approx(about.theta) and energy["throttle"] == pytest.approx(about.u[3])


def test_airspeed_is_through_the_air(pilot):
    """In a wind and with it, as at trim in still air: speeds of the loops are measured, not those over the ground."""
    robot, autopilot, tecs = pilot
    about, wind = level(), np.array([-7.0, 2.0, 0.5])
    v = about.v.copy()
    v[:3] += robot.frame("base_link").pose(about.q)[:3, :3].T @ wind
    found = autopilot(about.q, v, np.zeros(2), DT, about.phi, about.theta, wind=wind)
    assert np.allclose(found["u"], about.u) and np.allclose(found["memory"], 0.0, atol=1e-12)
    flat = np.array([-7.0, 2.0, 0.0])
    v[:3] -= robot.frame("base_link").pose(about.q)[:3, :3].T @ (wind - flat)
    energy = tecs(about.q, v, np.zeros(2), DT, about.q[2], wind=flat)
    assert energy["pitch"] == pytest.approx(about.theta) and energy["throttle"] == pytest.approx(about.u[3])
    assert tecs(about.q, v, np.zeros(2), DT, about.q[2])["throttle"] > about.u[3], "over the ground it is slower"


def test_energy_rates():
    total, balance = flight.energy_rates(2.0, 0.0, 20.0)
    assert (total, balance) == (0.1, 0.1)
    assert flight.energy_rates(0.0, 9.80665, 20.0) == pytest.approx((1.0, -1.0))


def test_it_climbs_along_a_line_and_then_circles(pilot):
    """Total energy for height and speed, vector fields for the course, the autopilot below them: one compiled loop."""
    robot, autopilot, tecs = pilot
    _, craft = load("fixed_wing")
    center, radius = np.array([520.0, 100.0]), 120.0

    @kt.compile(shapes={"inner": (2,), "outer": (2,)})
    def fly(robot, q, v, inner, outer):
        world = robot.frame("base_link").velocity(q, v)
        course, speed = kt.atan2(world[1], world[0]), kt.sqrt(world[0] ** 2 + world[1] ** 2)
        on_line = flight.line_course(q[:2], (0.0, 0.0), 0.0)
        on_orbit = flight.orbit_course(q[:2], center, radius, direction=1)
        wanted = kt.where(q[0] < 300.0, on_line, on_orbit)
        turning = kt.where(q[0] < 300.0, 0.0, speed / radius)
        energy = tecs(q, v, outer, DT, 130.0, 26.0)
        roll = flight.bank_for_course(course, wanted, speed, max_bank=0.7, path_rate=turning)
        found = autopilot(q, v, inner, DT, roll, energy["pitch"], 26.0)
        u = np.array([found["u"][0], found["u"][1], found["u"][2], energy["throttle"]])
        return {"tau": craft.efforts(robot, q, v, 0.0, u), "inner": found["memory"], "outer": energy["memory"], "u": u}

    q = level().q.copy()
    q[:3] = [0.0, 40.0, 100.0]
    states = {"inner": np.zeros(2), "outer": np.zeros(2)}
    path = robot.rollout(q, level().v, fly, DT, 9000, "heun", states=states, record=("q", "v", "u"), every=10)
    speed = np.linalg.norm(path.v[:, :3], axis=1)
    assert path.q[-1, 2] == pytest.approx(130.0, abs=1.5) and speed[-1] == pytest.approx(26.0, abs=0.5)
    before = path.q[path.q[:, 0] < 290.0][:, :2]
    along = before[(before[:, 0] > 200.0) & (np.arange(len(before)) < 200)]
    assert np.abs(along[:, 1]).max() < 8.0, "it has come to the line"
    late = path.t > 60.0
    distance = np.linalg.norm(path.q[late, :2] - center, axis=1)
    assert np.abs(distance - radius).max() < 2.0
    assert np.abs(path["u"][:, :3]).max() <= 0.5 and path["u"][:, 3].max() <= 1.0


def test_courses_of_lines_and_orbits():
    assert flight.line_course((5.0, 0.0), (0.0, 0.0), 0.3) == pytest.approx(
        0.3 - 1.2 * 2 / np.pi * np.arctan(0.03 * flight.line_error((5.0, 0.0), (0.0, 0.0), 0.3))
    )
    assert flight.line_course((0.0, 1e9), (0.0, 0.0), 0.0) == pytest.approx(-1.2)
    assert flight.line_error((0.0, 2.0), (0.0, 0.0), 0.0) == 2.0
    assert flight.orbit_course((10.0, 0.0), (0.0, 0.0), 10.0) == pytest.approx(np.pi / 2)
    assert flight.orbit_course((10.0, 0.0), (0.0, 0.0), 10.0, direction=-1) == pytest.approx(-np.pi / 2)
    assert abs(flight.orbit_course((1e9, 0.0), (0.0, 0.0), 10.0)) == pytest.approx(np.pi, abs=1e-3)  # straight in
    assert wrapped(3 * np.pi) == pytest.approx(-np.pi) or wrapped(3 * np.pi) == pytest.approx(np.pi)


def test_guidance_flies_the_circle_through_the_target():
    """a = V²/R of the circle through place and target that is tangent to the velocity."""
    R, V, angle = 50.0, 20.0, 0.4
    target = (R * np.sin(2 * angle), R * (1 - np.cos(2 * angle)))
    a = flight.guidance_acceleration((0.0, 0.0), (V, 0.0), target)
    assert a == pytest.approx(V**2 / R)
    assert flight.bank_for_acceleration(9.80665) == pytest.approx(-np.pi / 4)
    assert np.allclose(flight.target_on_line((0.0, 3.0), (0.0, 0.0), 0.0, 5.0), [4.0, 0.0])
    assert np.allclose(flight.target_on_orbit((10.0, 0.0), (0.0, 0.0), 10.0, 5.0 * np.pi), [0.0, 10.0])


def test_what_it_cannot_fly_is_refused(pilot):
    robot, _, _ = pilot
    with pytest.raises(kt.ArgumentError, match="there is no gain 'rol'"):
        flight.Autopilot(robot, level(), rol=1.0)
    with pytest.raises(flight.NoTrimError):
        flight.Autopilot(robot, flight.trim(*load("fixed_wing"), 8.0))
