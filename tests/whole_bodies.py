"""Robots that stand, and whole-body control written out a second time: all variables, world axes, NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import kinetree as kt
from kinetree.control import PointContact, SurfaceContact, WholeBody
from peers import urdf_files

ANGLES = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3, "hfe": 0.6, "kfe": -1.2}
FILES = {"g1": "g1_description/g1_29dof_rev_1_0.urdf", "talos": "talos_data/talos_reduced.urdf"}
TALOS = {"leg_left_3": -0.3, "leg_left_4": 0.6, "leg_left_5": -0.3}
TALOS |= {name.replace("left", "right"): angle for name, angle in TALOS.items()}


@dataclass(frozen=True)
class Stander:
    """A robot, contacts it stands on, and a configuration in which it does."""

    robot: kt.Robot
    contacts: tuple
    q: np.ndarray

    def near(self, rng, size=0.02):
        """A state next to standing."""
        v = size * 5.0 * rng.normal(size=self.robot.nv)
        return self.robot.integrate(self.q, size * rng.normal(size=self.robot.nv)), v


def standing(name):
    """The bundled humanoid and quadruped, G1 or Talos."""
    if name in ("humanoid", "quadruped"):
        robot = kt.load(name, base="floating")
    else:
        robot = kt.load(urdf_files()[FILES[name]], base="floating")
    q = robot.neutral()
    for joint in robot.model.owners:
        for part, angle in (TALOS if name == "talos" else ANGLES).items():
            if part in joint.name:
                q[joint.iq] = angle
    if name == "quadruped":
        feet = [frame for frame in robot.frame_names if frame.endswith("_foot")]
        return Stander(robot, tuple(PointContact(foot, friction=0.6) for foot in feet), q)
    feet, at = {
        "humanoid": (("left_sole", "right_sole"), None),
        "g1": (("left_ankle_roll_link", "right_ankle_roll_link"), (0.02, 0.0, -0.035)),
        "talos": (("left_sole_link", "right_sole_link"), None),
    }[name]
    sole = {"length": 0.16, "width": 0.08, "friction": 0.6, "at": at}
    return Stander(robot, tuple(SurfaceContact(foot, **sole) for foot in feet), q)


def equations_left(controller: WholeBody, q, v, step, off=()):
    """What is left of the equation of motion, by RNEA with the contacts' wrenches, and of contacts, by frames."""
    robot = controller.robot
    torques = robot.inverse_dynamics(q, v, step.a, wrenches=controller.wrenches(q, step.forces))
    left = [np.abs(torques - step.tau).max()]
    for contact in controller.contacts:
        if contact.name in off:
            left.append(np.abs(step.force(contact.name)).max())
            continue
        frame = robot.frame(contact.frame)
        a, w = frame.acceleration(q, v, step.a), frame.velocity(q, v)[3:]
        R = frame.pose(q)[:3, :3]
        p = R @ (np.zeros(3) if contact.at is None else np.array(contact.at))
        linear = a[:3] + np.cross(a[3:], p) + np.cross(w, np.cross(w, p))
        left.append(np.abs(linear).max())
        if isinstance(contact, SurfaceContact):
            left.append(np.abs(a[3:]).max())
    return max(left)


def outside_cones(controller: WholeBody, step):
    """How far friction and centres of pressure are beyond what the ground can give [N, m]."""
    worst = 0.0
    for contact in controller.contacts:
        f = step.force(contact.name)
        worst = max(worst, np.hypot(f[0], f[1]) - contact.friction * f[2], -f[2])
        if isinstance(contact, SurfaceContact) and f[2] > 1e-6:
            x, y = -f[4] / f[2], f[3] / f[2]
            worst = max(worst, abs(x) - 0.5 * contact.length, abs(y) - 0.5 * contact.width)
    return worst
