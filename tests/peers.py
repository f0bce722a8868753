"""The same robots in Pinocchio and MuJoCo, built without any help of the library under test."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

import kinetree as kt
from kinetree.model.joints import Free, Prismatic

EMPTY_URDF = "ur3.urdf"


@cache
def urdf_files() -> dict[str, Path]:
    """Every URDF of example-robot-data, by its path below the folder of robots."""
    found = {}
    for entry in importlib.metadata.files("example-robot-data") or []:
        path = Path(str(entry.locate())).resolve()
        if path.suffix == ".urdf":
            found[str(path).rsplit("/robots/", 2)[-1] if "/robots/" in str(path) else path.name] = path
    by_name: dict[str, Path] = {}
    for path in sorted(set(found.values())):
        folder = next(part for part in reversed(path.parts[:-1]) if part not in ("urdf", "robots"))
        by_name[f"{folder}/{path.name}"] = path
    return by_name


def urdf(name: str) -> Path:
    """The one file whose name ends so."""
    (path,) = [path for key, path in urdf_files().items() if key.endswith(name)]
    return path


def readable_urdfs() -> list[str]:
    return [name for name, path in urdf_files().items() if path.name != EMPTY_URDF]


@dataclass
class PinPeer:
    """A Pinocchio model and the maps v_pin = G v, q_pin = f(q)."""

    model: pin.Model
    G: np.ndarray
    position: list[tuple[int, int, float, float, int]]
    """(iq_pin, iq, ratio, offset, nq_pin) of every joint with one coordinate."""
    free: list[tuple[int, int]]
    """(iq_pin, iq) of every free joint."""
    frame_type: pin.FrameType = pin.FrameType.BODY

    def q(self, q: np.ndarray) -> np.ndarray:
        out = pin.neutral(self.model)
        for at, iq in self.free:
            out[at : at + 7] = q[iq : iq + 7]
        for at, iq, ratio, offset, nq in self.position:
            angle = ratio * q[iq] + offset
            out[at : at + nq] = [np.cos(angle), np.sin(angle)] if nq == 2 else [angle]
        return out

    def frame_id(self, name: str) -> int:
        """A link's frame; joints may have the same name."""
        return self.model.getFrameId(name, self.frame_type)

    def data(self) -> pin.Data:
        return self.model.createData()


def mimics_in(path: Path) -> dict[str, tuple[str, float, float]]:
    """follower → (leader, ratio, offset), of joints that can move and leaders that exist."""
    joints = {joint.get("name"): joint for joint in ElementTree.parse(path).getroot().findall("joint")}
    found = {}
    for name, joint in joints.items():
        tag = joint.find("mimic")
        if tag is not None and joint.get("type") != "fixed" and tag.get("joint") in joints:
            found[name] = (tag.get("joint"), float(tag.get("multiplier", 1)), float(tag.get("offset", 0)))
    return found


def pin_from_urdf(robot: kt.Robot, path: Path, floating: bool) -> PinPeer:
    model = (
        pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(str(path))
    )
    first_q, first_v = (7, 6) if floating else (0, 0)
    own = {name: k for k, name in enumerate(robot.joint_names)}
    mimics = mimics_in(path)
    G = np.zeros((model.nv, robot.nv))
    G[:first_v, :first_v] = np.eye(first_v)
    position = []
    for name, joint in zip(list(model.names)[1 + floating :], list(model.joints)[1 + floating :], strict=True):
        leader, ratio, offset = mimics.get(name, (name, 1.0, 0.0))
        G[joint.idx_v, first_v + own[leader]] = ratio
        position.append((joint.idx_q, first_q + own[leader], ratio, offset, joint.nq))
    return PinPeer(model, G, position, [(0, 0)] if floating else [])


def pin_from_tree(model: kt.Model) -> PinPeer:
    """A Pinocchio model with the joints of a tree, free ones and mimics (as independent joints) included."""
    peer = pin.Model()
    peer.gravity.linear = np.array(model.gravity)
    ids, columns, position, free = {0: 0}, [], [], []
    for i, p in model.root_to_tips():
        joint, X, inertia = model.joints[i], model.placements[i], model.inertias[i]
        if isinstance(joint, Free):
            kind = pin.JointModelFreeFlyer()
        elif isinstance(joint, Prismatic):
            kind = pin.JointModelPrismaticUnaligned(np.array(joint.axis))
        else:
            kind = pin.JointModelRevoluteUnaligned(np.array(joint.axis))
        ids[i] = peer.addJoint(ids[p], kind, pin.SE3(X.R.T.copy(), np.array(X.p)), joint.name)
        c = inertia.h / inertia.mass
        at_com = inertia.I - inertia.mass * (c @ c * np.eye(3) - np.outer(c, c))
        peer.appendBodyToJoint(ids[i], pin.Inertia(float(inertia.mass), c, at_com), pin.SE3.Identity())
        added = peer.joints[ids[i]]
        if isinstance(joint, Free):
            free.append((added.idx_q, joint.iq))
            columns += [(added.idx_v + k, joint.iv + k, 1.0) for k in range(6)]
        else:
            position.append((added.idx_q, joint.iq, joint.ratio, joint.offset, 1))
            columns.append((added.idx_v, joint.iv, joint.ratio))
    for frame in model.frames:
        placement = pin.SE3(frame.X.R.T.copy(), np.array(frame.X.p))
        peer.addFrame(pin.Frame(frame.name, ids[frame.body], placement, pin.FrameType.OP_FRAME))
    G = np.zeros((peer.nv, model.nv))
    for row, column, ratio in columns:
        G[row, column] = ratio
    return PinPeer(peer, G, position, free, pin.FrameType.OP_FRAME)


REFERENCES = {
    "world-aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
    "local": pin.ReferenceFrame.LOCAL,
    "world": pin.ReferenceFrame.WORLD,
}


def close(x: object, reference: object, tolerance: float = 1e-9) -> None:
    """max|x - ref| ≤ tolerance · max(1, max|ref|), the measure of agreement used throughout."""
    x, reference = np.asarray(x), np.asarray(reference)
    assert x.shape == reference.shape, (x.shape, reference.shape)
    if x.size:
        error = np.abs(x - reference).max()
        assert error <= tolerance * max(1.0, np.abs(reference).max()), f"off by {error:.3g}"
