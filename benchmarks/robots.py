"""The robots of the benchmarks, in kinetree and in Pinocchio, with states both understand."""

from __future__ import annotations

import importlib.metadata
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

import kinetree as kt

ROBOTS = {
    "UR5": ("ur5_robot.urdf", "fixed", "wrist_3_link"),
    "xArm7": ("xarm7.urdf", "fixed", "link7"),
    "ANYmal": ("anymal_b_simple_description/robots/anymal.urdf", "floating", "RH_FOOT"),
    "iCub": ("icub.urdf", "floating", "r_hand"),
    "Talos": ("talos_reduced.urdf", "floating", "arm_right_7_link"),
    "G1": ("g1_29dof_rev_1_0.urdf", "floating", "right_rubber_hand"),
}
ARMS = ("UR5", "xArm7")


@dataclass
class Contender:
    """One robot on both sides; none of these has mimic or continuous joints, so q differs only by joint order."""

    name: str
    robot: kt.Robot
    frame: str
    model: pin.Model

    def states(self, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, v and a of many states, C order."""
        rng = np.random.default_rng(seed)
        shape = (count, self.robot.nv)
        return self.robot.random(rng, count), rng.normal(size=shape), rng.normal(size=shape)

    def to_pinocchio(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
        """The same states as columns, F order, as Pinocchio's batch functions take them."""
        converted = (
            kt.convert(self.robot, "q", q, to="pinocchio"),
            kt.convert(self.robot, "v", v, to="pinocchio"),
            kt.convert(self.robot, "a", a, to="pinocchio"),
        )
        return [np.asfortranarray(x.T) for x in converted]


def load(name: str) -> Contender:
    """A robot of the table on both sides."""
    ending, base, frame = ROBOTS[name]
    path = find(ending)
    root = (pin.JointModelFreeFlyer(),) if base == "floating" else ()
    return Contender(name, kt.load(path, base), frame, pin.buildModelFromUrdf(str(path), *root))


def find(ending: str) -> Path:
    """The file of example-robot-data whose path ends so."""
    entries = importlib.metadata.files("example-robot-data") or []
    (path,) = {Path(str(entry.locate())).resolve() for entry in entries if str(entry).endswith(f"/{ending}")}
    return path


def chain(joints: int) -> kt.Robot:
    """An arm of many equal links with joints about z, x, y in turn."""
    builder = kt.ModelBuilder(f"chain of {joints}")
    builder.link("link0")
    inertia = kt.Inertia.from_com(1.0, (0.02, 0.01, 0.1), np.diag([0.01, 0.012, 0.004]))
    for k in range(1, joints + 1):
        builder.link(f"link{k}", inertia)
        axis = np.roll([0.0, 0.0, 1.0], k)
        builder.joint(
            f"joint{k}", "revolute", f"link{k - 1}", f"link{k}", axis=axis, xyz=(0.0, 0.01, 0.2), rpy=(0.3, 0, 0)
        )
    return kt.Robot(builder.build())


def without_geometry(path: Path) -> str:
    """A URDF without visuals and collisions: nothing here needs them, and some readers insist on finding meshes."""
    root = ET.parse(path).getroot()
    for link in root.iter("link"):
        for child in [child for child in link if child.tag in ("visual", "collision")]:
            link.remove(child)
    return ET.tostring(root, encoding="unicode")


def standing(robot: kt.Robot) -> np.ndarray:
    """Bent arms and legs."""
    q = robot.neutral()
    places = {joint.name: joint.iq for joint in robot.model.owners}
    for name, iq in places.items():
        for part, angle in (("hip_pitch", -0.3), ("knee", 0.6), ("ankle_pitch", -0.3), ("elbow", 0.8)):
            if part in name:
                q[iq] = angle
    return q
