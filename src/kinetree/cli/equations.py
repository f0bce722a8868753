"""`kinetree equations`: the equations of motion, written out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kinetree.cli.loading import Loading, RobotArgument, with_loading_options
from kinetree.cli.output import JsonOption, guarded, place_for, print_json, working, written
from kinetree.equations.named import KINDS


class Form(StrEnum):
    """How equations are written."""

    text = "text"
    pretty = "pretty"
    latex = "latex"
    python = "python"
    c = "c"


SUFFIXES = {".tex": Form.latex, ".py": Form.python, ".c": Form.c, ".h": Form.c}


@guarded
@with_loading_options
def equations(
    robot: RobotArgument,
    loading: Loading,
    form: Annotated[
        Form | None,
        typer.Option("--form", "-f", help="By itself text, or what the suffix of --out says.", show_default=False),
    ] = None,
    symbolic: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help=f"Numbers to keep as symbols: {', '.join(KINDS)} or all; may be repeated."),
    ] = None,
    factored: Annotated[
        bool | None,
        typer.Option("--factored/--written-out", help="Common factors with names, or none.", show_default=False),
    ] = None,
    short: Annotated[bool, typer.Option("--short", help="c23 for cos(q2 + q3).")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", dir_okay=False, help="Write them to this file.")] = None,
    json: JsonOption = False,
) -> None:
    """The equations of motion τ = M a + V + G: as text, drawn, in LaTeX, or as Python or C that needs no kinetree.

    It takes the package sympy: pip install 'kinetree\\[sympy]'.
    """
    if form is None:
        form = SUFFIXES.get("" if out is None else out.suffix, Form.text)
    place_for(out, "--out")
    kinds = symbolic or []
    arm = loading.load_aloud(robot).robot
    with working("writing out"):
        found = arm.equations(True if "all" in kinds else kinds, factored)
        if short:
            found = found.short()
        text = str(found) if form is Form.text else getattr(found, form.value)()
    if out is not None or not json:
        written(text, out)
    if json:
        names = dict(zip(map(str, found.q), found.coordinates, strict=True)) if len(found.q) == len(found.v) else {}
        parameters = {str(symbol): float(value) for symbol, value in found.parameters.items()}
        content = {"name": arm.name, "form": form.value, "coordinates": names, "parameters": parameters}
        print_json(content | {"text": text})
