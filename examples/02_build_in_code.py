"""Build a crane in code (a mast that turns, a trolley that slides, a hook on a free swing) and ask what holds it."""

import numpy as np

import kinetree as kt

builder = kt.ModelBuilder("crane")
builder.link("ground")
builder.link("jib", kt.Inertia.from_com(400.0, (4.0, 0.0, 0.0), np.diag([20.0, 2500.0, 2500.0])))
builder.link("trolley", kt.Inertia.from_com(60.0, (0.0, 0.0, 0.0), np.eye(3) * 4.0))
builder.link("load", kt.Inertia.from_com(150.0, (0.0, 0.0, -6.0), np.eye(3) * 12.0))
builder.joint("slew", "continuous", "ground", "jib", axis=(0, 0, 1), xyz=(0, 0, 10))
builder.joint("travel", "prismatic", "jib", "trolley", axis=(1, 0, 0), lower=1.0, upper=9.0)
builder.joint("swing", "revolute", "trolley", "load", axis=(0, 1, 0), lower=-0.8, upper=0.8)
builder.frame("hook", "load", xyz=(0, 0, -6))
crane = kt.Robot(builder.build())

q = np.array([0.5, 6.0, 0.1])  # slewed, trolley at 6 m, load swung outwards
v = np.array([0.2, 0.0, 0.0])  # slewing
print("hook at", crane.frame("hook").pose(q)[:3, 3].round(3), "m")
print("hook velocity", crane.frame("hook").velocity(q, v)[:3].round(3), "m/s")
print("efforts that keep the slewing speed", crane.bias_forces(q, v).round(2), "[N m, N, N m]")
a = crane.forward_dynamics(q, v, np.zeros(3))
print("accelerations with the brakes off  ", a.round(3), "[rad/s², m/s², rad/s²]")
