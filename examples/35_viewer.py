"""An arm in the browser follows a target around a circle that is too large for it, and says where it is out of reach.

The viewer runs without anybody looking: the motion is kept as a page that needs no server, swing.html. To look at it
live, print `viewer.url`, call `viewer.wait()`, and open that address; the target can then be dragged by hand.

    python 35_viewer.py [folder for pictures]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
robot = kt.load("arm6")
start = np.array([0.0, 0.6, 1.4, -0.4, 1.57, 0.0])

with robot.view(q=start, show=["visual", "com", "forces"]) as viewer:
    print(f"shown at a port of the loopback, for {robot.name}")
    target = viewer.follow("tool0")
    home = target.pose
    motion, wanted, reached, said = [], [], [], []
    for angle in np.linspace(0.0, 2.0 * np.pi, 60):
        goal = home.copy()
        goal[:3, 3] += 0.55 * np.array([0.0, np.sin(angle), 0.5 * (np.cos(angle) - 1.0)])
        target.pose = goal
        target.wait()
        motion.append(viewer.q)
        wanted.append(goal[:3, 3])
        reached.append(robot.frame("tool0").pose(viewer.q)[:3, 3])
        said.append(target.gap)
    viewer.follow(None)
    viewer.play((np.linspace(0.0, 4.0, len(motion)), np.array(motion)))
    page = viewer.export(folder / "swing.html", rate=20.0)

wanted, reached = np.array(wanted), np.array(reached)
near = np.array([gap.closed for gap in said])
print(
    f"{near.sum()} of {len(near)} places reached; the farthest from its target: {max(said, key=lambda g: g.distance)}"
)
print(f"kept as {page.name}, {page.stat().st_size / 1e6:.1f} MB, which opens without a network")
assert near.any() and np.linalg.norm(wanted - reached, axis=1)[near].max() < 1e-3

figure = Figure(figsize=(6, 4), layout="constrained")
axes = figure.subplots()
axes.plot(wanted[:, 1], wanted[:, 2], color="#9ca3af", lw=3, label="target")
axes.plot(reached[:, 1], reached[:, 2], color="#2563eb", label="tool0")
axes.plot(reached[~near, 1], reached[~near, 2], "o", ms=4, color="#dc2626", label="out of reach")
axes.set(xlabel="y [m]", ylabel="z [m]", aspect="equal")
axes.legend(frameon=False)
figure.savefig(folder / "35_viewer.png", dpi=150)
print("drawn in", folder / "35_viewer.png")
