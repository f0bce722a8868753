"""The interface of a robot to functions: the sizes of its coordinates, its model, and its cache of compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.base.precision import FLOAT64
from kinetree.errors import ArgumentError

if TYPE_CHECKING:
    from kinetree.model.tree import Model


class Bindable:
    """A robot that functions are compiled for."""

    model: Model
    dtype: np.dtype[Any]
    """The type of the numbers that its functions compute with, float64 or float32."""

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return self.model.nv

    @property
    def is_eager(self) -> bool:
        """Whether its functions run eagerly: on numbers, as they are written."""
        raise NotImplementedError

    @property
    def eager(self) -> Any:
        """The same robot with eager functions."""
        raise NotImplementedError

    def require_float64(self, what: str) -> None:
        """Raise for a robot of another dtype, which `what` cannot compute with."""
        if self.dtype != FLOAT64:
            raise ArgumentError(
                f"{what} needs the digits of float64, and {self.name!r} is a robot of dtype {self.dtype}; "
                'expected robot.astype("float64")'
            )

    @lazy
    def _functions(self) -> dict[Any, Any]:
        """The cache of compiled functions of this robot, by what they were made from."""
        return {}
