"""A box thrown into the air turns over again and again about its middle axis; about the other two it does not.

Nothing pushes it but its weight: Euler's equation L ω̇ + ω × L ω = 0 alone makes it tumble. Energy of rotation and
angular momentum stay, and in the axes of the box ω goes round where the two surfaces T = const and |k| = const meet.
How long one round takes is known by an elliptic integral (Landau and Lifshitz, Mechanics, § 37).

    python 18_tumbling_box.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

SIZE, MASS, SPEED, NUDGE = (0.3, 0.2, 0.05), 1.0, 12.0, 0.02  # [m], [kg], [rad/s] and a part of it
DT, STEPS = 1e-3, 10000

builder = kt.ModelBuilder("box")
builder.link("box", kt.solids.box(SIZE, mass=MASS))
robot = kt.Robot(builder.build("floating"))
moments = robot.model.inertias[1].I.diagonal()  # about x, y, z; the middle one is about y


def thrown(axis, integrator="rk4"):
    """Upwards, spinning about an axis of the box that is a little off."""
    omega = np.full(3, SPEED * NUDGE)
    omega[axis] = SPEED
    return robot.rollout(robot.neutral(), np.concatenate([[0.0, 0.0, 49.0], omega]), None, DT, STEPS, integrator)


def period(omega):
    """Of ω in the axes of the box: 4 K(k) / p, with K by the arithmetic-geometric mean."""
    square, twice = np.sum((moments * omega) ** 2), np.sum(moments * omega**2)  # |k|² and 2 T
    I1, I2, I3 = sorted(moments)
    if square < twice * I2:
        I1, I3 = I3, I1
    p = np.sqrt((I3 - I2) * (square - twice * I1) / (I1 * I2 * I3))
    a, b = 1.0, np.sqrt(1.0 - (I2 - I1) * (twice * I3 - square) / ((I3 - I2) * (square - twice * I1)))
    while abs(a - b) > 1e-15:
        a, b = (a + b) / 2.0, np.sqrt(a * b)
    return 2.0 * np.pi / (a * p)


paths = {name: thrown(axis) for axis, name in enumerate("xyz")}
print(f"moments of inertia {moments.round(5)} kg m²")
print("  about   tilt of the axis, at most [deg]   energy of rotation and spin, off by at most")
for name, path in paths.items():
    axis = "xyz".index(name)
    tilt = np.degrees(np.arccos(path.v[:, 3 + axis] / np.linalg.norm(path.v[:, 3:], axis=1))).max()
    _, energy = robot.kinetic_energy_parts(path.q, path.v)
    spin = robot.centroidal_momentum(path.q, path.v)[:, 3:]
    off = np.ptp(energy) / energy[0], np.abs(spin - spin[0]).max() / np.linalg.norm(spin[0])
    print(f"    {name}             {tilt:7.2f}                        {off[0]:.0e}, {off[1]:.0e}")
    assert max(off) < 1e-9
    assert (tilt > 170.0) == (name == "y"), "only the middle axis is unstable"

omega = paths["y"].v[:, 3:]
turns = paths["y"].t[1:][np.diff(np.sign(omega[:, 1])) > 0]  # where it comes back through zero
print(f"a round takes {np.diff(turns).mean():.4f} s, by the elliptic integral {period(omega[0]):.4f} s")
assert np.allclose(np.diff(turns), period(omega[0]), atol=2 * DT)

simple = thrown(1, "semi-implicit-euler")
_, energy = robot.kinetic_energy_parts(simple.q, simple.v)
spin = np.linalg.norm(robot.centroidal_momentum(simple.q, simple.v)[:, 3:], axis=1)
print(
    f"semi-implicit Euler steps: energy off by {np.ptp(energy) / energy[0]:.0e}, spin by {np.ptp(spin) / spin[0]:.0e}"
)
assert np.ptp(energy) < 0.2 * energy[0] and np.ptp(spin) < 0.1 * spin[0]

figure = Figure(figsize=(11, 5), layout="constrained")
grid = figure.add_gridspec(3, 2, width_ratios=(1.3, 1.0))
for row, (name, path) in enumerate(paths.items()):
    axes = figure.add_subplot(grid[row, 0])
    axes.plot(path.t, path.v[:, 3:], label=["ω_x", "ω_y", "ω_z"])
    axes.set(ylabel="[rad/s]", title=f"thrown about {name}", xlim=(0.0, 10.0), ylim=(-16.0, 16.0))
    axes.label_outer()
axes.set_xlabel("time [s]")
figure.legend(*axes.get_legend_handles_labels(), loc="outside lower left", ncols=3)
space = figure.add_subplot(grid[:, 1], projection="3d")
for name, path in paths.items():
    k = (moments * path.v[:, 3:]).T
    space.plot(*(k / np.linalg.norm(k[:, 0])), label=f"thrown about {name}")
u, w = np.mgrid[0.0 : 2.0 * np.pi : 41j, 0.0 : np.pi : 21j]
space.plot_surface(np.cos(u) * np.sin(w), np.sin(u) * np.sin(w), np.cos(w), color="0.85", alpha=0.3)
for axis, name in zip(np.eye(3), "xyz", strict=True):
    space.plot(*np.outer(axis, [1.0, 1.4]), color="0.3", linewidth=1.0)
    space.text(*(1.5 * axis), name)
space.set_title("k / |k| in the axes of the box")
space.set_axis_off()
space.set_box_aspect((1, 1, 1), zoom=1.25)
space.view_init(elev=25, azim=25)
space.legend(loc="lower center", ncols=3, fontsize="small")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "18_tumbling_box.png", dpi=150)
print("drawn in", folder / "18_tumbling_box.png")
