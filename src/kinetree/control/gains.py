"""Gains: a number, one for each direction, or a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.base.arguments import as_constant, as_floats
from kinetree.errors import ArgumentError, short
from kinetree.ops import Array

ASYMMETRY = 1e-9
"""Relative to the largest entry, what a symmetric matrix may have, and how far below zero its eigenvalues may be."""


def as_gain(name: str, value: Any, size: int) -> Array:
    """A number or a vector as a vector (size,), a matrix (size, size) as it is; none of them negative.

    Gains that are given in calls, with batch axes or without, have the same form.
    """
    gain: Array = as_floats(name, value, ())
    shape = gain.shape
    if shape not in ((), (size,), (size, size)):
        raise ArgumentError(
            f"{name} has shape {shape}; expected a number, {size} numbers, or a matrix of {size} by {size}"
        )
    if not np.isfinite(gain).all():
        raise ArgumentError(f"{name} is {short(value)}; expected finite numbers")
    if shape == (size, size) and size:
        scale = np.abs(gain).max()
        if np.abs(gain - gain.T).max() > ASYMMETRY * scale:
            raise ArgumentError(f"{name} is not symmetric; expected a symmetric matrix")
        if np.linalg.eigvalsh(gain)[0] < -ASYMMETRY * scale:
            raise ArgumentError(f"{name} has a negative eigenvalue; expected a positive semidefinite matrix")
    elif (gain < 0.0).any():
        raise ArgumentError(f"{name} is {short(value)}; expected zero or more")
    return gain if shape else np.full(size, gain)


def as_posture(posture: Any, size: int) -> Array:
    """A configuration to go to, (size,)."""
    numbers: Array = as_constant("posture", posture, (size,))
    if not np.isfinite(numbers).all():
        raise ArgumentError(f"posture is {short(posture)}; expected finite numbers")
    return numbers


def spring_and_damper(stiffness: Any, damping: Any, size: int, prefix: str = "") -> dict[str, Array]:
    """Both gains by name, behind a prefix; damping is critical unless given."""
    k = as_gain(f"{prefix}stiffness", stiffness, size)
    d = critical(k) if damping is None else as_gain(f"{prefix}damping", damping, size)
    return {f"{prefix}stiffness": k, f"{prefix}damping": d}


def critical(stiffness: Array) -> Array:
    """2 √k: with unit inertia, the damping without overshoot."""
    if stiffness.ndim == 2:
        values, vectors = np.linalg.eigh(stiffness)
        square_root: Array = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
        return square_root + square_root.T
    return 2.0 * np.sqrt(stiffness)


def times(gain: Any, x: Array) -> Array:
    """Gain times error, in whichever form the gain is."""
    return gain @ x if np.ndim(gain) == 2 else gain * x
