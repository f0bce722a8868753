"""Parts as forces on robots. Covers: flight/fields.py"""

import numpy as np
import pytest

import kinetree as kt
import one_of_each
from flying import load, one_body, random_state, rotors
from kinetree import flight


@pytest.mark.parametrize("name", ["quadrotor", "quadrotor_arm", "fixed_wing"])
def test_efforts_and_wrenches_move_a_robot_alike(name):
    robot, craft = load(name)
    rng = np.random.default_rng(0)
    for _ in range(3):
        q, v = random_state(robot, rng)
        u = rng.uniform(0.1, 1.0, len(craft.inputs)) * (1.0 if name == "fixed_wing" else 600.0)
        tau = craft.efforts(robot, q, v, 0.0, u)
        wrenches = craft.wrenches(robot, q, v, u)
        a = robot.forward_dynamics(q, v, np.zeros(robot.nv), wrenches=wrenches)
        assert np.allclose(robot.forward_dynamics(q, v, tau), a, rtol=1e-10, atol=1e-9)


def test_other_conventions_feel_the_same_air():
    """The power of the air is the same in every order of 6-vectors and for every kind of base velocity."""
    robot, craft = load("quadrotor_arm")
    rng = np.random.default_rng(1)
    q, v = random_state(robot, rng)
    u = rng.uniform(300.0, 600.0, 4)
    expected = v @ craft.efforts(robot, q, v, 0.0, u)
    R = robot.frame("base_link").pose(q)[:3, :3]
    mixed = kt.load("quadrotor_arm", base="floating", base_velocity="mixed")
    turned = np.concatenate([R @ v[:3], R @ v[3:6], v[6:]])
    assert turned @ craft.efforts(mixed, q, turned, 0.0, u) == pytest.approx(expected, rel=1e-10)
    other = kt.load("quadrotor_arm", base="floating", spatial_order="angular-first")
    swapped = np.concatenate([v[3:6], v[:3], v[6:]])
    assert swapped @ craft.efforts(other, q, swapped, 0.0, u) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    "options",
    [{}, {"base": "floating"}, {"base": "floating", "base_velocity": "mixed", "spatial_order": "angular-first"}],
)
def test_efforts_are_jacobians_times_forces_on_every_joint(options):
    """Drag on all links of a tree with every kind of joint, compiled and as written."""
    robot = kt.Robot(one_of_each.builder().build(**options))
    q, v, _ = one_of_each.state(robot)
    craft = flight.Aircraft([flight.BodyDrag(name, (0.3, 0.2, 0.1), (0.1, 0.2, 0.3)) for name in robot.body_names])
    expected = np.zeros(robot.nv)
    for name, force in craft.forces(robot, q, v):
        expected += robot.frame(name).jacobian(q, "local").T @ force.vector(robot.model.spatial_order)
    law = kt.compile(lambda robot, q, v: craft.efforts(robot, q, v) + 0.0)
    assert np.allclose(craft.efforts(robot, q.tolist(), v), expected, rtol=1e-10, atol=1e-9)
    assert np.allclose(law(robot, q, v), expected, rtol=1e-10, atol=1e-9)


def test_places_of_parts_may_be_parameters():
    """A rotor on a longer arm, of one compilation: twice the moment."""
    robot, craft = kt.load("quadrotor", base="floating", parametric={"placement": ["rotor_1"]}), load("quadrotor")[1]
    law = kt.compile(lambda robot, q, v, u: craft.efforts(robot, q, v, 0.0, u), shapes={"u": (4,)})
    p = np.array(robot.parameters)
    far = np.where(np.isclose(np.abs(p), 0.17 / np.sqrt(2.0)), 2.0 * p, p)
    q, v, u = robot.neutral(), np.zeros(6), np.array([500.0, 0, 0, 0])
    near, there = law(robot, q, v, u), law(robot, q, v, u, parameters=far)
    assert np.abs(near[3:5]).min() > 0.1 and np.allclose(there, near * [1, 1, 1, 2, 2, 1])


