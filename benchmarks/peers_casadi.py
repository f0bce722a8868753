"""The fastest peer for one call: adam's algorithms on CasADi symbols, as C that gcc compiles for this machine.

What is timed is one evaluation through CasADi's buffer interface: arrays are bound once, a call reads the arguments
where they are and writes over the last result. Nothing is checked and nothing is allocated.

The graphs are the cheapest that adam gives for the very quantities of the table, as functions of the same q, v, a, τ:

- Links that fixed joints hold together are merged before adam sees the robot, as kinetree and Pinocchio do themselves.
- The base's velocity is in base axes (adam's body-fixed representation), its rotation a quaternion.
- A fixed base is an identity pose with no velocity, which CasADi folds away; only the joints' part of a result is kept.
- adam's RNEA has no accelerations, so inverse dynamics is M a + h, from one graph with common terms shared. Its RNEA by
  itself is compared, too, as bias forces.
- adam's ABA is for a free base; for a fixed one, the solution of its last linear system is set to zero acceleration.
- A frame's Jacobian is adam's body-fixed one, turned to world axes.
"""

from __future__ import annotations

import os
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import casadi as cs
import numpy as np
import pinocchio as pin
from adam.casadi.casadi_like import CasadiLike, SpatialMath
from adam.core import RBDAlgorithms
from adam.core.constants import Representations
from adam.model import Model, build_model_factory
from robots import Contender

import kinetree as kt
from kinetree.cli.measure import Call
from kinetree.convert import Kind
from kinetree.model.joints import AxisJoint

FLAGS = ("-O3", "-march=native")
"""The fastest of those tried: gcc fuses multiply-adds by itself, and -ffast-math made the large functions slower."""
FRAME = "the frame"
INPUTS: dict[str, tuple[Kind, ...]] = {
    "bias forces": ("q", "v"),
    "RNEA": ("q", "v", "a"),
    "CRBA": ("q",),
    "ABA": ("q", "v", "tau"),
    "frame Jacobian": ("q",),
}


class HeldBase(SpatialMath):
    """adam's mathematics for a base that cannot move."""

    @staticmethod
    def solve(A: CasadiLike, B: CasadiLike) -> CasadiLike:
        """The base's acceleration, the only linear system that ABA solves: none."""
        return CasadiLike(cs.SX.zeros(*B.shape))


def adam_calls(contender: Contender, state: Mapping[Kind, np.ndarray], folder: Path) -> dict[str, Call]:
    """Compiled functions bound to one state; sources and libraries go to a folder."""
    functions = compiled(graphs(contender), folder)
    return {name: buffered(function, [state[kind] for kind in INPUTS[name]]) for name, function in functions.items()}


def graphs(contender: Contender) -> dict[str, cs.Function]:
    """The quantities as CasADi functions."""
    robot = contender.robot
    floating = robot.model.floating_base is not None
    math = SpatialMath() if floating else HeldBase()
    factory = build_model_factory(description=merged_urdf(contender), math=math)
    adam = RBDAlgorithms(Model.build(factory, list(robot.joint_names)), math)
    adam.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)

    symbols = {kind: cs.SX.sym(kind, robot.nq if kind == "q" else robot.nv) for kind in ("q", "v", "a", "tau")}
    q, v, a, tau = symbols.values()
    H, base_v, first = (base_pose(q), v[:6], 0) if floating else (cs.SX.eye(4), cs.SX.zeros(6), 6)
    s, joint_v, joint_tau = q[-adam.NDoF :], v[-adam.NDoF :], tau[-adam.NDoF :]
    gravity = np.array([*robot.gravity, 0.0, 0.0, 0.0])

    M = adam.crba(H, s)[0].array[first:, first:]
    h = adam.rnea(H, s, base_v, joint_v, gravity).array[first:]
    aligned = math.adjoint_mixed(adam.forward_kinematics(FRAME, H, s))
    results = {
        "bias forces": h,
        "RNEA": M @ a + h,
        "CRBA": M,
        "ABA": adam.aba(H, s, base_v, joint_v, joint_tau, gravity).array[first:],
        "frame Jacobian": (aligned @ adam.jacobian(FRAME, H, s)).array[:, first:],
    }
    return {
        name: cs.Function(
            name.replace(" ", "_"), [symbols[kind] for kind in INPUTS[name]], [cs.densify(result)], {"cse": True}
        )
        for name, result in results.items()
    }


