"""A humanoid kicks in mid-air: its momentum stays, its trunk turns back, and one rigid body would not."""

import numpy as np

import kinetree as kt

robot = kt.load("humanoid", base="floating", base_velocity="mixed")
hip = 6 + robot.joint_names.index("left_hip_pitch")
felt = robot.mass_matrix(robot.neutral()).diagonal()[6:]  # the inertia that each joint feels


@kt.compile
def kick(robot, q, v, t):
    """Swing the left leg, hold everything else."""
    target = kt.zeros(robot.nv)
    target[hip] = -0.6 * kt.sin(2 * np.pi * t / 0.5)
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
        f"  {t[k]:4.1f}    {q[k, hip + 1]:+6.3f}      {abs(spin[k, 1]):8.1e}         {orbital[k, 1]:+8.3f}"
        f"        {abs(average[k, 1]):8.1e}     {trunk[k, 1]:+.3f}"
    )
assert np.abs(spin).max() < 1e-5  # no moment about the centre of mass: it never turns as a whole
assert np.abs(trunk[:, 1]).max() > 0.1  # and still its trunk does
