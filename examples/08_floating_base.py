"""An arm that floats in space: what it does to its base when it moves, and what stays constant."""

import numpy as np

import kinetree as kt

robot = kt.load("arm6", base="floating", gravity=(0, 0, 0))
dt, steps = 1e-3, 400
q, v = robot.neutral(), np.zeros(robot.nv)
q[7:] = [0.0, 0.5, 0.8, 0.0, 0.3, 0.0]
start = robot.center_of_mass(q)

print("  t [s]   base x [m]   base tilt [deg]   centre of mass moved [m]")
for k in range(steps + 1):
    if k % 100 == 0:
        tilt = np.degrees(2 * np.arccos(min(1.0, abs(q[6]))))
        drift = np.abs(robot.center_of_mass(q) - start).max()
        print(f"  {k * dt:5.2f}   {q[0]:+.4f}      {tilt:6.2f}            {drift:.1e}")
    tau = np.zeros(robot.nv)
    tau[7] = 3.0 * np.cos(2 * np.pi * k * dt / 0.4)  # swing the shoulder; nothing pushes the base
    v = v + dt * robot.forward_dynamics(q, v, tau)
    q = robot.integrate(q, dt * v)
assert np.abs(robot.center_of_mass(q) - start).max() < 1e-4
