"""A quadruped on four point feet: the torques that hold it, a push, and what happens when a foot lands."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

robot = kt.load("quadruped", base="floating")
feet = [name for name in robot.frame_names if name.endswith("foot")]
stance = robot.constrained([kt.Contact(foot) for foot in feet])

q = robot.neutral()
q[2] = 0.4
for k, name in enumerate(robot.joint_names, start=7):
    q[k] = {"haa": 0.0, "hfe": 0.6, "kfe": -1.2}[name[-3:]]  # knees bent
rest = np.zeros(robot.nv)

# -- standing still: the least torques, and none on the base -------------------------------------------------
tau, forces = stance.inverse_dynamics(q, rest, rest)
print("force of the ground on each foot [N]:")
for foot, rows in zip(feet, stance.rows, strict=True):
    print(f"  {foot:18s}", np.round(forces[rows], 2) + 0.0)
print(f"their sum {forces.reshape(-1, 3).sum(axis=0)[2]:.3f} N, the weight {robot.mass * 9.81:.3f} N")
assert np.allclose(tau[:6], 0.0, atol=1e-8)
a, _ = stance.forward_dynamics(q, rest, tau)
assert np.allclose(a, 0.0, atol=1e-7)

# -- a push from the side, while the torques stay ------------------------------------------------------------
trunk = robot.body_names[0]
a, under_push = stance.forward_dynamics(q, rest, tau, wrenches={trunk: [0.0, 30.0, 0.0, 0.0, 0.0, 0.0]})
print(f"pushed by 30 N, the trunk starts with {a[1]:.2f} m/s² to the side and the feet stay:", end=" ")
print(f"{np.abs(stance.jacobian(q) @ a).max():.0e} m/s²")
assert np.allclose(stance.jacobian(q) @ a, 0.0, atol=1e-8)

# -- landing: every point of the robot falls at 1 m/s, then all feet stick ----------------------------------
falling = rest.copy()
falling[2] = -1.0
for e in (0.0, 0.5, 1.0):
    after, impulses = stance.impact(q, falling, restitution=e)
    before_J, after_J = robot.kinetic_energy(q, falling), robot.kinetic_energy(q, after)
    lift = impulses.reshape(-1, 3).sum(axis=0)[2]
    print(f"restitution {e}: impulse {lift:.2f} N s, energy {before_J:.2f} J before and {after_J:.2f} J after")
assert abs(after_J - before_J) < 1e-8

# -- many at once ----------------------------------------------------------------------------------------------
rng = np.random.default_rng(0)
many = np.stack([robot.integrate(q, 0.1 * rng.normal(size=robot.nv)) for _ in range(256)])
_, several = stance.inverse_dynamics(many, rest, rest)
lifted = several.reshape(256, 4, 3)[..., 2].min(axis=1) < 0
print(f"{lifted.sum()} of 256 postures would need a foot to pull on the ground")

# -- picture: the forces of the ground, standing and pushed ----
figure = Figure(figsize=(11, 4.6), layout="constrained")
side, front = figure.subplots(1, 2)
for axes, across, title, wanted in (
    (side, 0, "standing, from the side", forces),
    (front, 1, "pushed by 30 N to +y, from behind", under_push),
):
    for leg in ("front_left", "front_right", "hind_left", "hind_right"):
        names = ["base_link", *(f"{leg}_{part}" for part in ("hip_link", "thigh_link", "shank_link", "foot"))]
        points = np.array([robot.frame(name).pose(q)[:3, 3] for name in names])
        color = "tab:blue" if "left" in leg else "tab:cyan"
        axes.plot(points[:, across], points[:, 2], "o-", color=color, linewidth=3, markersize=4)
        force = wanted[stance.rows[feet.index(f"{leg}_foot")]]
        foot = points[-1]
        axes.quiver(
            foot[across], foot[2], force[across], force[2], color="tab:red", angles="xy", scale_units="xy", scale=400
        )
    axes.axhline(points[-1, 2], color="0.6", linewidth=1)
    axes.set(aspect="equal", title=title, xlabel=f"{'xy'[across]} [m]", ylabel="z [m]")
    axes.margins(0.2)
front.annotate(
    "", xy=(0.1, 0.43), xytext=(-0.1, 0.43), arrowprops={"arrowstyle": "-|>", "linewidth": 3, "color": "tab:green"}
)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "10_standing_quadruped.png", dpi=120)
print("drawn in", folder / "10_standing_quadruped.png")
