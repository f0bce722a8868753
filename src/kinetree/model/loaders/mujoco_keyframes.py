"""Keyframes of a compiled MuJoCo model, as named postures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.model.assembly import FLOATING_BASE
from kinetree.model.builder import ModelBuilder
from kinetree.model.description import free_name
from kinetree.spatial.rotation import normalized

SIZES = (7, 4, 1, 1)
"""Positions of MuJoCo's joint types: free, ball, slide, hinge."""


def read_keyframes(mujoco: Any, model: Any, builder: ModelBuilder, joints: Sequence[str]) -> None:
    """Add a posture for every keyframe; `joints` are the names of MuJoCo's joints, in their order."""
    for key in range(model.nkey):
        given = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_KEY, key)
        name = given or free_name(f"keyframe{key}", builder.postures)
        qpos = np.array(model.key_qpos[key])
        if not np.isfinite(qpos).all():
            builder.note(f"<key> {name!r}", "its positions are not finite, so it was ignored")
            continue
        positions: dict[str, Any] = {}
        for j, joint in enumerate(joints):
            at, kind = int(model.jnt_qposadr[j]), int(model.jnt_type[j])
            values = qpos[at : at + SIZES[kind]]
            if SIZES[kind] > 1:
                quaternion = values[-4:]
                if not quaternion.any():
                    continue
                values = np.concatenate([values[:-4], normalized(np.roll(quaternion, -1))])  # wxyz to xyzw
            place = joint if joint in builder.joints else FLOATING_BASE
            positions[place] = tuple(values.tolist()) if len(values) > 1 else float(values[0])
        builder.posture(name, positions)