def test_in_vacuum_energy_and_momentum_stay():
    robot, _ = load("quadrotor_arm")
    still = flight.Aircraft((flight.BodyDrag("base_link", quadratic=(0.1, 0.1, 0.1)),), flight.Air(1e-300))
    path = robot.rollout(robot.neutral(), np.full(8, 0.5), None, 1e-3, 500, "rk4", forces=still)
    energy = robot.kinetic_energy(path.q, path.v) + robot.potential_energy(path.q)
    assert np.ptp(energy) < 1e-8 * np.abs(energy).max()
    h = robot.centroidal_momentum(path.q, path.v)
    fallen = np.outer(path.t, [0, 0, -9.81 * robot.mass])
    assert np.abs(h[:, :3] - h[0, :3] - fallen).max() < 1e-9 and np.abs(h[:, 3:] - h[0, 3:]).max() < 1e-9


def test_wind_is_a_change_of_frame():
    """Flying at V in still air feels as standing in the wind -V."""
    robot, drag = one_body(), flight.BodyDrag("part", quadratic=(0.3, 0.2, 0.1), linear=(0.1, 0.2, 0.3))
    q = robot.random(2)
    R = robot.frame("part").pose(q)[:3, :3]
    velocity = np.array([3.0, -2.0, 1.0])
    moving = flight.Aircraft(drag).efforts(robot, q, np.concatenate([R.T @ velocity, np.zeros(3)]))
    blown = flight.Aircraft(drag, flight.Air(wind=flight.UniformWind(-velocity))).efforts(robot, q, np.zeros(6))
    assert np.allclose(moving, blown) and np.linalg.norm(moving) > 1.0


def test_density_follows_the_atmosphere():
    robot = one_body()
    craft = flight.Aircraft(flight.BodyDrag("part", quadratic=(1, 1, 1)), flight.Air(density=None))
    high = robot.neutral()
    high[2] = 5000.0
    v = np.array([10.0, 0, 0, 0, 0, 0])
    ratio = craft.efforts(robot, high, v)[0] / craft.efforts(robot, robot.neutral(), v)[0]
    assert ratio == pytest.approx(0.736116 / 1.225, rel=1e-4)


def test_a_batch_in_a_rollout_is_each_state_alone():
    robot, craft = load("quadrotor")
    law = kt.compile(lambda robot, q, v, u: craft.efforts(robot, q, v, 0.0, u), shapes={"u": (4,)})
    rng = np.random.default_rng(3)
    u = rng.uniform(400.0, 600.0, (5, 4))
    together = robot.rollout(robot.neutral(), np.zeros(6), law, 1e-3, 20, parameters={"u": u})
    for k in range(5):
        alone = robot.rollout(robot.neutral(), np.zeros(6), law, 1e-3, 20, parameters={"u": u[k]})
        assert np.array_equal(alone.q, together.q[k])


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda r, c: c.efforts(r, r.neutral(), np.zeros(6), 0.0, np.zeros(3)), r"u has shape \(3,\); expected \(4,\)"),
        (lambda r, c: c.efforts(r, r.neutral(), np.zeros(6)), r"u has shape \(0,\)"),
        (lambda r, c: c.efforts(r, np.tile(r.neutral(), (5, 1)), np.zeros(6), 0.0, np.zeros(4)), "expected one state"),
        (lambda r, c: flight.Aircraft("rotor"), "parts has 'r'"),
        (lambda r, c: flight.Aircraft(c.parts, air=1.2), "air is 1.2"),
        (lambda r, c: flight.Air(density=-1.0), "density is -1"),
        (lambda r, c: flight.Rotor("rotor_1", thrust=-1.0, torque=0.0), "thrust is -1"),
        (lambda r, c: flight.Rotor("rotor_1", 1.0, 0.0, direction=2), "direction is 2"),
        (lambda r, c: flight.Rotor(5, 1.0, 0.0), "frame is 5"),
        (lambda r, c: flight.Rotor("rotor_1", np.nan, 0.0), "thrust is nan"),
        (lambda r, c: flight.BodyDrag("base_link", quadratic=(-1, 0, 0)), "drag never pushes"),
        (lambda r, c: flight.BladeRotor("rotor_1", 0.1, 0.02, 0.2, flapping=2.0), "flapping is 2"),
        (lambda r, c: flight.Aircraft(flight.BodyDrag("nowhere")).efforts(r, r.neutral(), np.zeros(6)), "nowhere"),
    ],
)
def test_what_makes_no_sense_is_refused(call, words):
    with pytest.raises(kt.KinetreeError, match=words):
        call(*load("quadrotor"))


