"""What a MuJoCo model has besides bodies and joints: listed by `robot.check()`, refused where bodies are not rigid."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from kinetree.model.builder import ModelBuilder
from kinetree.model.semantics import Semantics, pairs
from kinetree.ops import Array

PASSIVE = {"SPRING": "stiffness", "DAMPER": "damping", "FRICTIONLOSS": "friction"}
"""Flags that switch passive forces off, and what they switch off."""
COUNTED = {
    "contact/pair": "npair",
    "skin": "nskin",
    "plugin": "nplugin",
    "light": "nlight",
    "texture": "ntex",
    "custom/numeric": "nnumeric",
    "custom/text": "ntext",
    "custom/tuple": "ntuple",
}
"""Elements that do not enter the model, and MuJoCo's number of them."""


def is_disabled(mujoco: Any, model: Any, flag: str) -> bool:
    """Whether the options switch this part of the physics off."""
    return bool(model.opt.disableflags & int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}")))


def note_leftovers(mujoco: Any, model: Any, builder: ModelBuilder) -> None:
    """Lists everything that is not read; a soft body is an error, for without its springs it would fall apart."""
    for i in range(model.nflex):
        if not model.flex_rigid[i]:
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_FLEX, i)
            message = "it is a soft body, whose vertices move without joints; expected rigid bodies, so remove it"
            raise builder.error(f"flex {name!r}", message)
    _note_count(builder, "flex", model.nflex)
    _note_sensors(mujoco, model, builder)
    read_exclusions(mujoco, model, builder)
    for element, size in COUNTED.items():
        _note_count(builder, element, int(getattr(model, size)))
    _note_count(builder, "tendon", model.ntendon - len(builder.tendons))
    _note_bodies(mujoco, model, builder)
    _note_joints(mujoco, model, builder)
    if np.any(model.opt.wind) and not builder.fluid.is_present:
        builder.note("<option>", "wind was ignored; without a fluid it has no effect in MuJoCo either")


def _note_count(builder: ModelBuilder, element: str, count: int, which: str = "") -> None:
    if count:
        builder.note(f"<{element}>", f"{count} element{'s were' if count > 1 else ' was'} ignored{which}")


def _note_sensors(mujoco: Any, model: Any, builder: ModelBuilder) -> None:
    kinds = Counter(mujoco.mjtSensor(int(kind)).name.removeprefix("mjSENS_").lower() for kind in model.sensor_type)
    _note_count(builder, "sensor", model.nsensor, f": {', '.join(f'{n} × {kind}' for kind, n in kinds.items())}")


def read_exclusions(mujoco: Any, model: Any, builder: ModelBuilder) -> None:
    """Pairs of bodies that may touch, if both were read."""
    found = []
    for code in map(int, model.exclude_signature):
        one, other = (
            mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, i) or f"body{i}" for i in divmod(code, 1 << 16)
        )
        if one in builder.links and other in builder.links:
            found.append((one, other))
    builder.semantics = Semantics(disabled_collisions=pairs(found))


def _note_bodies(mujoco: Any, model: Any, builder: ModelBuilder) -> None:
    for i in range(1, model.nbody):
        element = f"body {mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, i) or f'body{i}'!r}"
        if model.body_mocapid[i] >= 0:
            builder.note(element, "it is a mocap body, which others move; here it is fixed where the file puts it")


def _note_joints(mujoco: Any, model: Any, builder: ModelBuilder) -> None:
    """What newer versions of MuJoCo know of springs and dampers that are not linear."""
    nothing, compensated = np.zeros(1), _carries_compensated(model)
    for j in range(model.njnt):
        element = f"joint {mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) or f'joint{j}'!r}"
        if model.jnt_actgravcomp[j] and compensated[model.jnt_bodyid[j]]:
            limited = ", whose limit does not count it" if model.jnt_actfrclimited[j] else ""
            message = f"its gravity compensation is a passive force, and not part of that of its actuators{limited}"
            builder.warn(element, message)
        dof = int(model.jnt_dofadr[j])
        for field, index, what in (
            ("jnt_stiffnesspoly", j, "the higher powers of its spring"),
            ("dof_dampingpoly", dof, "the higher powers of its damping"),
            ("jnt_springyield", j, "the yielding of its spring"),
        ):
            if np.any(getattr(model, field)[index] if hasattr(model, field) else nothing):
                builder.warn(element, f"{what} were ignored" if "powers" in what else f"{what} was ignored")


def _carries_compensated(model: Any) -> Array:
    """Whether there is gravity compensation of each body, or of one that it carries."""
    found = model.body_gravcomp != 0.0
    for i in range(model.nbody - 1, 0, -1):
        found[model.body_parentid[i]] |= found[i]
    return np.asarray(found)
