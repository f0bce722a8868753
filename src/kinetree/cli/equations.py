"""`kinetree equations`: the equations of motion, written out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from kinetree.cli.loading import Loading, RobotArgument, robot_command
from kinetree.cli.output import JsonOption, option, place_for, print_json, working, written
from kinetree.equations.named import KINDS

Form: TypeAlias = Literal["text", "pretty", "latex", "python", "c"]
SUFFIXES: dict[str, Form] = {".tex": "latex", ".py": "python", ".c": "c", ".h": "c"}


@robot_command
def equations(
    robot: RobotArgument,
    loading: Loading,
    form: Annotated[
        Form | None,
        option("Output form; by default text, or the form that the suffix of --out selects.", "--form", "-f"),
    ] = None,
    symbolic: Annotated[
        list[str] | None,
        option(f"Parameters to keep as symbols: {', '.join(KINDS)} or all; may be repeated.", metavar="KIND"),
    ] = None,
    factored: Annotated[
        bool | None, option("Name common subexpressions, or expand the equations.", "--factored/--written-out")
    ] = None,
    short: Annotated[bool, option("Write c23 for cos(q2 + q3).", "--short")] = False,
    out: Annotated[Path | None, option("Output file.", "--out", "-o", dir_okay=False)] = None,
    json: JsonOption = False,
) -> None:
    """Print the equations of motion τ = M a + V + G as text, formatted text, LaTeX, Python or C.

    This command needs the package sympy: pip install 'kinetree\\[sympy]'.
    """
    if form is None:
        form = SUFFIXES.get("" if out is None else out.suffix, "text")
    place_for(out, "--out")
    kinds = symbolic or []
    arm = loading.load_aloud(robot).robot
    with working("writing out"):
        found = arm.equations(True if "all" in kinds else kinds, factored)
        if short:
            found = found.short()
        text = str(found) if form == "text" else getattr(found, form)()
    if out is not None or not json:
        written(text, out)
    if json:
        names = dict(zip(map(str, found.q), found.coordinates, strict=True)) if len(found.q) == len(found.v) else {}
        parameters = {str(symbol): float(value) for symbol, value in found.parameters.items()}
        content = {"name": arm.name, "form": form, "coordinates": names, "parameters": parameters}
        print_json(content | {"text": text})
