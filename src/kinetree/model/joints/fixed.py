"""No motion at all: a fixed joint that was asked to stay a joint, so that its reaction can be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from kinetree.model.joints.vector import VectorJoint
from kinetree.ops import Array
from kinetree.spatial import Motion, Transform


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Fixed(VectorJoint):
    """S has no columns."""

    kind = "fixed"
    nq = nv = 0
    q_labels = ()
    has_limits = False
    urdf = "fixed"

    @property
    def turns(self) -> tuple[tuple[Array, int], ...] | None:
        return ()

    def transform(self, q: Array) -> Transform:
        return Transform.identity()

    def motion_subspace(self, q: Array) -> tuple[Motion, ...]:
        return ()
