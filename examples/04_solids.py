"""Make a hammer of solids, hang it on a nail, and ask how it swings and how it would spin in the air."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree import solids

STEEL, ASH = 7850.0, 680.0  # kg/m³
LENGTH = 0.32

# The handle stands on the origin along z; the head sits on top of it, with a hole where the handle goes through.
along_x = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # takes z to x
handle = solids.cylinder(0.014, LENGTH, density=ASH).shifted((0, 0, LENGTH / 2))
block = solids.box((0.06, 0.032, 0.032), density=STEEL) - solids.cylinder(0.014, 0.032, density=STEEL)
face = solids.cylinder(0.017, 0.03, density=STEEL).rotated(along_x).shifted((0.045, 0, 0))

# The peen is a wedge, a mesh of six vertices: an edge at x = -0.075, thickening to the block.
corners = [(-0.03, y, z) for y in (-0.016, 0.016) for z in (-0.016, 0.016)]
edge = [(-0.075, -0.016, 0.0), (-0.075, 0.016, 0.0)]
triangles = [(0, 3, 1), (0, 2, 3), (0, 1, 4), (2, 5, 3), (0, 4, 5), (0, 5, 2), (1, 3, 5), (1, 5, 4)]
peen = solids.mesh(corners + edge, triangles, density=STEEL)

head = (block + face + peen).shifted((0, 0, LENGTH - 0.016))
hammer = handle + head
assert hammer.is_consistent()
print(f"mass {hammer.mass:.3f} kg: head {head.mass:.3f}, handle {handle.mass:.3f}")
print("centre of mass", hammer.com.round(4), "m, above the end of the handle")

slow, middle, fast = hammer.principal_moments
print(f"principal moments {slow:.2e}, {middle:.2e}, {fast:.2e} kg m²")
for moment, axis in zip(hammer.principal_moments, hammer.principal_axes.T, strict=True):
    print(f"  {moment:.2e} about", (axis * np.sign(axis[np.abs(axis).argmax()])).round(3))

# A spin about the middle axis tumbles: a small wobble grows with this rate (Euler's equations, linearized).
growth = np.sqrt((middle - slow) * (fast - middle) / (slow * fast))
print(
    f"thrown with a spin of 10 rad/s about the middle axis, its wobble doubles every {np.log(2) / (10 * growth):.2f} s"
)

# On a nail through the end of the handle, which is the origin, it is a pendulum.
builder = kt.ModelBuilder("hammer on a nail")
builder.link("wall")
builder.link("hammer", hammer)
builder.joint("nail", "continuous", "wall", "hammer", axis=(0, 1, 0), rpy=(0, np.pi, 0))  # z down
robot = kt.Robot(builder.build())
stiffness = (robot.gravity_forces(np.array([1e-4])) - robot.gravity_forces(np.array([-1e-4]))) / 2e-4
inertia = robot.mass_matrix(np.zeros(1))[0, 0]
print(f"inertia about the nail {inertia:.4f} kg m², period {2 * np.pi * np.sqrt(inertia / stiffness[0]):.3f} s")

# -- picture: the hammer from the side, and how it tumbles when thrown about its middle axis ----
thrown = kt.ModelBuilder("hammer in the air")
thrown.link("hammer", hammer)
free = kt.Robot(thrown.build("floating", gravity=(0, 0, 0)))
axis = hammer.principal_axes[:, 1]
path = free.rollout(free.neutral(), np.concatenate([np.zeros(3), 10.0 * axis + 0.02]), None, 1e-3, 4000, "rk4")
figure = Figure(figsize=(10, 4.5), layout="constrained")
side, tumbling = figure.subplots(1, 2, width_ratios=(1, 1.6))
middle = LENGTH - 0.016
side.fill([-0.014, 0.014, 0.014, -0.014], [0, 0, LENGTH, LENGTH], color="burlywood", label="ash")
for x, z in (
    ((-0.03, 0.03, 0.03, -0.03), (-0.016, -0.016, 0.016, 0.016)),
    ((0.03, 0.06, 0.06, 0.03), (-0.017, -0.017, 0.017, 0.017)),
    ((-0.03, -0.075, -0.03), (-0.016, 0.0, 0.016)),
):
    side.fill(x, np.array(z) + middle, color="0.6", label="steel" if len(x) == 3 else None)
side.plot(*hammer.com[[0, 2]], "k*", markersize=12, label="centre of mass")
side.plot(0.0, 0.0, "ko", label="nail")
side.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", xlim=(-0.15, 0.15))
side.legend(loc="center right", fontsize="small")
principal = path.v[:, 3:] @ hammer.principal_axes
tumbling.plot(path.t, principal, label=["least", "middle", "greatest"])
tumbling.set(xlabel="time [s]", ylabel="ω along the principal axes [rad/s]", title="thrown about the middle axis")
tumbling.legend(title="moment of inertia")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "04_solids.png", dpi=120)
print("drawn in", folder / "04_solids.png")
