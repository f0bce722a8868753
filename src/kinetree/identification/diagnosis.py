"""What is wrong with a recording, in sentences: units, signs, series that are not of the same time, joints at rest."""

from __future__ import annotations

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.identification.differentiation import differences
from kinetree.identification.recording import Measurements
from kinetree.identification.unknowns import Unknowns
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.simulation.labels import labels_of

DEGREES = 180.0 / np.pi
UNITS = {
    DEGREES: "q in degrees and v in rad/s",
    1.0 / DEGREES: "q in rad and v in degrees/s",
    1e-3: "t in ms",
    1e-6: "t in µs",
    1e-9: "t in ns",
    1e3: "q in mm",
}
"""What a ratio of dq/dt to v hints at."""
STILL = 1e-3
"""Ranges of positions [rad or m] below which a joint counts as at rest."""
LONGEST_PERIOD = 0.25
"""[s], of samples: a motion that shows inertias is over between two of them."""
MOST_SAMPLES = 4000
LONGEST_LAG = 0.1
"""[s], and the longest in samples."""
MOST_LAGS = 40


def check_velocities(robot: Robot, measured: Measurements) -> None:
    """Raises where v is not the rate of q: other units, other times, another order of joints."""
    if measured.v is None:
        return
    names = [name for name, _ in labels_of(robot, "v")]
    pairs = [pair for joint in robot.model.owners for pair in joint.rated]
    rates = differences(robot, measured)
    window = max(1, len(measured) // 200)
    for i, k in pairs:
        x, y = (_means(series[:, k], window) for series in (measured.v, rates))
        x, y = x - x.mean(), y - y.mean()
        if np.ptp(measured.q[:, i]) < STILL or not (x.any() and y.any()):
            continue
        ratio, agreement = float(x @ y / (x @ x)), float(x @ y / np.sqrt((x @ x) * (y @ y)))
        for unit, words in UNITS.items():
            if agreement > 0.9 and abs(ratio / unit - 1.0) < 0.1:
                raise ArgumentError(f"dq/dt of {names[k]!r} is {ratio:.4g} times v; is that {words}? Expected SI units")
        if agreement < 0.5 or not 0.5 < ratio < 2.0:
            raise ArgumentError(
                f"v of {names[k]!r} is not the rate of its q: dq/dt is {ratio:.3g} times v with correlation "
                f"{agreement:.2f}; expected the same joint, time and units"
            )


def _means(x: Array, window: int) -> Array:
    """Of successive windows of so many samples."""
    count = len(x) // window
    return x[: count * window].reshape(count, window).mean(axis=1)


def findings(unknowns: Unknowns, recordings: list[Measurements], min_speed: float = 0.0) -> list[str]:
    """What is suspicious in recordings with v and a."""
    robot = unknowns.robot
    period = max(each.period for each in recordings)
    found = [f"samples are {period:.3g} s apart: is t in seconds?"] if period > LONGEST_PERIOD else []
    found += _at_rest(robot, recordings) + _beyond_limits(robot, recordings)
    found += _accelerations(robot, recordings)
    if not any(each.tau.any() or each.wrenches for each in recordings):
        raise ArgumentError("tau is zero in all samples; expected torques: without them motion shows ratios of masses")
    longest = max(recordings, key=len)
    return found + _scale_of_torques(robot, longest) + _lag(unknowns, longest, min_speed)


def _at_rest(robot: Robot, recordings: list[Measurements]) -> list[str]:
    names = [name for name, _ in labels_of(robot, "v")]
    pairs = [pair for joint in robot.model.owners for pair in joint.rated]
    ranges = {k: max(float(np.ptp(each.q[:, i])) for each in recordings) for i, k in pairs}
    still = [names[k] for k, extent in ranges.items() if extent < STILL]
    if not still:
        return []
    return [f"{_joined(still)} do{'es' if len(still) == 1 else ''} not move (less than {STILL:g} rad or m)"]


def _beyond_limits(robot: Robot, recordings: list[Measurements]) -> list[str]:
    names = [name for name, _ in labels_of(robot, "q")]
    limits = np.maximum(np.abs(robot.limits.lower), np.abs(robot.limits.upper))
    reach = np.max([np.abs(each.q).max(axis=0) for each in recordings], axis=0)
    far = [k for k in range(robot.nq) if np.isfinite(limits[k]) and limits[k] > 0.0 and reach[k] > 5.0 * limits[k]]
    return [
        f"{names[k]} reaches {reach[k]:.4g}, and its limit is {limits[k]:.4g}: are positions in degrees or mm?"
        for k in far[:1]
    ]


def _accelerations(robot: Robot, recordings: list[Measurements]) -> list[str]:
    """Joints whose measured accelerations are not the rate of their velocities; both may be noisy."""
    names, wrong = [name for name, _ in labels_of(robot, "v")], dict[str, None]()
    for each in recordings:
        assert each.v is not None and each.a is not None
        rates, window = np.gradient(each.v, each.t, axis=0), max(1, len(each) // 50)
        for k in (k for joint in robot.model.owners for _, k in joint.rated):
            x, y = (_means(series[:, k], window) for series in (each.a, rates))
            x, y = x - x.mean(), y - y.mean()
            moves = np.ptp(each.v[:, k]) > STILL and y.any()
            if moves and not (0.5 * np.sqrt((x @ x) * (y @ y)) < x @ y and 0.5 * (x @ x) < x @ y < 2.0 * (x @ x)):
                wrong[names[k]] = None
    return [f"a of {_joined(list(wrong))} is not the rate of v: are both in SI units?"] if wrong else []


def _scale_of_torques(robot: Robot, measured: Measurements) -> list[str]:
    """Beside the torques of the model as it is: a common factor, or a joint with the other sign."""
    assert measured.v is not None and measured.a is not None
    every = slice(None, None, -(-len(measured) // MOST_SAMPLES))
    wrenches = {frame: wrench[every] for frame, wrench in measured.wrenches.items()}
    model = robot.inverse_dynamics(measured.q[every], measured.v[every], measured.a[every], wrenches or None)
    found, names = [], [name for name, _ in labels_of(robot, "tau")]
    motors = list(robot.model.actuated)
    x, y = model[:, motors], measured.tau[every][:, motors]
    agreement = (x * y).sum(axis=0) / np.maximum(np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0)), 1e-300)
    ratios = (x * y).sum(axis=0) / np.maximum((x**2).sum(axis=0), 1e-300)
    other = [names[motors[k]] for k in np.flatnonzero(agreement < -0.7)]
    if other:
        found.append(f"torques of {_joined(other)} have the opposite sign of the model's")
    clear = np.abs(agreement) > 0.7
    if clear.any():
        ratio = float(np.median(np.abs(ratios[clear])))
        if not 0.05 < ratio < 20.0:
            found.append(f"torques are {ratio:.3g} times those of the model: are they in N m and N?")
    return found


def _lag(unknowns: Unknowns, measured: Measurements, min_speed: float) -> list[str]:
    """Whether shifted torques fit much better, by the mean of the logarithms of what is left of each: torques that are
    mere noise fit as badly with any shift."""
    assert measured.v is not None and measured.a is not None
    most = min(MOST_LAGS, int(LONGEST_LAG / measured.period), len(measured) // 4)
    if most < 1:
        return []
    inside = np.arange(most, len(measured) - most)
    index = inside[:: -(-len(inside) // (MOST_SAMPLES // 2))]
    q, v, a = (x[index] for x in (measured.q, measured.v, measured.a))
    Y = unknowns.base.columns(unknowns.whole(q, v, a))
    known = unknowns.known(q, v, a, {frame: wrench[index] for frame, wrench in measured.wrenches.items()})
    lags = np.arange(-most, most + 1)
    torques = np.stack([measured.tau[index + lag] - known for lag in lags], axis=-1)
    left = measured.tau.std(axis=0)[:, None] * np.ones(len(lags))
    for _ in range(2):  # the second time, joints count by their noise
        scale = np.maximum(left[:, most], max(1e-6 * float(left[:, most].max()), 1e-30))
        weights = (np.abs(v) >= min_speed) / scale
        rows = (Y * weights[..., None]).reshape(-1, Y.shape[-1])
        Q, R = np.linalg.qr(rows / np.maximum(np.linalg.norm(rows, axis=0), 1e-300))
        Q = Q[:, np.abs(np.diag(R)) > 1e-9]
        weighted = (torques * weights[..., None]).reshape(len(rows), -1)
        fitted = Q @ (Q.T @ weighted)
        left = scale[:, None] * np.sqrt(np.mean((weighted - fitted).reshape(torques.shape) ** 2, axis=0))
    rest = 2.0 * np.log(np.maximum(left, 1e-9 * max(float(left.max()), 1e-300))).mean(axis=0)
    best = int(np.argmin(rest))
    if abs(lags[best]) < 2 or rest[best] > rest[most] + np.log(0.8):
        return []
    late = lags[best] * measured.period
    return [
        f"torques fit best {abs(1e3 * late):.3g} ms {'later' if late > 0 else 'earlier'}: tau and q are not in step"
    ]


def _joined(names: list[str], most: int = 6) -> str:
    listed = ", ".join(names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"
