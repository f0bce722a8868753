"""From one configuration of a robot to another, floating bases and other joints with quaternions included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from kinetree.base.arguments import as_constant
from kinetree.robot import Robot, as_robot
from kinetree.trajectories.profiles import Profile
from kinetree.trajectories.trajectory import PointState, ProfiledMotion, times


@final
@dataclass(frozen=True, eq=False)
class JointMove(ProfiledMotion):
    """q = start ⊕ s (end ⊖ start): every joint along its shortest path; position (…, nq), rates (…, nv)."""

    robot: Robot
    start: Any
    end: Any
    duration: float
    profile: Profile | str = "quintic"

    def __post_init__(self) -> None:
        as_robot(self.robot)
        for name in ("start", "end"):
            object.__setattr__(self, name, as_constant(name, getattr(self, name), (self.robot.nq,)))
        super().__post_init__()

    def at(self, t: Any) -> PointState:
        """The velocity is ṡ (end ⊖ start), since ⊕ is what a constant velocity does."""
        s, rate, second = self.timed(t)
        way = self.robot.difference(self.start, self.end)
        return PointState(self.robot.integrate(self.start, times(s, way)), times(rate, way), times(second, way))
