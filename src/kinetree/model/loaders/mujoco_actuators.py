"""Actuators of a compiled MuJoCo model, on joints, tendons and sites."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

import numpy as np

from kinetree.model.actuators import Activation, Actuator, Drive
from kinetree.model.bounds import read_bound
from kinetree.model.builder import ModelBuilder
from kinetree.model.description import free_name
from kinetree.model.loaders.mujoco_drives import read_drives
from kinetree.model.loaders.mujoco_tendons import TendonReader
from kinetree.model.muscles import Muscle
from kinetree.model.tendons import UNLIMITED

ACTIVATIONS: dict[str, Activation] = {
    "mjDYN_NONE": "none",
    "mjDYN_INTEGRATOR": "integrator",
    "mjDYN_FILTER": "filter",
    "mjDYN_FILTEREXACT": "filter",
    "mjDYN_MUSCLE": "muscle",
}
GAINS = ("mjGAIN_FIXED", "mjGAIN_AFFINE")
BIASES = ("mjBIAS_NONE", "mjBIAS_AFFINE")
MUSCLE = {"gain": "mjGAIN_MUSCLE", "bias": "mjBIAS_MUSCLE", "dynamics": "mjDYN_MUSCLE"}
SMALLEST = 1e-15
"""mjMINVAL, the least time constant."""


def add_actuators(
    mujoco: Any,
    model: Any,
    builder: ModelBuilder,
    joints: list[str],
    tendons: TendonReader,
    links: Mapping[int, str],
    sites: Mapping[int, str],
) -> None:
    """Muscles, and those whose force is linear in a control or an activation, if what they move was read: `links` and
    `sites` are the names of bodies and sites that were."""
    others: dict[str, list[str]] = {}
    taken = {other.name for other in builder.actuators}
    for i in range(len(model.actuator_trntype)):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, i) or f"actuator{i}"
        moved = _joints(mujoco, model, i, joints, tendons)
        pulled = _tendons(mujoco, model, i, tendons)
        with builder.located(f"actuator {name!r}"):
            drives = read_drives(mujoco, model, i, builder, joints, links, sites)
        kinds = {
            "gain": mujoco.mjtGain(int(model.actuator_gaintype[i])).name,
            "bias": mujoco.mjtBias(int(model.actuator_biastype[i])).name,
            "dynamics": mujoco.mjtDyn(int(model.actuator_dyntype[i])).name,
        }
        known = {"gain": GAINS, "bias": BIASES, "dynamics": ACTIVATIONS}
        if isinstance(drives, str):
            others.setdefault(drives, []).append(name)
        elif moved is None and pulled is None and not drives:
            kind = _word(mujoco.mjtTrn(int(model.actuator_trntype[i])).name)
            contact = ", which acts where bodies touch" if "body" in kind else ""
            others.setdefault(f"their transmission is {kind}{contact}", []).append(name)
        elif kinds != MUSCLE and (odd := _odd(kinds, known)):
            others.setdefault(f"their {odd} is {_word(kinds[odd])}", []).append(name)
        elif kinds == MUSCLE and not np.array_equal(model.actuator_gainprm[i][:9], model.actuator_biasprm[i][:9]):
            others.setdefault("their gain and bias are those of two muscles", []).append(name)
        elif all(joint in builder.joints for joint, _ in moved or ()):
            name = free_name(name, taken)
            taken.add(name)
            builder.actuators.append(_actuator(model, i, name, moved or [], pulled or [], drives, kinds))
            _note_rotors(mujoco, model, i, name, builder, bool(drives))
    for why, names in others.items():
        message = f"{len(names)} of them ({', '.join(names[:5])}) were left out of robot.actuators: {why}"
        builder.note("<actuator>", message, None, "warning", len(names))


def _odd(kinds: dict[str, str], known: Mapping[str, Container[str]]) -> str | None:
    """Which of gain, bias and dynamics is of a kind that is not read."""
    return next((what for what, kind in kinds.items() if kind not in known[what] or kind == MUSCLE[what]), None)


def _note_rotors(mujoco: Any, model: Any, i: int, name: str, builder: ModelBuilder, is_on_frames: bool) -> None:
    """Rotors and dampers that are not those of a joint with one coordinate."""
    is_on_tendon = model.actuator_trntype[i] == int(mujoco.mjtTrn.mjTRN_TENDON)
    for field in ("actuator_armature", "actuator_damping"):
        if (is_on_tendon or is_on_frames) and np.any(getattr(model, field, np.zeros(i + 1))[i]):
            what = field.removeprefix("actuator_")
            why = "it acts on frames" if is_on_frames else "it pulls on a tendon"
            builder.warn(f"actuator {name!r}", f"its {what} was ignored: {why}")


def _actuator(
    model: Any,
    i: int,
    name: str,
    joints: list[tuple[str, float]],
    tendons: list[tuple[str, float]],
    drives: tuple[Drive, ...],
    kinds: dict[str, str],
) -> Actuator:
    if kinds == MUSCLE:
        gain, bias = (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    else:
        gain = tuple(np.array(model.actuator_gainprm[i][:3]) * ((1, 0, 0) if kinds["gain"] == "mjGAIN_FIXED" else 1))
        bias = (0.0, 0.0, 0.0) if kinds["bias"] == "mjBIAS_NONE" else tuple(model.actuator_biasprm[i][:3])
    u = int(model.actuator_ctrladr[i]) if hasattr(model, "actuator_ctrladr") else i
    activation = ACTIVATIONS[kinds["dynamics"]]
    return Actuator(
        name,
        tuple(joints),
        gain=gain,
        bias=bias,
        control_range=_range(model.actuator_ctrllimited[u], model.actuator_ctrlrange[u]),
        force_range=_range(model.actuator_forcelimited[i], model.actuator_forcerange[i]),
        activation=activation,
        time_constant=max(float(model.actuator_dynprm[i][0]), SMALLEST) if activation == "filter" else 0.0,
        activation_range=_range(model.actuator_actlimited[i], model.actuator_actrange[i]),
        tendons=tuple(tendons),
        muscle=_muscle(model, i) if kinds == MUSCLE else None,
        drives=drives,
    )


def _muscle(model: Any, i: int) -> Muscle:
    """With a peak force below zero, that is what accelerates its tendon by `scale`, as MuJoCo found it for qpos0."""
    r0, r1, force, scale, l_min, l_max, v_max, fp_max, fv_max = map(float, model.actuator_gainprm[i][:9])
    up, down, smoothing = map(float, model.actuator_dynprm[i][:3])
    force = scale / max(SMALLEST, float(model.actuator_acc0[i])) if force < 0.0 else force
    l0, l1 = map(float, model.actuator_lengthrange[i])
    return Muscle(force, (l0, l1), (r0, r1), l_min, l_max, v_max, fp_max, fv_max, (up, down), smoothing)


def _tendons(mujoco: Any, model: Any, i: int, tendons: TendonReader) -> list[tuple[str, float]] | None:
    """The tendon with a path that it pulls on, and its gear; None if it moves something else."""
    target = int(model.actuator_trnid[i, 0])
    if model.actuator_trntype[i] != int(mujoco.mjtTrn.mjTRN_TENDON) or target not in tendons.names:
        return None
    return [(tendons.names[target], float(model.actuator_gear[i, 0]))]


def _joints(
    mujoco: Any, model: Any, i: int, joints: list[str], tendons: TendonReader
) -> list[tuple[str, float]] | None:
    """The joints that it moves, and the gear of each; None if it moves something else."""
    kind, target = mujoco.mjtTrn(int(model.actuator_trntype[i])).name, int(model.actuator_trnid[i, 0])
    gear = float(model.actuator_gear[i, 0])
    if kind in ("mjTRN_JOINT", "mjTRN_JOINTINPARENT"):
        single = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
        return [(joints[target], gear)] if model.jnt_type[target] in single else None
    pulled = tendons.joints_of(target) if kind == "mjTRN_TENDON" else None
    return None if pulled is None else [(joint, gear * coefficient) for joint, coefficient in pulled]


def _range(is_limited: Any, bounds: Any) -> tuple[float, float]:
    return (read_bound(float(bounds[0])), read_bound(float(bounds[1]))) if is_limited else UNLIMITED


def _word(kind: str) -> str:
    """mjTRN_SITE is "site"."""
    return f"of the kind {kind.partition('_')[2].lower()!r}"
