"""The interface of a robot to functions: the sizes of its coordinates, its model, and its cache of compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

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

    @property
    def is_symbolic(self) -> bool:
        """Whether its numbers are symbols, as in a traced function of a parametric robot."""
        return self.model.has_symbols

    @property
    def own_parameters(self) -> Any:
        """What calls of a parametric robot take if they are given no parameters, (n,)."""
        assert self.model.parametric is not None
        values = self.model.parametric.values
        return values if self.is_symbolic else values.astype(self.dtype, copy=False)

    def at_parameters(self, parameters: Any) -> Any:
        """The same robot with other parameters, (n,), numbers or traced values, for one evaluation of a formula."""
        raise NotImplementedError

    def astype(self, dtype: DTypeLike) -> Any:
        """The same robot for numbers of this type."""
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
