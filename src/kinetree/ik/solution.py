"""The result of inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from kinetree.ik.reasons import Explanation
from kinetree.ops import Array


@final
@dataclass(eq=False, slots=True)
class Solution:
    """Configurations that bring frames to their targets; for a batch of targets, everything has its axes.

    q                the configuration, (…, nq); where none was found, the best one
    success          whether the errors are within their tolerances
    position_error   between a frame's origin and its target [m]; the greatest of all frames
    rotation_error   the angle to the target's axes [rad]; the greatest of all frames
    iterations       steps taken, of all attempts
    attempts         starts tried
    """

    q: Array
    success: Any
    position_error: Any
    rotation_error: Any
    iterations: Any
    attempts: Any
    _explain: Explanation | None = field(repr=False)

    @property
    def residual(self) -> Any:
        """√(position_error² + rotation_error²) [m, rad]."""
        return np.hypot(self.position_error, self.rotation_error)

    @property
    def reason(self) -> Any:
        """Why there is no solution, in a sentence, or None; for a batch an array of these."""
        if np.ndim(self.success) == 0:
            return None if self._explain is None else self._explain(())
        reasons = np.full(self.success.shape, None, dtype=object)
        if self._explain is None:
            return reasons
        for index in zip(*np.nonzero(~self.success), strict=True):
            reasons[index] = self._explain(tuple(map(int, index)))
        return reasons
