"""`kinetree identify`: inertias, friction and rotors of a robot from a recording of its motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import kinetree as kt
from kinetree.base.files import replaced
from kinetree.cli.loading import Loading, RobotArgument, frame_option, robot_command
from kinetree.cli.output import PROBLEM, JsonOption, console, option, place_for, print_json, say, working
from kinetree.cli.simulate import PICTURES

if TYPE_CHECKING:
    from kinetree.identification import Identification

MODELS = (".urdf", ".xml")


@robot_command
def identify(
    robot: RobotArgument,
    recording: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOG…", help="Recordings: .parquet, .csv or .npz with columns t, q and tau, or ROS bags."
        ),
    ],
    loading: Loading,
    friction: Annotated[
        str | None,
        option("Friction: none, or some of viscous, coulomb, stribeck; default viscous,coulomb, none for a payload."),
    ] = None,
    armature: Annotated[bool, option("Also identify rotor inertias.", "--armature")] = False,
    offset: Annotated[bool, option("Also identify constant torque offsets.", "--offset")] = False,
    body: Annotated[
        list[str] | None, option("Identify only the inertias of these bodies; may be repeated.", metavar="NAME")
    ] = None,
    payload: Annotated[
        str | None, frame_option("Identify only the payload at this frame of a known robot.", metavar="FRAME")
    ] = None,
    consistent: Annotated[bool, option("Enforce physically consistent inertias and non-negative friction.")] = True,
    spread: Annotated[
        float, option("Spread of the prior: deviation from the model, relative to the size of parameters.")
    ] = 1.0,
    metric: Annotated[Literal["entropic", "pullback"], option("Distance to the prior.")] = "entropic",
    method: Annotated[Literal["ordinary", "weighted", "huber"], option("Least-squares method.")] = "weighted",
    cutoff: Annotated[
        float | None, option("Cutoff of the low-pass filter in Hz; by default from the spectrum.")
    ] = None,
    min_speed: Annotated[float, option("Ignore samples of a joint below this speed.")] = 0.0,
    out: Annotated[
        Path | None, option("Write the identified robot: .urdf, or .xml (MJCF).", "--out", "-o", dir_okay=False)
    ] = None,
    plot: Annotated[
        Path | None, option("Draw torques and parameters in this .png, .svg or .pdf file.", dir_okay=False)
    ] = None,
    json: JsonOption = False,
) -> None:
    """Identify parameters of a robot from its recorded motion.

    The exit code is 1 if the recording looks faulty, or if it does not determine some parameters.
    """
    place_for(out, "--out", MODELS)
    place_for(plot, "--plot", PICTURES)
    body_robot = loading.load_aloud(robot).robot
    words = friction or ("none" if payload else "viscous,coulomb")
    kinds = [kind for kind in words.split(",") if kind and kind != "none"]
    options: dict[str, Any] = {
        "friction": kinds, "armature": armature, "offset": offset, "consistent": consistent, "spread": spread,
        "metric": metric, "method": method, "cutoff": cutoff, "min_speed": min_speed,
    }  # fmt: skip
    with working("identifying"):
        if payload is not None:
            result = kt.identification.identify_payload(body_robot, recording, payload, **options)
        else:
            result = kt.identification.identify(body_robot, recording, bodies=body or None, **options)
    if out is not None:
        write = result.robot.to_urdf if out.suffix.lower() == ".urdf" else result.robot.to_mjcf
        write(out)
        say("written", str(out), "bold green")
    if plot is not None:
        with replaced(plot) as file:
            kt.plot.identification(result).savefig(file)
        say("drawn", str(plot), "bold green")
    if json:
        print_json(_content(result))
    else:
        console().print(result.report(), soft_wrap=True)
    if result.findings:
        raise typer.Exit(PROBLEM)


def _content(result: Identification) -> dict[str, Any]:
    base = {
        "sum": result.base.describe(),
        "value": result.base_parameters,
        "standard_error": result.base_standard_errors,
        "seen": result.identifiable,
    }
    return {
        "name": result.unknowns.robot.name,
        "samples": result.samples,
        "condition": result.condition,
        "parameters": dict(zip(result.names, result.parameters.tolist(), strict=True)),
        "base_parameters": [dict(zip(base, row, strict=True)) for row in zip(*base.values(), strict=True)],
        "residuals": result.residuals,
        "torques": result.torques,
        "findings": list(result.findings),
    }
