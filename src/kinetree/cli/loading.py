"""Where commands get their robot from: the argument ROBOT, and the options of loading, which are the same for all."""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from glob import glob
from os.path import isdir
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_type_hints

import typer

import kinetree as kt
from kinetree.cli.numbers import vector
from kinetree.cli.output import guarded, option, say
from kinetree.errors import short
from kinetree.model.loaders.document import read_document

MODEL_SUFFIXES = (".urdf", ".xacro", ".xml", ".mjcf", ".sdf", ".toml")


def robots_to_complete(incomplete: str) -> Iterator[str]:
    """Bundled robots, model files and folders that begin so; for the shell."""
    yield from (name for name in kt.bundled_robots() if name.startswith(incomplete))
    for path in sorted(glob(f"{incomplete}*")):
        if isdir(path):
            yield f"{path}/"
        elif path.endswith(MODEL_SUFFIXES):
            yield path


def frames_to_complete(context: typer.Context, incomplete: str) -> list[str]:
    """Frames of the robot that stands before; none where it cannot be loaded just so."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            robot = context.params.get("robot") or context.params["robots"][0]
            names = kt.load(robot).frame_names
    except (KeyError, IndexError, TypeError, kt.KinetreeError, OSError):
        return []
    return [name for name in names if name.startswith(incomplete)]


def robot_argument(help: str) -> Any:
    """The argument ROBOT, for one or for several."""
    return typer.Argument(metavar="ROBOT", help=help, autocompletion=robots_to_complete)


RobotArgument: TypeAlias = Annotated[
    str, robot_argument("Path of a URDF, xacro, MJCF or SDFormat file, a bundled name, or - for stdin.")
]


def frame_option(help: str, **options: Any) -> Any:
    """An option that names a frame of the robot."""
    return option(help, autocompletion=frames_to_complete, **options)


def state_option(help: str) -> Any:
    """An option for positions, velocities, accelerations or efforts."""
    return option(help, metavar="STATE")


@dataclass(frozen=True)
class Loaded:
    """A robot, what loading it warned of, and its document."""

    robot: kt.Robot
    warnings: list[str]
    given: str

    @property
    def text(self) -> str:
        """The document itself."""
        text = read_document(self.given).text
        return text if isinstance(text, str) else text.decode(errors="replace")


def _option(help: str, *names: str, **options: Any) -> Any:
    return option(help, *names, rich_help_panel="Loading options", **options)


@dataclass(frozen=True)
class Loading:
    """The options of loading; a command that has a parameter of this type has them all."""

    base: Annotated[Literal["fixed", "floating"], _option("Base of the robot: fixed to the world, or floating.")] = (
        "fixed"
    )
    gravity: Annotated[
        str | None, _option("Gravity in m/s²; by default that of the file, or 0,0,-9.81.", metavar="X,Y,Z")
    ] = None
    package_dir: Annotated[
        list[Path] | None, _option("Folder of a ROS package or of several packages; may be repeated.", metavar="FOLDER")
    ] = None
    xacro_arg: Annotated[
        list[str] | None, _option("Argument of a xacro file; may be repeated.", metavar="NAME:=VALUE")
    ] = None
    passive: Annotated[
        bool | None,
        _option(
            "Include joint damping, friction and springs in the dynamics; the default depends on the format.",
            "--passive/--no-passive",
        ),
    ] = None
    base_velocity: Annotated[
        Literal["body", "mixed"], _option("Velocity of a floating base: in body axes (body) or in world axes (mixed).")
    ] = "body"
    spatial_order: Annotated[
        Literal["linear-first", "angular-first"],
        _option("Order of 6-vectors: linear-first or angular-first.", metavar="ORDER"),
    ] = "linear-first"
    root: Annotated[str | None, _option("Root body of the robot in an MJCF scene.", metavar="BODY")] = None

    def load(self, robot: str, repair: bool = False) -> Loaded:
        """The robot of a path, a name or a dash."""
        document = given(robot)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", kt.ModelWarning)
            loaded = kt.load(
                document,
                self.base,
                gravity=None if self.gravity is None else vector(self.gravity, "--gravity", 3),
                passive=self.passive,
                package_dirs=self.package_dir or (),
                xacro_args=dict(map(_xacro_argument, self.xacro_arg)) if self.xacro_arg else None,
                base_velocity=self.base_velocity,
                spatial_order=self.spatial_order,
                root=self.root,
                repair=repair,
            )
        return Loaded(loaded, [str(warning.message) for warning in caught], document)

    def load_aloud(self, robot: str) -> Loaded:
        """The same, with warnings on stderr."""
        loaded = self.load(robot)
        for warning in loaded.warnings:
            say("warning", warning, "bold yellow")
        return loaded


def given(robot: str) -> str:
    """The path or name as it is; for a dash, the document on stdin."""
    if not robot.strip():
        raise kt.ArgumentError("ROBOT is empty; expected the path of a URDF file, a bundled name, or - for stdin")
    if robot != "-":
        return robot
    text = sys.stdin.read()
    if not text.lstrip("\ufeff").lstrip().startswith("<"):
        found = short(text) if text.strip() else "nothing"
        raise kt.ArgumentError(f"stdin has {found}; expected a URDF document")
    return text


def _xacro_argument(text: str) -> tuple[str, str]:
    name, mark, value = text.partition(":=")
    if not mark or not name.strip():
        raise typer.BadParameter(f"{short(text)}; expected NAME:=VALUE", param_hint="--xacro-arg")
    return name.strip(), value


def robot_command(command: Callable[..., None]) -> Callable[..., None]:
    """The command, guarded, with an option for each field of `Loading` in place of the parameter `loading`."""
    own = {name: given.default for name, given in inspect.signature(command).parameters.items() if name != "loading"}
    options = {field.name: field.default for field in fields(Loading)}
    hints = get_type_hints(command, include_extras=True) | get_type_hints(Loading, include_extras=True)
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])
        for name, default in (own | options).items()
    ]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        loading = Loading(**{name: given.pop(name) for name in options})
        command(loading=loading, **given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return guarded(run)
