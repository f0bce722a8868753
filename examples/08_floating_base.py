"""An arm that floats in space: what it does to its base when it moves, and what stays constant."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

robot = kt.load("arm6", base="floating", gravity=(0, 0, 0))
dt, steps = 1e-3, 400
q, v = robot.neutral(), np.zeros(robot.nv)
q[7:] = [0.0, 0.5, 0.8, 0.0, 0.3, 0.0]
start = robot.center_of_mass(q)
states = []

print("  t [s]   base x [m]   base tilt [deg]   centre of mass moved [m]")
for k in range(steps + 1):
    states.append(q)
    if k % 100 == 0:
        tilt = np.degrees(2 * np.arccos(min(1.0, abs(q[6]))))
        drift = np.abs(robot.center_of_mass(q) - start).max()
        print(f"  {k * dt:5.2f}   {q[0]:+.4f}      {tilt:6.2f}            {drift:.1e}")
    tau = np.zeros(robot.nv)
    tau[7] = 3.0 * np.cos(2 * np.pi * k * dt / 0.4)  # swing the shoulder; nothing pushes the base
    v = v + dt * robot.forward_dynamics(q, v, tau)
    q = robot.integrate(q, dt * v)
assert np.abs(robot.center_of_mass(q) - start).max() < 1e-4

# -- picture: arm and base before, while and after, the centre of mass where it was ----
states = np.array(states)
figure = Figure(figsize=(10, 4.2), layout="constrained")
side, over_time = figure.subplots(1, 2)
chain = [name for name in robot.frame_names if name.endswith("_link")]
for k, colour in zip((0, 100, 200, 300, 400), ("0.8", "0.65", "0.5", "0.3", "k"), strict=True):
    points = np.array([robot.frame(name).pose(states[k])[:3, 3] for name in chain])
    side.plot(points[:, 0], points[:, 2], "o-", color=colour, linewidth=3, label=f"{k * dt:.1f} s")
side.plot(*start[[0, 2]], "r*", markersize=14, label="centre of mass")
side.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", title="nothing holds the base (lower end)")
side.legend(fontsize="small")
t = dt * np.arange(steps + 1)
over_time.plot(t, 1e3 * (states[:, :3] - states[0, :3]), label=["base x [mm]", "base y [mm]", "base z [mm]"])
over_time.plot(t, np.degrees(states[:, 8]), "k--", label="shoulder [deg]")
over_time.set(xlabel="time [s]", title="what the shoulder does to the base")
over_time.legend()
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "08_floating_base.png", dpi=120)
print("drawn in", folder / "08_floating_base.png")
