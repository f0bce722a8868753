"""Robots whose equations stand in every textbook."""

import numpy as np

import kinetree as kt

G = 9.81
PLANAR = {"m1": 1.3, "m2": 0.7, "l1": 0.9, "c1": 0.4, "c2": 0.5, "i1": 0.05, "i2": 0.03}
CART_POLE = {"mc": 2.0, "mp": 0.3, "length": 0.6}


def rod_inertia(mass, com, moment):
    return kt.Inertia.from_com(mass, com, np.diag([moment, moment, moment]))


def planar_2r(m1, m2, l1, c1, c2, i1, i2):
    """Two links in the vertical x-z plane, both joints about y, q = 0 stretched along x."""
    builder = kt.ModelBuilder("2R")
    builder.link("base")
    builder.link("one", rod_inertia(m1, (c1, 0, 0), i1))
    builder.link("two", rod_inertia(m2, (c2, 0, 0), i2))
    builder.joint("q1", "revolute", "base", "one", axis=(0, -1, 0))
    builder.joint("q2", "revolute", "one", "two", axis=(0, -1, 0), xyz=(l1, 0, 0))
    return kt.Robot(builder.build())


def cart_pole(mc, mp, length):
    """A cart on a rail along x, and a point mass on a massless pole; θ = 0 is upright."""
    builder = kt.ModelBuilder("cart-pole")
    builder.link("rail")
    builder.link("cart", kt.Inertia.from_com(mc, (0, 0, 0), np.zeros((3, 3))))
    builder.link("pole", kt.Inertia.from_com(mp, (0, 0, length), np.zeros((3, 3))))
    builder.joint("slide", "prismatic", "rail", "cart", axis=(1, 0, 0))
    builder.joint("pivot", "continuous", "cart", "pole", axis=(0, 1, 0))
    return kt.Robot(builder.build())
