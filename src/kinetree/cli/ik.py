"""`kinetree ik`: joints that bring a frame to a pose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

import kinetree as kt
from kinetree.cli.loading import Loading, RobotArgument, frames_to_complete, robot_command, state_option
from kinetree.cli.numbers import STATE_HELP, array_from, configuration, one_state, position_names, vector
from kinetree.cli.output import PROBLEM, JsonOption, console, option, print_json, print_table, say, table_of, working
from kinetree.ops import Array
from kinetree.spatial.rotation import matrix_from_rpy

if TYPE_CHECKING:
    from kinetree.ik.solution import Solution

TOLD = ("success", "q", "position_error", "rotation_error", "iterations", "attempts", "reason")
"""What JSON has of a solution."""


@robot_command
def ik(
    robot: RobotArgument,
    frame: Annotated[
        str, typer.Argument(metavar="FRAME", help="Frame that reaches the target.", autocompletion=frames_to_complete)
    ],
    loading: Loading,
    position: Annotated[
        str | None, option("Target position of the frame's origin, in m.", "--position", "-p", metavar="X,Y,Z")
    ] = None,
    rpy: Annotated[
        str | None, option("Target orientation: roll, pitch and yaw as in URDF; 90deg is allowed.", metavar="R,P,Y")
    ] = None,
    quaternion: Annotated[str | None, option("Target orientation as a quaternion.", metavar="X,Y,Z,W")] = None,
    pose: Annotated[
        str | None,
        option("Target pose (4, 4) or poses (…, 4, 4) from .npy, .npz or .json; - for stdin.", metavar="FILE"),
    ] = None,
    q0: Annotated[str | None, state_option(f"Initial guess: {STATE_HELP}.")] = None,
    attempts: Annotated[int, option("Maximum number of initial guesses.")] = 300,
    json: JsonOption = False,
) -> None:
    """Find joint positions within limits that move a frame to a position or a pose.

    If no solution is found, the command prints the reason and the exit code is 1.
    """
    arm = loading.load_aloud(robot).robot
    target = _target(position, rpy, quaternion, pose)
    start = None if q0 is None else one_state(configuration(arm, q0, "--q0"), "--q0")
    with working("searching"):
        solution = arm.ik(frame, target, start, attempts=attempts)
    found = bool(np.all(solution.success))
    if json:
        told = {name: getattr(solution, name) for name in TOLD}
        print_json({"name": arm.name, "frame": frame, "target": target, **told})
    elif np.ndim(solution.success):
        _show_many(solution, console())
    else:
        _show(arm, solution, console())
    if not found:
        if not np.ndim(solution.success):
            say("no solution", str(solution.reason), "bold red")
        raise typer.Exit(PROBLEM)


def _target(position: str | None, rpy: str | None, quaternion: str | None, pose: str | None) -> Array:
    """(3,) for a position alone, otherwise (…, 4, 4)."""
    axes = [option for option in (rpy, quaternion) if option is not None]
    if (position is None) == (pose is None) or len(axes) > 1 or (pose is not None and axes):
        raise typer.BadParameter("expected --position with at most one of --rpy and --quaternion, or --pose alone")
    if position is None:
        assert pose is not None
        target = array_from(pose, "--pose", "pose")
        if target.shape[-2:] != (4, 4):
            raise kt.ArgumentError(f"--pose has shape {target.shape}; expected (…, 4, 4)")
        return target
    point = vector(position, "--position", 3)
    if not axes:
        return point
    target = np.eye(4)
    target[:3, 3] = point
    if rpy is not None:
        target[:3, :3] = matrix_from_rpy(vector(rpy, "--rpy", 3))
    elif quaternion is not None:
        target[:3, :3] = kt.rotations.matrix_from_quaternion(vector(quaternion, "--quaternion", 4))
    return target


def _show(robot: kt.Robot, solution: Solution, out: Console) -> None:
    table = table_of("joint", "q", "lower", "upper", left=("joint",))
    limits = robot.limits
    for name, x, lower, upper in zip(position_names(robot), solution.q, limits.lower, limits.upper, strict=True):
        table.add_row(Text(name), f"{x:.6f}", *(f"{b:.3f}" if np.isfinite(b) else "–" for b in (lower, upper)))
    print_table(table, out)
    errors = f"off by {solution.position_error:.1e} m"
    if np.isfinite(solution.rotation_error) and solution.rotation_error:
        errors += f" and {solution.rotation_error:.1e} rad"
    out.print(Text(f"\n{errors}, after {solution.iterations} iterations from {solution.attempts} starts", style="dim"))


def _show_many(solution: Solution, out: Console) -> None:
    success = np.asarray(solution.success)
    out.print(f"{int(success.sum())} of {success.size} targets reached; --json has the joints")
    for index in np.argwhere(~success)[:10]:
        out.print(f"- target {tuple(map(int, index))}: {solution.reason[tuple(index)]}", soft_wrap=True)
