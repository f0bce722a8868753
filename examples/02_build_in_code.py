"""Build a crane in code (a mast that turns, a trolley that slides, a hook on a free swing) and ask what holds it."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

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

# -- picture: the load swings with the brakes of trolley and jib off ----
path = crane.rollout(q, v, None, dt=1e-3, steps=5000, integrator="rk4")
hook, trolley = (crane.frame(name).pose(path.q)[:, :3, 3] for name in ("hook", "trolley"))
figure = Figure(figsize=(10, 4.2), layout="constrained")
above, over_time = figure.subplots(1, 2)
above.plot(hook[:, 0], hook[:, 1], label="hook")
above.plot(trolley[:, 0], trolley[:, 1], label="trolley")
above.plot([0.0, trolley[0, 0]], [0.0, trolley[0, 1]], "k--", linewidth=1, label="jib at the start")
above.plot(0.0, 0.0, "ks")
above.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title="seen from above, brakes off")
above.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")
over_time.plot(path.t, np.degrees(path.q[:, 2]), label="swing [deg]")
over_time.plot(path.t, path.q[:, 1], label="trolley [m]")
over_time.set(xlabel="time [s]")
over_time.legend()
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "02_build_in_code.png", dpi=120)
print("drawn in", folder / "02_build_in_code.png")
