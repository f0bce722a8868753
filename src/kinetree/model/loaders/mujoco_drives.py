"""Actuators of a compiled MuJoCo model that act on frames: on sites, by a crank, on ball and free joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinetree.model.actuators import Axes, Drive, FrameDrive, SliderCrank
from kinetree.model.builder import ModelBuilder
from kinetree.model.description import free_name

FREE, BALL = 0, 1
"""MuJoCo's numbers of types of joints."""
ABSENT = "what they act on was left out"


def read_drives(
    mujoco: Any,
    model: Any,
    i: int,
    builder: ModelBuilder,
    joints: list[str],
    links: Mapping[int, str],
    sites: Mapping[int, str],
) -> tuple[Drive, ...] | str:
    """What an actuator does to frames, nothing if it acts on something else; or why it cannot be read."""
    kind = mujoco.mjtTrn(int(model.actuator_trntype[i])).name
    target, other = map(int, model.actuator_trnid[i])
    x, y, z, rx, ry, rz = map(float, model.actuator_gear[i])
    force, moment = (x, y, z), (rx, ry, rz)
    if kind in ("mjTRN_JOINT", "mjTRN_JOINTINPARENT"):
        axes: Axes = "frame" if kind == "mjTRN_JOINT" else "reference"
        if model.jnt_type[target] == FREE:
            link = links.get(int(model.jnt_bodyid[target]))
            turned = FrameDrive(str(link), moment=moment, axes=axes)
            return ABSENT if link is None else (FrameDrive(link, force, axes="reference"), turned)
        if model.jnt_type[target] == BALL:
            return _on_ball(builder, joints[target], force, axes)
        return ()
    if kind not in ("mjTRN_SITE", "mjTRN_SLIDERCRANK"):
        return ()
    if target not in sites or (other >= 0 and other not in sites):
        return ABSENT
    if kind == "mjTRN_SLIDERCRANK":
        return (SliderCrank(sites[target], sites[other], float(model.actuator_cranklength[i]), x),)
    reference = None if other < 0 else sites[other]
    return (FrameDrive(sites[target], force, moment, reference, "frame" if reference is None else "reference"),)


def _on_ball(
    builder: ModelBuilder, name: str, moment: tuple[float, float, float], axes: Axes
) -> tuple[Drive, ...] | str:
    """The moment of a ball joint on its child, opposite to that on a frame of its parent."""
    if name not in builder.joints:
        return ABSENT
    joint = builder.joints[name]
    X = joint.placement
    base = f"{name}_base"
    if base not in builder.sites or builder.sites[base][0] != joint.parent:
        base = free_name(base, builder.links, builder.sites)
        builder.frame(base, joint.parent, xyz=X.p, rotation=X.R.T)
    return (FrameDrive(joint.child, moment=moment, reference=base, axes=axes),)
