"""A slow walk: the centre of mass goes over the feet that stay, one foot is moved, and so on.

At any time the robot could stop and stand: while a foot is in the air, the centre of mass rests above the middle of the
others (of two feet, above the one).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant, as_count, as_number, read_fields
from kinetree.errors import ArgumentError, known
from kinetree.ops import Array
from kinetree.spatial import Transform
from kinetree.trajectories.points import Line, as_point
from kinetree.trajectories.poses import PoseMotion, as_pose, pose_line
from kinetree.trajectories.profiles import QUINTIC
from kinetree.trajectories.trajectory import PointState, ProfiledMotion, Sequence, Trajectory, as_duration, times
from kinetree.trajectories.turns import Turn


class Footstep(NamedTuple):
    """The foot of the next step and its pose, (4, 4)."""

    foot: str
    pose: Any


class Phase(NamedTuple):
    """A phase of the walk: start and end [s], and the feet on the ground."""

    start: float
    end: float
    support: tuple[str, ...]


@final
@dataclass(frozen=True, eq=False)
class Swing(ProfiledMotion):
    """A foot motion from start to end, lifted by a height; velocity and acceleration are zero at both ends."""

    profile: ClassVar = QUINTIC  # type: ignore[misc]
    start: Any
    end: Any
    height: float
    duration: float

    def __post_init__(self) -> None:
        read_fields(self, start=as_point, end=as_point, height=as_number)
        super().__post_init__()

    def at(self, t: Any) -> PointState:
        """start + s (end - start) + height 16 s² (1 - s)² z."""
        s, rate, second = self.timed(t)
        way, up = self.end - self.start, np.array([0.0, 0.0, self.height])
        lift, by_s = 16.0 * (s * (1.0 - s)) ** 2, 32.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
        by_s_twice = 32.0 * (1.0 - 6.0 * s + 6.0 * s * s)
        return PointState(
            self.start + times(s, way) + times(lift, up),
            times(rate, way) + times(by_s * rate, up),
            times(second, way) + times(by_s * second + by_s_twice * rate * rate, up),
        )


def footsteps(start: Mapping[str, ArrayLike], stride: ArrayLike, count: int, turn: float = 0.0) -> tuple[Footstep, ...]:
    """Steps of feet in turn, by a stride (3,) [m] in world axes and a turn about z [rad], `count` times for each foot.

    Feet keep their places around the middle between them, which moves and turns, and the stride turns with it. The
    first foot begins with half a stride and ends with one more, so that all stand side by side again.
    """
    poses = {foot: as_pose(f"start[{foot!r}]", pose) for foot, pose in start.items()}
    way, angle, rounds = as_constant("stride", stride, (3,)), as_number("turn", turn), as_count("count", count)
    if not poses or not rounds:
        return ()
    middle = _moved(np.mean([pose[:3, 3] for pose in poses.values()], axis=0), 0.0)
    places = {foot: np.linalg.inv(middle) @ pose for foot, pose in poses.items()}
    half = _moved(0.5 * way, 0.5 * angle)
    first, *others = places
    steps: list[Footstep] = []
    for k in range(rounds):
        steps.append(Footstep(first, middle @ np.linalg.matrix_power(half, 2 * k + 1) @ places[first]))
        after = middle @ np.linalg.matrix_power(half, 2 * k + 2)
        steps += [Footstep(foot, after @ places[foot]) for foot in others]
    return (*steps, Footstep(first, after @ places[first]))


@final
@dataclass(frozen=True, eq=False)
class SlowWalk:
    """Trajectories of the centre of mass and of every foot, for a sequence of footsteps.

    start           where the feet stand, by name, (4, 4) each
    steps           `Footstep`s, see `footsteps`
    position        of the centre of mass at the start, (3,); it keeps its height above the feet
    shift, swing    how long the centre of mass, and then the foot, take to move [s]
    height          how high feet are lifted [m]
    center          of the sole in the foot's frame, (3,): what the centre of mass is to be above
    """

    start: Mapping[str, Any]
    steps: Iterable[Footstep]
    position: Any
    shift: float = 1.0
    swing: float = 1.0
    height: float = 0.05
    center: Any = (0.0, 0.0, 0.0)
    center_of_mass: Sequence = field(init=False)
    """PointState."""
    feet: dict[str, Sequence] = field(init=False)
    """PoseState, by the name of the foot."""
    phases: tuple[Phase, ...] = field(init=False)
    duration: float = field(init=False)

    def __post_init__(self) -> None:
        places = {foot: as_pose(f"start[{foot!r}]", pose) for foot, pose in self.start.items()}
        if len(places) < 2:
            raise ArgumentError(f"start has {len(places)} feet; expected two or more")
        shift, swing = as_duration(self.shift), as_duration(self.swing)
        at = as_constant("position", self.position, (3,))
        rise = at[2] - self._middle(places)[2]
        com: list[Trajectory] = []
        feet: dict[str, list[Trajectory]] = {foot: [] for foot in places}
        phases: list[Phase] = []

        def wait(foot: str, duration: float) -> None:
            feet[foot].append(pose_line(places[foot], places[foot], duration))

        def lean(over: Mapping[str, Array]) -> None:
            nonlocal at
            goal = self._middle(over) + np.array([0.0, 0.0, rise])
            com.append(Line(at, goal, shift))
            at = goal
            for foot in places:
                wait(foot, shift)
            phases.append(Phase(end(), end() + shift, tuple(places)))

        def end() -> float:
            return phases[-1].end if phases else 0.0

        for step in self.steps:
            known("foot", step.foot, places)
            staying = {foot: pose for foot, pose in places.items() if foot != step.foot}
            lean(staying)
            goal = as_pose("pose", step.pose)
            position = Swing(places[step.foot][:3, 3], goal[:3, 3], self.height, swing)
            feet[step.foot].append(PoseMotion(position, Turn(places[step.foot][:3, :3], goal[:3, :3], swing)))
            places[step.foot] = goal
            for foot in staying:
                wait(foot, swing)
            com.append(Line(at, at, swing))
            phases.append(Phase(end(), end() + swing, tuple(staying)))
        lean(places)
        object.__setattr__(self, "center_of_mass", Sequence(com))
        object.__setattr__(self, "feet", {foot: Sequence(pieces) for foot, pieces in feet.items()})
        object.__setattr__(self, "phases", tuple(phases))
        object.__setattr__(self, "duration", end())

    def support(self, t: float) -> tuple[str, ...]:
        """The feet on the ground at a time [s]; before the start and after the end all of them."""
        now = as_number("t", t)
        return next((phase.support for phase in self.phases if phase.start <= now < phase.end), tuple(self.start))

    def _middle(self, places: Mapping[str, Array]) -> Array:
        center = as_constant("center", self.center, (3,))
        return np.mean([pose[:3, :3] @ center + pose[:3, 3] for pose in places.values()], axis=0)


def _moved(way: Array, angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return Transform(np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]), way).pose()
