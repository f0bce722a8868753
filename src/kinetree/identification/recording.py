"""Recordings of a robot in motion: times, positions, velocities, accelerations, torques, and wrenches that acted on it.

A recording is a mapping with "t" (n,), "q" (n, nq), "tau" (n, nv) and, where they were measured, "v" and "a" (n, nv);
or with one column for each number, "q.elbow", "tau.elbow", as in tables. "wrench.tool0" (n, 6) is what the environment
does to a frame, world-aligned at its origin. A `kt.Trajectory`, a file, or a list of any of these is a recording too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinetree.base.arguments import as_real, check_quaternions
from kinetree.errors import ArgumentError, ArgumentTypeError, known, short
from kinetree.identification.recording_files import read_file
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.simulation.labels import labels_of
from kinetree.simulation.recording import Recording
from kinetree.simulation.trajectory import Trajectory

WRENCH = "wrench"
SERIES = ("q", "v", "a", "tau")
OTHER_NAMES = {"time": "t", "position": "q", "velocity": "v", "acceleration": "a", "effort": "tau", "torque": "tau"}
SEPARATORS = ".:/"
FEWEST = 8
"""Samples of a recording that a filter and its derivatives need."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """One recording of a robot without gaps; v and a are None where they were not measured."""

    t: Array
    """(n,) [s], ascending."""
    q: Array
    v: Array | None
    a: Array | None
    tau: Array
    """(n, nv); zero where there is no motor."""
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    """(n, 6) by frame, world-aligned."""

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, samples: slice) -> Measurements:
        """Some of the samples."""
        v, a = (None if x is None else x[samples] for x in (self.v, self.a))
        wrenches = {frame: wrench[samples] for frame, wrench in self.wrenches.items()}
        return Measurements(self.t[samples], self.q[samples], v, a, self.tau[samples], wrenches)

    @property
    def period(self) -> float:
        """The median time between samples [s]."""
        return float(np.median(np.diff(self.t)))


def read_recording(robot: Robot, recording: Any) -> list[Measurements]:
    """All recordings of a source: a mapping, a table, a trajectory, a file, or a list of these."""
    if isinstance(recording, Measurements):
        return [recording]
    if isinstance(recording, (str, os.PathLike)):
        recording = read_file(robot, recording)
    if isinstance(recording, Recording):
        recording = recording.trajectory
    if isinstance(recording, Trajectory):
        states = [recording.state(*index) for index in np.ndindex(*recording.batch)]
        return [_measured(robot, _of_trajectory(robot, each)) for each in states]
    if callable(getattr(recording, "keys", None)) and hasattr(recording, "__getitem__"):
        return [_measured(robot, {str(name): recording[name] for name in recording.keys()})]  # noqa: SIM118 - DataFrames
    if isinstance(recording, Iterable) and not isinstance(recording, (bytes, np.ndarray)):
        found = [each for part in recording for each in read_recording(robot, part)]
        if found:
            return found
    raise ArgumentTypeError(
        f"recording is {short(recording)}; expected a mapping with t, q and tau, a kt.Trajectory, a file, or several"
    )


def _of_trajectory(robot: Robot, trajectory: Trajectory) -> dict[str, Array]:
    """The series of one state. What belongs to steps has at an instant the mean of the steps before and after it."""
    count = len(trajectory.t)
    columns = {"t": trajectory.t}
    for name, series in trajectory.series.items():
        kind, _, frame = name.partition(".")
        if kind in SERIES or (kind in (WRENCH, "force") and frame):
            values = np.asarray(series)
            if len(values) == count - 1:
                ends = (values[:1], values[-1:])
                values = 0.5 * (np.concatenate([ends[0], values]) + np.concatenate([values, ends[1]]))
            if kind == "force" and robot.model.spatial_order == "angular-first":
                values = np.roll(values, 3, axis=-1)  # forces of a closed loop are linear first
            columns[f"{WRENCH}.{frame}" if frame else name] = values
    return columns


# -- columns and arrays ------------------------------------------------------------------------------------------------


def _measured(robot: Robot, given: Mapping[str, Any]) -> Measurements:
    """The measurements of a mapping of arrays or of columns, after checking all of them."""
    named = _renamed(given)
    if "t" not in named:
        raise ArgumentError(f"the recording has no times 't'; it has {_listed(named)}")
    t = as_real("t", named["t"], "times, (n,)")
    if t.ndim != 1 or len(t) < FEWEST:
        raise ArgumentError(f"t has shape {t.shape}; expected ({FEWEST},) or more times")
    sizes = {"q": robot.nq, "v": robot.nv, "a": robot.nv, "tau": robot.nv}
    arrays = {name: _series(robot, named, name, len(t), size) for name, size in sizes.items()}
    q, tau = arrays["q"], arrays["tau"]
    if q is None or tau is None:
        raise ArgumentError(f"the recording has no {'q' if q is None else 'tau'}; it has {_listed(named)}")
    wrenches = _wrenches(robot, named, len(t))
    for name, array in (("t", t), *arrays.items(), *((f"{WRENCH}.{frame}", w) for frame, w in wrenches.items())):
        if array is not None and not np.isfinite(array).all():
            row = int(np.argmin(np.isfinite(array).reshape(len(t), -1).all(axis=1)))
            raise ArgumentError(f"{name} is not finite at sample {row} (t = {t[row]:g}); expected numbers in all rows")
    if not (np.diff(t) > 0.0).all():
        row = int(np.argmin(np.diff(t) > 0.0))
        raise ArgumentError(
            f"t goes from {t[row]:.9g} to {t[row + 1]:.9g} at sample {row + 1}; expected ascending times"
        )
    check_quaternions("q", q, robot.model.quaternions)
    return Measurements(t, q, arrays["v"], arrays["a"], tau, wrenches)


def _renamed(given: Mapping[str, Any]) -> dict[str, Any]:
    """With the short names of series, and a dot before the name of an entry: "position/elbow" is "q.elbow"."""
    named: dict[str, Any] = {}
    for name, value in given.items():
        place = next((k for k, letter in enumerate(name) if letter in SEPARATORS), len(name))
        kind, rest = name[:place], name[place + 1 :]
        kind = OTHER_NAMES.get(kind, kind)
        if kind == "wrenches" and isinstance(value, Mapping):
            named |= {f"{WRENCH}.{frame}": wrench for frame, wrench in value.items()}
        else:
            named[f"{kind}.{rest}" if rest else kind] = value
    return named


def _listed(named: Mapping[str, Any]) -> str:
    names = [name for name in named if name != "t"]
    return short(", ".join(names)) if names else "nothing else"


def _series(robot: Robot, named: Mapping[str, Any], name: str, count: int, size: int) -> Array | None:
    """An array (count, size), whole or put together from columns; None if there is neither. Efforts may be those of the
    motors; others are zero then."""
    if name in named:
        array = as_real(name, named[name], f"an array of shape ({count}, {size})")
        if array.ndim == 1 and size == 1:
            array = array[:, None]
        motors = list(robot.model.actuated)
        if name == "tau" and array.shape == (count, len(motors)):
            tau = np.zeros((count, size))
            tau[:, motors] = array
            return tau
        if array.shape != (count, size):
            driven = f" or ({count}, {len(motors)})" if name == "tau" and len(motors) != size else ""
            raise ArgumentError(f"{name} has shape {array.shape}; expected ({count}, {size}){driven}")
        return array
    labels = [label for label, _ in labels_of(robot, "q" if name == "q" else "tau" if name == "tau" else "v")]
    if not any(f"{name}.{label}" in named for label in labels):
        return None
    optional = set(range(size)) - set(robot.model.actuated) if name == "tau" else set()
    columns = [_column(named, f"{name}.{label}", count, k in optional) for k, label in enumerate(labels)]
    return np.stack(columns, axis=1)


def _column(named: Mapping[str, Any], name: str, count: int, is_optional: bool) -> Array:
    if name not in named:
        if is_optional:
            return np.zeros(count)
        raise ArgumentError(
            f"column {name!r} is missing; expected one for each coordinate of the robot (kt.edit.lock fixes others)"
        )
    column = as_real(name, named[name], f"numbers, ({count},)")
    if column.shape != (count,):
        raise ArgumentError(f"{name} has shape {column.shape}; expected ({count},), as t has")
    return column


def _wrenches(robot: Robot, named: Mapping[str, Any], count: int) -> dict[str, Array]:
    """Wrenches by frame, whole or from six columns "wrench.tool0.fx" … "wrench.tool0.mz"."""
    found: dict[str, Array] = {}
    for name, value in named.items():
        kind, _, frame = name.partition(".")
        if kind != WRENCH or name in found:
            continue
        frame, _, axis = frame.rpartition(".") if frame.rpartition(".")[2] in AXES else (frame, "", "")
        known("frame", frame, robot.frame_names)
        if axis:
            found[frame] = np.stack([_column(named, f"{WRENCH}.{frame}.{k}", count, False) for k in AXES], axis=1)
        else:
            found[frame] = as_real(name, value, f"an array of shape ({count}, 6)")
        if found[frame].shape != (count, 6):
            raise ArgumentError(f"{name} has shape {found[frame].shape}; expected ({count}, 6)")
    return found


AXES = ("fx", "fy", "fz", "mx", "my", "mz")
