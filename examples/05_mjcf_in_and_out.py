"""A robot from MJCF, and a robot to MJCF: MuJoCo and kinetree agree on both."""

import sys
from pathlib import Path

import mujoco
import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

HOPPER = """
<mujoco model="hopper">
  <default><joint damping="0.1" armature="0.01"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="trunk" pos="0 0 0.8">
      <freejoint name="float"/>
      <geom type="box" size="0.1 0.1 0.15" density="500"/>
      <body name="leg" pos="0 0 -0.15">
        <joint name="roll" axis="1 0 0"/> <joint name="pitch" axis="0 1 0"/>
        <joint name="extend" type="slide" axis="0 0 1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03"/>
        <site name="foot" pos="0 0 -0.43"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""

robot = kt.load(HOPPER, base="floating")
print(robot)
print("joints", *robot.joint_names, "| bodies", *robot.body_names)
for finding in robot.check():
    print("note  ", finding)

# -- the same accelerations: MuJoCo's state from ours, in its own coordinates ----------------------------------
model = mujoco.MjModel.from_xml_string(HOPPER)
data = mujoco.MjData(model)
rng = np.random.default_rng(0)
q, v = robot.random(rng), rng.normal(size=robot.nv)
data.qpos = kt.convert(robot, "q", q, to="mujoco")
data.qvel = kt.convert(robot, "v", v, to="mujoco", q=q)
model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
mujoco.mj_forward(model, data)
a = kt.convert(robot, "a", data.qacc, source="mujoco", q=data.qpos, v=data.qvel)
gap = np.abs(robot.forward_dynamics(q, v, np.zeros(robot.nv)) - a).max()
print(f"free fall of the hopper differs by {gap:.0e}")

# -- and the other way: a bundled robot for MuJoCo -------------------------------------------------------------
arm = kt.load("arm6")
text = arm.to_mjcf()
print(*text.splitlines()[:4], "…", sep="\n")
again = kt.load(text)
q = arm.random(1)
print(f"read again, its mass matrix differs by {np.abs(again.mass_matrix(q) - arm.mass_matrix(q)).max():.0e}")

# -- picture: the hopper thrown into the air, by both ----
q, v, dt, steps = robot.neutral(), np.array([0.5, 0.0, 3.0, 0.0, 1.0, 0.0, 2.0, -1.0, 0.5]), 1e-3, 600
data.qpos, data.qvel = kt.convert(robot, "q", q, to="mujoco"), kt.convert(robot, "v", v, to="mujoco", q=q)
model.opt.timestep, model.opt.integrator = dt, int(mujoco.mjtIntegrator.mjINT_RK4)
theirs = [data.qpos.copy()]
for _ in range(steps):
    mujoco.mj_step(model, data)
    theirs.append(data.qpos.copy())
ours = robot.rollout(q, v, None, dt, steps, "rk4")
theirs = kt.convert(robot, "q", np.array(theirs), source="mujoco")
print(f"after {dt * steps} s in the air they differ by {np.abs(robot.difference(theirs, ours.q)).max():.0e}")
figure = Figure(figsize=(8, 4.2), layout="constrained")
axes = figure.subplots()
for k, name in ((2, "height [m]"), (7, "roll [rad]"), (8, "pitch [rad]"), (9, "extend [m]")):
    (line,) = axes.plot(ours.t, ours.q[:, k], label=name)
    axes.plot(ours.t[::50], theirs[::50, k], "o", color=line.get_color())
axes.set(xlabel="time [s]", title="in the air: kinetree (lines) and MuJoCo (dots)")
axes.legend()
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "05_mjcf_in_and_out.png", dpi=120)
print("drawn in", folder / "05_mjcf_in_and_out.png")
