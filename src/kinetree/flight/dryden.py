"""Dryden turbulence (MIL-F-8785C): gusts whose spectra are rational, so that a linear filter makes them of white noise.

    Φ_u(ω) = σ_u² (2 L_u/π V) / (1 + (L_u ω/V)²)                                   along the flight path
    Φ_v(ω) = σ_v² (L_v/π V) (1 + 3 (L_v ω/V)²) / (1 + (L_v ω/V)²)²                 across it; w likewise

These are one-sided: ∫₀^∞ Φ dω = σ². In the aircraft's axes u is forward, v to the side, w along the vertical.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree import ops
from kinetree.base.arguments import as_count, as_generator, as_shape
from kinetree.errors import ArgumentError
from kinetree.flight.fields import Positive, ReadsFields, Three, finite, positive
from kinetree.ops import Array, Scalar

FEET = 0.3048


@final
@dataclass(frozen=True)
class Dryden(ReadsFields):
    """The spectra at one airspeed."""

    lengths: Three
    """L_u, L_v, L_w, (3,) [m]."""
    intensities: Three
    """σ_u, σ_v, σ_w, (3,) [m/s]."""
    airspeed: Positive
    """V [m/s]"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.lengths) <= 0.0 or min(self.intensities) < 0.0:
            raise ArgumentError(
                f"lengths is {self.lengths} and intensities {self.intensities}; expected lengths above zero, "
                "intensities of zero or more"
            )

    @staticmethod
    def low_altitude(height: float, wind: float, airspeed: float) -> Dryden:
        """Below 1000 ft, at a height above the ground [m], by the wind 20 ft above the ground [m/s]:

        L_w = h,  L_u = L_v = h/(0.177 + 0.000823 h)^1.2 with h in feet;
        σ_w = 0.1 W₂₀,  σ_u = σ_v = σ_w/(0.177 + 0.000823 h)^0.4.
        """
        h = positive("height", height) / FEET
        if not 10.0 <= h <= 1000.0:
            raise ArgumentError(f"height is {height:g} m; expected 10 to 1000 ft, 3.05 to 304.8 m")
        base = 0.177 + 0.000823 * h
        sigma = 0.1 * positive("wind", wind)
        length = FEET * h / base**1.2
        return Dryden((length, length, FEET * h), (sigma / base**0.4, sigma / base**0.4, sigma), airspeed)

    def spectrum(self, frequency: Any) -> Array:
        """Φ_u, Φ_v, Φ_w, (…, 3) [(m/s)²/(rad/s)], at frequencies [rad/s]."""
        tau = np.array(self.lengths) / self.airspeed
        x = (np.asarray(frequency)[..., None] * tau) ** 2
        sigma = np.array(self.intensities)
        along = sigma**2 * (2.0 * tau / np.pi) / (1.0 + x)
        across = sigma**2 * (tau / np.pi) * (1.0 + 3.0 * x) / (1.0 + x) ** 2
        return np.concatenate([along[..., :1], across[..., 1:]], axis=-1)

    def series(self, rng: np.random.Generator, dt: float, steps: int, size: int | tuple[int, ...] = ()) -> Array:
        """Gusts (*size, steps, 3) [m/s] every dt [s] from white noise by the filters, exactly discretised.

        Of the state x of a filter ẋ = A x + b w, x' = e^(A dt) x + noise with the covariance P - e^(A dt) P e^(Aᵀdt).
        The first state is drawn from the stationary distribution.
        """
        count, h, shape = as_count("steps", steps), positive("dt", dt), as_shape("size", size)
        rng, gusts = as_generator("rng", rng), np.empty((*shape, count, 3))
        for k in range(3):
            F, covariance, c = self._filter(k, h)
            P = covariance[0]
            x = rng.normal(size=(*shape, 2)) @ _root(P).T
            root = _root(covariance[1])
            for i in range(count):
                gusts[..., i, k] = x @ c
                x = x @ F.T + rng.normal(size=(*shape, 2)) @ root.T
        return gusts

    def _filter(self, k: int, dt: float) -> tuple[Array, tuple[Array, Array], Array]:
        """e^(A dt), the covariances of the state and of its noise, and c with gust = c·x; A = [[-a, 1], [0, -a]]."""
        tau = self.lengths[k] / self.airspeed
        a, sigma = 1.0 / tau, self.intensities[k]
        F = np.exp(-a * dt) * np.array([[1.0, dt], [0.0, 1.0]])
        # A P + P Aᵀ + b bᵀ = 0 with b = (0, 1)
        P = np.array([[1.0 / (4.0 * a**3), 1.0 / (4.0 * a**2)], [1.0 / (4.0 * a**2), 1.0 / (2.0 * a)]])
        if k == 0:  # σ √(2/τ)/(s + a), of the second state alone
            c = sigma * np.sqrt(2.0 * a) * np.array([0.0, 1.0])
        else:  # σ √(3/τ) (s + a/√3)/(s + a)² = σ √(3/τ) (1/(s + a) + (a/√3 - a)/(s + a)²)
            c = sigma * np.sqrt(3.0 * a) * np.array([a / np.sqrt(3.0) - a, 1.0])
        return F, (P, P - F @ P @ F.T), c

    def gusts(self, rng: np.random.Generator, count: int = 40, heading: float = 0.0) -> WaveGusts:
        """The turbulence as a sum of `count` waves a direction, which is a wind: a function of time, for rollouts.

        Frequencies are spread evenly on a logarithmic scale about V/L; phases are drawn. The mean square is σ² less
        what is outside of the range, 2 % of it.
        """
        n, rng = as_count("count", count, 2), as_generator("rng", rng)
        waves = []
        for k in range(3):
            edges = self.airspeed / self.lengths[k] * np.geomspace(1e-2, 1e2, n + 1)
            omega = np.sqrt(edges[1:] * edges[:-1])
            amplitude = np.sqrt(2.0 * self.spectrum(omega)[:, k] * np.diff(edges))
            phase = rng.uniform(0.0, 2.0 * np.pi, n)
            waves.append(tuple(zip(omega.tolist(), amplitude.tolist(), phase.tolist(), strict=True)))
        return WaveGusts(tuple(waves), finite("heading", heading))


def _root(P: Array) -> Array:
    """A matrix with L Lᵀ = P, of a positive semidefinite P."""
    values, vectors = np.linalg.eigh(P)
    return vectors * np.sqrt(np.maximum(values, 0.0))


@final
@dataclass(frozen=True)
class WaveGusts:
    """Σ A cos(ω t + φ) along each of three axes: forward, left and up for a heading [rad] about the world's z."""

    waves: tuple[tuple[tuple[float, float, float], ...], ...]
    """(ω [rad/s], A [m/s], φ [rad]) of every wave, for each axis."""
    heading: float = 0.0

    def velocity(self, position: Array, t: Scalar) -> Array:
        """The gust in world axes, (3,) [m/s]."""
        parts: list[Any] = [0.0, 0.0, 0.0]
        for k, waves in enumerate(self.waves):
            for omega, amplitude, phase in waves:
                parts[k] = parts[k] + amplitude * ops.cos(omega * t + phase)
        c, s = np.cos(self.heading), np.sin(self.heading)
        u, v, w = parts
        return np.array([c * u - s * v, s * u + c * v, w])
