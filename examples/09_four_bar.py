"""A four-bar linkage: a tree of three links whose ends are joined, driven at its crank by a constant torque."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

GROUND, CRANK, COUPLER, ROCKER = 1.0, 0.4, 0.9, 0.7  # [m]


def linkage() -> kt.Robot:
    """Crank and coupler hang on one pivot, the rocker on the other; they meet at the frames called *_end."""
    builder = kt.ModelBuilder("four-bar")
    builder.link("ground")
    for name, length in (("crank", CRANK), ("coupler", COUPLER), ("rocker", ROCKER)):
        bar = kt.solids.box((length, 0.05, 0.05), mass=length)
        builder.link(name, bar.shifted((length / 2, 0, 0)))
        builder.frame(f"{name}_end", name, xyz=(length, 0, 0))
    builder.joint("a", "continuous", "ground", "crank", axis=(0, -1, 0))
    builder.joint("b", "continuous", "crank", "coupler", axis=(0, -1, 0), xyz=(CRANK, 0, 0))
    builder.joint("d", "continuous", "ground", "rocker", axis=(0, -1, 0), xyz=(GROUND, 0, 0))
    return kt.Robot(builder.build())


def closed(crank: float) -> np.ndarray:
    """The angles at which the linkage is closed, by the law of cosines."""
    x, z = CRANK * np.cos(crank) - GROUND, CRANK * np.sin(crank)
    d = np.hypot(x, z)
    rocker = np.arctan2(z, x) - np.arccos((ROCKER**2 + d**2 - COUPLER**2) / (2 * ROCKER * d))
    coupler = np.arctan2(ROCKER * np.sin(rocker) - z, ROCKER * np.cos(rocker) - x)
    return np.array([crank, coupler - crank, rocker])


robot = linkage()
system = robot.constrained(kt.Loop("coupler_end", "rocker_end"), frequency=100.0, actuated=["a"])
dt, tau = 1e-4, np.array([3.0, 0.0, 0.0])
q, v = closed(0.5), np.zeros(3)
start = robot.potential_energy(q)
states = []

print("  t [s]   crank [deg]   rocker [deg]   force in the joint [N]   gap [m]")
for k in range(10_001):
    states.append(q)
    a, force = system.forward_dynamics(q, v, tau)
    if k % 2000 == 0:
        gap = np.linalg.norm(system.position_error(q))
        angles = np.degrees(q[[0, 2]])
        print(f"  {k * dt:5.2f}   {angles[0]:8.1f}      {angles[1]:8.1f}       {np.linalg.norm(force):8.1f}", end="")
        print(f"                 {gap:.1e}")
    v = v + dt * a
    q = robot.integrate(q, dt * v)

gained = robot.kinetic_energy(q, v) + robot.potential_energy(q) - start
print(f"work of the motor {tau[0] * (q[0] - 0.5):.2f} J, energy of the linkage {gained:.2f} J")
assert np.linalg.norm(system.position_error(q)) < 1e-3
assert abs(gained - tau[0] * (q[0] - 0.5)) < 0.02 * abs(gained)

# the motor alone holds it: the joints without one need no effort
hold, _ = system.inverse_dynamics(closed(0.5), np.zeros(3), np.zeros(3))
print("torques that hold it at the start:", np.round(hold, 3) + 0.0)
assert np.allclose(hold[1:], 0.0)

# -- picture: the linkage now and then, and the way of a point of the coupler ----
states = np.array(states)
figure = Figure(figsize=(10, 4.4), layout="constrained")
plane, over_time = figure.subplots(1, 2)
joints = ("crank", "coupler", "coupler_end", "rocker")
for k in range(0, len(states), 1250):
    points = np.array([robot.frame(name).pose(states[k])[:3, 3] for name in joints])
    plane.plot(points[:, 0], points[:, 2], "o-", color=str(0.85 - 0.085 * k / 1250), linewidth=3)
poses = robot.frame("coupler").pose(states)
way = (poses @ np.array([COUPLER / 2, 0.0, 0.3, 1.0]))[:, :3]  # a point above the middle of the coupler
plane.plot(way[:, 0], way[:, 2], "tab:orange", label="a point of the coupler")
plane.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", title="dark is late")
plane.legend()
over_time.plot(dt * np.arange(len(states)), np.degrees(states[:, [0, 2]]), label=["crank", "rocker"])
over_time.set(xlabel="time [s]", ylabel="angle [deg]")
over_time.legend()
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "09_four_bar.png", dpi=120)
print("drawn in", folder / "09_four_bar.png")
