"""Orders of convergence, on vector spaces and on rotations; what is stiff, and what goes on for long.

Covers: simulation/implicit.py.
"""

import numpy as np
import pytest

import kinetree as kt
from peers import close

ORDERS = {"semi-implicit-euler": 1, "midpoint": 2, "heun": 2, "rk4": 4, "implicit": 2}


def errors(robot, q0, v0, integrator, steps=(20, 40, 80), law=None, **given):
    """At the end of one second, against steps that are far smaller."""
    exact = robot.rollout(q0, v0, law, 1 / 4000, 4000, "rk4", **given)
    found = []
    for n in steps:
        end = robot.rollout(q0, v0, law, 1 / n, n, integrator, **given)
        apart = robot.difference(exact.q[-1], end.q[-1])
        found.append(np.abs(np.concatenate([apart, end.v[-1] - exact.v[-1]])).max())
    return found


def check_order(order, first, second, third):
    assert order - 0.5 < np.log2(first / second) and order - 0.4 < np.log2(second / third) < order + 0.7


@pytest.mark.parametrize(("integrator", "order"), ORDERS.items())
@pytest.mark.parametrize("base_velocity", ["body", "mixed"])
@pytest.mark.parametrize("joints", [("revolute", "prismatic"), ("free", "revolute")])
@pytest.mark.sampled(10)
def test_errors_shrink_as_the_order_says(integrator, order, base_velocity, joints):
    model = kt.random_model(3, 2, joints, base="floating", base_velocity=base_velocity)
    robot = kt.Robot(model)
    rng = np.random.default_rng(0)
    check_order(order, *errors(robot, robot.random(rng), 0.5 * rng.normal(size=robot.nv), integrator))


@pytest.mark.parametrize("base_velocity", ["body", pytest.param("mixed", marks=pytest.mark.long)])
@pytest.mark.sweep
def test_order_of_the_variational_one(base_velocity):
    """With a base that turns, springs, damping and friction, and a law of time."""
    options = {"base": "floating", "base_velocity": base_velocity, "joint_dynamics": True}
    robot = kt.Robot(kt.random_model(2, 1, ("revolute",), **options))
    shake = kt.compile(lambda robot, q, v, t: kt.sin(3.0 * t) * np.ones(robot.nv) - 0.1 * v, shapes={"t": ()})
    rng = np.random.default_rng(0)
    q0, v0 = robot.random(rng), 0.5 * rng.normal(size=robot.nv)
    check_order(2, *errors(robot, q0, v0, "variational", (40, 80, 160), shake))
    path = robot.rollout(q0, v0, shake, 1 / 160, 160, "variational", record="residual")
    assert path["residual"].shape == (160,) and 0.0 < path["residual"].max() < 1e-10


@pytest.mark.parametrize("integrator", ["rk4", "implicit"])
def test_laws_of_time_keep_the_order(integrator):
    robot = kt.load("planar2")
    law = kt.compile(lambda robot, q, v, t: kt.cos(4.0 * t) - 20.0 * q - v, shapes={"t": ()})
    check_order(ORDERS[integrator], *errors(robot, [0.3, 0.2], [0.0, 0.5], integrator, (20, 40, 80), law))


def stiff_arm(damping, stiffness):
    builder = kt.ModelBuilder("stiff")
    builder.link("stand")
    inertia = kt.Inertia.from_com(1.0, (0, 0, -0.5), np.diag([0.1, 0.1, 0.01]))
    for k in (1, 2):
        builder.link(f"link{k}", inertia)
        builder.joint(
            f"hinge{k}",
            "revolute",
            "stand" if k == 1 else "link1",
            f"link{k}",
            axis=(0, 1, 0),
            xyz=(0, 0, -1.0) if k == 2 else (0, 0, 0),
            dynamics=kt.JointDynamics(damping=damping, stiffness=stiffness if k == 2 else 0.0),
        )
    return kt.Robot(builder.build())


