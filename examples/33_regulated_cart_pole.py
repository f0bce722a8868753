"""A pole balanced on a cart by a linear-quadratic regulator, and from how far away it still gets there.

A step of the simulation is differentiated about the upright pose, δx' = A δx + B δτ, and the regulator follows from A
and B by Riccati's equation. It then pushes the cart, with a limited force, in a rollout of the whole nonlinear system
from a grid of starts: the picture shows which of them come back.

    python 33_regulated_cart_pole.py [folder for the picture]
"""

import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.simulation import linearized_step

DT, SECONDS, GRID, STRONGEST = 0.01, 10.0, 160, 20.0
robot = kt.load("cartpole")
UPRIGHT, STILL = np.zeros(2), np.zeros(2)
assert robot.potential_energy(UPRIGHT) > robot.potential_energy([0.0, np.pi])

A, B = linearized_step(robot, UPRIGHT, STILL, STILL, DT)
B = B[:, :1]  # nothing drives the pole
assert np.abs(np.linalg.eigvals(A)).max() > 1.0, "alone it falls"

P, Q, R = np.eye(4), np.diag([1.0, 10.0, 1.0, 1.0]), np.array([[0.1]])
before = np.zeros((4, 4))
while np.abs(P - before).max() > 1e-9 * np.abs(P).max():
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    P, before = Q + A.T @ P @ (A - B @ K), P
slowest = np.abs(np.linalg.eigvals(A - B @ K)).max()
assert slowest < 1.0, "with the regulator it stands"
print(f"errors shrink by {1 - slowest:.2%} in a step of {1e3 * DT:g} ms; gains {np.round(K[0], 1)}")


@kt.compile(shapes={"gain": (4,)})
def regulator(robot, q, v, gain):
    """−K δx on the cart, as far as the motor goes."""
    push = -gain @ np.concatenate([q - UPRIGHT, v])
    return np.array([kt.clip(push, -STRONGEST, STRONGEST), 0.0])


tilts, rates = np.meshgrid(np.linspace(-1.3, 1.3, GRID), np.linspace(-5, 5, GRID), indexing="ij")
q0, v0 = np.stack([0 * tilts, tilts], axis=-1), np.stack([0 * rates, rates], axis=-1)
steps, gains = int(SECONDS / DT), {"gain": K[0]}
begun = time.perf_counter()
path = robot.rollout(q0, v0, regulator, DT, steps, "rk4", parameters=gains, every=steps)
print(f"{GRID * GRID} starts, {SECONDS:g} s each, in {time.perf_counter() - begun:.1f} s")
stands = np.abs(np.concatenate([path.q, path.v], axis=-1)[..., -1, :]).max(axis=-1) < 0.05
middle = GRID // 2
assert stands[middle, middle] and not stands[0, 0] and not stands[-1, -1]
assert np.mean(stands == stands[::-1, ::-1]) > 0.999, "left and right are alike"
print(f"{stands.mean():.0%} of them come back")

near = np.array([[0.25, 0.0], [0.6, -1.0], [-0.4, 2.5]])  # tilt and its rate
q0, v0 = (np.stack([np.zeros(3), column], axis=-1) for column in near.T)
some = robot.rollout(q0, v0, regulator, DT, steps, "rk4", parameters=gains)

figure = Figure(figsize=(10.5, 4.6), layout="constrained")
ends, ax = figure.subplots(1, 2)
image = np.where(stands, 0.7, 0.1).T
ends.imshow(image, origin="lower", extent=(-1.3, 1.3, -5, 5), aspect="auto", cmap="Greens", vmin=0, vmax=1)
ends.set(xlabel="tilt [rad]", ylabel="rate [rad/s]", title=f"starts that {STRONGEST:g} N bring back, dark")
for k, start in enumerate(near):
    ends.plot(*start, "o", color=f"C{k}", markeredgecolor="white")
    ax.plot(some.t, some.q[k, :, 1], color=f"C{k}")
    ax.plot(some.t, some.q[k, :, 0], color=f"C{k}", linestyle="--")
ax.axhline(0.0, color="0.7", linewidth=0.8, zorder=0)
ax.set(xlabel="t [s]", ylabel="[rad], [m]", title="three of them: tilt of the pole, cart dashed", xlim=(0, 8))
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / f"{Path(__file__).stem}.png", dpi=120)
print("saved", folder / f"{Path(__file__).stem}.png")
