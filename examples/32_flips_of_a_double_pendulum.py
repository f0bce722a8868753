"""When a double pendulum first turns over, for forty thousand starts: a picture of chaos, and events for some of them.

Both links hang from a ceiling and are let go at angles (θ₁, θ₂). Where the energy does not suffice to lift the second
link over its joint it never flips; elsewhere how soon depends on the start like a fractal. All starts run at once with
the smallest of records; the instant itself is found for some of them by an event.

    python 32_flips_of_a_double_pendulum.py [folder for the picture]
"""

import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

GRID, DT, STEPS, EVERY = 200, 5e-3, 2000, 20

builder = kt.ModelBuilder("double pendulum")
builder.link("ceiling")
for k, parent in ((1, "ceiling"), (2, "link1")):
    builder.link(f"link{k}", kt.Inertia.from_com(1.0, (0, 0, -1.0), 1e-9 * np.eye(3)))
    builder.joint(f"hinge{k}", "continuous", parent, f"link{k}", axis=(0, 1, 0), xyz=(0, 0, 0 if k == 1 else -1.0))
robot = kt.Robot(builder.build())

angles = np.linspace(-np.pi, np.pi, GRID)
first, second = np.meshgrid(angles, angles, indexing="ij")
q0 = np.stack([first, second - first], axis=-1)  # hinge angles of links at these angles to the vertical

begun = time.perf_counter()
path = robot.rollout(q0, np.zeros(2), None, DT, STEPS, "rk4", every=EVERY)
seconds = time.perf_counter() - begun
print(f"{GRID * GRID} starts, {STEPS * DT:g} s each: {GRID * GRID * STEPS / 1e6:.0f} million steps in {seconds:.1f} s")

outer = path.q.sum(axis=-1)  # of the second link to the vertical
over = np.abs(outer) > np.pi
flip = np.where(over.any(axis=-1), path.t[over.argmax(axis=-1)], np.nan)

lifted = 2.0 * np.cos(first) + np.cos(second)  # 2 cos θ₁ + cos θ₂ > 1: too little energy to get over
assert np.isnan(flip[lifted > 1.0]).all(), "what cannot turn over does not"
print(f"{np.isfinite(flip).mean():.0%} of them turn over")


def upright(robot, q):
    """Zero where the second link points straight up, either way round."""
    return kt.cos(0.5 * (q[0] + q[1]))


some = np.argwhere(np.isfinite(flip))[:: GRID * GRID // 60]
watched = kt.Event(upright, terminal=True, name="upright")
ends = robot.rollout(q0[tuple(some.T)], np.zeros(2), None, 0.1, 100, "dormand-prince", events=watched)
for event in ends.events:
    seen = flip[tuple(some[event.index[0]])]
    assert seen - 3 * DT * EVERY < event.t < seen + DT * EVERY, "the event lies just before the record that shows it"
print(f"{len(ends.events)} of them to the last digit, such as {ends.events[0].t:.9f} s")

figure = Figure(figsize=(7.6, 6.4), layout="constrained")
ax = figure.subplots()
image = ax.imshow(flip.T, origin="lower", extent=(-np.pi, np.pi) * 2, cmap="inferno_r", interpolation="nearest")
ax.contour(first, second, lifted, levels=[1.0], colors="tab:cyan", linewidths=1.2)
ax.set(xlabel=r"$\theta_1$ [rad]", ylabel=r"$\theta_2$ [rad]", title="when the second link first turns over")
ax.text(0, 0, "never: too little energy", ha="center", color="tab:cyan")
figure.colorbar(image, ax=ax, label="t [s]")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / f"{Path(__file__).stem}.png", dpi=120)
print("saved", folder / f"{Path(__file__).stem}.png")
