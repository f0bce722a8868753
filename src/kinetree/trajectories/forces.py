"""Forces over time: held, and led from one value to the next without a jump."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant
from kinetree.errors import ArgumentError
from kinetree.trajectories.points import Line
from kinetree.trajectories.profiles import Profile
from kinetree.trajectories.trajectory import Sequence, Trajectory


class ForceState(NamedTuple):
    """A force or wrench, (…, n) [N, N m], and its rate, (…, n) [N/s, N m/s]."""

    force: Any
    rate: Any


@final
class ForceProfile(Trajectory):
    """Forces at given instants, interpolated by a profile; constant between equal values.

    instants   [s], the first is 0
    forces     (len(instants), n): n = 6 for wrenches, which are those *on the robot*
    profile    interpolation between instants: "linear", "cubic", "quintic", …
    """

    def __init__(self, instants: ArrayLike, forces: ArrayLike, profile: Profile | str = "cubic") -> None:
        times = as_constant("instants", instants, np.shape(instants))
        if times.ndim != 1 or len(times) < 2 or times[0] != 0.0 or not (np.diff(times) > 0.0).all():
            raise ArgumentError(f"instants is {times.tolist()}; expected two or more that grow, from 0 on")
        values = as_constant("forces", forces, np.shape(forces))
        if values.ndim != 2 or len(values) != len(times):
            raise ArgumentError(f"forces has shape {values.shape}; expected ({len(times)}, n), one for each instant")
        lengths = np.diff(times).tolist()
        pieces = [Line(a, b, T, profile) for (a, b), T in zip(pairwise(values), lengths, strict=True)]
        self._pieces = Sequence(pieces)
        self.duration = self._pieces.duration

    def at(self, t: Any) -> ForceState:
        """The force and its rate; before the start and after the end it stays what it is there."""
        state = self._pieces.at(t)
        return ForceState(state.position, state.velocity)
