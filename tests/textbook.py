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


def planar_3r(masses, lengths, coms, moments):
    """Three links in the vertical x-z plane, all joints about -y, q = 0 stretched along x."""
    builder = kt.ModelBuilder("3R")
    builder.link("link0")
    for k, (m, c, i) in enumerate(zip(masses, coms, moments, strict=True), 1):
        builder.link(f"link{k}", rod_inertia(m, (c, 0, 0), i))
        xyz = (lengths[k - 2], 0, 0) if k > 1 else (0, 0, 0)
        builder.joint(f"q{k}", "revolute", f"link{k - 1}", f"link{k}", axis=(0, -1, 0), xyz=xyz)
    return kt.Robot(builder.build())


def spherical_arm():
    """RRP: pan about z, elevation about -y, and a point mass that slides out along x."""
    builder = kt.ModelBuilder("RRP")
    builder.link("base")
    builder.link("pan", kt.Inertia.from_com(1.5, (0, 0, 0), np.diag([0.1, 0.2, 0.3])))
    builder.link("boom", kt.Inertia.from_com(2.0, (0.4, 0, 0), np.diag([0.05, 0.06, 0.07])))
    builder.link("slide", kt.Inertia.from_com(0.8, (0, 0, 0), np.zeros((3, 3))))
    builder.joint("q1", "revolute", "base", "pan")
    builder.joint("q2", "revolute", "pan", "boom", axis=(0, -1, 0))
    builder.joint("q3", "prismatic", "boom", "slide", axis=(1, 0, 0))
    return kt.Robot(builder.build())


def scara():
    """RRPR, all axes along z."""
    builder = kt.ModelBuilder("SCARA")
    builder.link("base")
    builder.link("upper", kt.Inertia.from_com(3.0, (0.2, 0, 0), np.diag([0.01, 0.02, 0.03])))
    builder.link("fore", kt.Inertia.from_com(2.0, (0.15, 0, 0), np.diag([0.01, 0.015, 0.025])))
    builder.link("quill", kt.Inertia.from_com(0.7, (0, 0, 0), np.diag([0.002, 0.002, 0.001])))
    builder.link("tool", kt.Inertia.from_com(0.3, (0, 0, 0), np.diag([0.001, 0.001, 0.0005])))
    builder.joint("q1", "revolute", "base", "upper")
    builder.joint("q2", "revolute", "upper", "fore", xyz=(0.4, 0, 0))
    builder.joint("q3", "prismatic", "fore", "quill", xyz=(0.35, 0, 0))
    builder.joint("q4", "revolute", "quill", "tool")
    return kt.Robot(builder.build())


def furuta():
    """An arm that turns about z, and at its end a pendulum about the arm, q2 = 0 hanging down."""
    builder = kt.ModelBuilder("Furuta")
    builder.link("base")
    builder.link("arm", kt.Inertia.from_com(0.3, (0.1, 0, 0), np.diag([0.001, 0.002, 0.0025])))
    builder.link("pendulum", kt.Inertia.from_com(0.2, (0, 0, -0.15), np.diag([0.0015, 0.0016, 0.0001])))
    builder.joint("q1", "continuous", "base", "arm")
    builder.joint("q2", "continuous", "arm", "pendulum", axis=(1, 0, 0), xyz=(0.25, 0, 0))
    return kt.Robot(builder.build())
