"""A cart swings its pole up: the force is found by gradients through the simulation, in JAX.

Dynamics are `kt.to_jax(robot.forward_dynamics)`: machine code of kinetree inside a program of XLA. `jax.grad` goes back
through 200 steps of `jax.lax.scan`, and `jax.vmap` does so for many guesses at once; the best one is kept.

    python 47_swing_up_by_gradients.py [folder for the picture]
"""

import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

jax.config.update("jax_enable_x64", True)
DT, STEPS, GUESSES, ITERATIONS = 0.01, 200, 8, 400
robot = kt.load("cartpole")
dynamics = kt.to_jax(robot.forward_dynamics)
energies = kt.to_jax(robot.potential_energy)
HANGING, UP = np.array([0.0, np.pi]), np.zeros(2)
if robot.potential_energy(HANGING) > robot.potential_energy(UP):
    HANGING, UP = UP, HANGING


def simulated(forces):
    """q and v after every step, from rest with the pole hanging, by the semi-implicit Euler method."""

    def step(state, force):
        q, v = state
        v = v + DT * dynamics(q, v, jnp.array([force, 0.0]))
        q = q + DT * v
        return (q, v), (q, v)

    return jax.lax.scan(step, (jnp.asarray(HANGING), jnp.zeros(2)), forces)[1]


def cost(forces):
    """How far it is at the end from standing still in the middle, and a little for the force."""
    q, v = simulated(forces)
    lacking = energies(jnp.asarray(UP)) - energies(q[-20:])
    return (
        10.0 * jnp.mean(lacking) + jnp.mean(q[-20:, 0] ** 2) + 0.1 * jnp.mean(v[-20:] ** 2) + 1e-4 * jnp.mean(forces**2)
    )


@jax.jit
def descend(forces):
    """Adam's method, on all guesses at once."""

    def iterate(carry, k):
        x, mean, square = carry
        value, slope = jax.vmap(jax.value_and_grad(cost))(x)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        x = x - 0.3 * (mean / (1 - 0.9 ** (k + 1))) / (jnp.sqrt(square / (1 - 0.99 ** (k + 1))) + 1e-9)
        return (x, mean, square), value

    (x, _, _), values = jax.lax.scan(iterate, (forces, 0.0 * forces, 0.0 * forces), jnp.arange(ITERATIONS))
    return x, values


guesses = 5.0 * np.random.default_rng(0).normal(size=(GUESSES, 1)) * np.sin(np.linspace(0.0, 12.0, STEPS))
compiled = descend.lower(guesses).compile()
start = time.perf_counter()
forces, values = jax.block_until_ready(compiled(guesses))
seconds = time.perf_counter() - start
best = int(jnp.argmin(values[-1]))
print(f"{GUESSES * ITERATIONS} gradients through {STEPS} steps in {seconds:.2f} s")
print(f"cost {float(values[0, best]):.2f} before, {float(values[-1, best]):.3f} after")
q, v = (np.asarray(x) for x in simulated(forces[best]))
height = robot.potential_energy(q) - robot.potential_energy(HANGING)
highest = robot.potential_energy(UP) - robot.potential_energy(HANGING)
print(f"height of the pole at the end: {100 * height[-1] / highest:.1f} %")
assert height[-1] > 0.95 * highest

figure = Figure(figsize=(7, 4), layout="constrained")
above, below = figure.subplots(2, sharex=True)
t = DT * np.arange(1, STEPS + 1)
above.plot(t, 100 * height / highest)
above.set(ylabel="height [%]")
below.plot(t, forces[best])
below.set(xlabel="time [s]", ylabel="force [N]")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "47_swing_up_by_gradients.png", dpi=150)
print("drawn in", folder / "47_swing_up_by_gradients.png")
