"""The equations of motion of a double pendulum, written out; of a six-joint arm, as code that needs no kinetree; and
once more from the energies alone, by Lagrange's equations, with a spring that no recursion knows."""

import time

import numpy as np

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
