"""Balls that bounce, blocks that stick or slip, and a ball that slips until it rolls, beside what textbooks say.

Rigid contact is solved once a step: who touches pushes, friction stays in its cone, and what hits is thrown back. All
curves are drawn twice, as they were simulated with steps of a millisecond and as formulas have them.

    python 29_bounce_slip_and_roll.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.simulation import Ground, RigidContact, Touch

G, RADIUS, DT, STEPS = 9.81, 0.1, 1e-3, 1500
SIZE, MU = np.array([0.3, 0.2, 0.1]), np.tan(np.radians(30.0))


def body(name, inertia):
    """A robot of one free body."""
    builder = kt.ModelBuilder(name)
    builder.link(name, inertia)
    return kt.Robot(builder.build("floating"))


ball, block = body("ball", kt.solids.sphere(RADIUS, mass=1.0)), body("block", kt.solids.box(SIZE, mass=1.0))
corners = [Touch("block", (x, y, -0.5) * SIZE) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
figure = Figure(figsize=(12, 4.2), layout="constrained")
bounce, slide, roll = figure.subplots(1, 3)

# -- a ball falls from one metre, with three coefficients of restitution ------------------------------------------
start = ball.neutral()
start[2] = 1.0 + RADIUS
print("  e     height of the first bounces [m]      e², e⁴, e⁶")
for e in (0.9, 0.7, 0.4):
    contact = RigidContact(Touch("ball", radius=RADIUS), restitution=e)
    path = ball.rollout(start, np.zeros(6), None, DT, 2 * STEPS, contact=contact)
    height = path.q[:, 2] - RADIUS
    tops = height[1:-1][(height[:-2] <= height[1:-1]) & (height[1:-1] > height[2:])]
    print(f"  {e}   {np.round(tops[:3], 4)!s:32s}  {np.round(e ** np.array([2.0, 4.0, 6.0]), 4)}")
    assert np.allclose(tops[:3], e ** np.array([2.0, 4.0, 6.0]), atol=3e-3)
    (line,) = bounce.plot(path.t, height, label=f"e = {e}")
    for k in range(1, 4):
        bounce.axhline(e ** (2 * k), color=line.get_color(), linewidth=0.5, linestyle=":")
bounce.set(title="dropped from 1 m", xlabel="time [s]", ylabel="height [m]", ylim=(0.0, 1.05))
bounce.legend(loc="upper right")

# -- a block on slopes around the angle of friction, 30° ------------------------------------------------------------
print("  slope   slipped in 1.5 s [m]   ½ g (sin α - μ cos α) t²")
for degrees in (25.0, 29.9, 32.0, 36.0, 40.0):
    alpha = np.radians(degrees)
    normal, downhill = np.array([np.sin(alpha), 0.0, np.cos(alpha)]), np.array([np.cos(alpha), 0.0, -np.sin(alpha)])
    on_slope = block.neutral()
    on_slope[:3], on_slope[3:7] = 0.5 * SIZE[2] * normal, [0.0, np.sin(alpha / 2), 0.0, np.cos(alpha / 2)]
    path = block.rollout(on_slope, np.zeros(6), None, DT, STEPS, contact=RigidContact(corners, Ground(normal), MU))
    slipped = (path.q[:, :3] - path.q[0, :3]) @ downhill
    exact = 0.5 * max(0.0, G * (np.sin(alpha) - MU * np.cos(alpha))) * path.t**2
    print(f"  {degrees:4.1f}°   {slipped[-1]:12.6f}           {exact[-1]:12.6f}")
    assert np.allclose(slipped, exact, atol=3e-3)
    (line,) = slide.plot(path.t, slipped, label=f"{degrees:g}°")
    slide.plot(path.t[::150], exact[::150], ".", color=line.get_color())
slide.set(title="on a slope, with friction for 30°", xlabel="time [s]", ylabel="slipped [m]")
slide.legend(loc="upper left")

# -- a ball that is thrown along the ground without spin --------------------------------------------------------------
start[2], speed, mu = RADIUS, 2.0, 0.15
thrown = np.array([speed, 0.0, 0.0, 0.0, 0.0, 0.0])
path = ball.rollout(start, thrown, None, DT, STEPS, contact=RigidContact(Touch("ball", radius=RADIUS), friction=mu))
forward, spin = np.diff(path.q[:, 0]) / DT, RADIUS * path.v[1:, 4]
slipping = 2.0 / 7.0 * speed / (mu * G)
print(
    f"it slips for {slipping:.3f} s, and rolls at {forward[-1]:.4f} m/s, 5/7 of {speed} m/s = {5 / 7 * speed:.4f} m/s"
)
assert abs(forward[-1] - 5 / 7 * speed) < 1e-3 * speed
roll.plot(path.t[1:], forward, label="speed")
roll.plot(path.t[1:], spin, label="radius · spin")
roll.axhline(5 / 7 * speed, color="0.6", linewidth=0.8, linestyle=":")
roll.axvline(slipping, color="0.6", linewidth=0.8, linestyle=":")
roll.annotate("5/7 of the speed", (1.48, 5 / 7 * speed), ha="right", va="bottom", color="0.4")
roll.set(title="thrown without spin: slips, then rolls", xlabel="time [s]", ylabel="[m/s]", ylim=(0.0, 2.1))
roll.legend(loc="lower right")

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "29_bounce_slip_and_roll.png", dpi=150)
print("drawn in", folder / "29_bounce_slip_and_roll.png")
