"""An arm with a gripper and a payload, made from a bundled arm: what it costs the motors, and the new robot as URDF."""

import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

arm = kt.load("arm6")

gripper = kt.ModelBuilder("gripper")
gripper.link("palm", kt.solids.box((0.08, 0.12, 0.06), mass=0.7).shifted((0, 0, 0.03)))
for side, sign in (("left", 1), ("right", -1)):
    gripper.link(f"{side}_finger", kt.solids.box((0.02, 0.01, 0.08), mass=0.1).shifted((0, 0, 0.04)))
    gripper.joint(
        side,
        "prismatic",
        "palm",
        f"{side}_finger",
        axis=(0, sign, 0),
        xyz=(0, 0.01 * sign, 0.06),
        lower=0.0,
        upper=0.04,
        mimic=kt.Mimic("left") if side == "right" else None,
    )

with_gripper = kt.edit.graft(arm, kt.Robot(gripper.build()), "tool0", prefix="hand/")
closed = kt.edit.lock(with_gripper, {"hand/left": 0.005})
loaded = kt.edit.attach(closed, "hand/palm", kt.solids.sphere(0.03, mass=2.0), xyz=(0, 0, 0.12), name="ball")

q = np.array([0.0, 0.9, 0.6, 0.0, 0.0, 0.0])
print("                       mass [kg]   torque that holds it [N m]")
for title, robot in (("arm", arm), ("with gripper", closed), ("with gripper and ball", loaded)):
    print(f"{title:22} {robot.mass:9.2f}   {robot.gravity_forces(q).round(2)}")

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "arm_with_ball.urdf"
    loaded.to_urdf(path)
    again = kt.load(path)
    size = path.stat().st_size
difference = np.abs(again.mass_matrix(q) - loaded.mass_matrix(q)).max()
print(f"written as URDF ({size} bytes) and read again: mass matrix differs by {difference:.1e}")

# -- picture: what gripper and ball cost each motor ----
figure = Figure(figsize=(8, 4), layout="constrained")
axes = figure.subplots()
places = np.arange(3)
for k, (title, robot) in enumerate((("arm", arm), ("with gripper", closed), ("with gripper and ball", loaded))):
    axes.bar(places + 0.27 * (k - 1), np.abs(robot.gravity_forces(q)[1:4]), width=0.25, label=title)
axes.plot(places, arm.limits.effort[1:4], "kv", label="limit of the motor")
axes.set_xticks(places, arm.joint_names[1:4])
axes.set(ylabel="torque that holds it [N m]")
axes.legend()
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "03_change_a_robot.png", dpi=120)
print("drawn in", folder / "03_change_a_robot.png")
