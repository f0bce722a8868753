"""A humanoid squats and sways with both feet on the ground, and looks at a point all the while.

Contacts are kept exactly, the centre of mass comes first, then the eyes, then the posture; joints keep their limits.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

DT = 0.01
robot = kt.load("humanoid", base="floating")
bent = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}
q = robot.configuration({f"{side}_{joint}": angle for side in ("left", "right") for joint, angle in bent.items()})

feet = {foot: robot.frame(foot).pose(q) for foot in ("left_foot_link", "right_foot_link")}
ik = kt.ik.DifferentialIK(
    robot,
    [
        kt.ik.CenterOfMass(gain=20.0, feedforward=True),
        kt.ik.LookAt("head", priority=1),
        kt.ik.Posture(gain=1.0, priority=2),
    ],
    dt=DT,
    contacts=[kt.Contact(foot, "surface", at=place) for foot, place in feet.items()],
)
start, posture = robot.center_of_mass(q), q.copy()
point = start + np.array([2.0, 0.5, 0.5])

states, goals = [], []
print("  t    height of the centre of mass    off its path    feet moved    fastest joint")
for k in range(201):
    t = k * DT
    goal = start + np.array([0.0, 0.03 * np.sin(np.pi * t), 0.04 * (np.cos(2 * np.pi * t) - 1.0)])
    speed = np.pi * np.array([0.0, 0.03 * np.cos(np.pi * t), -0.08 * np.sin(2 * np.pi * t)])
    v = ik(q, goal, speed, point, posture)
    states.append(q)
    goals.append(goal)
    if k % 25 == 0:
        off = np.linalg.norm(robot.center_of_mass(q) - goal)
        moved = max(np.abs(robot.frame(foot).pose(q) - place).max() for foot, place in feet.items())
        height = robot.center_of_mass(q)[2]
        print(f"{t:5.2f} {height:20.4f} m {1e3 * off:20.3f} mm {moved:13.1e} {np.abs(v[6:]).max():12.2f} rad/s")
    q = robot.integrate(q, DT * v)

T = robot.frame("head").pose(q)
ray = point - T[:3, 3]
miss = np.degrees(np.arccos(np.clip(T[:3, 0] @ ray / np.linalg.norm(ray), -1.0, 1.0)))
print(f"the head looks {miss:.2f}° past the point")

# -- picture: the humanoid now and then, and its centre of mass ----
states, goals = np.array(states), np.array(goals)
figure = Figure(figsize=(11, 4.6), layout="constrained")
picture, over_time = figure.subplots(1, 2, width_ratios=(1.5, 1))
limbs = [["base_link"] + [f"{{}}_{part}" for part in ("thigh_link", "shank_link", "ankle_link", "sole")]]
limbs += [["chest_link", "{}_shoulder_roll_link", "{}_elbow_link", "{}_hand"]]
for column, k in enumerate((0, 50, 100, 150)):
    x = 0.8 * column
    for side, color in (("right", "tab:red"), ("left", "tab:blue")):
        for limb in limbs:
            points = np.array([robot.frame(name.format(side)).pose(states[k])[:3, 3] for name in limb])
            picture.plot(points[:, 0] + x, points[:, 2], color=color, linewidth=3, solid_capstyle="round")
    trunk = np.array([robot.frame(name).pose(states[k])[:3, 3] for name in ("base_link", "chest_link", "head")])
    picture.plot(trunk[:, 0] + x, trunk[:, 2], color="0.3", linewidth=6, solid_capstyle="round")
    picture.plot(trunk[-1, 0] + x, trunk[-1, 2], "o", color="0.3", markersize=13)
    ray = (point - trunk[-1]) / np.linalg.norm(point - trunk[-1])
    picture.arrow(trunk[-1, 0] + x, trunk[-1, 2], 0.3 * ray[0], 0.3 * ray[2], color="tab:green", width=0.008)
    picture.plot(goals[k, 0] + x, goals[k, 2], "k*")
    picture.text(x, feet["left_foot_link"][2, 3] - 0.2, f"{k * DT:.1f} s", ha="center")
picture.set(aspect="equal", title="where it looks (green), its centre of mass (star)")
picture.set_axis_off()
reached = robot.center_of_mass(states)
for axis, name in ((1, "y"), (2, "z")):
    (line,) = over_time.plot(DT * np.arange(len(states)), 1e3 * (reached - start)[:, axis], label=name)
    over_time.plot(DT * np.arange(0, len(states), 10), 1e3 * (goals - start)[::10, axis], "o", color=line.get_color())
over_time.set(xlabel="time [s]", ylabel="centre of mass [mm]", title="reached (lines) and wanted (dots)")
over_time.legend()
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "16_squat.png", dpi=120)
print("drawn in", folder / "16_squat.png")