def base_pose(q: cs.SX) -> cs.SX:
    """The 4×4 pose of q = [x y z | qx qy qz qw | …]."""
    u, w = q[3:6], q[6]
    R = cs.SX.eye(3) + 2.0 * w * cs.skew(u) + 2.0 * cs.skew(u) @ cs.skew(u)
    return cs.vertcat(cs.horzcat(R, q[:3]), cs.SX([[0.0, 0.0, 0.0, 1.0]]))


def compiled(functions: Mapping[str, cs.Function], folder: Path) -> dict[str, cs.Function]:
    """The same functions as C in shared libraries."""

    def build(function: cs.Function) -> cs.Function:
        source, library = (folder / f"{function.name()}.{ending}" for ending in ("c", "so"))
        subprocess.run(["gcc", *FLAGS, "-fPIC", "-shared", str(source), "-o", str(library)], check=True)
        return cs.external(function.name(), str(library))

    for function in functions.values():
        code = cs.CodeGenerator(f"{function.name()}.c")
        code.add(function)
        code.generate(f"{folder}{os.sep}")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(functions, pool.map(build, functions.values()), strict=True))


def buffered(function: cs.Function, arguments: list[np.ndarray]) -> Call:
    """One evaluation, from arrays that stay to an array that stays."""
    buffer, trigger = function.buffer()
    result = np.empty(function.size_out(0), order="F")
    for k, argument in enumerate(arguments):
        buffer.set_arg(k, argument.data)
    buffer.set_res(0, result.T.data)

    flat = result[:, 0] if result.shape[1] == 1 else result
    names = {"trigger": trigger, "held": (buffer, arguments, result)}
    return Call("trigger()", names, lambda _: flat.copy())


def merged_urdf(contender: Contender) -> str:
    """The robot as kinetree sees it, with one link a body, and the frame of the benchmark."""
    model = contender.robot.model
    document = ET.Element("robot", name=model.name)
    if model.floating_base is None:
        ET.SubElement(document, "link", name=model.names[0])
    for i, p in model.root_to_tips():
        _add_link(document, model.names[i], model.inertias[i])
        joint = model.joints[i]
        if isinstance(joint, AxisJoint):  # the other kind is a floating base
            kind = type(joint).__name__.lower()
            pose = model.placements[i].pose()
            element = _add_joint(document, joint.name, kind, model.names[p], model.names[i], pose)
            ET.SubElement(element, "axis", xyz=_words(joint.axis))
            ET.SubElement(element, "limit", lower="-1", upper="1", effort="1", velocity="1")
    frame = model.frame(contender.frame)
    ET.SubElement(document, "link", name=FRAME)
    _add_joint(document, f"{FRAME} joint", "fixed", model.names[frame.body], FRAME, frame.X.pose())
    return ET.tostring(document, encoding="unicode")


def _add_link(document: ET.Element, name: str, inertia: kt.Inertia) -> None:
    inertial = ET.SubElement(ET.SubElement(document, "link", name=name), "inertial")
    ET.SubElement(inertial, "origin", xyz=_words(inertia.com), rpy="0 0 0")
    ET.SubElement(inertial, "mass", value=_words([inertia.mass]))
    about_com, axes = inertia.about_com, "xyz"
    entries = {f"i{axes[r]}{axes[c]}": _words([about_com[r, c]]) for r in range(3) for c in range(r, 3)}
    ET.SubElement(inertial, "inertia", entries)


def _add_joint(document: ET.Element, name: str, kind: str, parent: str, child: str, pose: np.ndarray) -> ET.Element:
    element = ET.SubElement(document, "joint", name=name, type=kind)
    ET.SubElement(element, "parent", link=parent)
    ET.SubElement(element, "child", link=child)
    ET.SubElement(element, "origin", xyz=_words(pose[:3, 3]), rpy=_words(pin.rpy.matrixToRpy(pose[:3, :3])))
    return element


def _words(numbers: Iterable[float]) -> str:
    return " ".join(repr(float(x)) for x in numbers)
