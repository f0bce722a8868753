"""A fuzzer of MJCF: `python tests/fuzz_mjcf.py SECONDS [SEED]`.

Whatever comes out is a robot that can compute, or an error of this library that says so in one sentence. What makes
MuJoCo itself crash ends its own process, and is such an error too.
"""

from __future__ import annotations

import random
import warnings

import numpy as np

import kinetree as kt
from fuzz_urdf import computes, damaged
from fuzzing import check_sentence, damaged_words, main

COMPLETE = """<mujoco model="complete">
  <compiler angle="radian" autolimits="true"/>
  <option gravity="0 0 -9.81" timestep="0.002"><flag contact="enable"/></option>
  <size nkey="1"/>
  <default><joint damping="0.1"/><default class="leg"><geom rgba="1 0 0 1"/></default></default>
  <asset>
    <texture name="grid" type="2d" builtin="checker" width="8" height="8"/>
    <material name="grid" texture="grid" rgba="0.5 0.5 0.5 1"/>
    <mesh name="tetra" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 0 3 2 1 2 3"/>
    <hfield name="hills" nrow="2" ncol="2" size="1 1 1 1"/>
  </asset>
  <worldbody>
    <light pos="0 0 3"/><camera name="eye" pos="1 1 1"/>
    <geom name="floor" type="plane" size="0 0 1" material="grid"/>
    <body name="trunk" pos="0 0 1" childclass="leg"><freejoint name="root"/>
      <geom type="box" size="0.1 0.2 0.1" mass="3"/><site name="imu" pos="0 0 0.1"/>
      <body name="thigh" pos="0 0.1 0"><joint name="hip" type="hinge" axis="0 1 0" range="-1 1" armature="0.01"/>
        <inertial pos="0 0 -0.1" mass="1" diaginertia="0.01 0.01 0.001"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03"/>
        <body name="shin" pos="0 0 -0.3"><joint name="knee" type="slide" axis="0 0 1" stiffness="5" springref="0.1"/>
          <geom type="mesh" mesh="tetra" contype="0" conaffinity="0"/></body></body>
      <body name="ball" pos="0 -0.1 0" quat="1 0 0 0"><joint name="socket" type="ball"/><geom size="0.05"/></body>
    </body>
    <replicate count="2" offset="0 0 1"><body><joint axis="1 0 0"/><geom size="0.1"/></body></replicate>
  </worldbody>
  <contact><exclude body1="trunk" body2="thigh"/></contact>
  <equality><joint joint1="knee" joint2="hip" polycoef="0 0.5 0 0 0"/></equality>
  <tendon><fixed name="cable"><joint joint="hip" coef="1"/></fixed></tendon>
  <actuator><motor name="m" joint="hip" gear="4" ctrlrange="-1 1"/><position joint="knee" kp="10"/></actuator>
  <sensor><accelerometer site="imu"/><jointpos joint="hip"/></sensor>
  <keyframe><key name="home" qpos="0 0 1 1 0 0 0 0 0 1 0 0 0 0 0"/></keyframe>
</mujoco>"""
SMALL = """<mujoco><worldbody><body name="a"><joint name="j"/><geom size="0.1"/>
  <body name="b" pos="1 0 0"><joint name="k" type="slide"/><geom type="cylinder" size="0.1 0.2"/></body></body>
</worldbody></mujoco>"""


def check(document: str | bytes, base: str) -> str:
    """Loads it and computes with it; says what became of it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", kt.ModelWarning)
        try:
            robot = kt.load(document, base).eager
        except kt.KinetreeError as problem:
            check_sentence(problem)
            return "crashed" if "crashes" in str(problem) else "refused"
        computes(robot)
    return "loaded"


def run(rng: random.Random) -> str:
    """One damaged document."""
    text = rng.choice((COMPLETE, COMPLETE, SMALL))
    document = damaged_words(text, rng) if rng.random() < 0.4 else damaged(text, rng)
    return check(document, rng.choice(("fixed", "floating")))


if __name__ == "__main__":
    main(run)
