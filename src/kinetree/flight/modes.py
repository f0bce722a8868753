"""Modes of an aircraft: phugoid and short period, Dutch roll, roll and spiral, with frequency and damping."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinetree.flight.linearize import LinearModel
from kinetree.ops import Array


class Mode(NamedTuple):
    """An eigenvalue λ, or a pair of them, and its motion."""

    name: str
    eigenvalue: complex
    """λ [1/s]; of a pair that with the positive imaginary part."""
    vector: Any
    """Shape of the motion, (n,), in the order of the model's states; its largest entry is 1."""

    @property
    def frequency(self) -> float:
        """ω_n = |λ| [rad/s]."""
        return float(abs(self.eigenvalue))

    @property
    def damping(self) -> float:
        """ζ = -Re λ/|λ|: 1 for what dies away without oscillation, negative for what grows."""
        return float(-self.eigenvalue.real / abs(self.eigenvalue)) if self.eigenvalue else 1.0

    @property
    def period(self) -> float:
        """2π/Im λ [s]; infinite without oscillation."""
        return float(2.0 * np.pi / self.eigenvalue.imag) if self.eigenvalue.imag else float(np.inf)

    @property
    def time_constant(self) -> float:
        """-1/Re λ [s]: negative for what grows."""
        return float(-1.0 / self.eigenvalue.real) if self.eigenvalue.real else float(np.inf)

    @property
    def is_stable(self) -> bool:
        return bool(self.eigenvalue.real < 0.0)

    def __str__(self) -> str:
        if self.eigenvalue.imag:
            return f"{self.name}: ω {self.frequency:.4g} rad/s, ζ {self.damping:.3g}, period {self.period:.3g} s"
        return f"{self.name}: time constant {self.time_constant:.4g} s"


def modes(model: LinearModel) -> dict[str, Mode]:
    """The modes of the longitudinal and the lateral motion by name, of an aircraft in straight flight.

    Longitudinal: of two oscillations the faster is the "short period", the slower the "phugoid"; where one has become
    two real modes these are "short period 1" and "2" (or "phugoid 1" and "2"). An aircraft with relaxed stability may
    have a "third oscillation" between two real modes, "pitch 1" and "2", instead. Lateral: "dutch roll" oscillates,
    "roll" is the faster and "spiral" the slower of the others; where these two have joined, they are the "roll-spiral".
    """
    found: dict[str, Mode] = {}
    for name, pairs in _halves(model.longitudinal.A):
        found |= _named(name, pairs)
    pairs = _eigen(model.lateral.A)
    turning = sorted((pair for pair in pairs if pair[0].imag), key=lambda pair: -abs(pair[0]))
    straight = sorted((pair for pair in pairs if not pair[0].imag), key=lambda pair: pair[0].real)
    names = ("roll", "spiral") if len(straight) == 2 else [f"lateral {k + 1}" for k in range(len(straight))]
    lateral = [*zip(("dutch roll", "roll-spiral"), turning, strict=False), *zip(names, straight, strict=True)]
    return found | {name: Mode(name, *pair) for name, pair in lateral}


def _eigen(A: Array) -> list[tuple[complex, Array]]:
    """Eigenvalues and vectors, of a complex pair only the one above the real axis."""
    values, vectors = np.linalg.eig(A)
    pairs = []
    for value, vector in zip(values.astype(complex), vectors.T, strict=True):
        if value.imag >= 0.0:
            pairs.append((complex(value), vector / vector[np.argmax(np.abs(vector))]))
    return pairs


def _halves(A: Array) -> list[tuple[str, list[Any]]]:
    """The faster and the slower half of the eigenvalues, each a pair or two real ones, by name."""
    pairs = sorted(_eigen(A), key=lambda pair: -abs(pair[0]))
    if [bool(value.imag) for value, _ in pairs] == [False, True, False]:
        return [("third oscillation", pairs[1:2]), ("pitch", [pairs[0], pairs[2]])]
    count = 1 if pairs[0][0].imag else 2
    return [("short period", pairs[:count]), ("phugoid", pairs[count:])]


def _named(name: str, pairs: list[Any]) -> dict[str, Mode]:
    if len(pairs) == 1:
        return {name: Mode(name, *pairs[0])}
    return {f"{name} {k + 1}": Mode(f"{name} {k + 1}", *pair) for k, pair in enumerate(pairs)}
