"""The Puma 560 from its Denavit-Hartenberg table: the numbers of the books, and what its gears do to them."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

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

# -- picture: the arm at its nominal pose, and what its second joint holds elsewhere ----
figure = Figure(figsize=(10, 4.2), layout="constrained")
arm, load = figure.subplots(1, 2)
frames = [name for name in puma.frame_names if not name.endswith("_axis")]
points = np.array([puma.frame(name).pose(nominal)[:3, 3] for name in frames])
arm.plot(points[:, 0], points[:, 2], "o-", linewidth=4, markersize=7, solid_capstyle="round")
arm.plot(*puma.center_of_mass(nominal)[[0, 2]], "k*", markersize=14, label="centre of mass")
arm.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", title="nominal pose, from the side", xlim=(-0.3, 1.0))
arm.margins(y=0.2)
arm.legend(loc="upper right")
q = np.zeros((121, 121, 6))
q[..., 1], q[..., 2] = np.meshgrid(np.linspace(-np.pi, np.pi, 121), np.linspace(-np.pi, np.pi, 121))
colours = load.contourf(q[..., 1], q[..., 2], puma.gravity_forces(q)[..., 1], levels=21, cmap="RdBu")  # one call
load.plot(*nominal[1:3], "k*", markersize=12)
load.set(xlabel="q2 [rad]", ylabel="q3 [rad]", title="gravity load of joint 2 [N m]")
figure.colorbar(colours, ax=load)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "01_puma560.png", dpi=120)
print("drawn in", folder / "01_puma560.png")
