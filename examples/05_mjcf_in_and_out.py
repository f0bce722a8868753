"""A robot from MJCF, and a robot to MJCF: MuJoCo and kinetree agree on both."""

import mujoco
import numpy as np

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
