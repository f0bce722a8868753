"""What a robot on its feet did in a closed loop, on one sheet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_floats
from kinetree.errors import ArgumentError
from kinetree.geometry import Ground
from kinetree.ops import Array
from kinetree.plot.canvas import DARK, GREY, LIGHT, legend, several_axes, style, tidy
from kinetree.plot.forces import contact_forces
from kinetree.plot.motions import torques

if TYPE_CHECKING:
    from kinetree.simulation.fixtures import Push
    from kinetree.simulation.recording import Recording

PRESSED = 0.05
"""Part of the weight with which a foot must press for its centre of pressure to be drawn."""


def closed_loop(
    recording: Recording,
    wanted: ArrayLike | None = None,
    ax: Any = None,
    *,
    friction: float = 0.7,
    pushes: Push | Iterable[Push] = (),
) -> Any:
    """Six plots: the path of the centre of mass from above, its error, heights, normal forces, used friction ‖f_t‖ / (μ
    f_n), and torques relative to their limits.

    recording   of `kinetree.simulation.MujocoWorld.run`
    wanted      where the centre of mass should have been, (n, 3) [m]; where it began, if not given
    friction    μ
    pushes      are shaded as long as they last
    """
    robot, t, com = recording.robot, recording.t, recording.center_of_mass
    goal = as_floats("wanted", com[0] if wanted is None else wanted, (3,))
    if goal.shape not in ((3,), com.shape):
        raise ArgumentError(f"wanted has shape {goal.shape}; expected {com.shape}")
    goal = np.broadcast_to(goal, com.shape)
    above, error, heights, normal, used, effort = several_axes(ax, 2, 3, (13.0, 7.4))
    _from_above(above, recording, goal)
    for k, axis in enumerate("xyz"):
        error.plot(t, 1e3 * (com - goal)[:, k], lw=1.2, label=axis, **style(k))
    error.set(xlabel="time [s]", ylabel="centre of mass off by [mm]")
    legend(error, 3)
    _heights(heights, recording, goal)
    contact_forces(t, recording.forces, [normal, used], friction=friction)
    limits = robot.limits.effort[list(robot.model.actuated)]
    relative = bool(((limits > 0.0) & (limits < np.inf)).all())
    torques(robot, t, recording.tau, effort, joints=robot.actuated_joints, relative=relative)
    normal.set_xlabel("time [s]")
    for each in (error, heights, normal, used, effort):
        for push in pushes if isinstance(pushes, Iterable) else (pushes,):
            each.axvspan(push.start, push.end, color=LIGHT, zorder=0)
        each.set_xlim(t[0], t[-1])
        tidy(each)
    return above.figure


def _from_above(ax: Any, recording: Recording, goal: Array) -> None:
    """Ways of the centre of mass and of centres of pressure, over what the robot stands on at the start."""
    polygon = Ground(recording.robot).polygon(recording.q[0])
    if len(polygon) > 2:
        ax.fill(*polygon.T, color=LIGHT, lw=0.0, label="support at the start")
    least = PRESSED * recording.robot.mass * float(np.linalg.norm(recording.robot.gravity))
    for k, (frame, wrench) in enumerate(recording.forces.items()):
        f_z = np.where(wrench[:, 2] > least, wrench[:, 2], np.nan)
        way = recording.poses(frame)[:, :2, 3] + np.stack([-wrench[:, 4] / f_z, wrench[:, 3] / f_z], axis=1)
        ax.plot(*way.T, lw=1.0, marker=".", ms=1.5, label=f"pressure, {frame}", **style(k))
    ax.plot(*goal[:, :2].T, color=GREY, lw=2.6, label="wanted")
    ax.plot(*recording.center_of_mass[:, :2].T, lw=1.4, label="centre of mass", color=DARK)
    ax.set(xlabel="x [m]", ylabel="y [m]")
    ax.set_aspect("equal", adjustable="datalim")
    tidy(ax)
    legend(ax, len(recording.forces) + 3)


def _heights(ax: Any, recording: Recording, goal: Array) -> None:
    """Draws heights of the centre of mass and of the frames that feel, from where they began."""
    start = recording.center_of_mass[0, 2]
    ax.plot(recording.t, 1e3 * (goal[:, 2] - start), color=GREY, lw=2.6, label="wanted")
    ax.plot(recording.t, 1e3 * (recording.center_of_mass[:, 2] - start), lw=1.4, label="centre of mass", color=DARK)
    for k, frame in enumerate(recording.forces):
        height = recording.poses(frame)[:, 2, 3]
        ax.plot(recording.t, 1e3 * (height - height[0]), lw=1.2, label=frame, **style(k))
    ax.set(xlabel="time [s]", ylabel="height, from the start [mm]")
    legend(ax, len(recording.forces) + 2)
