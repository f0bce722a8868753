"""The robots of the exercises that are not bundled."""

from __future__ import annotations

from functools import cache

import kinetree as kt


@cache
def irb120() -> kt.Robot:
    """An arm like ABB's IRB 120, without masses: six axes z, y, y, x, y, x."""
    builder = kt.ModelBuilder("irb120")
    builder.link("base")
    parent, axes = "base", ((0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0))
    offsets = ((0, 0, 0.145), (0, 0, 0.145), (0, 0, 0.27), (0.134, 0, 0.07), (0.168, 0, 0), (0.072, 0, 0))
    for k, (axis, offset) in enumerate(zip(axes, offsets, strict=True), 1):
        builder.link(f"link{k}")
        builder.joint(f"joint{k}", "continuous", parent, f"link{k}", axis=axis, xyz=offset)
        parent = f"link{k}"
    return kt.Robot(builder.build())
