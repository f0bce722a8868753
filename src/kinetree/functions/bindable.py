"""What functions know of a robot: the sizes of its coordinates, its model, and where compiled code is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinetree.base.lazy import lazy

if TYPE_CHECKING:
    from kinetree.model.tree import Model


class Bindable:
    """A robot, which functions are compiled for."""

    model: Model

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
        """Whether functions of it run on numbers, as they are written."""
        raise NotImplementedError

    @property
    def eager(self) -> Any:
        """The same robot, whose functions do."""
        raise NotImplementedError

    @lazy
    def _functions(self) -> dict[Any, Any]:
        """What was compiled for this robot, by what it was made from."""
        return {}
