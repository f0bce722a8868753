"""Actuators of a compiled MuJoCo model on joints and fixed tendons, and fixed tendons that pull by themselves."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from kinetree.model.actuators import UNLIMITED, Activation, Actuator
from kinetree.model.bounds import read_bound
from kinetree.model.builder import ModelBuilder
from kinetree.model.description import free_name
from kinetree.model.tendons import Tendon

ACTIVATIONS: dict[str, Activation] = {
    "mjDYN_NONE": "none",
    "mjDYN_INTEGRATOR": "integrator",
    "mjDYN_FILTER": "filter",
    "mjDYN_FILTEREXACT": "filter",
}
GAINS = ("mjGAIN_FIXED", "mjGAIN_AFFINE")
BIASES = ("mjBIAS_NONE", "mjBIAS_AFFINE")
TERMS = {
    "stiffness": ("SPRING", "tendon_stiffness"),
    "damping": ("DAMPER", "tendon_damping"),
    "friction": ("FRICTIONLOSS", "tendon_frictionloss"),
}
"""Of a tendon, the flags that switch them off, and where MuJoCo has them."""
SMALLEST = 1e-15
"""mjMINVAL, the least time constant."""


def add_actuators(mujoco: Any, model: Any, builder: ModelBuilder, joints: list[str]) -> None:
    """Those whose force is linear in a control or an activation, and whose joints were read."""
    others: dict[str, list[str]] = {}
    for i in range(len(model.actuator_trntype)):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, i) or f"actuator{i}"
        moved = _joints(mujoco, model, i, joints)
        kinds = {
            "gain": mujoco.mjtGain(int(model.actuator_gaintype[i])).name,
            "bias": mujoco.mjtBias(int(model.actuator_biastype[i])).name,
            "dynamics": mujoco.mjtDyn(int(model.actuator_dyntype[i])).name,
        }
        known = {"gain": GAINS, "bias": BIASES, "dynamics": ACTIVATIONS}
        if moved is None:
            kind = mujoco.mjtTrn(int(model.actuator_trntype[i])).name
            others.setdefault(f"their transmission is {_word(kind)}", []).append(name)
        elif odd := [what for what, kind in kinds.items() if kind not in known[what]]:
            others.setdefault(f"their {odd[0]} is {_word(kinds[odd[0]])}", []).append(name)
        elif all(joint in builder.joints for joint, _ in moved):
            name = free_name(name, [other.name for other in builder.actuators])
            builder.actuators.append(_actuator(model, i, name, moved, kinds))
    for why, names in others.items():
        message = f"{len(names)} of them ({', '.join(names[:5])}) were left out of robot.actuators: {why}"
        builder.note("<actuator>", message, None, "warning", len(names))


def _actuator(model: Any, i: int, name: str, joints: list[tuple[str, float]], kinds: dict[str, str]) -> Actuator:
    g, b = np.array(model.actuator_gainprm[i][:3]), np.array(model.actuator_biasprm[i][:3])
    u = int(model.actuator_ctrladr[i]) if hasattr(model, "actuator_ctrladr") else i
    activation = ACTIVATIONS[kinds["dynamics"]]
    return Actuator(
        name,
        tuple(joints),
        gain=tuple(g * ((1.0, 0.0, 0.0) if kinds["gain"] == "mjGAIN_FIXED" else 1.0)),
        bias=(0.0, 0.0, 0.0) if kinds["bias"] == "mjBIAS_NONE" else tuple(b),
        control_range=_range(model.actuator_ctrllimited[u], model.actuator_ctrlrange[u]),
        force_range=_range(model.actuator_forcelimited[i], model.actuator_forcerange[i]),
        activation=activation,
        time_constant=max(float(model.actuator_dynprm[i][0]), SMALLEST) if activation == "filter" else 0.0,
        activation_range=_range(model.actuator_actlimited[i], model.actuator_actrange[i]),
    )


def _joints(mujoco: Any, model: Any, i: int, joints: list[str]) -> list[tuple[str, float]] | None:
    """The joints that it moves, and the gear of each; None if it moves something else."""
    kind, target = mujoco.mjtTrn(int(model.actuator_trntype[i])).name, int(model.actuator_trnid[i, 0])
    gear = float(model.actuator_gear[i, 0])
    if kind in ("mjTRN_JOINT", "mjTRN_JOINTINPARENT"):
        single = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
        return [(joints[target], gear)] if model.jnt_type[target] in single else None
    pulled = _tendon_joints(mujoco, model, target, joints) if kind == "mjTRN_TENDON" else None
    return None if pulled is None else [(joint, gear * coefficient) for joint, coefficient in pulled]


def _tendon_joints(mujoco: Any, model: Any, i: int, joints: list[str]) -> list[tuple[str, float]] | None:
    """The joints that a fixed tendon runs over, and the coefficient of each; None if it is a spatial one."""
    wraps = range(int(model.tendon_adr[i]), int(model.tendon_adr[i]) + int(model.tendon_num[i]))
    if any(model.wrap_type[k] != int(mujoco.mjtWrap.mjWRAP_JOINT) for k in wraps):
        return None
    return [(joints[int(model.wrap_objid[k])], float(model.wrap_prm[k])) for k in wraps]


def add_tendons(mujoco: Any, model: Any, builder: ModelBuilder, joints: list[str], disabled: Container[str]) -> None:
    """Springs, dampers and friction of fixed tendons, unless they are switched off; those of others warn."""
    lost, limited = 0, 0
    for i in range(model.ntendon):
        found = {name: float(np.ravel(getattr(model, field)[i])[0]) for name, (_, field) in TERMS.items()}
        found |= {name: 0.0 for name, (flag, _) in TERMS.items() if flag in disabled}
        moved = _tendon_joints(mujoco, model, i, joints)
        has_armature = bool(np.any(getattr(model, "tendon_armature", np.zeros(i + 1))[i]))
        limited += bool(model.tendon_limited[i])
        if any(found.values()) and moved is not None and all(joint in builder.joints for joint, _ in moved):
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_TENDON, i) or f"tendon{i}"
            name = free_name(name, [other.name for other in builder.tendons])
            lower, upper = map(float, model.tendon_lengthspring[i])
            builder.tendon(Tendon(name, tuple(moved), **found, rest=(lower, upper)))
            lost += has_armature
        else:
            lost += has_armature or any(found.values())
    if lost:
        message = f"springs, damping, friction or armature of {lost} tendon{'s' if lost > 1 else ''} were ignored"
        builder.warn("<tendon>", message, count=lost)
    if limited:
        builder.note("<tendon>", f"limits of {limited} tendon{'s' if limited > 1 else ''} were ignored", count=limited)


def _range(is_limited: Any, bounds: Any) -> tuple[float, float]:
    return (read_bound(float(bounds[0])), read_bound(float(bounds[1]))) if is_limited else UNLIMITED


def _word(kind: str) -> str:
    """mjTRN_SITE is "site"."""
    return f"of the kind {kind.partition('_')[2].lower()!r}"
