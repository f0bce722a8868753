"""Planar linkages with one freedom, whose motion is known in closed form: slider-crank and four-bar; and a gimbal,
which is singular in one place."""

from __future__ import annotations

import numpy as np

import kinetree as kt

CRANK, ROD, MASSES = 0.3, 0.8, (1.2, 0.7, 2.5)


def slider_crank() -> kt.Robot:
    """A crank about y at the origin, a rod, and a slider along x; its plane is x, z."""
    builder = kt.ModelBuilder("slider-crank")
    builder.link("ground")
    builder.link("crank", kt.Inertia.from_com(MASSES[0], (CRANK / 2, 0, 0), np.diag([0.01, 0.02, 0.02])))
    builder.link("rod", kt.Inertia.from_com(MASSES[1], (ROD / 2, 0, 0), np.diag([0.01, 0.05, 0.05])))
    builder.link("slider", kt.Inertia.from_com(MASSES[2], (0, 0, 0), 0.1 * np.eye(3)))
    builder.joint("turn", "continuous", "ground", "crank", axis=(0, -1, 0))  # from x up to z
    builder.joint("pin", "continuous", "crank", "rod", axis=(0, -1, 0), xyz=(CRANK, 0, 0))
    builder.joint("slide", "prismatic", "ground", "slider", axis=(1, 0, 0))
    builder.frame("end", "rod", xyz=(ROD, 0, 0))
    return kt.Robot(builder.build())


def slider_crank_at(angle):
    """q for an angle of the crank: the rod leans by φ with sin φ = -r/l sin θ."""
    lean = np.arcsin(-CRANK / ROD * np.sin(angle))
    return np.array([angle, lean - angle, CRANK * np.cos(angle) + ROD * np.cos(lean)])


def slope_of(path, angle):
    """By a complex step."""
    return np.imag(path(angle + 1e-30j)) / 1e-30


def slope_of_slope(function, angle, step=1e-3):
    """By differences, of order six."""
    return (
        sum(w * (function(angle + k * step) - function(angle - k * step)) for k, w in ((1, 45), (2, -9), (3, 1)))
        / 60
        / step
    )


def along(path, angle, speed):
    """q, v, q' and q'' where a path is at an angle, run along with a speed."""
    slope = slope_of(path, angle)
    return path(angle), speed * slope, slope, slope_of_slope(lambda x: slope_of(path, x), angle)


LINKS = (1.0, 0.4, 0.9, 0.7)  # ground, crank, coupler, rocker


def four_bar(gravity=(0.0, 0.0, -9.81), coupler_density=1.0) -> kt.Robot:
    """Bars of 1 kg/m, the coupler of another density if asked for."""
    builder = kt.ModelBuilder("four-bar")
    builder.link("ground")
    for name, length in zip(("crank", "coupler", "rocker"), LINKS[1:], strict=True):
        density = coupler_density if name == "coupler" else 1.0
        inertia = kt.Inertia.from_com(length * density, (length / 2, 0, 0), 0.1 * density * length**3 * np.eye(3))
        builder.link(name, inertia)
    builder.joint("a", "continuous", "ground", "crank", axis=(0, -1, 0))
    builder.joint("b", "continuous", "crank", "coupler", axis=(0, -1, 0), xyz=(LINKS[1], 0, 0))
    builder.joint("d", "continuous", "ground", "rocker", axis=(0, -1, 0), xyz=(LINKS[0], 0, 0))
    builder.frame("coupler_end", "coupler", xyz=(LINKS[2], 0, 0))
    builder.frame("rocker_end", "rocker", xyz=(LINKS[3], 0, 0))
    return kt.Robot(builder.build(gravity=gravity))


def four_bar_at(angle):
    """q for an angle of the crank, by the law of cosines in the triangle of rocker, coupler and diagonal."""
    g, r, c, o = LINKS
    x, z = r * np.cos(angle) - g, r * np.sin(angle)  # of the crank's end, from the rocker's pivot
    d = np.sqrt(x * x + z * z)
    rocker = direction(x, z) - np.arccos((o * o + d * d - c * c) / (2 * o * d))
    coupler = direction(o * np.cos(rocker) - x, o * np.sin(rocker) - z)
    return np.array([angle, coupler - angle, rocker])


def direction(x, z):
    """atan2(z, x), also along a complex step."""
    return 2 * np.arctan(z / (np.sqrt(x * x + z * z) + x))


def gimbal(links: int = 3) -> kt.Robot:
    """A head on three axes that meet, z, y and z, whose inner links weigh nothing: M is singular where the middle angle
    is zero, so that `yaw` and `roll` have one axis. Further links follow the head."""
    builder = kt.ModelBuilder("gimbal")
    builder.link("ground")
    massless, parent = kt.Inertia.from_com(0.0, (0, 0, 0), np.zeros((3, 3))), "ground"
    for k, name in enumerate(("yaw", "pitch", "roll", *(f"joint{k}" for k in range(3, links)))):
        inertia = massless if k < 2 else kt.Inertia.from_com(0.8, (0.1, 0.2, 0.05), np.diag([0.01, 0.02, 0.015]))
        builder.link(f"link{k}", inertia)
        axis, xyz = ((0, 1, 0) if k % 2 else (0, 0, 1)), ((0, 0, 0) if k < 3 else (0.1, 0, 0.2))
        builder.joint(name, "continuous", parent, f"link{k}", axis=axis, xyz=xyz)
        parent = f"link{k}"
    builder.frame("end", parent)
    return kt.Robot(builder.build())
