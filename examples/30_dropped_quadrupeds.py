"""Two hundred quadrupeds are dropped, each at another tilt, onto the ground and a step; most of them stand.

Joints are held by springs and dampers, feet, knees and the trunk's corners can touch. The whole loop, contact with
friction solved in every step, runs as one kernel, eight states at a time where the CPU has lanes for them.

    python 30_dropped_quadrupeds.py [folder for the picture]
"""

import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import kinetree as kt
from kinetree.simulation import Block, Ground, RigidContact, Terrain, Touch

COUNT, DT, STEPS, EVERY = 200, 1e-3, 3000, 10
LEGS = ("front_left", "front_right", "hind_left", "hind_right")
STEP = Block((1.0, 2.0, 0.08), (0.65, 0.0, 0.04))

robot = kt.load("quadruped", base="floating")
feet = [Touch(f"{leg}_foot", radius=0.01) for leg in LEGS]
knees = [Touch(f"{leg}_shank_link", radius=0.03, friction=0.3) for leg in LEGS]
corners = [(x, y, z) for x in (-0.29, 0.29) for y in (-0.09, 0.09) for z in (-0.07, 0.07)]
trunk = [Touch("base_link", corner, friction=0.3) for corner in corners]
contact = RigidContact([*feet, *knees, *trunk], Terrain([Ground(), STEP]), friction=0.8)

upright = robot.neutral()
upright[7:] = np.concatenate([(side * 0.3, 0.9, -1.7) for side in (1, -1, 1, -1)])  # crouched, feet apart
posture = upright[7:].copy()


@kt.compile
def hold(robot, q, v):
    """Springs and dampers at the joints, and no hand on the trunk."""
    return np.concatenate([np.zeros(6), 200.0 * (posture - q[7:]) - 8.0 * v[6:]])


rng = np.random.default_rng(0)
tilts = np.concatenate([rng.normal(0.0, 0.1, (COUNT, 3)), rng.normal(0.0, (0.6, 0.3, 1.0), (COUNT, 3))], axis=1)
tilts[0] = 0.0, 0.0, 0.0, 0.2, -0.3, 0.0
start = robot.integrate(upright, np.concatenate([tilts, np.zeros((COUNT, 12))], axis=1))
start[:, 2] = 0.6
rest = np.zeros(robot.nv)

robot.rollout(start[:16], rest, hold, DT, 1 * EVERY, contact=contact, record=("q", "contact_forces"), every=EVERY)
began = time.perf_counter()
path = robot.rollout(start, rest, hold, DT, STEPS, contact=contact, record=("q", "contact_forces"), every=EVERY)
seconds = time.perf_counter() - began
up = 1.0 - 2.0 * (path.q[..., 3] ** 2 + path.q[..., 4] ** 2)  # z of the trunk's own z axis
stands = up[:, -1] > 0.8
moving = np.abs(np.diff(path.q[:, -50:, :3], axis=1)).max(axis=(1, 2)) > 1e-3
print(f"{COUNT} robots for {STEPS * DT:g} s in {seconds:.2f} s: {COUNT * STEPS / seconds:.2g} steps per second")
print(f"{stands.sum()} stand, {(~stands).sum()} lie, {moving.sum()} still move")
forces = path["contact_forces"]
print(f"on the first, the ground carries {forces[0, -1].sum(axis=0)[2]:.1f} N of {robot.mass * 9.81:.1f} N")
assert not path.diverged.any() and stands.sum() > 0.6 * COUNT
assert contact.gaps(robot, path.q[:, ::10]).min() > -0.01

# -- one of them from the side, the heights of all, and the forces on its feet --------------------------------------
figure = Figure(figsize=(12, 5.8), layout="constrained")
grid = figure.add_gridspec(2, 2, height_ratios=(0.6, 1.0))
side = figure.add_subplot(grid[0, :])
side.axhspan(-0.1, 0.0, color="0.8")
moments = (0, 30, 45, 60, 80, len(path.t) - 1)
for column, k in enumerate(moments):
    shift = 1.7 * column
    x = STEP.position[0] - 0.5 * STEP.size[0]
    side.add_patch(Rectangle((shift + x, 0.0), STEP.size[0], STEP.size[2], color="0.8"))
    q = path.q[0, k]
    for leg, color in zip(LEGS, ("C0", "C0", "C3", "C3"), strict=True):
        frames = [f"{leg}_{part}" for part in ("hip_link", "thigh_link", "shank_link", "foot")]
        points = np.array([robot.frame(name).pose(q)[:3, 3] for name in frames])
        side.plot(shift + points[:, 0], points[:, 2], "o-", color=color, markersize=3, linewidth=2)
    pose = robot.frame("base_link").pose(q)
    outline = np.array([(a, 0.0, b) for a, b in ((-0.29, -0.07), (0.29, -0.07), (0.29, 0.07), (-0.29, 0.07))])
    outline = outline @ pose[:3, :3].T + pose[:3, 3]
    side.fill(shift + outline[:, 0], outline[:, 2], color="0.35", alpha=0.8)
    side.text(shift - 0.45, 1.05, f"{path.t[k]:.2f} s", color="0.3")
side.set(xlim=(-0.7, 1.7 * len(moments) - 0.55), ylim=(-0.1, 1.2), aspect="equal", title="one of them")
side.set_axis_off()
heights = figure.add_subplot(grid[1, 0])
heights.plot(path.t, path.q[stands][..., 2].T, color="C2", linewidth=0.5, alpha=0.5)
heights.plot(path.t, path.q[~stands][..., 2].T, color="C1", linewidth=0.5, alpha=0.5)
heights.plot(path.t, path.q[0, :, 2], color="black", linewidth=1.5)
heights.plot([], [], color="C2", label=f"{stands.sum()} stand")
heights.plot([], [], color="C1", label=f"{(~stands).sum()} lie")
heights.set(title="height of the trunk", xlabel="time [s]", ylabel="[m]")
heights.legend(loc="upper right")
normal = figure.add_subplot(grid[1, 1])
for k, leg in enumerate(LEGS):
    normal.plot(path.t[1:], forces[0, :, k, 2], label=leg.replace("_", " "), linewidth=1.0)
normal.set(title="force on the feet of the one", xlabel="time [s]", ylabel="[N]", xlim=(0.0, 1.5), ylim=(0.0, 350.0))
normal.legend(loc="upper right")

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "30_dropped_quadrupeds.png", dpi=150)
print("drawn in", folder / "30_dropped_quadrupeds.png")