def test_inputs_have_names_and_parts_are_values():
    _, craft = load("fixed_wing")
    assert craft.inputs == ("aero elevator", "aero aileron", "aero rudder", "propeller throttle")
    assert hash(flight.aircraft("fixed_wing")) == hash(craft) and flight.aircraft("fixed_wing") == craft
    assert len(rotors(load("quadrotor")[1])) == 4


def test_arrows_along_a_motion():
    """Wrenches at all times of a rollout are those of each state, and the viewer draws them from the rotors."""
    robot, craft = load("quadrotor")
    u = np.full(4, 500.0)
    law = kt.compile(lambda robot, q, v: craft.efforts(robot, q, v, 0.0, u))
    path = robot.rollout(robot.neutral(), np.full(6, 0.3), law, 0.01, 20)
    along = craft.wrenches_along(robot, path, u)
    assert set(along) == {"rotor_1", "rotor_2", "rotor_3", "rotor_4", "base_link"}
    for k in (0, 7, 20):
        for frame, wrench in craft.wrenches(robot, path.q[k], path.v[k], u).items():
            assert np.allclose(along[frame][k], wrench)
    by_step = craft.wrenches_along(robot, path, np.tile(u, (20, 1)))
    assert np.array_equal(by_step["rotor_1"], along["rotor_1"])
    pytest.importorskip("viser")
    with robot.view(show=["visual", "forces"]) as viewer:
        viewer.set(path.q[7], wrenches={frame: rows[7] for frame, rows in along.items()})
        arrows = viewer.first.layers["forces"].arrows(viewer.first.stage.state)
        start = robot.frame("rotor_1").pose(path.q[7])[:3, 3]
        assert len(arrows) >= 4 and np.abs(arrows[:, 0] - start).sum(axis=1).min() < 1e-6
        viewer.play(path, wrenches=along)


@pytest.mark.parametrize(
    "part",
    [
        flight.BodyDrag("part", quadratic=(1, 2, 3), linear=(0.1, 0.2, 0.3)),
        flight.Rotor("part", 1e-6, 1e-8, hub_force=1e-4),
        flight.BladeRotor("part", 0.1, 0.02, 0.2),
        flight.LiftingSurface("part", 0.5, 0.2, flight.LinearPolar(5.0)),
        flight.Propeller("part", 0.5, (0.1, 0, 0), (0.01, 0, 0)),
        load("fixed_wing")[1].parts[0],
    ],
    ids=lambda part: type(part).__name__,
)
def test_slopes_at_rest_are_finite(part):
    """So that hovering and standing can be linearised."""
    robot, craft = one_body(frames=(part.frame,)), flight.Aircraft(part)
    n = len(craft.inputs)
    law = kt.compile(lambda robot, q, v, u: craft.efforts(robot, q, v, 0.0, u), shapes={"u": (n,)})
    rest = np.zeros(6)
    slope = kt.jacobian(law, wrt="v")(robot.eager, robot.neutral(), rest, np.full(n, 100.0))
    assert np.isfinite(slope).all()
    if isinstance(part, flight.BodyDrag):
        assert np.allclose(slope[:3, :3], -np.diag([0.1, 0.2, 0.3]))
