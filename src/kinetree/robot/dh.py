"""kt.from_dh: a robot from a Denavit-Hartenberg table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from kinetree.model.loaders.dh import Convention, DHLink, dh_builder
from kinetree.robot import Robot

__all__ = ["DHLink", "from_dh"]


def from_dh(
    links: Sequence[DHLink | Mapping[str, Any] | Sequence[float]],
    convention: Convention = "standard",
    base: str = "fixed",
    *,
    name: str = "robot",
    tool: ArrayLike | None = None,
    **options: Any,
) -> Robot:
    """A serial robot from a DH table in the "standard" convention (Paul, Corke) or the "modified" one (Craig).

    kt.from_dh([(0.4, 0.0, 0.0, 0.0), (0.3, 0.0, 0.0, 0.0)])    # rows of a, alpha, d, theta

    links       rows as `kt.DHLink`, as mappings with its field names, or as (a, alpha, d, theta) [m, rad]
    tool        pose of the frame "tool0" in the last frame, (4, 4)
    options     options of kt.load: gravity, spatial_order, base_velocity, passive, friction_width
    """
    return Robot(dh_builder(links, convention, name=name, tool=tool).build(base, **options))
