"""A top: steady precession, nutation about it, and how far each integrator can be trusted over a minute.

A symmetric top with its tip on the floor, spinning at ω₃, precesses steadily where A Ω² cos θ - C ω₃ Ω + m g l = 0, A
and C its moments of inertia about the tip, across and along. Released otherwise it nods, between two tilts.

    python 31_spinning_top.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

MASS, LENGTH, ACROSS, ALONG = 0.5, 0.1, 1e-3, 8e-4  # [kg], [m] from tip to centre of mass, [kg m²] about that
TILT, SPIN = 0.4, 160.0  # [rad], [rad/s]
SECONDS, DT = 60.0, 1e-3

builder = kt.ModelBuilder("top")
builder.link("floor")
builder.link("top", kt.Inertia.from_com(MASS, (0, 0, LENGTH), np.diag([ACROSS, ACROSS, ALONG])))
builder.joint("tip", "spherical", "floor", "top")
robot = kt.Robot(builder.build())

A, weight = ACROSS + MASS * LENGTH**2, MASS * 9.81 * LENGTH
spin = ALONG * SPIN
precession = (spin - np.sqrt(spin**2 - 4 * A * np.cos(TILT) * weight)) / (2 * A * np.cos(TILT))
start = np.array([np.sin(TILT / 2), 0.0, 0.0, np.cos(TILT / 2)])  # leaning towards -y
shares = np.array([1.0, 0.0, 2.0, -1.5])  # of the steady precession, with which it is released
v0 = np.stack([[0.0, share * precession * np.sin(TILT), SPIN] for share in shares])

paths = robot.rollout(start, v0, None, 1e-4, 20_000, "rk4", every=10)
axis = robot.frame("top").pose(paths.q)[..., :3, 2]
tilt = np.arccos(axis[..., 2])
print(f"steady precession {precession:.4f} rad/s; tilt stays within {np.ptp(tilt[0]):.0e} rad")
assert np.ptp(tilt[0]) < 1e-8
turned = np.unwrap(np.arctan2(axis[0, :, 1], axis[0, :, 0]))
assert np.allclose(turned - turned[0], precession * paths.t, atol=1e-6)


def energy(path):
    """[J]"""
    return robot.kinetic_energy(path.q, path.v) + robot.potential_energy(path.q)


lost = {}
for integrator in ("heun", "rk4", "variational"):
    path = robot.rollout(start, v0[1], None, DT, round(SECONDS / DT), integrator, every=10)
    lost[integrator] = np.abs(energy(path) / energy(path)[0] - 1.0)
    times = path.t
    print(f"{integrator:20s} energy off by {lost[integrator][len(times) // 10 :].max():.0e} after {SECONDS:.0f} s")
assert lost["variational"].max() < 1e-4

figure = Figure(figsize=(11, 4.6), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=(1, 1.3))
circle = np.exp(2j * np.pi * np.linspace(0, 1, 200))
left.plot(circle.real, circle.imag, color="0.85", lw=1)
for k, label in enumerate(("steady", "released at rest", "twice as fast", "backwards")):
    left.plot(axis[k, :1200, 0], axis[k, :1200, 1], lw=1.2, label=f"{label} ({shares[k]:g} Ω)")
left.set(aspect="equal", xlim=(-1, 1), ylim=(-1, 1), title="where the axis points, from above, 1.2 s")
left.set_axis_off()
left.legend(loc="lower center", ncols=2, fontsize=8, frameon=False)
for integrator, off in lost.items():
    right.semilogy(times[1:], np.maximum(off[1:], 1e-12), lw=0.9, label=integrator)
right.set(xlabel="t [s]", ylim=(1e-10, 1.0), ylabel="energy, relative error")
right.set_title(f"a minute in steps of {1e3 * DT:g} ms")
right.legend(frameon=False)
right.grid(alpha=0.3)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / f"{Path(__file__).stem}.png", dpi=120)
print("saved", folder / f"{Path(__file__).stem}.png")
