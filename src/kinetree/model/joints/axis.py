"""Joints along or about one axis, with one coordinate: what revolute, prismatic and helical have in common, mimicry
included."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinetree.model.joints.vector import VectorJoint
from kinetree.ops import Array


@dataclass(frozen=True, eq=False, kw_only=True)
class AxisJoint(VectorJoint, ABC):
    """A joint with a unit axis in body coordinates (the same in the joint's frame) and position ratio · q + offset.

    With -axis it moves the other way: its transform is the inverse. A joint that mimics a leader has the leader's iq
    and iv, and so follows it in every quantity.
    """

    axis: Array
    ratio: float = 1.0
    offset: float = 0.0
    leader: str | None = None
    shift: float = 0.0
    """What other body frames than the author's have added to `offset` (`model/aligned.py`)."""

    nq = nv = 1

    @property
    def owns_coordinates(self) -> bool:
        return self.leader is None

    @property
    def follows(self) -> str | None:
        return self.leader

    def position(self, q: Array) -> Any:
        """The joint's own angle [rad] or displacement [m]."""
        own = q[self.iq] if self.ratio == 1.0 else self.ratio * q[self.iq]
        return own if self.offset == 0.0 else own + self.offset

    def given_position(self, q: Array) -> Any:
        """Its position in the author's frames, whatever frames the code is in."""
        return replace(self, offset=self.offset - self.shift).position(q) if self.shift else self.position(q)

    @property
    def lever(self) -> float:
        return self.ratio

    def displacement(self, q: Array) -> Array:
        return np.array([self.position(q)]) - self.dynamics.rest
