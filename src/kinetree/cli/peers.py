"""Other libraries that compute the same, if they are installed: each in the cheapest way its Python offers."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

import kinetree as kt
from kinetree.cli.measure import Call
from kinetree.convert import Kind
from kinetree.ops import Array

State: TypeAlias = Mapping[Kind, Array]
"""q, v, a and tau: of one state, or of many in rows."""
Many: TypeAlias = Callable[[int], Callable[[], object]]
"""From a number of threads to the call that computes all states of a batch."""


@dataclass(frozen=True)
class Peer:
    """What one library can do with this robot, by quantity."""

    version: str
    calls: Mapping[str, Call]
    batches: Mapping[str, Many] = field(default_factory=dict)


def find_peers(robot: kt.Robot, text: str, frame: str, one: State, many: State) -> tuple[dict[str, Peer], list[str]]:
    """All peers that are there and can load the robot, and what to say about the others."""
    peers, notes = {}, []
    for name, make in (("pinocchio", _pinocchio), ("mujoco", _mujoco)):
        try:
            module = importlib.import_module(name)
        except ImportError:
            notes.append(f"{name} is not installed.")
            continue
        if robot.model.has_mimics or robot.model.frozen:
            notes.append(f"{name} gives mimic joints coordinates of their own, so it would not do the same work.")
            continue
        try:
            peers[name] = make(module, robot, text, frame, one, many)
        except Exception as problem:  # each has its own kinds
            notes.append(f"{name} cannot use this robot: {' '.join(str(problem).split())}")
    return peers, notes


def _pinocchio(pin: Any, robot: kt.Robot, text: str, frame: str, one: State, many: State) -> Peer:
    root = () if robot.model.floating_base is None else (pin.JointModelFreeFlyer(),)
    model = pin.buildModelFromXML(text, *root)
    calls = pinocchio_calls(pin, model, robot, frame, one)
    return Peer(pin.__version__, calls, _pinocchio_batches(pin, robot, model, many))


def pinocchio_calls(pin: Any, model: Any, robot: kt.Robot, frame: str, one: State) -> dict[str, Call]:
    """What a user of Pinocchio's Python bindings calls for one state, in the cheapest way the bindings offer.

    A pose is the value that `updateFramePlacement` returns: reading `data.oMf[id]` costs more. Live references to the
    placements of all joints are taken before the loop: looking one up costs more than reading it.
    """
    data, floating = model.createData(), robot.model.floating_base
    names: dict[str, object] = {"model": model, "data": data, "frame": model.getFrameId(frame, pin.FrameType.BODY)}
    names |= {"forward": pin.forwardKinematics, "update": pin.updateFramePlacement, "rnea": pin.rnea, "crba": pin.crba}
    names |= {"jacobian": pin.computeFrameJacobian, "aligned": pin.LOCAL_WORLD_ALIGNED, "aba": pin.aba}
    names |= {kind: np.ascontiguousarray(kt.convert(robot, kind, x, to="pinocchio")) for kind, x in one.items()}
    names["placements"] = [data.oMi[1 if j is floating else model.getJointId(j.name)] for j in robot.model.joints[1:]]

    def call(statement: str, kind: Kind | None = None) -> Call:
        def read(value: Any) -> Array:
            return np.array(value) if kind is None else kt.convert(robot, kind, value, source="pinocchio")

        return Call(statement, names, read)

    return {
        "pose": call("forward(model, data, q); update(model, data, frame).homogeneous"),
        "poses": call("forward(model, data, q); [X.homogeneous for X in placements]"),
        "jacobian": call("jacobian(model, data, q, frame, aligned)", "jacobian"),
        "inverse_dynamics": call("rnea(model, data, q, v, a)", "tau"),
        "mass_matrix": call("crba(model, data, q)", "mass_matrix"),
        "forward_dynamics": call("aba(model, data, q, v, tau)", "v"),
    }


def _pinocchio_batches(pin: Any, robot: kt.Robot, model: Any, many: State) -> dict[str, Many]:
    """Its C++ batch functions, where it was built with them."""
    if not hasattr(pin, "rneaInParallel") or robot.nv == 1:  # they take a single row for a column, and crash
        return {}
    columns = {kind: np.asfortranarray(kt.convert(robot, kind, x, to="pinocchio").T) for kind, x in many.items()}
    result = np.zeros_like(columns["v"])

    def of(function: Any, third: Kind) -> Many:
        def with_threads(threads: int) -> Callable[[], object]:
            pool = pin.ModelPool(model, threads)
            return lambda: function(threads, pool, columns["q"], columns["v"], columns[third], result)

        return with_threads

    return {"inverse_dynamics": of(pin.rneaInParallel, "a"), "forward_dynamics": of(pin.abaInParallel, "tau")}


def _mujoco(mujoco: Any, robot: kt.Robot, text: str, frame: str, one: State, many: State) -> Peer:
    """Its stages one by one, only those that a quantity needs; no contacts, limits or damping in forward dynamics."""
    if hasattr(mujoco, "set_mju_user_warning"):
        mujoco.set_mju_user_warning(lambda message: None)  # it would write a log into the working directory
    spec = mujoco.MjSpec.from_string(_without_geometry(text))
    if robot.model.floating_base is not None:
        spec.worldbody.first_body().add_freejoint()
    model = spec.compile()
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= int(off.mjDSBL_CONSTRAINT | off.mjDSBL_CONTACT)
    model.dof_damping[:] = 0.0
    model.opt.gravity = robot.gravity
    data = mujoco.MjData(model)
    state = {kind: kt.convert(robot, kind, x, to="mujoco", q=one["q"], v=one["v"]) for kind, x in one.items()}
    J, M, tau = np.zeros((2, 3, model.nv)), np.zeros((model.nv, model.nv)), np.zeros(model.nv)
    body, bodies = model.body(frame).id, [model.body(name).id for name in robot.body_names]
    names: dict[str, object] = {"model": model, "data": data, "qpos": data.qpos, "qvel": data.qvel, "qacc": data.qacc}
    names |= {"p": data.xpos[body], "R": data.xmat[body], "places": data.xpos, "turns": data.xmat, "body": body, "J": J}
    names |= {"kinematics": mujoco.mj_kinematics, "com": mujoco.mj_comPos, "jacobian": mujoco.mj_jacBody}
    names |= {"velocities": mujoco.mj_comVel, "rne": mujoco.mj_rne, "out": tau, "crb": mujoco.mj_crb}
    names |= {"dense": mujoco.mj_fullM, "full": (model, M, data.qM) if hasattr(data, "qM") else (model, data, M)}
    names |= {"force": data.qfrc_applied, "forward": mujoco.mj_forward, **{str(kind): x for kind, x in state.items()}}

    def converted(kind: Kind, value: Array) -> Array:
        return kt.convert(robot, kind, value, source="mujoco", q=state["q"], v=state["v"])

    def call(statement: str, read: Callable[[Any], Array]) -> Call:
        return Call(f"qpos[:] = q; kinematics(model, data); {statement}", names, read)

    calls = {
        "pose": call("(p, R)", _matrices),
        "poses": call("(places, turns)", lambda found: _matrices(found)[bodies]),
        "jacobian": call(
            "com(model, data); jacobian(model, data, J[0], J[1], body)",
            lambda _: converted("jacobian", J.reshape(6, -1)),
        ),
        "inverse_dynamics": call(
            "qvel[:] = v; qacc[:] = a; com(model, data); velocities(model, data); rne(model, data, 1, out)",
            lambda _: converted("tau", tau),
        ),
        "mass_matrix": call("com(model, data); crb(model, data); dense(*full)", lambda _: converted("mass_matrix", M)),
        "forward_dynamics": Call(
            "qpos[:] = q; qvel[:] = v; force[:] = tau; forward(model, data); qacc",
            names,
            lambda found: converted("a", found),
        ),
    }
    return Peer(mujoco.__version__, calls)


def _without_geometry(text: str) -> str:
    """Meshes may be missing, and are of no use here."""
    return re.sub(r"<(visual|collision)\b.*?</\1>|<(visual|collision)[^>]*/>", "", text, flags=re.DOTALL)


def _matrices(found: tuple[Array, Array]) -> Array:
    """4×4 matrices from positions and rotations in rows."""
    p, R = found
    X = np.zeros((*p.shape[:-1], 4, 4))
    X[..., :3, :3], X[..., :3, 3], X[..., 3, 3] = R.reshape(*p.shape[:-1], 3, 3), p, 1.0
    return X
