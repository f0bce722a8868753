"""What happens over time: efforts beside their limits, and how well a reference is followed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_floats
from kinetree.errors import ArgumentError, known
from kinetree.ops import Array
from kinetree.plot.canvas import BAD, COLORS, GREY, axes_for, legend, several_axes, style, tidy
from kinetree.plot.series import as_columns, as_names, as_times
from kinetree.robot import Robot, as_robot


def torques(
    robot: Robot,
    t: ArrayLike,
    tau: ArrayLike,
    ax: Any = None,
    *,
    joints: Iterable[str] | None = None,
    relative: bool = False,
) -> Any:
    """Efforts of joints over time, t (n,) and tau (n, nv); thin lines are limits, where the lines come near them.

    joints     which to show; all if not given. Of more than ten, those that work hardest have a colour and a name
    relative   as a part of each joint's limit, so that different joints can be compared
    """
    robot = as_robot(robot)
    entries = _coordinates(robot, joints)
    times, efforts = _series(t, tau, robot.nv, "tau")
    limits = robot.limits.effort
    scale = np.ones(robot.nv)
    if relative:
        for entry, name, _ in entries:
            if not 0.0 < limits[entry] < np.inf:
                raise ArgumentError(f"joint {name!r} has no effort limit; leave it out or relative=False")
        scale = limits
    ax = axes_for(ax, (7.2, 3.8))
    hardest = _hardest(efforts, limits, [entry for entry, _, _ in entries])
    others = [entry for entry, _, _ in entries if entry not in hardest]
    for k, entry in enumerate(others):
        ax.plot(times, efforts[:, entry] / scale[entry], color="#cbd5e1", lw=1.0, label=None if k else "others")
    for k, (entry, name, _) in enumerate(each for each in entries if each[0] in hardest):
        y = efforts[:, entry] / scale[entry]
        ax.plot(times, y, label=name, lw=1.6, **style(k))
        for side in () if relative else (-1.0, 1.0):
            if 0.7 * limits[entry] < (side * y).max(initial=0.0):
                ax.axhline(side * limits[entry], color=style(k)["color"], lw=0.8, alpha=0.7)
    if relative:
        for side in (-1.0, 1.0):
            ax.axhline(side, color=BAD, lw=0.8)
    units = " or ".join(dict.fromkeys(unit for _, _, unit in entries))
    ax.set(xlabel="time [s]", ylabel="effort / limit" if relative else f"effort [{units}]")
    ax.margins(x=0.0)
    tidy(ax)
    legend(ax, len(hardest) + bool(others))
    return ax.figure


def tracking(
    t: ArrayLike,
    reference: ArrayLike,
    actual: ArrayLike,
    ax: Any = None,
    *,
    names: Sequence[str] | None = None,
    unit: str = "rad",
) -> Any:
    """A reference (grey) and the actual motion, (n,) or (n, k) each; below, the error reference - actual.

    names   of the k lines
    unit    of both
    """
    times = as_times(t)
    wanted, got = (
        as_columns(name, value, len(times)) for name, value in (("reference", reference), ("actual", actual))
    )
    if wanted.shape != got.shape:
        raise ArgumentError(f"actual has shape {got.shape}; expected that of the reference, {wanted.shape}")
    labels = [str(k + 1) for k in range(wanted.shape[1])] if names is None else as_names("names", names)
    if len(labels) != wanted.shape[1]:
        raise ArgumentError(f"names has {len(labels)} entries; expected {wanted.shape[1]}")
    options = {"sharex": True, "gridspec_kw": {"height_ratios": (2, 1)}}
    above, below = several_axes(ax, 2, 1, (7.2, 4.8), **options)
    for k, label in enumerate(labels):
        above.plot(times, wanted[:, k], color=GREY, lw=2.6, label="reference" if k == 0 else None)
        above.plot(times, got[:, k], lw=1.4, label=label, **style(k))
        below.plot(times, wanted[:, k] - got[:, k], lw=1.2, **style(k))
    below.axhline(0.0, color=GREY, lw=0.8)
    rms = np.sqrt(np.mean((wanted - got) ** 2))
    above.set_ylabel(f"position [{unit}]" if unit in ("m", "rad") else f"value [{unit}]")
    below.set(xlabel="time [s]", ylabel=f"error [{unit}]")
    below.set_title(
        f"root mean square {rms:.3g} {unit}, largest {np.abs(wanted - got).max():.3g} {unit}", fontsize="small"
    )
    for each in (above, below):
        each.margins(x=0.0)
        tidy(each)
    legend(above, len(labels) + 1)
    return above.figure


def _hardest(efforts: Array, limits: Array, entries: list[int]) -> set[int]:
    """The ten of them with the largest efforts by their limits, or without limits."""
    share = np.abs(efforts).max(axis=0, initial=0.0) / np.where((limits > 0.0) & np.isfinite(limits), limits, 1.0)
    return set(sorted(entries, key=lambda entry: -share[entry])[: len(COLORS)])


def _coordinates(robot: Robot, joints: Iterable[str] | None) -> list[tuple[int, str, str]]:
    """Entry of v, name and unit of the effort, for the joints that are asked for."""
    owners = {joint.name: joint for joint in robot.model.owners if joint is not robot.model.floating_base}
    listed = list(owners) if joints is None else as_names("joints", joints)
    found = []
    for name in listed:
        joint = owners[known("joint", name, owners)]
        for k, (_, unit) in enumerate(joint.tau_labels):
            found.append((joint.iv + k, name if joint.nv == 1 else f"{name} {k + 1}", unit))
    return found


def _series(t: ArrayLike, values: ArrayLike, width: int, name: str) -> tuple[Array, Array]:
    times = as_times(t)
    read = as_floats(name, values, (width,))
    if read.ndim != 2 or len(read) not in (len(times), len(times) - 1):
        raise ArgumentError(f"{name} has shape {read.shape}; expected ({len(times)}, {width}), as many rows as times")
    return times[: len(read)], read
