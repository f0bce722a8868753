"""The equations of motion of a double pendulum, written out; of a six-joint arm, as code that needs no kinetree; and
once more from the energies alone, by Lagrange's equations, with a spring that no recursion knows."""

import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

rod = kt.solids.cylinder(0.01, 0.5, mass=1.0)
builder = kt.ModelBuilder("double pendulum")
builder.link("ceiling")
for name in ("upper", "lower"):
    builder.link(name, rod.shifted((0, 0, -0.25)))
builder.joint("shoulder", "continuous", "ceiling", "upper", axis=(0, -1, 0))
builder.joint("elbow", "continuous", "upper", "lower", axis=(0, -1, 0), xyz=(0, 0, -0.5))
builder.frame("tip", "lower", xyz=(0, 0, -0.5))
pendulum = kt.Robot(builder.build())
q, v, a = np.array([0.4, -0.9]), np.array([1.5, -0.5]), np.array([2.0, 1.0])

try:
    equations = pendulum.equations(symbolic=True)
except kt.KinetreeError as error:
    print(error)
else:
    print(equations.short())
    print()
    print(equations.pretty())

    module = {}
    exec(equations.python(), module)
    assert np.allclose(module["inverse_dynamics"](q, v, a), pendulum.inverse_dynamics(q, v, a))
    print("\nthe same as C:\n" + equations.c().split("\n\n")[-1])

    start = time.perf_counter()
    arm = kt.load("puma560")
    code = arm.equations().c()
    print(f"puma560: {len(code.splitlines())} lines of C in {time.perf_counter() - start:.1f} s")
    table = arm.equations(factored=False).short()
    print("gravity at its second joint:", f"G2 = {table.G[1]}")

# A spring from the tip to a hook; Lagrange's equations take its energy, and need no Jacobian.
sprung = kt.Lagrange(pendulum, kt.Spring("tip", (0.3, 0.0, -0.4), stiffness=60.0, rest_length=0.2))
tau = sprung.inverse_dynamics(q, v, a)
print("efforts with the spring [N m]:", tau.round(4))
assert np.allclose(tau + sprung.spring_forces(q), pendulum.inverse_dynamics(q, v, a)), "two ways to the same forces"

# -- picture: the pendulum swings, with the spring and without ----
start, dt, steps = np.array([1.2, 0.4]), 1e-3, 4000
spring = kt.compile(lambda robot, q, v: sprung.spring_forces(q))
figure = Figure(figsize=(10, 4.6), layout="constrained")
plane, over_time = figure.subplots(1, 2)
for title, law, color in (("free", None, "tab:blue"), ("with the spring", spring, "tab:orange")):
    path = pendulum.rollout(start, np.zeros(2), law, dt, steps, "rk4")
    tip = pendulum.frame("tip").pose(path.q)[:, :3, 3]
    plane.plot(tip[:, 0], tip[:, 2], color=color, linewidth=1.2, label=title)
    over_time.plot(path.t, path.q[:, 1], color=color, label=title)
elbow, tip = (pendulum.frame(name).pose(start)[:3, 3] for name in ("lower", "tip"))
plane.plot([0.0, elbow[0], tip[0]], [0.0, elbow[2], tip[2]], "ko-", linewidth=3, label="start")
plane.plot(0.3, -0.4, "r^", markersize=10, label="hook of the spring")
plane.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", title="way of the tip")
plane.margins(y=0.25)
plane.legend(fontsize="small", ncols=2, loc="upper center")
over_time.set(xlabel="time [s]", ylabel="elbow [rad]")
over_time.legend()
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "07_equations_of_motion.png", dpi=120)
print("drawn in", folder / "07_equations_of_motion.png")
