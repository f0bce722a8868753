"""A humanoid squats and sways with both feet on the ground, and looks at a point all the while.

Contacts are kept exactly, the centre of mass comes first, then the eyes, then the posture; joints keep their limits.
"""

import numpy as np

import kinetree as kt

DT = 0.01
robot = kt.load("humanoid", base="floating")
q = robot.neutral()
for joint, angle in (("hip_pitch", -0.3), ("knee", 0.6), ("ankle_pitch", -0.3)):
    for side in ("left", "right"):
        q[7 + robot.joint_names.index(f"{side}_{joint}")] = angle

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

print("  t    height of the centre of mass    off its path    feet moved    fastest joint")
for k in range(201):
    t = k * DT
    goal = start + np.array([0.0, 0.03 * np.sin(np.pi * t), 0.04 * (np.cos(2 * np.pi * t) - 1.0)])
    speed = np.pi * np.array([0.0, 0.03 * np.cos(np.pi * t), -0.08 * np.sin(2 * np.pi * t)])
    v = ik(q, goal, speed, point, posture)
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
