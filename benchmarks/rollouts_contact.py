"""Quadrupeds standing on four feet under joint PD: steps per second beside MuJoCo's own threaded `mujoco.rollout`.

Both have the same robot, of which only the four feet touch the ground, the same PD law, friction, time step, start and
number of threads, and both return all states. MuJoCo keeps to its default settings (Newton's method, pyramidal cones,
semi-implicit Euler), with what is fixed to a body merged into it. Beside the speed stands what it is worth: how far
feet and trunk creep in the last eight of ten seconds, and what the first step costs, in a process that has nothing
compiled yet.

    python benchmarks/rollouts_contact.py
"""

from __future__ import annotations

import argparse
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
from measure import best_times, save
from robots import find
from table import show

import kinetree as kt
from kinetree.simulation import RigidContact

DT = 2e-3
STATES, STEPS = 256, 100
FRICTION = 0.7
SETTLED, LONG = 1000, 5000
BENT = {"HFE": 0.7, "KFE": -1.2, "thigh": 0.8, "calf": -1.6, "hfe": 0.6, "kfe": -1.2}
"""Angles of joints, by what their names have in them [rad]."""


@dataclass
class Stand:
    """A quadruped, its feet, and the posture and gains that hold it up."""

    name: str
    robot: kt.Robot
    feet: list[str]
    posture: np.ndarray
    stiffness: float
    damping: float

    @property
    def contact(self) -> RigidContact:
        return RigidContact(self.feet, friction=FRICTION)

    def law(self) -> object:
        """PD at the joints."""
        target, kp, kd = self.posture[7:], self.stiffness, self.damping

        @kt.compile
        def pd(robot: kt.Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return np.concatenate([np.zeros(6), kp * (target - q[7:]) - kd * v[6:]])

        return pd

    def mujoco_model(self) -> mujoco.MjModel:
        """The same robot, with nothing but its feet to touch the ground."""
        root = ET.fromstring(self.robot.to_mjcf(lossy=True))
        root.find("compiler").set("fusestatic", "true")  # type: ignore[union-attr]
        root.find("option").set("timestep", str(DT))  # type: ignore[union-attr]
        for body in root.iter("body"):
            for geom in body.findall("geom"):
                body.remove(geom)
            if body.get("name") in self.feet:
                for pair in [pair for pair in self.contact.pairs(self.robot) if pair.touch.frame == body.get("name")]:
                    at = " ".join(map(str, pair.touch.at))
                    radius = max(pair.touch.radius, 1e-4)
                    geom = {"type": "sphere", "size": str(radius), "pos": at, "friction": f"{FRICTION} 0.005 0.0001"}
                    ET.SubElement(body, "geom", geom)
        world = root.find("worldbody")
        assert world is not None
        ET.SubElement(world, "geom", {"type": "plane", "size": "0 0 1", "friction": f"{FRICTION} 0.005 0.0001"})
        actuators = ET.SubElement(root, "actuator")
        for joint in self.robot.joint_names:
            gains = {"kp": str(self.stiffness), "kv": str(self.damping)}
            ET.SubElement(actuators, "position", {"joint": joint, **gains})
        return mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))


def on_the_ground(robot: kt.Robot, contact: RigidContact, q: np.ndarray) -> np.ndarray:
    """Lowered until the first foot touches."""
    q = q.copy()
    q[2] -= contact.gaps(robot, q).min()
    return q


def stands() -> list[Stand]:
    """ANYmal B, Go1 and the bundled quadruped."""
    found = []
    signs = {"LF": 1.0, "RF": 1.0, "LH": -1.0, "RH": -1.0}
    for name, base, feet, stiffness, damping in (
        ("ANYmal", find("anymal_b_simple_description/robots/anymal.urdf"), "_FOOT", 200.0, 6.0),
        ("Go1", find("go1.urdf"), "_foot", 60.0, 2.0),
        ("quadruped", "quadruped", "_foot", 200.0, 6.0),
    ):
        robot = kt.load(base, base="floating")
        q = robot.neutral()
        for k, joint in enumerate(robot.joint_names, start=7):
            for part, angle in (
                ("HFE", 0.7),
                ("KFE", -1.2),
                ("thigh", 0.8),
                ("calf", -1.6),
                ("hfe", 0.6),
                ("kfe", -1.2),
            ):
                if part in joint:
                    q[k] = signs.get(joint[:2], 1.0) * angle
        ends = [frame for frame in robot.frame_names if frame.endswith(feet)]
        stand = Stand(name, robot, ends, q, stiffness, damping)
        stand.posture = on_the_ground(robot, stand.contact, q)
        found.append(stand)
    return found


