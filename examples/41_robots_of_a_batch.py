"""Parameters as inputs: a thousand robots in one rollout, and a robot that is designed by a gradient.

First an arm is held by a law that believes in the masses of its file, while every robot of the batch has others: how
far do they sag? Then a planar arm gets springs: their stiffness and rest follow the slope of what its motors have to
hold, over many poses.

    python 41_robots_of_a_batch.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

ROBOTS, DT, STEPS = 1000, 2e-3, 1000
rng = np.random.default_rng(0)

# -- one law, many robots: the law's own numbers stay those of the file ----
arm = kt.load("arm6", parametric=("inertial",))
believed = arm.baked
goal = arm.configuration(shoulder_lift="-45deg", elbow="90deg", wrist_1="-45deg")


@kt.compile
def hold(robot, q, v):
    """Torques that would hold the arm of the file."""
    return believed.inverse_dynamics(q, v, 100.0 * (goal - q) - 20.0 * v)


errors = rng.normal(scale=0.1, size=(ROBOTS, len(arm.body_names)))
masses = arm.parameters * np.repeat(1.0 + errors, 10, axis=1)  # mass, first moments and inertias of a body together
path = arm.rollout(goal, np.zeros(6), hold, DT, STEPS, parameters=masses, every=STEPS)
sag = np.degrees(np.abs(path.q[:, -1] - goal)).max(axis=1)
exact = arm.rollout(goal, np.zeros(6), hold, DT, STEPS, every=STEPS).q[-1]
print(f"masses known:      {np.degrees(np.abs(exact - goal)).max():.1e} degrees off after {DT * STEPS:.0f} s")
print(f"masses 10 % off:   {np.median(sag):.2f} degrees in the median, {sag.max():.2f} at most, of {ROBOTS} robots")
assert np.degrees(np.abs(exact - goal)).max() < 1e-6 < np.median(sag)

# -- design: springs by the gradient of what the motors have to hold ----
planar = kt.load("planar2", passive=True, parametric=("joint",))
poses = rng.uniform(-0.6, 0.6, size=(64, 2))  # where it works
stiffness = np.array([name.endswith(".stiffness") for name in planar.parameter_names])
springs = stiffness | np.array([name.endswith(".rest") for name in planar.parameter_names])


@kt.compile
def effort(robot, q):
    """½ τ² of the torques that hold the arm."""
    held = robot.inverse_dynamics(q, np.zeros(2), np.zeros(2))
    return 0.5 * held @ held


slope = kt.gradient(effort, wrt="parameters")
parameters, history = np.where(stiffness, 2.0, planar.parameters), []
for _ in range(300):
    history.append(effort(planar, poses, parameters=parameters).mean())
    down = slope(planar, poses, parameters=parameters).mean(axis=0)
    parameters = np.where(springs, parameters - 0.02 * down, parameters)
    parameters = np.where(stiffness, np.maximum(parameters, 0.0), parameters)
without = effort(planar, poses).mean()
print(f"springs by the gradient: the mean of ½ τ² is {history[-1]:.2f}, without them {without:.2f}")
assert history[-1] < 0.9 * without
built = planar.with_parameters(parameters)
for name, value in zip(built.parameter_names, built.parameters, strict=True):
    if name.endswith((".stiffness", ".rest")):
        print(f"  {name:20} {value:7.3f}")

# -- picture ----
figure = Figure(figsize=(9, 3.6), layout="constrained")
left, right = figure.subplots(1, 2)
left.hist(sag, bins=40, color="tab:blue")
left.set(xlabel="largest joint error [degrees]", ylabel="robots", title="masses known to 10 %")
right.plot(history, color="tab:orange")
right.set(xlabel="steps along the gradient", ylabel="mean of ½ τ²", title="springs that hold the arm")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "41_robots_of_a_batch.png", dpi=120)
print("drawn in", folder / "41_robots_of_a_batch.png")
