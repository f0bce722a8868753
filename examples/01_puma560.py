"""The Puma 560 from its Denavit-Hartenberg table: the numbers of the books, and what its gears do to them."""

import numpy as np

import kinetree as kt

puma = kt.load("puma560")
nominal = np.array([0.0, np.pi / 4, np.pi, 0.0, np.pi / 4, 0.0])
np.set_printoptions(precision=4, suppress=True)

print("gravity load at the nominal pose [N m]:", puma.gravity_forces(nominal) + 0.0)
M = puma.mass_matrix(nominal)
print("inertia of each joint, with rotor [kg m²]:", np.diag(M))
print("share of the rotors behind their gears [%]:", (100 * puma.model.armature / np.diag(M)).round(1))

v = np.array([0.5, 0.5, 0.5, 1.0, 1.0, 1.0])
a = np.zeros(6)
smooth = kt.load("puma560", passive=False)
friction = puma.inverse_dynamics(nominal, v, a) - smooth.inverse_dynamics(nominal, v, a)
print("friction to overcome at", v, "rad/s [N m]:", friction)

modified = kt.from_dh([(0, 0, 0, 0), (0, -np.pi / 2, 0, 0), (0.4318, 0, 0.15005, 0)], "modified", name="first three")
print("the first three joints by Craig's convention:", modified.frame("tool0").pose([0, 0, 0])[:3, 3], "m")
