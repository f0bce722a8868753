"""The same robots in Pinocchio and MuJoCo, built without any help of the library under test."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

import kinetree as kt
from kinetree.model.joints import Joint

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
    """A Pinocchio model and the maps v_pin = G v, q_pin = f(q); planar joints add a rotation to both, made here."""

    model: pin.Model
    G: np.ndarray
    position: list[tuple[int, int, float, float, int]]
    """(iq_pin, iq, ratio, offset, nq_pin) of every angle or displacement."""
    copied: list[tuple[int, int, int]]
    """(iq_pin, iq, n) of positions that are the same on both sides: of free and spherical joints."""
    frame_type: pin.FrameType = pin.FrameType.BODY
    planar: list[tuple[int, int]] = field(default_factory=list)
    """(iv_pin, iq) of every planar joint: Pinocchio's linear velocity there is in axes that turn with the body."""

    def q(self, q: np.ndarray) -> np.ndarray:
        out = pin.neutral(self.model)
        for at, iq, n in self.copied:
            out[at : at + n] = q[iq : iq + n]
        for at, iq, ratio, offset, nq in self.position:
            angle = ratio * q[iq] + offset
            out[at : at + nq] = [np.cos(angle), np.sin(angle)] if nq == 2 else [angle]
        return out

    def T(self, q: np.ndarray) -> np.ndarray:
        """v_pin = T v."""
        T = self.G.copy()
        for iv, iq in self.planar:
            c, s = np.cos(q[iq + 2]), np.sin(q[iq + 2])
            T[iv : iv + 2] = np.array([[c, s], [-s, c]]) @ T[iv : iv + 2]
        return T

    def T_rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Ṫ, so that a_pin = T a + Ṫ v."""
        T, rate = self.T(q), np.zeros_like(self.G)
        for iv, _ in self.planar:
            rate[iv : iv + 2] = (T[iv + 2] @ v) * np.array([[0, 1], [-1, 0]]) @ T[iv : iv + 2]
        return rate

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
    return PinPeer(model, G, position, [(0, 0, 7)] if floating else [])


def pin_joint(joint: Joint) -> tuple[pin.JointModel, np.ndarray]:
    """Pinocchio's joint of the same kind, and the rotation of its frame in ours.

    Its planar joint moves in x and y and turns about z, so its frame is laid along the directions of ours.
    """
    match type(joint).__name__:
        case "Free":
            return pin.JointModelFreeFlyer(), np.eye(3)
        case "Spherical":
            return pin.JointModelSpherical(), np.eye(3)
        case "Planar":
            return pin.JointModelPlanar(), np.column_stack([*in_plane(joint.axis), joint.axis])
        case "Universal":
            both = pin.JointModelComposite()  # its own universal joint wants perpendicular axes
            both.addJoint(pin.JointModelRevoluteUnaligned(np.array(joint.axis)))
            both.addJoint(pin.JointModelRevoluteUnaligned(np.array(joint.axis2)))
            square = abs(joint.axis @ joint.axis2) < 1e-12
            return pin.JointModelUniversal(np.array(joint.axis), np.array(joint.axis2)) if square else both, np.eye(3)
        case "Helical":
            return pin.JointModelHelicalUnaligned(np.array(joint.axis), joint.pitch), np.eye(3)
        case "Prismatic":
            return pin.JointModelPrismaticUnaligned(np.array(joint.axis)), np.eye(3)
        case _:
            return pin.JointModelRevoluteUnaligned(np.array(joint.axis)), np.eye(3)


def in_plane(normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where x and y of a planar joint point: turned the shortest way along with z to the normal."""
    across = np.cross([0.0, 0.0, 1.0], normal)
    R = pin.exp3(across / np.linalg.norm(across) * np.arccos(normal[2])) if across.any() else np.eye(3)
    return R[:, 0], R[:, 1]


def pin_from_tree(model: kt.Model) -> PinPeer:
    """A Pinocchio model with the joints of a tree, free ones and mimics (as independent joints) included."""
    peer = pin.Model()
    peer.gravity.linear = np.array(model.gravity)
    ids, turned = {0: 0}, {0: np.eye(3)}
    columns, position, copied, planar = [], [], [], []
    for i, p in model.root_to_tips():
        joint, X, inertia = model.joints[i], model.placements[i], model.inertias[i]
        kind, turned[i] = pin_joint(joint)
        placement = pin.SE3(turned[p].T @ X.R.T @ turned[i], turned[p].T @ X.p)
        ids[i] = peer.addJoint(ids[p], kind, placement, joint.name)
        c = inertia.h / inertia.mass
        at_com = inertia.I - inertia.mass * (c @ c * np.eye(3) - np.outer(c, c))
        body = pin.SE3(turned[i].T.copy(), np.zeros(3))
        peer.appendBodyToJoint(ids[i], pin.Inertia(float(inertia.mass), c, at_com), body)
        added, ratio = peer.joints[ids[i]], getattr(joint, "ratio", 1.0)
        columns += [(added.idx_v + k, joint.iv + k, ratio) for k in range(joint.nv)]
        if joint.nq != joint.nv:
            copied.append((added.idx_q, joint.iq, joint.nq))
        elif added.nq == 4:
            copied.append((added.idx_q, joint.iq, 2))
            position.append((added.idx_q + 2, joint.iq + 2, 1.0, 0.0, 2))
            planar.append((added.idx_v, joint.iq))
        else:
            offset = getattr(joint, "offset", 0.0)
            position += [(added.idx_q + k, joint.iq + k, ratio, offset, 1) for k in range(joint.nq)]
    for frame in model.frames:
        placement = pin.SE3(turned[frame.body].T @ frame.X.R.T, turned[frame.body].T @ frame.X.p)
        peer.addFrame(pin.Frame(frame.name, ids[frame.body], placement, pin.FrameType.OP_FRAME))
    G = np.zeros((peer.nv, model.nv))
    for row, column, ratio in columns:
        G[row, column] = ratio
    return PinPeer(peer, G, position, copied, pin.FrameType.OP_FRAME, planar)


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