def test_what_is_stiff():
    """Damping and a spring with time constants of micro- and milliseconds, in steps of 10 ms: the first joint creeps at
    d ω = -m g l sin q, the second stays where spring and weight balance; explicit steps explode."""
    robot = stiff_arm(2000.0, 1e6)
    with pytest.warns(kt.DivergenceWarning, match="the state diverged"):
        robot.rollout([1.0, 0.0], [0.0, 0.0], None, 1e-2, 1000, "rk4")
    path = robot.rollout([1.0, 0.0], [0.0, 0.0], None, 1e-2, 1000, "implicit")
    load = -robot.gravity_forces(path.q)
    close(2000.0 * path.v[10:, 0], load[10:, 0], 0.05)
    close(1e6 * path.q[10:, 1], load[10:, 1] - 2000.0 * path.v[10:, 1], 0.05)
    fine = robot.rollout([1.0, 0.0], [0.0, 0.0], None, 1e-5, 100_000, "rk4", every=100_000)
    close(path.q[100], fine.q[-1], 1e-5)


def test_stiff_laws_and_forces_are_solved_for():
    """A law with a gain far beyond what an explicit step bears, and a hard stop."""
    robot = kt.load("planar2")
    law = kt.compile(lambda robot, q, v: robot.gravity_forces(q) - 1e6 * (q - 0.5) - 1e4 * v)
    path = robot.rollout([0.0, 0.0], [0.0, 0.0], law, 1e-2, 300, "implicit")
    close(path.q[-1], [0.5, 0.5], 1e-6)
    with pytest.warns(kt.DivergenceWarning):
        robot.rollout([0.0, 0.0], [0.0, 0.0], law, 1e-2, 300, "rk4")


def test_energy_does_not_drift():
    """A double pendulum that overturns, 1e5 steps: the energy is off by as much in the first tenth as in the last; an
    explicit method of the same order loses it."""
    robot = stiff_arm(0.0, 0.0)
    late = {}
    for integrator in ("variational", "midpoint"):
        path = robot.rollout([2.5, 1.0], [0.0, 0.0], None, 3e-3, 100_000, integrator)
        energy = robot.kinetic_energy(path.q, path.v) + robot.potential_energy(path.q)
        error = np.abs(energy - energy[0])
        late[integrator] = error[-10_000:].max()
        if integrator == "variational":
            assert late[integrator] < 2.0 * error[1:10_000].max() < 0.1
    assert late["midpoint"] > 5.0 * late["variational"]


@pytest.mark.parametrize("base_velocity", [pytest.param("body", marks=pytest.mark.long), "mixed"])
@pytest.mark.sweep
def test_momentum_of_a_tumbling_robot_is_kept_to_rounding(base_velocity):
    """1e5 variational steps without gravity: linear and angular momentum in the world to 1e-9, the quaternion on its
    sphere, the energy without drift."""
    model = kt.random_model(1, 1, ("revolute",), base="floating", gravity=(0, 0, 0), base_velocity=base_velocity)
    robot = kt.Robot(model)
    rng = np.random.default_rng(1)
    path = robot.rollout(robot.random(rng), rng.normal(size=robot.nv), None, 1e-3, 100_000, "variational", every=1000)
    momentum = robot.centroidal_momentum(path.q, path.v)
    momentum[:, 3:] += np.cross(robot.center_of_mass(path.q), momentum[:, :3])  # about the world's origin
    assert np.abs(momentum - momentum[0]).max() < 1e-9 * np.abs(momentum[0]).max()
    energy = robot.kinetic_energy(path.q, path.v)
    assert np.abs(energy - energy[0]).max() < 1e-5 * energy[0]
    close(np.linalg.norm(path.q[:, 3:7], axis=-1), np.ones(101), 1e-14)


def test_quaternions_stay_on_their_sphere():
    robot = kt.Robot(kt.random_model(2, 2, ("spherical",), base="floating"))
    rng = np.random.default_rng(0)
    path = robot.rollout(robot.random(rng, 8), rng.normal(size=(8, robot.nv)), None, 1e-4, 100_000, every=10_000)
    for part in robot.model.quaternions:
        close(np.linalg.norm(path.q[..., part], axis=-1), np.ones((8, 11)), 1e-14)
