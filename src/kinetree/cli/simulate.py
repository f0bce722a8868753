"""`kinetree simulate`: how a robot moves by itself, under held efforts, or with a spring to a posture."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

import kinetree as kt
from kinetree.cli.loading import Loading, RobotArgument, frame_option, robot_command, state_option
from kinetree.cli.motion import draw, energy, lost, outside, save
from kinetree.cli.numbers import STATE_HELP, configuration, fixed, number, one_state, position_names, vector, velocities
from kinetree.cli.output import (
    PROBLEM,
    JsonOption,
    console,
    counted,
    option,
    place_for,
    print_json,
    print_table,
    say,
    table_of,
    working,
)
from kinetree.errors import short
from kinetree.ops import Array

if TYPE_CHECKING:
    from kinetree.functions.law import Law
    from kinetree.simulation import Push, RigidContact
    from kinetree.simulation.trajectory import Trajectory

OUT = (".npz", ".parquet", ".csv")
PICTURES = (".png", ".svg", ".pdf", ".jpg")
MOST_NUMBERS = 4e8
"""Of a motion that is kept in memory: 3 GB."""
SHOWN = 101
"""Samples of a motion in JSON, at most."""
Integrator: TypeAlias = Literal[
    "semi-implicit-euler", "midpoint", "heun", "rk4", "implicit", "variational", "dormand-prince"
]
StepOption: TypeAlias = Annotated[float, option("Time step in s.")]
EffortOption: TypeAlias = Annotated[str | None, state_option("Constant efforts.")]
HoldOption: TypeAlias = Annotated[str | None, state_option("Posture that joint springs and dampers hold.")]
FrequencyOption: TypeAlias = Annotated[float, option("Natural frequency of the springs of --hold, in rad/s.")]


@robot_command
def simulate(
    robot: RobotArgument,
    loading: Loading,
    seconds: Annotated[float, option("Duration in s.", "--seconds", "-s")] = 2.0,
    dt: StepOption = 1e-3,
    q: Annotated[str | None, state_option(f"Initial positions: {STATE_HELP}.")] = None,
    v: Annotated[str | None, state_option("Initial velocities.")] = None,
    tau: EffortOption = None,
    hold: HoldOption = None,
    frequency: FrequencyOption = 10.0,
    push: Annotated[
        list[str] | None,
        option("Force in N on a frame, from second A to second B; may be repeated.", metavar="FRAME=F@A:B"),
    ] = None,
    touch: Annotated[
        list[str] | None,
        frame_option("Link or frame that touches the rigid floor z = 0; may be repeated.", metavar="FRAME"),
    ] = None,
    friction: Annotated[float, option("Friction coefficient of the floor.")] = 0.7,
    restitution: Annotated[float, option("Coefficient of restitution, from 0 to 1.")] = 0.0,
    stops: Annotated[bool, option("Add stops at the joint limits.", "--stops")] = False,
    integrator: Annotated[Integrator, option("Integration method.")] = "semi-implicit-euler",
    out: Annotated[
        Path | None,
        option(
            "Write t, q and v to .npz, .parquet or .csv; .npz and .parquet include efforts.",
            "--out",
            "-o",
            dir_okay=False,
        ),
    ] = None,
    plot: Annotated[
        Path | None, option("Draw positions and velocities in this .png, .svg or .pdf file.", dir_okay=False)
    ] = None,
    json: JsonOption = False,
) -> None:
    """Simulate a robot: unactuated, with constant efforts, held at a posture by springs, or pushed.

    The exit code is 1 if the motion diverges.
    """
    from kinetree.simulation import RigidContact  # noqa: PLC0415 - slow to import, and other commands do without
    from kinetree.simulation.forces import LimitStops  # noqa: PLC0415

    body = loading.load_aloud(robot).robot
    steps = _steps(body, seconds, dt)
    place_for(out, "--out", OUT)
    place_for(plot, "--plot", PICTURES)
    q0, v0, law = start_and_law(body, q, v, tau, hold, frequency, push or [])
    contact = RigidContact(touch, friction=friction, restitution=restitution) if touch else None
    if contact is not None:
        q0 = _lifted(body, contact, q0)
    tells_efforts = law is not None and integrator != "dormand-prince"
    with working("simulating"), warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.DivergenceWarning)  # said below
        forces, record = [LimitStops()] * stops, ("q", "v", "tau") if tells_efforts else ("q", "v")
        motion = body.rollout(q0, v0, law, dt, steps, integrator, contact=contact, forces=forces, record=record)
    if out is not None:
        save(body, motion, out)
        say("written", str(out), "bold green")
    if plot is not None:
        draw(body, motion, plot)
        say("drawn", str(plot), "bold green")
    if json:
        print_json(_content(body, motion))
    else:
        show(body, motion, console())
    if (end := lost(motion)) is not None:
        say("error", f"the motion diverges after {end:.4g} s; a shorter --dt may help", "bold red")
        raise typer.Exit(PROBLEM)


def positive(value: float, option: str) -> None:
    """Refuse a number that is not above zero."""
    if not 0.0 < value < np.inf:
        raise typer.BadParameter(f"{value:g}; expected a positive number", param_hint=option)


def _steps(robot: kt.Robot, seconds: float, dt: float) -> int:
    """The number of steps; an error where there would be none, or more than fit in memory."""
    positive(seconds, "--seconds")
    positive(dt, "--dt")
    if dt > seconds:
        raise typer.BadParameter(f"{dt:g}; expected a step no longer than --seconds, {seconds:g}", param_hint="--dt")
    if not robot.nv:
        raise kt.ArgumentError(f"{robot.name!r} has no joint that moves, so there is nothing to simulate")
    limit = MOST_NUMBERS / (robot.nq + 2 * robot.nv)
    if seconds / dt > limit:
        raise kt.ArgumentError(
            f"{seconds:g} s in steps of {dt:g} s are {seconds / dt:.1g} steps; expected at most {limit:.1g}"
        )
    return round(seconds / dt)


def _lifted(robot: kt.Robot, contact: RigidContact, q: Array) -> Array:
    """q with a floating base moved up until nothing is in the floor."""
    inside = -float(contact.gaps(robot, q).min())
    base = robot.model.floating_base
    if base is None or inside <= 0.0:
        return q
    say("note", f"the base starts {inside:.4g} m higher, so that nothing is in the floor", "bold")
    lifted = q.copy()
    lifted[base.iq + 2] += inside
    return lifted


def _push(robot: kt.Robot, text: str) -> Push:
    """FRAME=fx,fy,fz or six numbers, then @from:to if it is not for all the time."""
    from kinetree.simulation import Push  # noqa: PLC0415 - slow to import

    name, mark, rest = text.partition("=")
    numbers, _, window = rest.partition("@")
    start, colon, end = window.partition(":")
    force = vector(numbers, "--push") if mark else np.zeros(0)
    if len(force) not in (3, 6) or (window and not colon):
        raise typer.BadParameter(
            f"{short(text)}; expected FRAME=fx,fy,fz@from:to, as tool0=0,0,-20@0.5:0.7", param_hint="--push"
        )
    times = (number(word, "--push") if word else bound for word, bound in ((start, -np.inf), (end, np.inf)))
    return Push(robot.frame(name.strip()).name, force, *times)


def start_and_law(
    robot: kt.Robot, q: str | None, v: str | None, tau: str | None, hold: str | None, frequency: float,
    pushes: Sequence[str] = (),
) -> tuple[Array, Array, Law | None]:  # fmt: skip
    """Positions and velocities at the start, and the law of efforts, from the options of these names."""
    positive(frequency, "--frequency")
    q0 = one_state(configuration(robot, q, "--q"), "--q")
    v0 = one_state(velocities(robot, v, "--v", "v"), "--v")
    effort = one_state(velocities(robot, tau, "--tau", "tau"), "--tau")
    goal = None if hold is None else one_state(configuration(robot, hold, "--hold"), "--hold")
    return q0, v0, _effort_law(robot, effort, goal, frequency, [_push(robot, text) for text in pushes])


def _effort_law(robot: kt.Robot, tau: Array, goal: Array | None, frequency: float, pushes: list[Push]) -> Law | None:
    """Efforts as a compiled function of state and time; None where there are none."""
    if goal is None and not pushes and not tau.any():
        return None
    controller = None
    if goal is not None:
        motors = list(robot.model.actuated)
        inertia = robot.mass_matrix(goal).diagonal()[motors]
        gains = frequency**2 * inertia, 2.0 * frequency * inertia
        controller = kt.control.JointImpedance(robot, *gains, gravity=len(motors) == robot.nv)

    @kt.compile
    def law(robot: kt.Robot, q: Any, v: Any, t: Any) -> Any:
        effort = tau if controller is None else tau + controller(q, v, goal)
        for each in pushes:
            J = robot.frame(each.frame).jacobian(q)
            if robot.model.spatial_order == "angular-first":
                J = np.concatenate([J[3:], J[:3]])
            is_on = kt.logical_and(kt.less_equal(each.start, t), kt.less(t, each.end))
            effort = effort + J.T @ (each.wrench * kt.where(is_on, 1.0, 0.0))
        return effort

    return law


def _content(robot: kt.Robot, motion: Trajectory) -> dict[str, Any]:
    every = max(1, -(-(len(motion.t) - 1) // (SHOWN - 1)))
    return {
        "name": robot.name,
        "steps": len(motion.t) - 1,
        "duration": motion.t[-1],
        "lost": lost(motion),
        "energy": {"start": energy(robot, motion, 0), "end": energy(robot, motion, -1)},
        "outside": outside(robot, motion),
        "t": motion.t[::every],
        "q": motion.q[::every],
        "v": motion.v[::every],
    }


def show(robot: kt.Robot, motion: Trajectory, out: Console) -> None:
    """Where each joint was and how fast."""
    out.print(Text(robot.name, style="bold"))
    out.print(f"{motion.t[-1]:g} s in {counted(len(motion.t) - 1, 'step')}")
    table = table_of("joint", "start", "end", "least", "most", left=("joint",))
    for k, name in enumerate(position_names(robot)):
        column = motion.q[:, k]
        table.add_row(Text(name), *(fixed(x) for x in (column[0], column[-1], column.min(), column.max())))
    print_table(table, out)
    fastest = float(np.abs(motion.v).max()) if motion.v.size else 0.0
    start, end = (energy(robot, motion, k) for k in (0, -1))
    out.print(f"\nfastest {fastest:.4g} rad/s or m/s · energy {start:.4g} J → {end:.4g} J")
    for name in outside(robot, motion):
        out.print(Text(f"{name} goes beyond its limits", style="yellow"))
