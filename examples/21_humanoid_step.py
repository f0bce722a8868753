"""Angular momentum of a humanoid during a step, with its arms still and swinging: what the ground has to hold.

The left foot stands, the right leg swings from behind to the front, the trunk stays upright. Legs that pass each other
have angular momentum about the vertical, though the base does not turn at all: ω̄ is not ω_b. Its rate is the moment of
the ground about the centre of mass, which the first rows of the equation of motion in diagonalized coordinates give,
weight apart. Arms that swing against the legs carry the opposite momentum, and there is less to hold.

    python 21_humanoid_step.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

STEP, DURATION, KNEE = 0.35, 0.6, 0.7  # angle of the hips [rad], [s], of the knee that swings [rad]
H = DURATION / 300

robot = kt.load("humanoid", base="floating", base_velocity="mixed")
at = {name: 7 + k for k, name in enumerate(robot.joint_names)}
sole = robot.frame("left_sole")


def step(arms, t):
    """Postures (…, nq) at times t, the arms swinging by ± `arms` [rad]: at rest before and after."""
    x = np.clip(t / DURATION, 0.0, 1.0)
    swing = 1.0 - 2.0 * x**3 * (10.0 - 15.0 * x + 6.0 * x**2)  # from 1, right leg behind, to -1
    lift = KNEE * (2.0 * x * (1.0 - x)) ** 3 * 8.0
    q = np.tile(robot.neutral(), (len(t), 1))
    q[:, at["right_hip_pitch"]], q[:, at["right_knee"]] = STEP * swing - lift / 2.0, lift
    q[:, at["right_ankle_pitch"]] = -STEP * swing - lift / 2.0
    q[:, at["left_hip_pitch"]], q[:, at["left_ankle_pitch"]] = -STEP * swing, STEP * swing
    q[:, at["left_shoulder_pitch"]], q[:, at["right_shoulder_pitch"]] = arms * swing, -arms * swing
    q[:, [at["left_elbow"], at["right_elbow"]]] = -0.3
    q[:, :3] = -sole.pose(q)[:, :3, 3]  # the left sole at the origin; it stays level
    return q


def motion(arms):
    """Positions, velocities and accelerations over the step."""
    t = np.linspace(0.0, DURATION, 301)
    before, q, after = (step(arms, t + late) for late in (-H, 0.0, H))
    ahead, behind = robot.difference(q, after) / H, robot.difference(before, q) / H
    return t, q, (ahead + behind) / 2.0, (ahead - behind) / H


print("  arms [rad]   |k_G,z| up to [N m s]   its rate, up to [N m]   |ω̄ - ω_b| up to [rad/s]")
steps, k, twist = {}, {}, {}
for arms in (0.0, 0.25, 0.5, 0.75):
    t, q, v, a = steps[arms] = motion(arms)
    x = robot.diagonalized_coordinates(q, v)
    rows = (x.M @ x.acceleration(a)[..., None])[..., 0] + x.h
    force, moment = rows[:, :3], rows[:, 3:6]  # of the ground: Σ f and Σ (x - c) × f
    assert np.allclose(force, robot.mass * (robot.center_of_mass_acceleration(q, v, a) - robot.gravity))
    k[arms] = robot.centroidal_momentum(q, v)[:, 3:]
    twist[arms] = moment[:, 2]
    off = np.linalg.norm(x.nu[:, 3:6] - v[:, 3:6], axis=1)
    most = np.abs(k[arms][:, 2]).max(), np.abs(twist[arms]).max(), off.max()
    print(
        f"    {arms:4.2f}            {most[0]:6.3f}                  {most[1]:6.2f}                     {most[2]:.3f}"
    )
    assert np.abs(v[:, 3:6]).max() < 1e-9, "the base does not turn"
    assert np.allclose(sole.velocity(q, v), 0.0, atol=1e-3), "the foot stands"
    rate = np.gradient(k[arms], t, axis=0)[5:-5]
    assert np.allclose(rate, moment[5:-5], atol=0.02 * np.abs(moment).max()), "k̇_G = Σ (x - c) × f"
    assert np.allclose(off, np.linalg.norm(robot.average_rotation_by_joints(q) @ v[:, 6:, None], axis=(1, 2)))

best = min(k, key=lambda arms: np.abs(k[arms][:, 2]).max())
print(f"with the arms swinging by {best} rad there is least")
assert best > 0.0 and np.abs(k[best][:, 2]).max() < 0.5 * np.abs(k[0.0][:, 2]).max()
assert np.abs(twist[best]).max() < np.abs(twist[0.0]).max()

figure = Figure(figsize=(11, 7), layout="constrained")
grid = figure.add_gridspec(2, 3, height_ratios=(1.2, 1.0))
picture = figure.add_subplot(grid[0, :])
t, q, *_ = steps[best]
legs = ["base_link"] + [f"{{}}_{part}_link" for part in ("thigh", "shank", "foot")] + ["{}_sole"]
arm = ["{}_shoulder_roll_link", "{}_elbow_link", "{}_hand"]
for place in np.linspace(0, len(t) - 1, 6).astype(int):
    shift = 1.4 * place / len(t) * 6
    for side, color in (("right", "tab:red"), ("left", "tab:blue")):
        for limb in (legs, arm):
            points = np.array([robot.frame(name.format(side)).pose(q[place])[:3, 3] for name in limb])
            picture.plot(points[:, 0] + shift, points[:, 2], color=color, linewidth=3, solid_capstyle="round")
    trunk = np.array([robot.frame(name).pose(q[place])[:3, 3] for name in ("base_link", "chest_link", "head")])
    picture.plot(trunk[:, 0] + shift, trunk[:, 2], color="0.3", linewidth=6, solid_capstyle="round")
    picture.plot(trunk[-1, 0] + shift, trunk[-1, 2], "o", color="0.3", markersize=14)
    picture.text(shift, -0.22, f"{t[place]:.2f} s", ha="center")
picture.axhline(0.0, color="0.7", linewidth=1)
picture.set(aspect="equal", ylim=(-0.3, 1.65), title=f"a step, arms swinging by {best} rad (right side red)")
picture.set_axis_off()
for column, name in enumerate("xyz"):
    axes = figure.add_subplot(grid[1, column])
    for arms, style in ((0.0, "--"), (best, "-")):
        axes.plot(t, k[arms][:, column], style, label=f"arms ±{arms} rad")
    axes.set(xlabel="time [s]", title=f"k_G about {name} [N m s]")
    if name == "x":
        axes.legend(loc="upper left")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "21_humanoid_step.png", dpi=150)
print("drawn in", folder / "21_humanoid_step.png")
