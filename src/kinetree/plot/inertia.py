"""Which entries of the mass matrix are zero, and why: joints on different branches do not feel each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant
from kinetree.errors import ArgumentError
from kinetree.ops import Array
from kinetree.plot.canvas import GREY, axes_for
from kinetree.robot import Robot, as_robot


def sparsity(robot: Robot, q: ArrayLike | None = None, ax: Any = None, *, seed: int = 0) -> Any:
    """The mass matrix, darker where entries are larger relative to √(M_ii M_jj); white where branches make it zero.

    Crosses mark entries that could differ from zero and do not at this q, which is random if not given.
    """
    robot = as_robot(robot)
    at = robot.random(seed) if q is None else as_constant("q", q, (robot.nq,))
    if not robot.nv:
        raise ArgumentError(f"robot {robot.name!r} has no joint that moves; expected one with a mass matrix")
    M = robot.mass_matrix(at)
    coupled = branch_pattern(robot)
    diagonal = np.sqrt(np.abs(np.diag(M)))
    scale = np.outer(diagonal, diagonal)
    relative = np.abs(M) / np.where(scale > 0.0, scale, 1.0)
    n = robot.nv
    ax = axes_for(ax, (max(3.6, min(1.6 + 0.16 * n, 11.0)),) * 2)
    shown = np.where(coupled, np.maximum(relative, 0.03), np.nan)
    picture = ax.imshow(shown, cmap="Blues", vmin=-0.15, vmax=1.0, interpolation="nearest")
    zeros = np.argwhere(coupled & (relative < 1e-12))
    if len(zeros):
        ax.plot(zeros[:, 1], zeros[:, 0], "x", color=GREY, ms=max(1.5, min(5.0, 120.0 / n)), mew=0.7)
    labels = _labels(robot)
    ax.set_xticks(range(n), labels, rotation=90)
    ax.set_yticks(range(n), labels)
    ax.tick_params(labelsize=max(3.5, min(8.0, 220.0 / n)), length=0)
    for side in ax.spines.values():
        side.set_color(GREY)
    share = 100.0 * (1.0 - coupled.mean())
    ax.set_title(f"M of {robot.name}: {share:.0f} % zero by branches", fontsize="medium")
    ax.figure.colorbar(picture, ax=ax, shrink=0.6, label=r"$|M_{ij}| / \sqrt{M_{ii} M_{jj}}$").ax.set_ylim(0.0, 1.0)
    return ax.figure


def branch_pattern(robot: Robot) -> Array:
    """Which entries of M may differ from zero, (nv, nv): those of joints on one way to the root (Featherstone 2005)."""
    model = robot.model
    pattern = np.zeros((model.nv, model.nv), dtype=bool)
    for i in range(1, model.n_bodies + 1):
        on_the_way = [model.joints[j].v_slice for j in model.support(i)]
        entries = np.unique([k for part in on_the_way for k in range(part.start, part.stop)]).astype(int)
        pattern[np.ix_(entries, entries)] = True
    return pattern


def _labels(robot: Robot) -> list[str]:
    labels: list[str] = []
    for joint in robot.model.owners:
        name = "base" if joint is robot.model.floating_base else joint.name
        labels += [name] if joint.nv == 1 else [f"{name} {k + 1}" for k in range(joint.nv)]
    return labels