class Ours:
    """Rollouts of kinetree."""

    def __init__(self, stand: Stand) -> None:
        self.stand, self.law = stand, stand.law()

    def run(self, states: int, steps: int) -> Any:
        q = self.stand.posture if states == 1 else np.tile(self.stand.posture, (states, 1))
        rest = np.zeros(self.stand.robot.nv)
        return self.stand.robot.rollout(q, rest, self.law, DT, steps, contact=self.stand.contact)

    def creep(self) -> tuple[float, float]:
        q = self.run(1, LONG).q
        robot = self.stand.robot
        feet = [robot.frame(foot).pose(q[[SETTLED, -1]])[:, :3, 3] for foot in self.stand.feet]
        moved = max(float(np.abs(np.diff(foot, axis=0)).max()) for foot in feet)
        return moved, float(np.abs(q[-1, :3] - q[SETTLED, :3]).max())


class Theirs:
    """Rollouts of MuJoCo, on so many threads."""

    def __init__(self, stand: Stand, threads: int) -> None:
        self.stand, self.model = stand, stand.mujoco_model()
        self.datas = [mujoco.MjData(self.model) for _ in range(threads)]
        data = self.datas[0]
        q = stand.posture
        data.qpos[:] = np.concatenate([q[:3], np.roll(q[3:7], 1), q[7:]])
        self.state = np.empty(mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
        mujoco.mj_getState(self.model, data, self.state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self.roller = mujoco.rollout.Rollout(nthread=threads if threads > 1 else 0)

    def run(self, states: int, steps: int) -> np.ndarray:
        initial = np.tile(self.state, (states, 1))
        control = np.broadcast_to(self.stand.posture[7:], (states, steps, self.model.nu))
        control = np.ascontiguousarray(control)
        state, _ = self.roller.rollout(self.model, self.datas, initial, control, nstep=steps, skip_checks=False)
        return np.asarray(state)

    def creep(self) -> tuple[float, float]:
        states = self.run(1, LONG)[0]
        data, places = self.datas[0], []
        for state in (states[SETTLED - 1], states[-1]):
            mujoco.mj_setState(self.model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
            mujoco.mj_kinematics(self.model, data)
            spheres = [k for k in range(self.model.ngeom) if self.model.geom_type[k] == mujoco.mjtGeom.mjGEOM_SPHERE]
            places.append((data.geom_xpos[spheres].copy(), data.qpos[:3].copy()))
        (feet0, base0), (feet1, base1) = places
        assert len(feet0) == len(self.stand.feet)
        return float(np.abs(feet1 - feet0).max()), float(np.abs(base1 - base0).max())


def row(stand: Stand, threads: int, repeats: int) -> dict[str, object]:
    """Steps per second and core, both in turn."""
    kt.set_num_threads(threads)
    ours, theirs = Ours(stand), Theirs(stand, threads)
    best = best_times(
        {"kinetree": lambda: ours.run(STATES, STEPS), "MuJoCo": lambda: theirs.run(STATES, STEPS)}, repeats, 0.0
    )
    rate = {name: STATES * STEPS / seconds / threads for name, seconds in best.items()}
    return {
        "robot": stand.name,
        "threads": threads,
        "kinetree, steps/s/core": rate["kinetree"],
        "MuJoCo, steps/s/core": rate["MuJoCo"],
        "ratio": rate["kinetree"] / rate["MuJoCo"],
        "budget": 5.0,
    }


def worth(stand: Stand) -> dict[str, object]:
    """What the first steps cost, without and with a batch, and how still both stand."""
    ours, theirs = Ours(stand), Theirs(stand, 1)
    times = []
    for states in (1, STATES):
        started = time.perf_counter()
        ours.run(states, 1)
        times.append(time.perf_counter() - started)
    (our_feet, our_base), (their_feet, their_base) = ours.creep(), theirs.creep()
    assert our_feet < 1e-3, f"the feet of {stand.name} creep by {our_feet} m"
    return {
        "robot": stand.name,
        "feet, µm": 1e6 * our_feet,
        "in MuJoCo": 1e6 * their_feet,
        "trunk, µm": 1e6 * our_base,
        "in MuJoCo ": 1e6 * their_base,
        "first step, s": times[0],
        "of a batch, s": times[1],
    }


def main() -> None:
    """Measure, print, save."""
    options = argparse.ArgumentParser()
    options.add_argument("--repeats", type=int, default=20)
    options.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    options.add_argument("--no-save", action="store_true")
    given = options.parse_args()
    standing = stands()
    creep = [worth(stand) for stand in standing]
    rows = [row(stand, threads, given.repeats) for stand in standing for threads in given.threads]
    show(f"Standing on four feet, dt = {1e3 * DT:g} ms, {STATES} states", rows)
    show("Moved from 2 s to 10 s, and time to the first step", creep)
    if not given.no_save:
        print("saved", save("rollouts_contact", {"rows": rows, "creep": creep, "mujoco": mujoco.__version__}))


if __name__ == "__main__":
    main()
