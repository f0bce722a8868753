import numpy as np
import pytest

import kinetree as kt
from kinetree import flight
from kinetree.flight.part import Airflow

POLAR = flight.LinearPolar(5.0, drag=0.02, induced=0.03, moment=-0.02)


def felt(u, w, density=1.2):
    return Airflow(np.array([u, 0.0, w]), np.zeros(3), density, 100.0)


def test_lift_is_across_the_flow_and_drag_along_it():
    wing = flight.LiftingSurface("wing", area=0.5, chord=0.2, polar=POLAR)
    for alpha in (-0.1, 0.0, 0.15, 2.0, -3.0):
        V = 20.0 * np.array([np.cos(alpha), 0.0, np.sin(alpha)])
        force = wing.force(felt(V[0], V[2]), np.zeros(0))
        section = POLAR.at(alpha)
        pressure = 0.5 * 1.2 * 400.0 * 0.5
        assert force.force @ V / 20.0 == pytest.approx(-pressure * section.drag)
        assert force.force @ [np.sin(alpha), 0, -np.cos(alpha)] == pytest.approx(pressure * section.lift)
        assert force.moment[1] == pytest.approx(-pressure * 0.2 * 0.02)


def test_a_flap_adds_lift():
    wing = flight.LiftingSurface("wing", 0.5, 0.2, POLAR, flap=True, flap_lift=0.8, flap_drag=0.1, flap_moment=-0.3)
    pressure = 0.5 * 1.2 * 400.0 * 0.5
    change = wing.force(felt(20.0, 0.0), np.array([0.1])).vector() - wing.force(felt(20.0, 0.0), np.zeros(1)).vector()
    assert np.allclose(change, [-pressure * 0.001, 0, -pressure * 0.08, 0, -pressure * 0.2 * 0.03, 0])
    assert wing.inputs == ("flap",) and flight.LiftingSurface("wing", 0.5, 0.2, POLAR).inputs == ()
    with pytest.raises(kt.ArgumentTypeError, match="polar is 5"):
        flight.LiftingSurface("wing", 0.5, 0.2, 5.0)


@pytest.fixture(scope="module")
def glider():
    """A wing before the centre of mass, a tail behind it, a fin, and wings that can flap."""
    builder = kt.ModelBuilder("glider")
    builder.link("body", kt.Inertia(2.0, np.zeros(3), np.diag([0.1, 0.12, 0.2])))
    down = (np.pi, 0, 0)
    for name, xyz, rpy in (
        ("left", (-0.02, 0.5, 0), down),
        ("right", (-0.02, -0.5, 0), down),
        ("tail", (-1.0, 0, 0.0), down),
        ("fin", (-1.0, 0, 0.1), (-np.pi / 2, 0, 0)),
    ):
        builder.link(name)
        builder.joint(f"{name}_mount", "fixed", "body", name, xyz=xyz, rpy=rpy)
    wing = flight.LinearPolar(5.0, lift=0.3, drag=0.08, induced=0.02)
    parts = [flight.LiftingSurface(side, 0.2, 0.2, wing) for side in ("left", "right")]
    parts += [flight.LiftingSurface("tail", 0.08, 0.12, flight.LinearPolar(4.0), flap=True, flap_lift=2.0)]
    parts += [flight.LiftingSurface("fin", 0.04, 0.12, flight.LinearPolar(3.0))]
    return kt.Robot(builder.build("floating")), flight.Aircraft(parts)


def test_damping_comes_from_the_flow_at_each_surface(glider):
    """C_lp of two wings at ±y: each meets p y/V, so that L_p = -½ρV S a y² /V summed; likewise the tail in pitch."""
    robot, craft = glider
    V, rho, rate = 15.0, 1.225, 0.01
    level, rolling = np.array([V, 0, 0, 0, 0, 0.0]), np.array([V, 0, 0, rate, 0, 0])
    change = craft.efforts(robot, robot.neutral(), rolling, 0.0, [0.0]) - craft.efforts(
        robot, robot.neutral(), level, 0.0, [0.0]
    )
    expected = -0.5 * rho * V * 0.2 * (5.0 + 0.083) * 2 * 0.5**2 - 0.5 * rho * V * 0.04 * 3.01 * 0.1**2
    assert change[3] / rate == pytest.approx(expected, rel=1e-2)


def test_it_glides_at_the_angle_of_its_polar(glider):
    """Left to itself with a trimmed tail, it goes down by tan γ = D/L."""
    robot, craft = glider
    law = kt.compile(lambda robot, q, v: craft.efforts(robot, q, v, 0.0, np.array([-0.05])))
    q, v = robot.neutral(), np.array([12.0, 0, -0.5, 0, 0, 0])
    path = robot.rollout(q, v, law, 5e-3, 16000, "rk4", every=16000)
    q, v = path.q[-1], path.v[-1]
    world = robot.frame("body").velocity(q, v)[:3]
    acceleration = robot.forward_dynamics(q, v, craft.efforts(robot, q, v, 0.0, [-0.05]))
    assert np.abs(acceleration).max() < 1e-3, "it has settled"
    force = sum(robot.frame(name).pose(q)[:3, :3] @ f.force for name, f in craft.forces(robot, q, v, [-0.05]))
    speed = np.linalg.norm(world)
    drag = -force @ world / speed
    lift = np.linalg.norm(force + drag * world / speed)
    assert -world[2] / np.hypot(world[0], world[1]) == pytest.approx(drag / lift, rel=1e-3)
    assert 3.0 < lift / drag < 10.0
