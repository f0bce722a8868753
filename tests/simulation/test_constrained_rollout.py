"""Motion under constraints: loops stay closed, energy is kept, forces of motors are accounted for."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.simulation import RigidContact
from linkages import along, four_bar, four_bar_at, slider_crank, slider_crank_at
from peers import close


def energy(robot, path):
    return robot.kinetic_energy(path.q, path.v) + robot.potential_energy(path.q)


@pytest.mark.parametrize("frequency", [0.0, 20.0])
def test_a_four_bar_for_ten_seconds(frequency):
    """It turns round and round: the loop stays closed, its energy the same, and it is where its crank says."""
    robot = four_bar()
    system = robot.constrained(kt.Loop("coupler_end", "rocker_end"), frequency=frequency)
    q, v, _, _ = along(four_bar_at, 0.4, 15.0)
    path = system.rollout(q, v, None, dt=1e-3, steps=10_000, integrator="rk4")
    assert np.ptp(path.q[:, 0]) > 10 * np.pi
    assert np.abs(system.position_error(path.q)).max() < (1e-12 if frequency == 0.0 else 1e-7)
    assert np.abs(np.einsum("nij,nj->ni", system.jacobian(path.q), path.v)).max() < 1e-6
    assert np.ptp(energy(robot, path)) < 1e-6 * energy(robot, path)[0]
    away = path.q[-1] - four_bar_at(path.q[-1, 0])
    close(np.cos(away), np.ones(3), 1e-10)


def test_without_correction_it_would_drift():
    """What the two ways of keeping it closed are for: forward dynamics alone, in the same steps."""
    robot = four_bar()
    loop = kt.Loop("coupler_end", "rocker_end")
    q, v, _, _ = along(four_bar_at, 0.4, 6.0)

    @kt.compile
    def closing_force(robot, q, v):
        system = robot.constrained(loop)
        return system.jacobian(q).T @ system.forward_dynamics(q, v, np.zeros(3))[1]

    drifting = robot.rollout(q, v, closing_force, 1e-3, 2000)
    held = robot.constrained(loop).rollout(q, v, None, 1e-3, 2000)
    assert np.abs(robot.constrained(loop).position_error(drifting.q[-1])).max() > 1e-3
    assert np.abs(robot.constrained(loop).position_error(held.q)).max() < 1e-5


def test_the_work_of_a_motor_becomes_energy():
    robot = slider_crank()
    system = robot.constrained(kt.Loop("end", "slider"))
    q, v, _, _ = along(slider_crank_at, 0.3, 2.0)
    u = np.zeros((500, 3))
    u[:, 0] = 3.0
    path = system.rollout(q, v, u, 1e-3, 500, "rk4")
    gained = energy(robot, path)
    close(gained - gained[0], 3.0 * (path.q[:, 0] - path.q[0, 0]), 1e-7)


@pytest.mark.sweep
def test_laws_and_batches():
    """As a loop of single steps in Python; a batch is its states one by one."""
    robot = kt.load("quadruped", base="floating")
    feet = [name for name in robot.frame_names if name.endswith("foot")]
    system = robot.constrained([kt.Contact(foot) for foot in feet[:2]])
    rng = np.random.default_rng(2)
    q0, v0 = robot.random(rng, 5), 0.1 * rng.normal(size=(5, robot.nv))
    damped = kt.compile(lambda robot, q, v: -0.5 * v)
    path = system.rollout(q0, v0, damped, 1e-3, 10)
    alone = system.rollout(q0[3], v0[3], damped, 1e-3, 10)
    assert np.array_equal(path.q[3], alone.q) and np.array_equal(path.v[3], alone.v)
    q, v = q0[3], v0[3]
    for _ in range(10):
        v = v + 1e-3 * system.forward_dynamics(q, v, -0.5 * v)[0]
        q, v = system.projected(robot.integrate(q, 1e-3 * v), v)
    close(alone.q[-1], q, 1e-10)
    close(alone.v[-1], v, 1e-10)
    close(system.jacobian(q) @ v, np.zeros(6), 1e-9)


def test_a_loop_is_assembled_by_a_few_projections():
    system = four_bar().constrained(kt.Loop("coupler_end", "rocker_end"))
    q, v = four_bar_at(1.0) + np.array([0.1, -0.1, 0.15]), np.ones(3)
    for _ in range(6):
        q, v = system.projected(q, v)
    close(system.position_error(q), np.zeros(3), 1e-12)
    close(system.jacobian(q) @ v, np.zeros(3), 1e-9)


def test_what_is_wrong_is_said():
    system = four_bar().constrained(kt.Loop("coupler_end", "rocker_end"))
    with pytest.raises(kt.ArgumentError, match="integrator is 'magic'"):
        system.rollout(np.zeros(3), np.zeros(3), None, 1e-3, 3, "magic")
    with pytest.raises(kt.ArgumentError, match="which knows a robot by its energies: without contact and constraints"):
        system.rollout(np.zeros(3), np.zeros(3), None, 1e-3, 3, "variational")
    with pytest.raises(kt.ArgumentError, match=r"controls has shape \(4,\)"):
        system.rollout(np.zeros(3), np.zeros(3), np.zeros(4), 1e-3, 3)
    with pytest.raises(kt.ArgumentError, match="contact is given to a robot under constraints; expected Rigid"):
        system.rollout(np.zeros(3), np.zeros(3), None, 1e-3, 3, contact=RigidContact("coupler_end"))
