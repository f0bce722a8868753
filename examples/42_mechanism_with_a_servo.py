"""A closed chain with a servo, from MJCF: the file's loop and actuator, here and in MuJoCo."""

import sys
from pathlib import Path

import mujoco
import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

CRANK = """
<mujoco model="crank rocker">
  <default><geom type="capsule" size="0.015"/><joint axis="0 1 0" damping="0.02"/></default>
  <worldbody>
    <body name="crank"><joint name="drive"/><geom fromto="0 0 0 0 0 0.15"/>
      <body name="coupler" pos="0 0 0.15"><joint name="elbow"/><geom fromto="0 0 0 0.5 0 0.1"/>
        <body name="rocker" pos="0.5 0 0.1"><joint name="wrist"/><geom fromto="0 0 0 0 0 -0.25"/>
          <site name="pin" pos="0 0 -0.25"/></body>
      </body>
    </body>
  </worldbody>
  <equality><connect body1="rocker" anchor="0 0 -0.25" solimp="0.9999 0.9999 0.001 0.5 2" solref="0.002 1"/></equality>
  <actuator><position name="servo" joint="drive" kp="20" kv="2" forcerange="-15 15"/></actuator>
</mujoco>"""

robot = kt.load(CRANK)
print(robot, "| loops", *robot.loops)
print("actuators", *robot.actuators.names)

# -- the loop leaves one freedom: how fast the others turn with the crank --------------------------------------
held = robot.constrained()
_, v = held.projected(robot.neutral(), [1.0, 0.0, 0.0])
print("velocities at rest position, crank at one:", (v / v[0]).round(3))


# -- a servo moves the crank to 1 rad, in a compiled rollout that keeps the loop closed ------------------------
@kt.compile(shapes={"target": (1,)})
def servo(robot, q, v, target):
    """The efforts of the file's actuators."""
    return {"tau": robot.actuators.efforts(q, v, target), "u": target}


target, dt, steps = 1.0, 5e-4, 2000
motion = robot.rollout(robot.neutral(), np.zeros(3), servo, dt, steps, parameters={"target": [target]})
gap = np.abs(held.position_error(motion.q[-1])).max()
print(f"after {dt * steps} s: crank at {motion.q[-1, 0]:.3f} rad, loop open by {gap:.0e} m")

# -- the same by MuJoCo, which holds the loop by a stiff spring ------------------------------------------------
model = mujoco.MjModel.from_xml_string(CRANK)
model.opt.timestep = dt
data = mujoco.MjData(model)
theirs = [data.qpos.copy()]
for _ in range(steps):
    data.ctrl = target
    mujoco.mj_step(model, data)
    theirs.append(data.qpos.copy())
gap = np.abs(np.array(theirs) - motion.q).max()
print(f"MuJoCo's motion differs by at most {gap:.4f} rad")
assert gap < 0.02

# -- which control holds the mechanism where it is now? --------------------------------------------------------
tau, _ = robot.constrained(actuated=["drive"]).inverse_dynamics(motion.q[-1], np.zeros(3), np.zeros(3))
u = robot.actuators.controls(motion.q[-1], np.zeros(3), tau)
print(f"a target of {u[0]:.4f} rad holds it there, with {tau[0]:.3f} N m")

figure = Figure(figsize=(8, 4.2), layout="constrained")
axes = figure.subplots()
for k, name in enumerate(robot.joint_names):
    (line,) = axes.plot(motion.t, motion.q[:, k], label=name)
    axes.plot(motion.t[::200], np.array(theirs)[::200, k], "o", color=line.get_color())
axes.set(xlabel="time [s]", ylabel="angle [rad]", title="a servo turns a crank: kinetree (lines) and MuJoCo (dots)")
axes.legend()
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "42_mechanism_with_a_servo.png", dpi=120)
print("drawn in", folder / "42_mechanism_with_a_servo.png")
