"""The centre of mass over what the robot stands on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_floats
from kinetree.errors import ArgumentError
from kinetree.geometry import Ground, convex_hull
from kinetree.geometry.ground import margin
from kinetree.plot.canvas import BAD, COLORS, GOOD, axes_for, tidy
from kinetree.plot.series import as_names, as_points
from kinetree.robot import Robot, as_robot


def support(
    robot: Robot,
    q: ArrayLike,
    ax: Any = None,
    *,
    contacts: Iterable[str] | None = None,
    points: ArrayLike | None = None,
) -> Any:
    """The centre of mass over the support polygon, seen from above; for q of shape (n, nq) its path.

    contacts   frames whose origins are the corners; without them, what of the shapes is lowest at the first q
    points     corners of the polygon, (k, 2) or (k, 3) [m], instead
    """
    robot = as_robot(robot)
    states = np.atleast_2d(as_floats("q", q, (robot.nq,)))
    if states.ndim != 2 or not len(states):
        raise ArgumentError(f"q has shape {states.shape}; expected one configuration or a motion, (n, {robot.nq})")
    if not np.isfinite(states).all():
        raise ArgumentError("q is not finite; expected one configuration or a motion")
    if contacts is not None and points is not None:
        raise ArgumentError("contacts and points are both given; expected one of them")
    if points is not None:
        corners = as_points(points)
    elif contacts is not None:
        listed = as_names("contacts", contacts)
        corners = np.array([robot.frame(name).pose(states[0])[:3, 3] for name in listed]).reshape(-1, 3)
    else:
        corners = Ground(robot).touching(states[0])
    polygon = convex_hull(corners[:, :2])
    way = robot.center_of_mass(states)[:, :2]
    margins = [margin(polygon, point) for point in way]
    ax = axes_for(ax, (6.2, 4.4))
    if len(polygon) > 2:
        closed = np.vstack([polygon, polygon[:1]])
        ax.fill(closed[:, 0], closed[:, 1], color=COLORS[2], alpha=0.18, linewidth=0)
        ax.plot(closed[:, 0], closed[:, 1], color=COLORS[2], lw=1.6, label="support")
    ax.plot(corners[:, 0], corners[:, 1], "s", color=COLORS[2], ms=3)
    least = float(np.min(margins))
    if len(way) > 1:
        ax.plot(way[:, 0], way[:, 1], color=COLORS[0], lw=1.6, label="centre of mass")
    color, label = GOOD if margins[-1] >= 0.0 else BAD, "centre of mass" if len(way) == 1 else "its end"
    ax.plot(*way[-1], "o", color=color, ms=8, label=label)
    ax.set(xlabel="x [m]", ylabel="y [m]")
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_title(
        f"margin {100.0 * least:.1f} cm" if least >= 0.0 else f"outside by {-100.0 * least:.1f} cm", fontsize="medium"
    )
    ax.margins(0.12)
    tidy(ax)
    ax.legend(fontsize="small", frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax.figure
