"""What a step of whole-body control gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kinetree.errors import KinetreeError, unknown
from kinetree.ops import Array


class WholeBodyStep(NamedTuple):
    """Torques, accelerations and contact forces of a step, and the state from which the next step may start.

    If the program had no solution and a fallback was chosen, `tau` is that of the fallback, `error` says why, and `a`
    and `forces` are NaN.
    """

    tau: Array
    """(nv,) [N m or N], zero where there is no motor."""
    a: Array
    """(nv,)."""
    forces: Array
    """Of all contacts on the robot, one after the other, in their axes; `force` has those of one."""
    state: Array
    """Which bounds hold: -1 lower, 1 upper, 2 equations. Given to the next step, it saves time."""
    iterations: int
    """Changes of what holds, from where the step started."""
    places: Mapping[str, slice]
    """Where in `forces` each contact has its own."""
    error: KinetreeError | None = None

    def force(self, contact: str) -> Array:
        """The force of one contact on the robot, in its axes: 3, 5 or 6 numbers [N, N m], or without friction
        1, 2 or 3."""
        if not isinstance(contact, str) or contact not in self.places:
            raise unknown("contact", contact, self.places)
        return self.forces[self.places[contact]]
