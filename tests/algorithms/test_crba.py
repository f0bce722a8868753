"""The mass matrix."""

import numpy as np
import pinocchio as pin
from hypothesis import given

from peers import close, pin_from_tree
from states import State, states
from textbook import CART_POLE, PLANAR, cart_pole, planar_2r


def test_real_robots(case):
    peer, G = case.peer, case.peer.G
    M = case.robot.mass_matrix(case.q)
    close(M, G.T @ pin.crba(peer.model, peer.data(), peer.q(case.q)) @ G)
    assert np.array_equal(M, M.T)


@given(states(spatial_order="linear-first", base_velocity="body"))
def test_random_trees(s: State):
    peer = pin_from_tree(s.robot.model)
    T = peer.T(s.q)
    close(s.robot.mass_matrix(s.q), T.T @ pin.crba(peer.model, peer.data(), peer.q(s.q)) @ T, 1e-11)


@given(states())
def test_it_is_symmetric_and_positive_definite(s: State):
    M = s.robot.mass_matrix(s.q)
    assert np.array_equal(M, M.T)
    assert np.all(np.linalg.eigvalsh(M) > 0)


def test_planar_two_link_arm():
    """M as printed in Siciliano et al. 2009, section 7.3.2 (without motors)."""
    m1, m2, l1, c1, c2, i1, i2 = PLANAR.values()
    q = np.array([0.4, -1.1])
    k = m2 * l1 * c2
    m12 = i2 + m2 * c2**2 + k * np.cos(q[1])
    m11 = i1 + i2 + m1 * c1**2 + m2 * (l1**2 + c2**2) + 2 * k * np.cos(q[1])
    close(planar_2r(**PLANAR).mass_matrix(q), [[m11, m12], [m12, i2 + m2 * c2**2]], 1e-13)


def test_cart_pole():
    """M = [[mc + mp, mp l cos θ], [., mp l²]], θ = 0 upright."""
    mc, mp, length = CART_POLE.values()
    off = mp * length * np.cos(0.7)
    close(cart_pole(**CART_POLE).mass_matrix([0.2, 0.7]), [[mc + mp, off], [off, mp * length**2]], 1e-13)
