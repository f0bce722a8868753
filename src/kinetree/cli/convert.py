"""`kinetree convert`: states, efforts and matrices as another library writes them."""

from __future__ import annotations

from typing import Annotated, cast

import numpy as np
import typer
from rich.text import Text

import kinetree as kt
from kinetree.cli.loading import Loading, RobotArgument, robot_command, state_option
from kinetree.cli.numbers import STATE_HELP, array_from, configuration, velocities
from kinetree.cli.output import JsonOption, console, option, print_json
from kinetree.convert.convert import KINDS, Kind
from kinetree.convert.peer import PEERS
from kinetree.errors import one_of
from kinetree.ops import Array


@robot_command
def convert(
    robot: RobotArgument,
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help=f"Kind of the value: {', '.join(KINDS)}.", autocompletion=lambda: list(KINDS)
        ),
    ],
    loading: Loading,
    value: Annotated[
        str | None, option(f"{STATE_HELP.capitalize()}; - reads JSON from stdin.", "--value", "-x", metavar="VALUE")
    ] = None,
    to: Annotated[
        str | None, option(f"Target conventions: {', '.join(PEERS)}.", autocompletion=lambda: list(PEERS))
    ] = None,
    source: Annotated[
        str | None,
        option("Convert from these conventions to kinetree's.", "--from", autocompletion=lambda: list(PEERS)),
    ] = None,
    q: Annotated[str | None, state_option("Positions of the state, in the same conventions as VALUE.")] = None,
    v: Annotated[str | None, state_option("Velocities of the state, needed for accelerations.")] = None,
    json: JsonOption = False,
) -> None:
    """Convert a state, effort, Jacobian or mass matrix to or from the conventions of Pinocchio, MuJoCo or Drake.

    To convert model files, use `kinetree export`.
    """
    if (to is None) == (source is None):
        raise typer.BadParameter("expected one of them, the name of a library", param_hint="--to or --from")
    one_of("KIND", kind, KINDS)
    one_of("--to" if source is None else "--from", to or source, PEERS)
    arm = loading.load_aloud(robot).robot
    ours = source is None
    given = _given(arm, kind, value, "--value", ours)
    at = None if q is None else _given(arm, "q", q, "--q", ours)
    moving = None if v is None else _given(arm, "v", v, "--v", ours)
    result = kt.convert(arm, cast(Kind, kind), given, to=to, source=source, q=at, v=moving)
    if json:
        side = {"to": to} if ours else {"from": source}
        print_json({"name": arm.name, "kind": kind, **side, kind: result})
        return
    with np.printoptions(precision=8, suppress=True, linewidth=100, floatmode="maxprec"):
        console().print(Text(str(result + 0.0)))


def _given(robot: kt.Robot, kind: str, text: str | None, option: str, ours: bool) -> Array:
    """The given value: in our conventions all that states may be; in those of others, numbers or files."""
    if ours and kind == "q":
        return configuration(robot, text, option)
    if ours and kind in ("v", "a", "tau"):
        return velocities(robot, text, option, kind)
    if text is None:
        raise typer.BadParameter("it is missing; expected numbers or a file", param_hint=option)
    return array_from(text, option, kind)
