"""How well identified parameters explain the torques, and how certain they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.errors import ArgumentTypeError, short
from kinetree.identification import Identification
from kinetree.plot.canvas import BAD, COLORS, DARK, GREY, new_figure, tidy
from kinetree.simulation.labels import labels_of

MOST_COORDINATES = 8
"""Those with the largest torques; others are left out."""
MOST_PARAMETERS = 60
REACH = 1.7
"""Of the axis of values."""


def identification(result: Identification) -> Any:
    """Measured torque, fitted torque and residual of each coordinate; base parameters before (grey) and after, with 95
    % intervals, relative to the largest of the three. Crosses mark parameters that the data do not determine."""
    if not isinstance(result, Identification):
        raise ArgumentTypeError(f"result is {short(result)}; expected what kt.identification.identify returns")
    chosen = sorted(np.argsort(-result.torques, kind="stable")[:MOST_COORDINATES].tolist())
    count = min(len(result.base), MOST_PARAMETERS)
    figure = new_figure((12.5, max(1.2 * len(chosen) + 1.0, 0.17 * count + 1.0)))
    left, right = figure.subfigures(1, 2, width_ratios=(1.25, 1.0))
    axes = left.subplots(len(chosen), 1, sharex=True, squeeze=False)[:, 0]
    labels = labels_of(result.unknowns.robot, "tau")
    for ax, k in zip(axes, chosen, strict=True):
        _torques(ax, result, k, *labels[k])
    axes[0].legend(fontsize="x-small", ncols=3, loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False)
    axes[-1].set_xlabel("time [s]", fontsize="small")
    _parameters(right.subplots(), result, count)
    return figure


def _torques(ax: Any, result: Identification, k: int, name: str, unit: str) -> None:
    shown = result.shown
    ax.plot(shown.t, shown.measured[:, k], color=GREY, lw=1.6, label="measured")
    ax.plot(shown.t, shown.fitted[:, k], color=COLORS[0], lw=1.0, label="fitted")
    ax.plot(shown.t, shown.measured[:, k] - shown.fitted[:, k], color=COLORS[1], lw=0.7, label="residual")
    title = f"{name}: residual {result.residuals[k]:.3g} of {result.torques[k]:.3g} {unit}"
    ax.set_title(title, fontsize="x-small", loc="left", color=DARK, pad=2.0)
    ax.set_ylabel(f"[{unit}]", fontsize="x-small")
    ax.margins(x=0.0)
    tidy(ax)
    ax.tick_params(labelsize="x-small")


def _parameters(ax: Any, result: Identification, count: int) -> None:
    """One row for each base parameter, the first at the top."""
    before = result.base.of(result.unknowns.values)[:count]
    after, seen = result.base_parameters[:count], result.identifiable[:count]
    half = 0.5 * np.diff(result.intervals(), axis=1)[:count, 0]
    size = np.max([np.abs(before), np.abs(after), np.where(np.isfinite(half), half, 0.0)], axis=0)
    size = np.where(size > 0.0, size, 1.0)
    rows = np.arange(count)
    ax.plot(before / size, rows, "o", color=GREY, ms=4.0, label="before")
    bars = np.minimum(half / size, REACH)
    ax.errorbar(
        (after / size)[seen], rows[seen], xerr=bars[seen], fmt="o", color=COLORS[0], ms=3.0, lw=1.2, capsize=2.0,
        label="found, 95 %",
    )  # fmt: skip
    if not seen.all():
        ax.plot((after / size)[~seen], rows[~seen], "x", color=BAD, ms=5.0, label="not identifiable")
    words = [word if len(word) <= 34 else f"{word[:32]} …" for word in result.base.describe(2)[:count]]
    ax.set_yticks(rows, words, fontsize="xx-small")
    ax.set(xlim=(-REACH, REACH), ylim=(count - 0.5, -0.5))
    ax.set_xlabel("value, relative to the largest of before, found and interval", fontsize="small")
    tidy(ax)
    ax.tick_params(axis="y", labelsize="xx-small")
    ax.legend(fontsize="x-small", ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False)
