"""Cartesian impedance in MuJoCo: someone pushes the tool of a seven-joint arm, then its elbow; it yields, and returns.

The tool hangs on springs K: pushed with f it comes to rest K⁻¹ f away. The elbow is free to move without the tool, and
goes back to its posture by itself.

    python 24_mujoco_push.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.control import CartesianImpedance
from kinetree.simulation import MujocoWorld, Push

STIFFNESS = np.array([400.0, 400.0, 800.0, 8.0, 8.0, 8.0])  # [N/m, N m/rad]
DAMPING = np.array([60.0, 60.0, 80.0, 0.12, 0.12, 0.12])  # [N s/m, N m s/rad]
Q0 = np.array([0.4, 0.5, -0.3, 1.2, 0.2, 0.7, 0.1])
FORCE = np.array([0.0, 20.0, -16.0])  # [N]
PUSHES = (Push("tool0", FORCE, 0.5, 2.0), Push("forearm_link", [0.0, 30.0, 0.0], 4.0, 4.3))

robot = kt.load("arm7")
tool = robot.frame("tool0")
start = tool.pose(Q0)


def push():
    """A recording, and where the tool is from where it hangs [m]."""
    controller = CartesianImpedance(
        robot, "tool0", STIFFNESS, DAMPING, posture=Q0, posture_stiffness=15.0, posture_damping=8.0
    )
    recording = MujocoWorld(robot, []).run(lambda now: controller(now.q, now.v, start), Q0, duration=6.0, pushes=PUSHES)
    return recording, tool.pose(recording.q)[:, :3, 3] - start[:3, 3]


def main(folder="pictures"):
    """In numbers and in a picture."""
    recording, away = push()
    held, later = away[(recording.t > 1.9) & (recording.t < 2.0)].mean(axis=0), away[recording.t > 3.9][0]
    print("pushed with", FORCE, "N it is", np.round(1e3 * held, 2), "mm away; springs say", end=" ")
    print(np.round(1e3 * FORCE / STIFFNESS[:3], 2), f"mm; two seconds later {1e3 * np.linalg.norm(later):.3f} mm")
    pushed = recording.t > 4.0
    joints = np.degrees(np.abs(recording.q - Q0)[pushed].max())
    print(f"pushed at the elbow, joints move by {joints:.1f}°, and the tool by", end=" ")
    print(f"{1e3 * np.linalg.norm(away[pushed], axis=1).max():.1f} mm")
    file = Path(folder) / "24_mujoco_push.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    draw(recording, away, file)
    print("drawn in", file)


def draw(recording, away, file):
    """Displacement beside what springs say, joints and torques."""
    figure = Figure(figsize=(10, 6.5), layout="constrained")
    place, joints, effort = figure.subplots(3, 1, sharex=True)
    for k, axis in enumerate("xyz"):
        line = place.plot(recording.t, 1e3 * away[:, k], label=axis)[0]
        place.plot([0.5, 2.0], [1e3 * FORCE[k] / STIFFNESS[k]] * 2, "--", color=line.get_color(), lw=1)
    place.set(ylabel="tool [mm]", title="displacement of the tool; dashed: what the springs say")
    joints.plot(recording.t, np.degrees(recording.q - Q0), lw=1, label=robot.joint_names)
    joints.set(ylabel="joints [°]", title="joints")
    effort.plot(recording.t, recording.tau, lw=1, label=robot.joint_names)
    effort.set(ylabel="torque [N m]", xlabel="time [s]", title="torques")
    for axes in (place, joints, effort):
        for pushed in PUSHES:
            axes.axvspan(pushed.start, pushed.end, color="0.92")
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
        axes.grid(alpha=0.3)
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:2])
