"""The blocks of the equation of motion, and A_G and Ȧ_G v from them alone, equal to those of the recursions."""

import numpy as np
import pytest
from hypothesis import given

import kinetree as kt
from peers import close
from states import State, states


@given(states(base="floating"))
def test_both_ways_agree_in_every_convention(s: State):
    robot, q, v = s.robot.eager, s.q, s.v
    blocks = robot.floating_base_blocks(q, v)
    close(blocks.mass, robot.mass, 1e-12)
    base = robot.frame(robot.body_names[0]).pose(q)
    close(blocks.R_b @ blocks.center, robot.center_of_mass(q) - base[:3, 3], 1e-11)
    close(blocks.centroidal_momentum_matrix, robot.centroidal_momentum_matrix(q), 1e-11)
    close(blocks.centroidal_momentum_bias, robot.centroidal_momentum_bias(q, v), 1e-10)


@pytest.mark.parametrize("base_velocity", ["body", "mixed"])
@pytest.mark.parametrize("order", ["linear-first", "angular-first"])
def test_blocks_are_parts_of_the_equation_of_motion(base_velocity, order):
    options = {"base_velocity": base_velocity, "spatial_order": order}
    robot = kt.load("quadruped", base="floating", **options).eager
    rng = np.random.default_rng(2)
    q, v, a = robot.random(rng, 3), rng.normal(size=(3, robot.nv)), rng.normal(size=robot.nv)
    blocks, tau = robot.floating_base_blocks(q, v), robot.inverse_dynamics(q, v, a)
    base = (blocks.M_b @ a[:6, None] + blocks.M_bj @ a[6:, None])[..., 0] + blocks.h_b
    joints = (np.swapaxes(blocks.M_bj, -1, -2) @ a[:6, None] + blocks.M_j @ a[6:, None])[..., 0] + blocks.h_j
    close(np.concatenate([base, joints], axis=-1), tau, 1e-11)
    close(v @ blocks.S_b.T, v[:, :6], 0.0)
    close(blocks.M_b, blocks.S_b @ robot.mass_matrix(q) @ blocks.S_b.T, 0.0)
    for name in ("mass", "center", "centroidal_momentum_matrix", "centroidal_momentum_bias"):
        one = robot.floating_base_blocks(q[2], v[2])
        close(getattr(blocks, name)[2], getattr(one, name), 1e-13)


def test_inside_a_law():
    robot = kt.load("quadruped", base="floating")
    q, v = robot.random(0), np.ones(robot.nv)

    @kt.compile
    def bias(robot, q, v):
        blocks = robot.floating_base_blocks(q, v)
        return blocks.centroidal_momentum_bias, blocks.M_bj

    found, M_bj = bias(robot, q, v)
    close(found, robot.centroidal_momentum_bias(q, v), 1e-11)
    close(M_bj, robot.mass_matrix(q)[:6, 6:], 1e-12)
