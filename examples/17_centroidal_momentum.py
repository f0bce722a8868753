"""A humanoid kicks in mid-air: its momentum stays, its trunk turns back, and one rigid body would not."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

robot = kt.load("humanoid", base="floating", base_velocity="mixed")
hip = robot.joint("left_hip_pitch")
felt = robot.mass_matrix(robot.neutral()).diagonal()[6:]  # the inertia that each joint feels


@kt.compile
def kick(robot, q, v, t):
    """Swing the left leg, hold everything else."""
    target = kt.zeros(robot.nv)
    target[hip.v_slice] = -0.6 * kt.sin(2 * np.pi * t / 0.5)
    tau = felt * (900.0 * (target[6:] - q[7:]) - 40.0 * v[6:])
    return np.concatenate([np.zeros(6), tau])  # nothing pushes the base


q0, v0 = robot.neutral(), np.zeros(robot.nv)
v0[:3] = 0.5, 0.0, 2.5  # jumping off, without turning
path = robot.rollout(q0, v0, kick, dt=1e-3, steps=500, integrator="rk4")
some = slice(None, None, 100)
t, q, v = path.t[some], path.q[some], path.v[some]

spin, orbital = robot.angular_momentum_parts(q, v, about="world")
average, trunk = robot.average_angular_velocity(q, v), v[:, 3:6]
print("  t [s]   hip [rad]   spin k_G,y [Nms]   orbital,y [Nms]   average ω̄,y   trunk ω,y [rad/s]")
for k in range(len(t)):
    print(
        f"  {t[k]:4.1f}    {q[k, hip.q_slice][0]:+6.3f}      {abs(spin[k, 1]):8.1e}         {orbital[k, 1]:+8.3f}"
        f"        {abs(average[k, 1]):8.1e}     {trunk[k, 1]:+.3f}"
    )
assert np.abs(spin).max() < 1e-5  # no moment about the centre of mass: it never turns as a whole
assert np.abs(trunk[:, 1]).max() > 0.1  # and still its trunk does

# -- picture: the hip swings, the trunk turns back, the average angular velocity stays zero ----
figure = Figure(figsize=(9, 4.2), layout="constrained")
swing, rates = figure.subplots(1, 2)
swing.plot(path.t, np.degrees(path.q[:, hip.q_slice]))
swing.set(xlabel="time [s]", ylabel="left hip [deg]", title="the kick")
rates.plot(path.t, path.v[:, 4], label="of the trunk")
rates.plot(path.t, robot.average_angular_velocity(path.q, path.v)[:, 1], label="average, ω̄")
rates.set(xlabel="time [s]", ylabel="ω about y [rad/s]", title="no momentum, and still the trunk turns")
rates.legend()
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "17_centroidal_momentum.png", dpi=120)
print("drawn in", folder / "17_centroidal_momentum.png")
