"""exp and log of rotations and of rigid motions, smooth through zero.

Each quotient such as sin θ / θ is a function of θ²; near zero, where it is 0/0, its Taylor series takes over through
``where``, with the other branch kept away from zero so that its derivatives stay finite too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.ops import Array, array, atan2, cos, cross, less, sin, skew, sqrt, where

_SERIES_BELOW = 0.25  # of θ²; seven terms of the series below are exact to round-off there
_THETA_MINUS_SIN = (1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800, -1 / 6227020800, 1 / 1307674368000)
_LOG_COEFFICIENT = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000, 1 / 74724249600)
_COS = (1.0, -1 / 2, 1 / 24, -1 / 720, 1 / 40320, -1 / 3628800, 1 / 479001600, -1 / 87178291200)
_SIN = (1.0, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800, 1 / 6227020800)


def guarded(x2: Any, series: tuple[float, ...], exact: Callable[[Any], Any]) -> Any:
    """`exact`(√x2) away from zero, the power series in x2 near it."""
    small = less(x2, _SERIES_BELOW)
    value = series[-1]
    for coefficient in reversed(series[:-1]):
        value = value * x2 + coefficient
    return where(small, value, exact(sqrt(where(small, 1.0, x2))))


def exp_quaternion(w: Array) -> Array:
    """exp of a rotation vector w = θ a [rad] as a quaternion (xyzw): (sin(θ/2) a, cos(θ/2))."""
    half2 = 0.25 * (w @ w)
    s = 0.5 * guarded(half2, _SIN, lambda h: sin(h) / h)
    return array([*(w * s), guarded(half2, _COS, cos)])


def log_quaternion(q: Array) -> Array:
    """The rotation vector θ a with |θ| ≤ π [rad] of a unit quaternion."""
    u, w = q[:3], q[3]
    sign = where(less(w, 0.0), -1.0, 1.0)
    n2 = u @ u
    small = less(n2, 1e-20)
    n = sqrt(where(small, 1.0, n2))
    return u * (sign * where(small, 2.0, 2.0 * atan2(n, w * sign) / n))


def exp_translation(v: Array, w: Array) -> Array:
    """The position reached by the constant body twist (v, w) in unit time: V(w) v with
    V = 1 + (1 - cos θ)/θ² [w]× + (θ - sin θ)/θ³ [w]×² [m]."""
    x2 = w @ w
    half = guarded(0.25 * x2, _SIN, lambda h: sin(h) / h)
    b = 0.5 * half * half  # (1 - cos θ)/θ² = ½ (sin(θ/2)/(θ/2))²
    c = guarded(x2, _THETA_MINUS_SIN, lambda t: (t - sin(t)) / (t * t * t))
    wv = cross(w, v)
    return v + wv * b + cross(w, wv) * c


def log_translation(p: Array, w: Array) -> Array:
    """V(w)⁻¹ p, the inverse of `exp_translation`: (1 - ½ [w]× + d [w]×²) p with d = (1 - θ/2 cot θ/2)/θ²."""
    wp = cross(w, p)
    return p - wp * 0.5 + cross(w, wp) * _log_coefficient(w)


def log_rates(w: Array) -> Array:
    """How the rotation vector w = log R changes when R turns by dω in its own axes: dw = (1 + ½ [w]× + d [w]×²) dω with
    d = (1 - θ/2 cot θ/2)/θ²."""
    W = skew(w)
    return np.eye(3) + W * 0.5 + W @ W * _log_coefficient(w)


def log_rates_slope(w: Array, y: Array) -> Array:
    """∂(D(w)ᵀ y)/∂w of D = `log_rates`, for a fixed y, (3, 3)."""
    wy = cross(w, y)
    turned = np.outer(cross(w, wy), w) * (2.0 * _log_coefficient_slope(w))
    return skew(y) * 0.5 - (skew(wy) + skew(w) @ skew(y)) * _log_coefficient(w) + turned


def _log_coefficient_slope(w: Array) -> Any:
    """The derivative of d with respect to θ²."""
    series = tuple(k * coefficient for k, coefficient in enumerate(_LOG_COEFFICIENT[1:], 1))

    def exact(t: Any) -> Any:
        s, c = sin(0.5 * t), cos(0.5 * t)
        cot_rate = (0.5 * c / s - 0.25 * t / (s * s)) / (2.0 * t)  # of θ/2 cot θ/2
        return -(cot_rate + (1.0 - 0.5 * t * c / s) / (t * t)) / (t * t)

    return guarded(w @ w, series, exact)


def _log_coefficient(w: Array) -> Any:
    """(1 - θ/2 cot θ/2)/θ² of a rotation vector."""
    return guarded(w @ w, _LOG_COEFFICIENT, lambda t: (1.0 - 0.5 * t * cos(0.5 * t) / sin(0.5 * t)) / (t * t))
