"""Contact forces over time, and how much of the friction they use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant, as_number
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.plot.canvas import BAD, GREY, legend, several_axes, style, tidy
from kinetree.plot.series import as_columns, as_times


def contact_forces(
    t: ArrayLike,
    forces: Mapping[str, ArrayLike],
    ax: Any = None,
    *,
    friction: float = 0.7,
    normal: ArrayLike = (0.0, 0.0, 1.0),
) -> Any:
    """Normal forces of contacts over time; below, the friction that each uses, ‖f_t‖ / (μ f_n), at most one.

    forces     of the environment on frames by name, (n, 3) or (n, 6), in world axes
    friction   μ
    normal     of the ground
    """
    times = as_times(t)
    if not isinstance(forces, Mapping):
        raise ArgumentTypeError(f"forces is {short(forces)}; expected a dictionary of forces by frame")
    mu = as_number("friction", friction)
    if not mu > 0.0:
        raise ArgumentError(f"friction is {mu:g}; expected a positive coefficient")
    up = as_constant("normal", normal, (3,))
    if not 0.0 < np.linalg.norm(up) < np.inf:
        raise ArgumentError(f"normal is {short(normal)}; expected a direction")
    up = up / np.linalg.norm(up)
    above, below = several_axes(ax, 2, 1, (7.2, 4.8), sharex=True)
    for k, (name, given) in enumerate(forces.items()):
        rows = as_columns(f"forces[{name!r}]", given, len(times))
        if rows.shape[1] not in (3, 6):
            raise ArgumentError(
                f"forces[{name!r}] has shape {rows.shape}; expected ({len(times)}, 3) or ({len(times)}, 6)"
            )
        along = rows[:, :3] @ up
        across = np.linalg.norm(rows[:, :3] - along[:, None] * up, axis=1)
        above.plot(times, along, lw=1.6, label=name, **style(k))
        below.plot(times, friction_use(along, across, mu), lw=1.4, **style(k))
    below.axhline(1.0, color=BAD, lw=1.0)
    below.text(
        0.995, 1.0, "slips above", color=BAD, fontsize="x-small", ha="right", va="bottom",
        transform=below.get_yaxis_transform(),
    )  # fmt: skip
    above.axhline(0.0, color=GREY, lw=0.8)
    above.set_ylabel("normal force [N]")
    below.set(xlabel="time [s]", ylabel=f"friction used, μ = {mu:g}", ylim=(0.0, max(1.25, 1.05 * _top(below))))
    for each in (above, below):
        each.margins(x=0.0)
        tidy(each)
    legend(above, len(forces))
    return above.figure


def friction_use(along: Any, across: Any, mu: float) -> Any:
    """‖f_t‖ / (μ f_n); NaN where nothing presses."""
    pressed = along > 1e-9 * max(float(np.abs(along).max(initial=0.0)), 1e-9)
    return np.where(pressed, across / np.where(pressed, mu * along, 1.0), np.nan)


def _top(ax: Any) -> float:
    values = [np.nanmax(line.get_ydata(), initial=0.0) for line in ax.lines[:-1]]
    return min(max(values, default=1.0), 3.0)
