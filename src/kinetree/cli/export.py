"""`kinetree export`: a robot as URDF or MJCF, and a quantity as the code it is compiled to."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import kinetree as kt
from kinetree.cli.dynamics import OF_FRAME, OF_STATE, quantities_to_complete
from kinetree.cli.loading import Loading, RobotArgument, frames_to_complete, with_loading_options
from kinetree.cli.output import JsonOption, guarded, place_for, print_json, working, written
from kinetree.errors import unknown
from kinetree.robot.quantity_laws import quantity_law


class Form(StrEnum):
    """What a robot or a quantity can be written as."""

    urdf = "urdf"
    mjcf = "mjcf"
    python = "python"
    c = "c"
    listing = "listing"
    dot = "dot"
    svg = "svg"
    llvm = "llvm"
    assembly = "assembly"


SUFFIXES = {".urdf": Form.urdf, ".xml": Form.mjcf, ".mjcf": Form.mjcf, ".py": Form.python, ".c": Form.c}
SUFFIXES |= {".txt": Form.listing, ".dot": Form.dot, ".svg": Form.svg, ".ll": Form.llvm, ".s": Form.assembly}
OF_A_QUANTITY = (Form.listing, Form.dot, Form.svg, Form.llvm, Form.assembly)


@guarded
@with_loading_options
def export(
    robot: RobotArgument,
    loading: Loading,
    out: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", dir_okay=False, help="Where to; by itself stdout.", show_default=False),
    ] = None,
    form: Annotated[
        Form | None,
        typer.Option("--to", "-t", help="By itself what the suffix of FILE says.", show_default=False),
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
        print_json({"name": arm.name, "form": form.value, "file": None if out is None else str(out), "text": text})


def _text(robot: kt.Robot, form: Form, quantity: str | None, frame: str | None, out: Path | None, lossy: bool) -> str:
    if form in OF_A_QUANTITY:
        if quantity is None:
            raise typer.BadParameter(f"{form.value} is of one quantity; expected its name", param_hint="--quantity")
        return _code(robot, form, quantity, frame)
    if quantity is not None:
        raise typer.BadParameter(f"{form.value} is of the whole robot", param_hint="--quantity")
    if form is Form.urdf:
        return robot.to_urdf(lossy=lossy)
    if form is Form.mjcf:
        return robot.to_mjcf(out, lossy=lossy)  # meshes are named relative to it
    equations = robot.equations(factored=True)
    return equations.python() if form is Form.python else equations.c()


def _code(robot: kt.Robot, form: Form, quantity: str, frame: str | None) -> str:
    if quantity not in OF_STATE and quantity not in OF_FRAME:
        raise unknown("quantity", quantity, (*OF_STATE, *OF_FRAME))
    if (frame is None) == (quantity not in OF_STATE):
        raise kt.ArgumentError(
            f"{quantity} is of {'the whole robot; expected no' if frame else 'a frame; expected'} --frame"
        )
    law = quantity_law(quantity, None if quantity in OF_STATE else frame).inspect(robot)
    if form in (Form.llvm, Form.assembly):
        return str(getattr(law, form.value))
    return str(getattr(law.graph, form.value)())
