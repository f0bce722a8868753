"""Muscles: force by length and speed, and how fast they are activated."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, final

from kinetree.base.arguments import as_number, as_numbers
from kinetree.errors import ArgumentError, short
from kinetree.ops import clip, less, less_equal, where

SMALLEST = 1e-15
"""What is divided by is not smaller."""


@final
@dataclass(frozen=True)
class Muscle:
    """A muscle of the length ℓ, which is L = r₀ + (ℓ - ℓ₀) / ℓ* in units of its optimum ℓ* = (ℓ₁ - ℓ₀) / (r₁ - r₀),
    pulls with

        f = -force · (F_L(L) F_V(ℓ̇ / (ℓ* v_max)) w + F_P(L))

    at the activation w. F_L is 1 at L = 1 and 0 outside of `l_min` to `l_max`, F_V is 0 at -1, 1 at 0 and `fv_max` for
    the highest speeds at which it is stretched, F_P is 0 up to L = 1 and `fp_max` halfway and once more to `l_max`.
    These are the curves of MuJoCo. For a control u, both within 0 and 1,

        ẇ = (u - w) / T,        T = T_a (½ + 3/2 w) for u > w,        T = T_d / (½ + 3/2 w) otherwise

    as in Millard et al. 2013. T goes smoothly from one to the other if `smoothing` is a width of u - w above zero.
    """

    force: float
    """At the optimum length, fully activated [N]."""
    length_range: tuple[float, float]
    """ℓ₀ and ℓ₁, the lengths of the tendon it pulls on."""
    relative_range: tuple[float, float] = (0.75, 1.05)
    """r₀ and r₁, what these are in units of ℓ*."""
    l_min: float = 0.5
    l_max: float = 1.6
    v_max: float = 1.5
    """The speed at which it shortens without load, in ℓ* a second."""
    fp_max: float = 1.3
    fv_max: float = 1.2
    time_constants: tuple[float, float] = (0.01, 0.04)
    """T_a and T_d, of activation and deactivation [s]."""
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        for each in fields(self):
            given = getattr(self, each.name)
            value = as_numbers(each.name, given) if "tuple" in str(each.type) else as_number(each.name, given)
            if "tuple" in str(each.type) and (not isinstance(value, tuple) or len(value) != 2):
                raise ArgumentError(f"{each.name} is {short(given)}; expected two numbers")
            if not all(map(math.isfinite, value if isinstance(value, tuple) else (value,))):
                raise ArgumentError(f"{each.name} is {short(given)}; expected finite numbers")
            object.__setattr__(self, each.name, value)

    @property
    def optimum(self) -> float:
        """ℓ*."""
        (l0, l1), (r0, r1) = self.length_range, self.relative_range
        return (l1 - l0) / max(SMALLEST, r1 - r0)

    def _relative(self, length: Any) -> Any:
        return self.relative_range[0] + (length - self.length_range[0]) / max(SMALLEST, self.optimum)

    def gain(self, length: Any, rate: Any) -> Any:
        """-force · F_L F_V, by which the activation counts [N]."""
        L, V = self._relative(length), rate / max(SMALLEST, self.optimum * self.v_max)
        low, high = 0.5 * (self.l_min + 1.0), 0.5 * (1.0 + self.l_max)
        rising, falling = ((L - self.l_min) / _above(low - self.l_min)), ((self.l_max - L) / _above(self.l_max - high))
        before, after = (1.0 - L) / _above(1.0 - low), (L - 1.0) / _above(high - 1.0)
        near = where(less_equal(L, 1.0), 1.0 - 0.5 * before * before, 1.0 - 0.5 * after * after)
        far = where(less_equal(L, low), 0.5 * rising * rising, 0.5 * falling * falling)
        F_L = where(less_equal(L, low), far, where(less_equal(L, high), near, far))
        F_L = where(less(L, self.l_min), 0.0, where(less(self.l_max, L), 0.0, F_L))
        y = self.fv_max - 1.0
        quick = self.fv_max - (y - V) * (y - V) / _above(y)
        F_V = where(less_equal(V, 0.0), (V + 1.0) * (V + 1.0), where(less_equal(V, y), quick, self.fv_max))
        return -self.force * F_L * where(less_equal(V, -1.0), 0.0, F_V)

    def bias(self, length: Any) -> Any:
        """-force · F_P [N]."""
        L, high = self._relative(length), 0.5 * (1.0 + self.l_max)
        x, beyond = (L - 1.0) / _above(high - 1.0), (L - high) / _above(high - 1.0)
        F_P = where(less_equal(L, high), 0.5 * x * x, 0.5 + beyond)
        return -self.force * self.fp_max * where(less_equal(L, 1.0), 0.0, F_P)

    def activation_rate(self, control: Any, w: Any) -> Any:
        """ẇ [1/s]."""
        excess, scale = clip(control, 0.0, 1.0) - w, 0.5 + 1.5 * clip(w, 0.0, 1.0)
        up, down = self.time_constants[0] * scale, self.time_constants[1] / scale
        if self.smoothing < SMALLEST:
            T = where(less(0.0, excess), up, down)
        else:
            x = clip(excess / self.smoothing + 0.5, 0.0, 1.0)
            T = down + (up - down) * (x * x * x * (x * (6.0 * x - 15.0) + 10.0))
        return excess / where(less(T, SMALLEST), SMALLEST, T)


def _above(x: float) -> float:
    return max(SMALLEST, x)
