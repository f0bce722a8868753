"""`kinetree dynamics`: any quantity of a robot, or of one of its frames, at a state."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

import kinetree as kt
from kinetree.base.files import replaced
from kinetree.cli.loading import Loading, RobotArgument, frame_option, robot_command, state_option
from kinetree.cli.numbers import STATE_HELP, configuration, coordinate_names, fixed, vector, velocities
from kinetree.cli.output import JsonOption, console, option, place_for, print_json, print_table, say, table_of, working
from kinetree.errors import known, one_of, short
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.robot.frame import Frame
from kinetree.robot.quantity import quantities_of

OF_STATE = {
    name: quantity
    for name, quantity in quantities_of(Robot).items()
    if set(quantity.inputs) <= {"q", "v", "a", "tau"} and not quantity.needs_floating_base
}
OF_FRAME = {name: quantity for name, quantity in quantities_of(Frame).items() if "position" not in quantity.select}
FIRST = ("gravity_forces", "mass_matrix", "center_of_mass", "kinetic_energy", "potential_energy")
"""What is shown where nothing is asked for."""
OF_A_FRAME = ("pose", "velocity", "jacobian")
"""The same with a frame."""
REFERENCES = ("world-aligned", "local", "world")
WITHOUT_REFERENCE = ("pose", "body_regressor")


def quantities_to_complete(incomplete: str) -> list[str]:
    """Quantities of robots and of frames that begin so; for the shell."""
    return [name for name in (*OF_STATE, *OF_FRAME) if name.startswith(incomplete)]


@robot_command
def dynamics(
    robot: RobotArgument,
    loading: Loading,
    quantity: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUANTITY",
            help="One or several quantities, such as inverse_dynamics, mass_matrix, jacobian; --list shows all.",
            autocompletion=quantities_to_complete,
        ),
    ] = None,
    q: Annotated[str | None, state_option(f"Positions: {STATE_HELP}.")] = None,
    v: Annotated[str | None, state_option("Velocities, in the same formats as --q.")] = None,
    a: Annotated[str | None, state_option("Accelerations, in the same formats as --q.")] = None,
    tau: Annotated[str | None, state_option("Efforts, in the same formats as --q.")] = None,
    wrench: Annotated[
        list[str] | None,
        option("Force on a frame: 3 numbers in N, or 6 with moments; may be repeated.", metavar="FRAME=F"),
    ] = None,
    frame: Annotated[str | None, frame_option("Frame of pose, Jacobian and other frame quantities.")] = None,
    reference: Annotated[
        str, option("Reference frame of frame quantities: world-aligned, local or world.")
    ] = "world-aligned",
    out: Annotated[
        Path | None, option("Also write the arrays to this .npz file.", "--out", "-o", dir_okay=False)
    ] = None,
    listed: Annotated[bool, option("List all quantities.", "--list")] = False,
    json: JsonOption = False,
) -> None:
    """Compute quantities at a state: inverse and forward dynamics, mass matrix, energies, Jacobians, derivatives.

    Files may contain many states.
    """
    loaded = loading.load_aloud(robot).robot
    if listed:
        _list(json)
        return
    place_for(out, "--out", (".npz",))
    names = tuple(quantity or (OF_A_FRAME if frame else FIRST if loaded.mass else FIRST[:2]))
    state = {"q": configuration(loaded, q, "--q")}
    state |= {name: velocities(loaded, text, f"--{name}", name) for name, text in (("v", v), ("a", a), ("tau", tau))}
    wrenches = dict(_wrench(item) for item in wrench or [])
    for name in names:
        _check(name, frame, bool(wrenches))
    if frame is not None and not any(name in OF_FRAME and name not in OF_STATE for name in names):
        raise kt.ArgumentError(
            f"--frame is {frame!r}; expected none, because {names[0]} is a quantity of the whole robot"
        )
    one_of("--reference", reference, REFERENCES)
    results: dict[str, Any] = {}
    with working("compiling"):
        for name in names:
            results[name] = _value(loaded, name, state, wrenches, frame, reference)
    used = {key for name in names for key in (OF_STATE.get(name) or OF_FRAME[name]).inputs}
    asked = {key: value for key, value in state.items() if key in used}
    if out is not None:
        arrays: dict[str, Any] = dict(asked)
        for name, value in results.items():
            arrays |= (
                {f"{name}_{k}": part for k, part in enumerate(value)} if isinstance(value, tuple) else {name: value}
            )
        with replaced(out) as file:
            np.savez(file, **arrays)
        say("written", str(out), "bold green")
    if json:
        print_json({"name": loaded.name, "frame": frame, "state": asked, "quantities": results})
    else:
        show(loaded, asked, results, console())


def _check(name: str, frame: str | None, has_wrenches: bool) -> None:
    known("quantity", name, (*OF_STATE, *OF_FRAME))
    if name in OF_FRAME and name not in OF_STATE and frame is None:
        raise kt.ArgumentError(f"{name} is a quantity of a frame; expected --frame")
    if has_wrenches and not (name in OF_STATE and OF_STATE[name].takes_wrenches):
        raise kt.ArgumentError(f"{name} takes no wrenches")


def _wrench(text: str) -> tuple[str, Array]:
    name, mark, numbers = text.rpartition("=")
    values = vector(numbers, "--wrench")
    if not mark or len(values) not in (3, 6):
        raise typer.BadParameter(f"{short(text)}; expected FRAME=fx,fy,fz or six numbers", param_hint="--wrench")
    return name, np.concatenate([values, np.zeros(6 - len(values))])


def _value(
    robot: kt.Robot, name: str, state: dict[str, Array], wrenches: dict[str, Array], frame: str | None, reference: str
) -> Any:
    quantity = OF_STATE.get(name) or OF_FRAME[name]
    arguments = [state[key] for key in quantity.inputs]
    options: dict[str, Any] = {"wrenches": wrenches} if wrenches else {}
    if name in OF_STATE:
        if "reference" in quantity.options:
            options["reference"] = reference
        return getattr(robot, name)(*arguments, **options)
    assert frame is not None
    options = {} if name in WITHOUT_REFERENCE else {"reference": reference}
    return getattr(robot.frame(frame), name)(*arguments, **options)


# -- on a screen ----------------------------------------------------------------------------------------------------


def show(robot: kt.Robot, state: dict[str, Array], results: dict[str, Any], out: Console) -> None:
    """What was asked for, with the names of the joints where they fit."""
    out.print(Text(robot.name, style="bold"))
    with np.printoptions(precision=4, suppress=True, linewidth=max(out.width, 60), threshold=200):
        for name, value in state.items():
            out.print(Text(f"{name:4}{value}", style="dim"))
        for name, value in results.items():
            parts = value if isinstance(value, tuple) else (value,)
            out.print(Text(f"\n{name}", style="bold cyan"), Text(_sentence(name), style="dim"))
            for part in parts:
                _show_array(robot, np.asarray(part), out)


def _show_array(robot: kt.Robot, value: Array, out: Console) -> None:
    if value.ndim == 0:
        out.print(f"{float(value):.6g}")
    elif value.ndim == 1 and len(value) == robot.nv:
        table = table_of("joint", "", left=("joint",))
        for name, number in zip(coordinate_names(robot), value, strict=True):
            table.add_row(Text(name), fixed(round(float(number), 4)))
        print_table(table, out)
    elif value.ndim <= 2 and value.shape[-1] <= 12:  # a matrix with more is told by its shape
        out.print(Text(str(np.round(value, 4) + 0.0)))  # no -0.
    else:
        out.print(f"an array of shape {value.shape}; --json or --out have its numbers")


def _sentence(name: str) -> str:
    """The first of its documentation."""
    owner: Any = kt.Robot if name in OF_STATE else kt.Frame
    text = " ".join((getattr(owner, name).__doc__ or "").split())
    return text.split(". ")[0].rstrip(".")


def _list(json: bool) -> None:
    tables = {"robot": OF_STATE, "frame": OF_FRAME}
    if json:
        print_json({title: {name: _sentence(name) for name in names} for title, names in tables.items()})
        return
    out = console()
    for title, names in tables.items():
        out.print(Text(f"Of a {title}", style="bold cyan"))
        for name in names:
            out.print(Text.assemble((f"  {name:40}", ""), (_sentence(name), "dim")), soft_wrap=True)
