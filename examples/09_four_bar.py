"""A four-bar linkage: a tree of three links whose ends are joined, driven at its crank by a constant torque."""

import numpy as np

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

print("  t [s]   crank [deg]   rocker [deg]   force in the joint [N]   gap [m]")
for k in range(10_001):
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
