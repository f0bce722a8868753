"""Where a frame can get, and how well it can move there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_count, as_floats
from kinetree.errors import ArgumentError
from kinetree.ops import Array
from kinetree.plot.canvas import COLORS, SEQUENTIAL, axes_for, legend, several_axes, tidy
from kinetree.plot.series import as_times
from kinetree.robot import Robot, as_robot

FIELDS = ((0, 2, "x [m]", "z [m]"), (0, 1, "x [m]", "y [m]"))
"""Seen from the side, and from above."""
MOST_SAMPLES = 10_000_000


def workspace(
    robot: Robot,
    frame: str,
    ax: Any = None,
    *,
    samples: int = 20_000,
    seed: int = 0,
    color_by: str | None = "manipulability",
) -> Any:
    """Positions that a frame reaches within joint limits, sampled in one batch; from the side and from above.

    color_by   "manipulability", whose larger values are drawn on top, or None
    """
    robot = as_robot(robot)
    if color_by not in (None, "manipulability"):
        raise ArgumentError(f"color_by is {color_by!r}; expected 'manipulability' or None")
    count = as_count("samples", samples)
    if not 1 <= count <= MOST_SAMPLES:
        raise ArgumentError(f"samples is {count}; expected 1 to {MOST_SAMPLES}")
    q = robot.random(seed, count)
    base = robot.model.floating_base
    if base is not None:
        q[:, base.q_slice] = robot.neutral()[base.q_slice]
    points = robot.frame(frame).pose(q)[:, :3, 3]
    w = None if color_by is None else manipulabilities(robot, frame, q)
    order = np.arange(count) if w is None else np.argsort(w)
    panels = several_axes(ax, 1, 2, (9.0, 4.4))
    size = float(np.clip(40_000.0 / max(count, 1), 0.6, 6.0))
    for each, (i, j, across, up) in zip(panels, FIELDS, strict=True):
        color: dict[str, Any] = {"color": COLORS[0]} if w is None else {"c": w[order], "cmap": SEQUENTIAL}
        dots = each.scatter(points[order, i], points[order, j], s=size, linewidths=0.0, rasterized=True, **color)
        each.plot(0.0, 0.0, "+", color="black", ms=8)
        each.set(xlabel=across, ylabel=up, aspect="equal")
        tidy(each)
    panels[0].set_title(f"{frame} from the side", fontsize="medium")
    panels[1].set_title(f"{frame} from above", fontsize="medium")
    figure = panels[0].figure
    if w is not None:
        figure.colorbar(dots, ax=panels, shrink=0.8, label="manipulability")
    return figure


def manipulability(robot: Robot, frame: str, t: ArrayLike, q: ArrayLike, ax: Any = None) -> Any:
    """w = √det(J Jᵀ) of a frame along a motion, t (n,) and q (n, nq), with the least singular value of J below it."""
    robot = as_robot(robot)
    times = as_times(t)
    states = as_floats("q", q, (len(times), robot.nq))
    if states.ndim != 2 or not np.isfinite(states).all():
        said = f"has shape {states.shape}" if states.ndim != 2 else "is not finite"
        raise ArgumentError(f"q {said}; expected a motion, ({len(times)}, {robot.nq})")
    J = robot.frame(frame).jacobian(states)
    sizes = np.linalg.svd(J, compute_uv=False)[:, : min(6, robot.nv)]
    ax = axes_for(ax, (7.2, 3.6))
    w = np.prod(sizes, axis=1)
    ax.plot(times, w, color=COLORS[0], lw=1.8, label=r"manipulability $\sqrt{\det J J^T}$")
    ax.plot(times, sizes[:, -1], color=COLORS[1], lw=1.4, linestyle="--", label="least singular value of J")
    least = int(np.argmin(w))
    ax.plot(times[least], w[least], "o", color=COLORS[0], ms=4)
    words, place = f"{w[least]:.3g} at {times[least]:.2f} s", (times[least], w[least])
    ax.annotate(words, place, textcoords="offset points", xytext=(6, 16), fontsize="x-small")
    ax.set(xlabel="time [s]", ylabel=f"of {frame}", ylim=(0.0, None))
    ax.margins(x=0.0)
    tidy(ax)
    legend(ax, 2)
    return ax.figure


def manipulabilities(robot: Robot, frame: str, q: Array) -> Array:
    """w of a frame at configurations (n, nq): the product of the singular values of J, (n,)."""
    J = robot.frame(frame).jacobian(q)
    moving = np.abs(J).max(axis=(0, 1)) > 1e-12
    J = J[..., moving]
    if not moving.any():
        return np.zeros(len(q))
    small = np.einsum("nij,nkj->nik", J, J) if J.shape[-1] >= 6 else np.einsum("nji,njk->nik", J, J)
    return np.sqrt(np.maximum(np.linalg.det(small), 0.0))
