"""What every trajectory is: a function of time that knows its duration. Before its start and after its end it rests.

t is one time, an array of them, or a traced value; results have the axes of t first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, final

import numpy as np

from kinetree.base.arguments import as_floats, as_number
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.ops import Array, clip, is_registered, is_scalar_array, less, where
from kinetree.trajectories.profiles import Profile, as_profile

MISFIT = 1e-6
"""How far apart [m, rad] the end of a piece and the start of the next may be."""


class PointState(NamedTuple):
    """Of a point, or of joints that each have one number, (…, n)."""

    position: Any
    velocity: Any
    acceleration: Any


class TurnState(NamedTuple):
    """A rotation matrix (…, 3, 3), the angular velocity and acceleration in world axes (…, 3) [rad/s, rad/s²]."""

    rotation: Any
    velocity: Any
    acceleration: Any


class Trajectory(ABC):
    """A motion in time."""

    duration: float
    """[s]"""

    @abstractmethod
    def at(self, t: Any) -> Any:
        """The state at a time between 0 and the duration, which is checked already."""

    def __call__(self, t: Any) -> Any:
        """The state at one time or many [s]; before 0 and after the end it rests there."""
        t = as_times(t)
        state = self.at(clip(t, 0.0, self.duration))
        moving = np.asarray(where(less(t, 0.0), 0.0, where(less(self.duration, t), 0.0, 1.0)))
        rates = (rate * moving.reshape(moving.shape + (1,) * (np.ndim(rate) - moving.ndim)) for rate in state[1:])
        return type(state)(state[0], *rates)


class ProfiledMotion(Trajectory):
    """A motion that a profile spreads over its duration."""

    profile: Profile | str

    def __post_init__(self) -> None:
        object.__setattr__(self, "duration", as_duration(self.duration))
        object.__setattr__(self, "profile", as_profile(self.profile))

    def timed(self, t: Any) -> tuple[Any, Any, Any]:
        """s, ṡ and s̈ at a time."""
        s, first, second = as_profile(self.profile)(t * (1.0 / self.duration))
        return s, first * (1.0 / self.duration), second * (1.0 / self.duration**2)


@final
@dataclass(frozen=True, eq=False)
class Sequence(Trajectory):
    """Trajectories of one kind, one after the other: each must start where the one before it ends."""

    pieces: tuple[Trajectory, ...]

    def __init__(self, pieces: Iterable[Trajectory]) -> None:
        given = tuple(pieces)
        if not given or not all(isinstance(piece, Trajectory) for piece in given):
            raise ArgumentTypeError(f"pieces is {short(pieces)}; expected one or more trajectories")
        object.__setattr__(self, "pieces", given)
        object.__setattr__(self, "duration", sum(piece.duration for piece in given))
        for k, (before, after) in enumerate(pairwise(given)):
            ends, starts = before.at(before.duration), after.at(0.0)
            if type(ends) is not type(starts) or np.shape(ends[0]) != np.shape(starts[0]):
                raise ArgumentError(f"pieces[{k + 1}] is {short(after)}; expected one of the same kind as pieces[{k}]")
            gap = np.asarray(ends[0] - starts[0])
            if gap.dtype != object and np.abs(gap).max(initial=0.0) > MISFIT:
                raise ArgumentError(
                    f"pieces[{k + 1}] starts {np.abs(gap).max():.3g} away from where pieces[{k}] ends; expected no gap"
                )

    def at(self, t: Any) -> Any:
        """The state of the piece whose turn it is."""
        starts = np.cumsum([0.0, *(piece.duration for piece in self.pieces)])
        if not is_registered(t):
            return self._numbers(np.asarray(t), starts)
        state = self.pieces[0](t)
        for piece, start in zip(self.pieces[1:], starts[1:-1].tolist(), strict=True):
            later = piece(t - start)
            state = type(state)(*(where(less(t, start), a, b) for a, b in zip(state, later, strict=True)))
        return state

    def _numbers(self, t: Array, starts: Array) -> Any:
        """The states at many times; each piece computes only its own."""
        which = np.searchsorted(starts[1:-1], t, side="right")
        first = self.pieces[0].at(0.0)
        state = type(first)(*(np.empty(t.shape + np.shape(part)) for part in first))
        for k, piece in enumerate(self.pieces):
            mine = which == k
            if mine.any():
                inside = np.minimum(t[mine] - starts[k], piece.duration)
                for target, part in zip(state, piece.at(inside), strict=True):
                    target[mine] = part
        return state


def as_times(t: Any) -> Any:
    """One time or an array of them as floats; a traced one as it is."""
    if is_registered(t):
        return t
    if is_scalar_array(t) and t.shape == ():
        return t[()]
    times = as_floats("t", t, ())
    return times if times.shape else times[()]


def as_duration(duration: Any) -> float:
    """A time above zero."""
    seconds = as_number("duration", duration)
    if not 0.0 < seconds < np.inf:
        raise ArgumentError(f"duration is {seconds!r}; expected a time above zero")
    return seconds


def times(scale: Any, constant: Array) -> Array:
    """A number or an array of numbers (…,), each times the whole of a constant, (…, *shape)."""
    return np.multiply.outer(np.asarray(scale), constant)
