"""Periodic motions of joints as finite Fourier series, which excite all of a robot's dynamics at known frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.base.arguments import as_constant, as_real
from kinetree.errors import ArgumentError
from kinetree.ops import cos, sin
from kinetree.trajectories.points import vector
from kinetree.trajectories.trajectory import PointState, Trajectory, as_duration, times


@final
@dataclass(frozen=True, eq=False)
class Fourier(Trajectory):
    """q = center + Σ_k sine_k sin(k ω t) + cosine_k cos(k ω t), k = 1 … harmonics, with one period in the duration,
    ω = 2π / duration (Swevers et al. 1997)."""

    center: Any
    """(n,)."""
    sine: Any
    """(harmonics, n)."""
    cosine: Any
    """(harmonics, n)."""
    duration: float
    """[s]"""

    def __post_init__(self) -> None:
        center = vector("center", self.center)
        sine = as_real("sine", self.sine, f"an array of shape (harmonics, {len(center)})")
        if sine.ndim != 2 or sine.shape[1] != len(center):
            raise ArgumentError(f"sine has shape {sine.shape}; expected (harmonics, {len(center)})")
        values = {"center": center, "sine": sine, "cosine": as_constant("cosine", self.cosine, sine.shape)}
        for name, value in {**values, "duration": as_duration(self.duration)}.items():
            object.__setattr__(self, name, value)

    def at(self, t: Any) -> PointState:
        """The series and its derivatives."""
        nothing = times(0.0 * t, self.center)
        position, velocity, acceleration = self.center + nothing, nothing, nothing
        for k, (s, c) in enumerate(zip(self.sine, self.cosine, strict=True), 1):
            w = 2.0 * np.pi * k / self.duration
            x, y = sin(w * t), cos(w * t)
            position = position + times(x, s) + times(y, c)
            velocity = velocity + w * (times(y, s) - times(x, c))
            acceleration = acceleration - w**2 * (times(x, s) + times(y, c))
        return PointState(position, velocity, acceleration)
