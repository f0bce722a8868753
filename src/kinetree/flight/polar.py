"""Polars: lift, drag and moment of a wing section or of a wing by its angle of attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, final, runtime_checkable

from kinetree import ops
from kinetree.base.arguments import read_fields
from kinetree.flight.fields import Finite, Nonnegative, Positive, ReadsFields, some
from kinetree.flight.table import Table

STEEP = 150.0
"""The largest exponent of a blend, whose square is a number, too."""


class Section(NamedTuple):
    """Dimensionless coefficients at one angle of attack."""

    lift: Any
    """C_L"""
    drag: Any
    """C_D"""
    moment: Any
    """C_m about the quarter chord, nose up."""


@runtime_checkable
class Polar(Protocol):
    """The interface of lift and drag coefficients by the angle of attack α [rad]. Implementations must be hashable."""

    def at(self, alpha: Any) -> Section: ...


def stalled(alpha: Any, angle: float, sharpness: float) -> Any:
    """From 0 before stall to 1 behind it, on both sides (Beard, McLain 2012, eq. 4.10):

    σ = (1 + e^(-M(α - α₀)) + e^(M(α + α₀))) / ((1 + e^(-M(α - α₀))) (1 + e^(M(α + α₀))))
    """
    ahead = ops.exp(ops.clip(-sharpness * (alpha - angle), -STEEP, STEEP))
    behind = ops.exp(ops.clip(sharpness * (alpha + angle), -STEEP, STEEP))
    return (1.0 + ahead + behind) / ((1.0 + ahead) * (1.0 + behind))


def flat_plate(alpha: Any) -> Any:
    """C_L = 2 sign(α) sin²α cosα of a plate, on which stalled wings end."""
    s = ops.sin(alpha)
    return 2.0 * ops.absolute(s) * s * ops.cos(alpha)


@final
@dataclass(frozen=True)
class LinearPolar(ReadsFields):
    """C_L = C_L0 + a α until stall, that of a flat plate behind it; C_D = C_D0 + k C_L², and 2 sin²α of a plate.

    A wing of aspect ratio Λ and Oswald's factor e has k = 1/(π e Λ).
    """

    lift_slope: Positive
    """a [1/rad]: 2π of a thin section, less of a wing."""
    lift: Finite = 0.0
    """C_L0"""
    drag: Nonnegative = 0.01
    """C_D0"""
    induced: Nonnegative = 0.0
    """k"""
    moment: Finite = 0.0
    """C_m"""
    stall: Positive = 0.26
    """α₀ [rad] at which half the lift of the line is gone."""
    sharpness: Positive = 50.0
    """M [1/rad] of stall."""

    def at(self, alpha: Any) -> Section:
        """Blended by σ."""
        sigma = stalled(alpha, self.stall, self.sharpness)
        line = self.lift + self.lift_slope * alpha
        s = ops.sin(alpha)
        lift = (1.0 - sigma) * line + sigma * flat_plate(alpha)
        drag = self.drag + (1.0 - sigma) * self.induced * line * line + sigma * 2.0 * s * s
        return Section(lift, drag, self.moment)


@final
@dataclass(frozen=True)
class TablePolar:
    """Coefficients measured at some angles of attack, linear between them, and in the same lines beyond: a wing that
    may stall or fly backwards needs angles from -π to π."""

    alpha: Any
    """[rad]"""
    lift: Any
    drag: Any
    moment: Any = None

    def __post_init__(self) -> None:
        read_fields(self, alpha=some)
        zeros = (0.0,) * len(self.alpha)
        for name in ("lift", "drag", "moment"):
            value = getattr(self, name)
            object.__setattr__(self, name, zeros if value is None else some(name, value, len(self.alpha)))
        Table(self.alpha, self.lift)  # refuses angles that do not grow

    def at(self, alpha: Any) -> Section:
        """By interpolation."""
        return Section(*(Table(self.alpha, each)(alpha) for each in (self.lift, self.drag, self.moment)))
