"""Velocities and accelerations of recorded positions: zero-phase low-pass filters of SciPy, and central differences.

A Butterworth filter runs forward and backward over positions (or velocities, where they were measured), so that nothing
is delayed; differences (x[k+1] - x[k-1]) / 2Δt then have the noise of the pass band alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinetree.base.lazy_imports import extra
from kinetree.errors import ArgumentError
from kinetree.identification.recording import FEWEST, Measurements
from kinetree.ops import Array
from kinetree.robot import Robot

ORDER = 4
"""Of the filter; forward and backward together, twice that."""
MARGIN = 5.0
"""The cutoff by default is at least so many times the frequency below which 95 % of the power of velocities lies."""
SHARE = 0.005
"""Noise of accelerations, relative to their root mean square, up to which the cutoff by default is higher."""
JITTER = 0.01
"""Relative differences of the time between samples that count as even."""
EDGE = 5
"""The least number of samples at both ends that are left out; else two periods of the cutoff, as the filter knows one
side only there."""


def completed(robot: Robot, measured: Measurements, cutoff: float | None = None) -> tuple[Measurements, float | None]:
    """The measurements with v and a, and the cutoff [Hz] of the filter, None if nothing was filtered.

    Where a was measured, or is not needed, nothing is filtered unless a cutoff is given.
    """
    if measured.v is not None and measured.a is not None and cutoff is None:
        return measured, None
    even = evenly_sampled(robot, measured)
    rate = 1.0 / even.period
    if cutoff is None:
        cutoff = automatic_cutoff(robot, even)
    if not 0.0 < cutoff < 0.5 * rate:
        raise ArgumentError(f"cutoff is {cutoff:g} Hz; expected less than half the sampling rate of {rate:g} Hz")
    smooth = _low_pass(cutoff, rate, len(even))
    q = even.q.copy()
    if robot.nq == robot.nv:
        q = smooth(q)
    else:
        plain = [k for joint in robot.model.owners for k, _ in joint.rated]  # no quaternions, no angles on circles
        q[:, plain] = smooth(q[:, plain])
    v = smooth(even.v if even.v is not None else differences(robot, even))
    a = smooth(even.a) if even.a is not None else np.gradient(v, even.period, axis=0)
    edge = min(len(even) // 4, max(EDGE, round(2.0 * rate / cutoff)))
    inside = slice(edge, len(even) - edge)
    return replace(even, q=q, v=v, a=a)[inside], cutoff


def differences(robot: Robot, measured: Measurements) -> Array:
    """Velocities as central differences on the space of configurations, one-sided at both ends, (n, nv)."""
    q, t = measured.q, measured.t
    before, after = np.concatenate([q[:1], q[:-1]]), np.concatenate([q[1:], q[-1:]])
    span = np.concatenate([t[1:], t[-1:]]) - np.concatenate([t[:1], t[:-1]])
    return np.asarray(robot.difference(before, after) / span[:, None], dtype=float)


def evenly_sampled(robot: Robot, measured: Measurements) -> Measurements:
    """The measurements at even times; where theirs are uneven, by linear interpolation."""
    steps = np.diff(measured.t)
    if np.abs(steps - steps.mean()).max() <= JITTER * steps.mean():
        return measured
    period = measured.period
    t = measured.t[0] + period * np.arange(int((measured.t[-1] - measured.t[0]) / period) + 1)

    def at(x: Any) -> Any:
        return None if x is None else np.stack([np.interp(t, measured.t, column) for column in x.T], axis=1)

    q = at(measured.q)
    for part in robot.model.quaternions:
        q[:, part] /= np.linalg.norm(q[:, part], axis=1, keepdims=True)
    wrenches = {frame: at(wrench) for frame, wrench in measured.wrenches.items()}
    return replace(measured, t=t, q=q, v=at(measured.v), a=at(measured.a), tau=at(measured.tau), wrenches=wrenches)


def automatic_cutoff(robot: Robot, measured: Measurements) -> float:
    """A cutoff [Hz] as high as noise allows: that of accelerations stays below `SHARE` of their root mean square.

    The noise is what the spectrum shows at a quarter of the sampling rate. With a density S_q of positions,
    accelerations up to the frequency f have the variance (2π)⁴ S_q f⁵ / 5; with S_v of velocities, (2π)² S_v f³ / 3.
    """
    v = differences(robot, measured) if measured.v is None else measured.v
    count, rate = len(v), 1.0 / measured.period
    f = np.fft.rfftfreq(count, measured.period)
    power = np.abs(np.fft.rfft((v - v.mean(axis=0)) * np.hanning(count)[:, None], axis=0)) ** 2
    moving = power.sum(axis=0) > 1e-6 * power.sum()
    if count < 2 * FEWEST or not moving.any():
        return 0.1 * rate
    power = power[:, moving] / (0.375 * count * rate)  # twice that is a density over positive frequencies
    noise = 2.0 * np.median(power[(f > 0.2 * rate) & (f < 0.3 * rate)], axis=0)
    shape = np.sin(2.0 * np.pi * f / rate)[:, None] ** 2 if measured.v is None else 1.0  # of noise in differences
    total = np.cumsum(np.where(power > 10.0 * noise * shape, power, 0.0), axis=0)
    edge = f[(total < 0.95 * total[-1]).sum(axis=0).max()] + f[1]
    slow = f < min(MARGIN * edge, 0.2 * rate)
    accelerations = 2.0 * f[1] * ((2.0 * np.pi * f[slow, None]) ** 2 * power[slow]).sum(axis=0)
    if measured.v is None:
        highest = (5.0 * SHARE**2 * accelerations / ((2.0 * np.pi) ** 4 * noise / rate**2 + 1e-300)) ** 0.2
    else:
        highest = (3.0 * SHARE**2 * accelerations / ((2.0 * np.pi) ** 2 * noise + 1e-300)) ** (1.0 / 3.0)
    return float(np.clip(highest.min(), min(MARGIN * edge, 0.2 * rate), 0.2 * rate))


def _low_pass(cutoff: float, rate: float, count: int) -> Any:
    with extra("identification", "velocities and accelerations are filtered by the package scipy"):
        from scipy.signal import butter, sosfiltfilt  # noqa: PLC0415 - an extra
    sos = butter(ORDER, cutoff, fs=rate, output="sos")
    pad = min(count - 1, max(3 * (2 * len(sos) + 1), round(rate / cutoff)))
    return lambda x: sosfiltfilt(sos, x, axis=0, padlen=pad)
