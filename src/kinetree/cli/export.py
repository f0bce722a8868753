"""`kinetree export`: a robot as URDF or MJCF, and a quantity as the code it is compiled to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

import kinetree as kt
from kinetree.cli.dynamics import OF_FRAME, OF_STATE, quantities_to_complete
from kinetree.cli.loading import Loading, RobotArgument, frames_to_complete, robot_command
from kinetree.cli.output import JsonOption, place_for, print_json, working, written
from kinetree.errors import known
from kinetree.robot.quantity_laws import quantity_law

Form: TypeAlias = Literal["urdf", "mjcf", "python", "c", "listing", "dot", "svg", "llvm", "assembly"]
SUFFIXES: dict[str, Form] = {".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf", ".py": "python", ".c": "c"}
SUFFIXES |= {".txt": "listing", ".dot": "dot", ".svg": "svg", ".ll": "llvm", ".s": "assembly"}
OF_A_QUANTITY = ("listing", "dot", "svg", "llvm", "assembly")


@robot_command
def export(
    robot: RobotArgument,
    loading: Loading,
    out: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", dir_okay=False, help="Where to; by default stdout.", show_default=False),
    ] = None,
    form: Annotated[
        Form | None,
        typer.Option("--to", "-t", help="By default what the suffix of FILE says.", show_default=False),
    ] = None,
    quantity: Annotated[
        str | None,
        typer.Option(
            help="For listing, dot, svg, llvm and assembly: whose code.", autocompletion=quantities_to_complete
        ),
    ] = None,
    frame: Annotated[
        str | None, typer.Option(help="The frame, for a quantity of one.", autocompletion=frames_to_complete)
    ] = None,
    lossy: Annotated[
        bool, typer.Option("--lossy", help="Leave out what the format has no words for, instead of refusing.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """A robot as URDF or MJCF; its dynamics as Python or C; a quantity as the graph or the code it is compiled to.

    urdf and mjcf are files for other tools (.urdf, .xml). python and c (.py, .c) are functions of the equations of
    motion that need no kinetree. The others need --quantity: listing, dot and svg (.txt, .dot, .svg) are the
    operations that are left after simplification, llvm and assembly (.ll, .s) the kernel for one state.
    """
    if form is None:
        form = None if out is None else SUFFIXES.get(out.suffix.lower())
    if form is None:
        raise typer.BadParameter("expected --to FORM, or a FILE whose suffix says it", param_hint="--to")
    place_for(out, "FILE")
    arm = loading.load_aloud(robot).robot
    with working("writing"):
        try:
            text = _text(arm, form, quantity, frame, out, lossy)
        except kt.ModelError as problem:
            raise kt.ModelError(str(problem).replace("lossy=True", "--lossy")) from None
    if out is not None or not json:
        written(text, out)
    if json:
        print_json({"name": arm.name, "form": form, "file": None if out is None else str(out), "text": text})


def _text(robot: kt.Robot, form: Form, quantity: str | None, frame: str | None, out: Path | None, lossy: bool) -> str:
    if form in OF_A_QUANTITY:
        if quantity is None:
            raise typer.BadParameter(f"{form} is of one quantity; expected its name", param_hint="--quantity")
        return _code(robot, form, quantity, frame)
    if quantity is not None:
        raise typer.BadParameter(f"{form} is of the whole robot", param_hint="--quantity")
    if form == "urdf":
        return robot.to_urdf(lossy=lossy)
    if form == "mjcf":
        return robot.to_mjcf(out, lossy=lossy)  # meshes are named relative to it
    equations = robot.equations(factored=True)
    return equations.python() if form == "python" else equations.c()


def _code(robot: kt.Robot, form: Form, quantity: str, frame: str | None) -> str:
    known("quantity", quantity, (*OF_STATE, *OF_FRAME))
    if (frame is None) == (quantity not in OF_STATE):
        raise kt.ArgumentError(
            f"{quantity} is of {'the whole robot; expected no' if frame else 'a frame; expected'} --frame"
        )
    law = quantity_law(quantity, None if quantity in OF_STATE else frame).inspect(robot)
    return str(getattr(law, form) if form in ("llvm", "assembly") else getattr(law.graph, form)())
