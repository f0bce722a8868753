"""Make a hammer of solids, hang it on a nail, and ask how it swings and how it would spin in the air."""

import numpy as np

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
