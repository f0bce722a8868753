"""A tree in MuJoCo: hinges, slides and balls, several on one body where MuJoCo has no joint of that kind."""

from __future__ import annotations

import mujoco
import numpy as np

import kinetree as kt
from kinetree.model.joints import Joint
from peers import in_plane, pin


def mujoco_from_tree(model: kt.Model) -> mujoco.MjModel:
    """The bodies of a tree with their joints; mimic joints are free to move, and so are the two parts of a screw."""
    inside: dict[int, list[int]] = {i: [] for i in range(len(model.joints))}
    for i, p in model.root_to_tips():
        inside[p].append(i)
    gravity = _numbers(model.gravity)
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/><option gravity="{gravity}"/><worldbody>'
        + "".join(_body(model, i, inside) for i in inside[0])
        + "</worldbody></mujoco>"
    )


def _body(model: kt.Model, i: int, inside: dict[int, list[int]]) -> str:
    X, inertia = model.placements[i], model.inertias[i]
    quaternion = np.roll(pin.Quaternion(X.R.T.copy()).coeffs(), 1)
    c = inertia.h / inertia.mass
    I = inertia.I - inertia.mass * (c @ c * np.eye(3) - np.outer(c, c))  # noqa: E741
    six = _numbers([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
    return (
        f'<body name="{model.names[i]}" pos="{_numbers(X.p)}" quat="{_numbers(quaternion)}">'
        + "".join(f'<joint type="{kind}"{axis}/>' for kind, axis in _joints(model.joints[i]))
        + f'<inertial mass="{inertia.mass!r}" pos="{_numbers(c)}" fullinertia="{six}"/>'
        + "".join(_body(model, j, inside) for j in inside[i])
        + "</body>"
    )


def _joints(joint: Joint) -> list[tuple[str, str]]:
    match type(joint).__name__:
        case "Free":
            return [("free", "")]
        case "Spherical":
            return [("ball", "")]
        case "Universal":
            return [("hinge", _along(joint.axis)), ("hinge", _along(joint.axis2))]
        case "Planar":
            x, y = in_plane(joint.axis)
            return [("slide", _along(x)), ("slide", _along(y)), ("hinge", _along(joint.axis))]
        case "Helical":
            return [("hinge", _along(joint.axis)), ("slide", _along(joint.axis))]
        case "Prismatic":
            return [("slide", _along(joint.axis))]
        case _:
            return [("hinge", _along(joint.axis))]


def _along(axis: np.ndarray) -> str:
    return f' axis="{_numbers(axis)}"'


def _numbers(values: np.ndarray) -> str:
    return " ".join(repr(float(x)) for x in values)


def mass_matrix(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, M, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(model, data, M)
    return M
