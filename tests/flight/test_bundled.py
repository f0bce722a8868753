"""The parts of the bundled flying robots."""

import numpy as np
import pytest

import kinetree as kt
from flying import allocation, load, rotors
from kinetree import flight


@pytest.mark.parametrize("name", ["quadrotor", "hexarotor", "quadrotor_arm"])
def test_rotors_carry_twice_the_weight_and_control_all_axes(name):
    robot, craft = load(name)
    chosen = allocation(name)
    weight = robot.mass * 9.81
    assert chosen.limits.sum() > 1.8 * weight and chosen.rank == 4
    assert chosen.margin([weight, 0, 0, 0]) > 0.05
    u = chosen.speeds_of(chosen.hover)
    tau = craft.efforts(robot, robot.neutral(), np.zeros(robot.nv), 0.0, u)
    assert np.allclose(tau, robot.gravity_forces(robot.neutral()), atol=1e-9)
    assert sum(rotor.direction for rotor in rotors(craft)) == 0


def test_the_quadrotor_is_the_hummingbird():
    robot, craft = load("quadrotor")
    assert np.allclose(robot.mass_matrix(robot.neutral()), np.diag([0.5, 0.5, 0.5, 3.65e-3, 3.68e-3, 7.03e-3]))
    assert [rotor.thrust for rotor in rotors(craft)] == [5.57e-6] * 4
    places = [robot.frame(f"rotor_{k}").pose(robot.neutral())[:2, 3] for k in range(1, 5)]
    assert np.allclose(np.linalg.norm(places, axis=1), 0.17) and (places[0] > 0.0).all()


def test_the_hexarotor_turns_as_the_firefly_of_rotors():
    robot, craft = load("hexarotor")
    places = [robot.frame(rotor.frame).pose(robot.neutral())[:3, 3] for rotor in rotors(craft)]
    angles = np.radians([30, 90, 150, 210, 270, 330])
    assert np.allclose(places, np.stack([0.215 * np.cos(angles), 0.215 * np.sin(angles), np.full(6, 0.037)], axis=1))
    assert [rotor.direction for rotor in rotors(craft)] == [1, -1, 1, -1, 1, -1]
    assert [rotor.thrust * rotor.max_speed**2 for rotor in rotors(craft)] == pytest.approx([8.54858e-6 * 838**2] * 6)


def test_the_fixed_wing_has_its_product_of_inertia_the_right_way_round():
    robot, _ = load("fixed_wing")
    R = robot.frame("aero").pose(robot.neutral())[:3, :3]
    J = R.T @ robot.mass_matrix(robot.neutral())[3:, 3:] @ R
    assert np.allclose(J, [[0.8244, 0, -0.1204], [0, 1.135, 0], [-0.1204, 0, 1.759]])
    assert np.allclose(R, np.diag([1, -1, -1]))


def test_other_air_and_other_names():
    thin = flight.aircraft("quadrotor", flight.Air(density=0.5))
    assert thin.air.density == 0.5 and flight.aircraft("fixed_wing").air.density == 1.2682
    with pytest.raises(kt.UnknownNameError, match="did you mean 'quadrotor'"):
        flight.aircraft("quadroter")
