"""Forces that push a robot for a while, as the command line has them: FRAME=fx,fy,fz@from:to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import typer

import kinetree as kt
from kinetree.cli.numbers import number, vector
from kinetree.errors import short

if TYPE_CHECKING:
    from kinetree.simulation import Push


def push_of(robot: kt.Robot, text: str) -> Push:
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
    return Push(
        robot.frame(name.strip()).name,
        force,
        number(start, "--push") if start else -np.inf,
        number(end, "--push") if end else np.inf,
    )


def is_on(push: Push, t: Any) -> Any:
    """1 while it pushes, otherwise 0; of a traced time."""
    return kt.where(kt.logical_and(kt.less_equal(push.start, t), kt.less(t, push.end)), 1.0, 0.0)
