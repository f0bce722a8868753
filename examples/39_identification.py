"""An arm is weighed by moving it: an exciting motion, a simulated log with noise, and the parameters it shows.

The real arm has other inertias than its file, a tool that nobody has written down, and friction. The log has encoders
with steps and noise on the torques, and neither velocities nor accelerations.

    python 39_identification.py [folder for pictures]
"""

import sys
from pathlib import Path

import numpy as np

import kinetree as kt

file = kt.load("arm6")
rng = np.random.default_rng(1)

# The real arm: a tool, heavier links, damping and friction in every joint.
real = kt.edit.attach(file, "tool0", kt.solids.cylinder(0.04, 0.2, mass=1.2).shifted((0.0, 0.01, 0.1)))
real = kt.edit.scale(real, 1.0, 1.1)
damping, friction = [0.8, 0.8, 0.5, 0.15, 0.15, 0.05] * rng.uniform(0.5, 2.0, (2, 6))

# A motion that shows what there is to see, within limits.
motion = kt.identification.excitation(file, duration=10.0, iterations=80, starts=2)
print(f"a motion of {motion.duration:g} s with condition number {motion.condition:.0f}")

# It is tracked by a controller that knows the file only.
dt = 1e-3
t = dt * np.arange(round(motion.duration / dt))
wanted, rates, accelerations = motion(t)
q, v = wanted[0], rates[0]
states, efforts = np.empty_like(wanted), np.empty_like(wanted)
for k in range(len(t)):
    pull = accelerations[k] + 2500.0 * (wanted[k] - q) + 100.0 * (rates[k] - v)
    states[k], efforts[k] = q, file.inverse_dynamics(q, v, pull)
    resisting = damping * v + friction * v / np.sqrt(v * v + 0.01**2)
    v = v + dt * real.forward_dynamics(q, v, efforts[k] - resisting)
    q = q + dt * v

# What is logged: positions in steps of an encoder, torques with noise.
step = 2.0 * np.pi / 2**17
noise = 0.02 * np.sqrt(np.mean(efforts**2, axis=0))
log = {"t": t, "q": step * np.round(states / step), "tau": efforts + noise * rng.normal(size=efforts.shape)}

result = kt.identification.identify(file, log, min_speed=0.05)
print(result.report())
print()
for k, name in enumerate(file.joint_names):
    found = result[f"{name}.damping"], result[f"{name}.friction"]
    print(f"{name:15s} damping {damping[k]:.2f} → {found[0]:.2f}   friction {friction[k]:.2f} → {found[1]:.2f}")

# The same by plain least squares: some inertias are of no body.
plain = kt.identification.identify(file, log, min_speed=0.05, consistent=False, prior=None)
print("least squares alone give impossible inertias to", ", ".join(plain.inconsistent) or "none")

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
kt.plot.identification(result).savefig(folder / "39_identification.png")
print("drawn in", folder / "39_identification.png")
