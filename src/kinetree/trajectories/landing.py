"""Feet of a walk that wait for the floor: what is planned, corrected by what is felt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

from kinetree.base.arguments import as_number
from kinetree.errors import known
from kinetree.trajectories.poses import PoseState
from kinetree.trajectories.walk import SlowWalk


@final
class Landing:
    """The stance feet of a walk by measured forces: a foot counts as a contact when it touches the floor, and moves
    downwards until then.

    walk    what is planned
    touch   the force from which on a foot stands [N]
    sink    how fast it looks for the floor [m/s]
    """

    def __init__(self, walk: SlowWalk, touch: float = 20.0, sink: float = 0.1) -> None:
        self.walk = walk
        self.touch, self.sink = as_number("touch", touch), as_number("sink", sink)
        self.stands = dict.fromkeys(walk.start, True)
        """By the name of the foot: `contacts` of a whole-body controller."""
        self._late = dict.fromkeys(walk.start, 0.0)

    def feel(self, t: float, forces: Mapping[str, Any], dt: float) -> None:
        """What is felt at a time [s], `dt` after the last: forces of the floor on each foot, (3,) or (6,), in world
        axes, force first."""
        support = self.walk.support(t)
        for foot, stood in self.stands.items():
            known("force", foot, forces)
            stands = foot in support and (stood or bool(forces[foot][2] > self.touch))
            self.stands[foot] = stands
            self._late[foot] = self._late[foot] + dt if foot in support and not stands else 0.0

    @property
    def swings(self) -> dict[str, float]:
        """One for a foot that does not stand, zero for others: `weights` of the tasks that move feet."""
        return {foot: float(not stands) for foot, stands in self.stands.items()}

    def lowered(self, foot: str, pose: Any, velocity: Any, acceleration: Any) -> PoseState:
        """A foot's planned motion, as far below as it has come in looking for the floor."""
        lower = pose.copy()
        lower[2, 3] -= self.sink * self._late[foot]
        return PoseState(lower, velocity, acceleration)
