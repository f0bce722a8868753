"""`kinetree export`: a robot as URDF or MJCF, and quantities as the code they are compiled to, or as C."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer

import kinetree as kt
from kinetree.cli.dynamics import OF_FRAME, OF_STATE, quantities_to_complete
from kinetree.cli.loading import Loading, RobotArgument, frame_option, robot_command
from kinetree.cli.output import JsonOption, option, place_for, print_json, say, working, written
from kinetree.errors import known
from kinetree.interop.c_names import as_word
from kinetree.robot.quantity_laws import quantity_law

Form: TypeAlias = Literal["urdf", "mjcf", "sdf", "python", "c", "object", "listing", "dot", "svg", "llvm", "assembly"]
SUFFIXES: dict[str, Form] = {".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf", ".sdf": "sdf", ".py": "python"}
SUFFIXES |= {".c": "c", ".o": "object", ".txt": "listing", ".dot": "dot", ".svg": "svg"}
SUFFIXES |= {".ll": "llvm", ".s": "assembly"}
OF_A_QUANTITY = ("object", "listing", "dot", "svg", "llvm", "assembly")


@robot_command
def export(
    robot: RobotArgument,
    loading: Loading,
    out: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="Output file, by default stdout. C code of quantities needs a folder, by default the robot's name.",
        ),
    ] = None,
    form: Annotated[Form | None, option("Format; by default taken from the suffix of FILE.", "--to", "-t")] = None,
    quantity: Annotated[
        list[str] | None,
        option(
            "Quantity to export as c, object, listing, dot, svg, llvm or assembly; several for c and object.",
            autocompletion=quantities_to_complete,
        ),
    ] = None,
    frame: Annotated[str | None, frame_option("Frame of a frame quantity.")] = None,
    target: Annotated[str | None, option("Target machine for object, such as aarch64-linux-gnu or wasm32.")] = None,
    lossy: Annotated[
        bool, option("Leave out features that the format cannot express, instead of raising an error.", "--lossy")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Export a robot as URDF, MJCF or SDFormat, its dynamics as Python or C, or a quantity as graph or code.

    urdf, mjcf and sdf write files for other tools (.urdf, .xml, .sdf). python and c (.py, .c) write the equations of
    motion as functions that do not need kinetree. With --quantity, c writes a folder with a header, a source without
    dependencies, a self-test and a README; object (.o) writes machine code for another machine, and the header. The
    other formats need --quantity, too: listing, dot and svg (.txt, .dot, .svg) write the operations of the simplified
    graph, llvm and assembly (.ll, .s) the kernel for one state.
    """
    if form is None:
        form = None if out is None else SUFFIXES.get(out.suffix.lower())
    if form is None:
        raise typer.BadParameter("expected --to FORM, or a FILE whose suffix says it", param_hint="--to")
    place_for(out, "FILE")
    if target is not None and form != "object":
        raise typer.BadParameter(f"{form} does not depend on a machine; expected --to object", param_hint="--target")
    arm = loading.load_aloud(robot).robot
    if form == "object" or (form == "c" and quantity):
        _write_files(arm, form, quantity or [], frame, out, target, json)
        return
    with working("writing"):
        try:
            text = _text(arm, form, quantity, frame, out, lossy)
        except kt.ModelError as problem:
            raise kt.ModelError(str(problem).replace("lossy=True", "--lossy")) from None
    if out is not None or not json:
        written(text, out)
    if json:
        print_json({"name": arm.name, "form": form, "file": None if out is None else str(out), "text": text})


def _write_files(
    robot: kt.Robot, form: Form, quantities: list[str], frame: str | None, out: Path | None, target: str | None,
    json: bool,
) -> None:  # fmt: skip
    """C or an object file of quantities."""
    if not quantities:
        raise typer.BadParameter(f"{form} needs the name of a quantity", param_hint="--quantity")
    functions = [_function(robot, quantity, frame) for quantity in quantities]
    if frame is not None and all(quantity in OF_STATE for quantity in quantities):
        raise kt.ArgumentError(f"{quantities[0]} is a quantity of the whole robot; expected no --frame")
    name = as_word(robot.name)
    place = out or Path(name if form == "c" else f"{name}.o")
    with working("writing"):
        if form == "c":
            kt.to_c(functions, place)
        else:
            kt.to_object(functions, place, target=target or "aarch64-linux-gnu")
    say("written", str(place), "bold green")
    if json:
        print_json({"name": robot.name, "form": form, "file": str(place)})


def _function(robot: kt.Robot, quantity: str, frame: str | None) -> Any:
    """A quantity of the robot, or of its frame."""
    known("quantity", quantity, (*OF_STATE, *OF_FRAME))
    if quantity in OF_STATE:
        return getattr(robot, quantity)
    if frame is None:
        raise kt.ArgumentError(f"{quantity} is a quantity of a frame; expected --frame")
    return getattr(robot.frame(frame), quantity)


def _text(
    robot: kt.Robot, form: Form, quantity: list[str] | None, frame: str | None, out: Path | None, lossy: bool
) -> str:
    if form in OF_A_QUANTITY:
        if not quantity or len(quantity) > 1:
            raise typer.BadParameter(f"{form} needs the name of a quantity", param_hint="--quantity")
        return _code(robot, form, quantity[0], frame)
    if quantity:
        raise typer.BadParameter(f"{form} describes the whole robot; expected no quantity", param_hint="--quantity")
    if form in ("urdf", "mjcf", "sdf"):  # meshes are written beside the file, or named relative to it
        return str(getattr(robot, f"to_{form}")(out, lossy=lossy))
    return str(getattr(robot.equations(factored=True), form)())


def _code(robot: kt.Robot, form: Form, quantity: str, frame: str | None) -> str:
    known("quantity", quantity, (*OF_STATE, *OF_FRAME))
    if (frame is None) == (quantity not in OF_STATE):
        raise kt.ArgumentError(
            f"{quantity} is of {'the whole robot; expected no' if frame else 'a frame; expected'} --frame"
        )
    law = quantity_law(quantity, None if quantity in OF_STATE else frame).inspect(robot)
    return str(getattr(law, form) if form in ("llvm", "assembly") else getattr(law.graph, form)())
