"""What the actuators of a MuJoCo model say about its joints: how strong they are, and what their rotors add."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.model.bounds import AS_GOOD_AS_ZERO, read_bound
from kinetree.model.builder import ModelBuilder
from kinetree.ops import Array


def effort_limits(mujoco: Any, model: Any, builder: ModelBuilder, names: list[str]) -> Array:
    """The largest effort of each joint, (njnt,) [N m or N]: what its actuators can give together, and no more than the
    joint's own actuatorfrcrange.

    An actuator gives gear · force, with the force in its forcerange, or for a plain motor gain · control with the
    control in its ctrlrange; otherwise it knows no limit. Nor is there one where others load the joint as well, by a
    tendon or at a site.
    """
    limit = np.full(model.njnt, np.inf)
    given = np.zeros(model.njnt)
    for i, j in _on_joints(mujoco, model):
        given[j] += abs(model.actuator_gear[i, 0]) * _strength(mujoco, model, i, names[j], builder)
        limit[j] = given[j]
    limit[sorted(_loaded_by_others(mujoco, model))] = np.inf
    for j in range(model.njnt):
        if model.jnt_actfrclimited[j]:
            limit[j] = min(limit[j], _largest(model.jnt_actfrcrange[j], f"joint {names[j]!r}", builder))
    return limit


def rotors_and_dampers(mujoco: Any, model: Any) -> tuple[Array, Array]:
    """gear² · armature and gear² · damping that actuators add to each joint, (njnt,), where MuJoCo knows of them."""
    rotors, dampers = np.zeros(model.njnt), np.zeros(model.njnt)
    for i, j in _on_joints(mujoco, model):
        square = model.actuator_gear[i, 0] * model.actuator_gear[i, 0]
        rotors[j] += square * float(getattr(model, "actuator_armature", np.zeros(i + 1))[i])
        dampers[j] += square * float(getattr(model, "actuator_damping", np.zeros(i + 1))[i])
    return rotors, dampers


def _on_joints(mujoco: Any, model: Any) -> list[tuple[int, int]]:
    """Actuators and the hinge or slide joint each of them moves."""
    direct = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    single = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    pairs = [(i, int(model.actuator_trnid[i, 0])) for i, kind in enumerate(model.actuator_trntype) if kind in direct]
    return [(i, j) for i, j in pairs if model.jnt_type[j] in single]


def _loaded_by_others(mujoco: Any, model: Any) -> set[int]:
    """Joints that actuators on tendons or sites may load, by how much depends on the posture."""
    bodies, found = set[int](), set[int]()
    for i, kind in enumerate(map(int, model.actuator_trntype)):
        ends = [int(which) for which in model.actuator_trnid[i] if which >= 0]
        if kind == int(mujoco.mjtTrn.mjTRN_TENDON):
            first = int(model.tendon_adr[ends[0]])
            for k in range(first, first + int(model.tendon_num[ends[0]])):
                over, which = mujoco.mjtWrap(int(model.wrap_type[k])).name, int(model.wrap_objid[k])
                if over == "mjWRAP_JOINT":
                    found.add(which)
                elif over == "mjWRAP_SITE":
                    bodies.add(int(model.site_bodyid[which]))
                elif over in ("mjWRAP_SPHERE", "mjWRAP_CYLINDER"):
                    bodies.add(int(model.geom_bodyid[which]))
        elif kind in (int(mujoco.mjtTrn.mjTRN_SITE), int(mujoco.mjtTrn.mjTRN_SLIDERCRANK)):
            bodies.update(int(model.site_bodyid[site]) for site in ends)
    for body in bodies:
        while body:
            first = int(model.body_jntadr[body])
            found.update(range(first, first + int(model.body_jntnum[body])))
            body = int(model.body_parentid[body])
    return found


def _strength(mujoco: Any, model: Any, i: int, joint: str, builder: ModelBuilder) -> float:
    element = f"actuator of joint {joint!r}"
    if model.actuator_forcelimited[i]:
        return _largest(model.actuator_forcerange[i], element, builder)
    plain = (
        model.actuator_gaintype[i] == int(mujoco.mjtGain.mjGAIN_FIXED)
        and model.actuator_biastype[i] == int(mujoco.mjtBias.mjBIAS_NONE)
        and model.actuator_dyntype[i] == int(mujoco.mjtDyn.mjDYN_NONE)
    )
    control = int(model.actuator_ctrladr[i]) if hasattr(model, "actuator_ctrladr") else i
    if plain and model.actuator_ctrllimited[control]:
        return abs(model.actuator_gainprm[i, 0]) * _largest(model.actuator_ctrlrange[control], element, builder)
    return float(np.inf)


def _largest(bounds: Array, element: str, builder: ModelBuilder) -> float:
    low, high = map(float, bounds)
    if low != -high:
        message = f"its range {low:g} to {high:g} is not symmetric; the larger end is taken as the limit of effort"
        builder.note(element, message)
    largest = max(abs(low), abs(high))
    return read_bound(largest) if largest > AS_GOOD_AS_ZERO else 0.0
