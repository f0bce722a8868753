"""robot.tendons: lengths of tendons, and their moment arms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms.tendons import tendon_jacobian, tendon_lengths
from kinetree.base.lazy import lazy
from kinetree.errors import ArgumentError
from kinetree.functions.law import Law, compile
from kinetree.model.tendons import Tendon
from kinetree.ops import Array

if TYPE_CHECKING:
    from kinetree.robot.robot import Robot


@final
@dataclass(frozen=True)
class Tendons:
    """The n tendons of a robot, in the order of its file: those that have a path, and those over joints that pull by
    themselves or have a range. Their functions take one state or a batch, and work inside compiled functions."""

    robot: Robot

    def __len__(self) -> int:
        return len(self.listed)

    @property
    def listed(self) -> tuple[Tendon, ...]:
        return self.robot.model.tendons

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(tendon.name for tendon in self.listed)

    @lazy
    def lower(self) -> Array:
        """The least lengths, (n,); `kt.LimitStops` or rigid stops hold them in a rollout."""
        return np.array([tendon.length_range[0] for tendon in self.listed])

    @lazy
    def upper(self) -> Array:
        """The largest lengths, (n,)."""
        return np.array([tendon.length_range[1] for tendon in self.listed])

    def lengths(self, q: ArrayLike) -> Array:
        """ℓ, (…, n): in m, if a tendon has a path; otherwise Σ gear · x over positions of joints."""
        return self._law("lengths")(self.robot, q)

    def jacobian(self, q: ArrayLike) -> Array:
        """J with ℓ̇ = J v, (…, n, nv): its entries are moment arms, and forces f of tendons give the efforts -Jᵀ f if
        they pull the ends together."""
        return self._law("jacobian")(self.robot, q)

    def _law(self, kind: str) -> Law:
        if not len(self):
            raise ArgumentError(f"{self.robot.name!r} has no tendons")
        return _laws()[kind]


@lru_cache
def _laws() -> dict[str, Law]:
    @compile
    def lengths(robot: Robot, q: Any) -> Array:
        return tendon_lengths(robot.model, q)

    @compile
    def jacobian(robot: Robot, q: Any) -> Array:
        return tendon_jacobian(robot.model, q)

    return {"lengths": lengths, "jacobian": jacobian}
