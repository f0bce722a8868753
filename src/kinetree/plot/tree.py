"""The kinematic tree as a diagram: bodies as boxes, joints as lines with names, fixed links left out."""

from __future__ import annotations

from typing import Any

from kinetree.model.joints import Joint
from kinetree.plot.canvas import COLORS, DARK, GREY, LIGHT, axes_for
from kinetree.robot import Robot, as_robot

FOLLOWS = "mimic"


def tree(robot: Robot, ax: Any = None, *, joints: bool = True) -> Any:
    """The tree of bodies from the world to the tips, coloured by the kind of joint; with `joints`, their names too.

    Depth goes to the right, one line for every tip. Mimic joints are dashed.
    """
    robot = as_robot(robot)
    model = robot.model
    rows = _rows(model.parents)
    depth = [len(model.support(i)) for i in range(model.n_bodies + 1)]
    tips = max(rows) + 1
    size = (min(2.0 + 1.75 * (max(depth) + 1), 22.0), min(1.2 + 0.5 * tips, 30.0))
    ax = axes_for(ax, size)
    used: dict[str, str] = {}
    for i, p in model.root_to_tips():
        kind, color, dash = _look(model.joints[i])
        used[kind] = color
        x, y = [depth[p], depth[p] + 0.42, depth[p] + 0.42, depth[i]], [rows[p], rows[p], rows[i], rows[i]]
        ax.plot(x, y, dash, color=color, lw=1.8, zorder=1)
        name = model.joints[i].name
        if joints and name != model.names[i]:
            ax.text(
                depth[i] - 0.29, rows[i] - 0.16, _cut(name, 22), ha="center", va="bottom", fontsize=5.5, color=color
            )
    for i, name in enumerate(model.names):
        box = {"boxstyle": "round,pad=0.3", "facecolor": LIGHT if i else DARK, "edgecolor": "none"}
        ax.text(
            depth[i], rows[i], _cut(name, 18), ha="center", va="center", fontsize=6.5, bbox=box,
            color="black" if i else "white", zorder=2,
        )  # fmt: skip
    for kind, color in used.items():
        ax.plot([], [], "--" if kind == FOLLOWS else "-", color=color, lw=1.8, label=kind)
    if used:
        ax.legend(loc="upper left", fontsize="small", frameon=False, ncols=len(used), bbox_to_anchor=(0.0, 1.0))
    ax.set(xlim=(-0.5, max(depth) + 0.6), ylim=(tips - 0.4, -1.1))
    ax.set_axis_off()
    ax.set_title(f"{robot.name}: {robot.nq} positions, {robot.nv} velocities, {robot.mass:.4g} kg", fontsize="medium")
    return ax.figure


def _look(joint: Joint) -> tuple[str, str, str]:
    """Kind, colour and dashes."""
    if joint.follows is not None:
        return FOLLOWS, COLORS[6], "--"
    color = (DARK if joint.nv else GREY) if joint.color is None else COLORS[joint.color]
    return joint.kind, color, "-"


def _rows(parents: tuple[int, ...]) -> list[float]:
    """The height of every body: tips one below the other, others in the middle of their children."""
    children: dict[int, list[int]] = {}
    for i, p in enumerate(parents):
        if i:
            children.setdefault(p, []).append(i)
    rows = [0.0] * len(parents)
    tips = (body for body in range(len(parents)) if body not in children)  # bodies are numbered depth first
    for height, tip in enumerate(tips):
        rows[tip] = float(height)
    for body in reversed(range(len(parents))):
        if body in children:
            rows[body] = 0.5 * (rows[children[body][0]] + rows[children[body][-1]])
    return rows


def _cut(name: str, length: int) -> str:
    return name if len(name) <= length else f"{name[: length - 1]}…"
