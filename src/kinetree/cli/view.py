"""`kinetree view`: robots in the browser."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

import kinetree as kt
from kinetree.cli.loading import Loading, frame_option, robot_argument, robot_command, state_option
from kinetree.cli.numbers import STATE_HELP, array_from, configuration, one_state
from kinetree.cli.output import JsonOption, console, option, place_for, print_json, say, working

if TYPE_CHECKING:
    from kinetree.viewer import Viewer

BLINK = 0.1
"""Between two looks at who is there [s]."""


@robot_command
def view(
    robots: Annotated[
        list[str],
        robot_argument("Paths of model files, bundled names, or - for stdin; several robots are shown side by side."),
    ],
    loading: Loading,
    q: Annotated[str | None, state_option(f"Positions of a single robot: {STATE_HELP}.")] = None,
    motion: Annotated[
        list[Path] | None,
        option(
            "Motion to play: a file of `simulate --out`, or .npz or .json with t and q. Several motions are "
            "played side by side, by one robot or by one robot each.",
            metavar="FILE",
        ),
    ] = None,
    follow: Annotated[str | None, frame_option("Frame that follows a draggable target.", metavar="FRAME")] = None,
    show: Annotated[
        list[str] | None,
        option(
            "Layers to show: visual, collision, skeleton, frames, com, inertia, …; may be repeated.", metavar="LAYER"
        ),
    ] = None,
    host: Annotated[
        str, option("Address to listen on; 0.0.0.0 accepts connections from other machines.")
    ] = "127.0.0.1",
    port: Annotated[int | None, option("Port; by default a free port.")] = None,
    browser: Annotated[bool, option("Open the page in a browser.", "--open")] = False,
    seconds: Annotated[float | None, option("Exit after this many seconds.", min=0.0)] = None,
    once: Annotated[bool, option("Exit when the first client disconnects.", "--once")] = False,
    html: Annotated[Path | None, option("Write a self-contained page to this file, and exit.", dir_okay=False)] = None,
    json: JsonOption = False,
) -> None:
    """Show robots in the browser: shapes, frames, sliders, centre of mass, a target to drag, motions.

    The command prints the address and serves the page until Ctrl-C.
    """
    place_for(html, "--html")
    loaded = [loading.load_aloud(robot).robot for robot in robots]
    motions = motion or []
    side_by_side = _side_by_side(loaded, motions)
    with working("opening"):
        viewer = _viewer(side_by_side, q, show, host, port)
    with viewer:
        if motions:
            read = [tuple(array_from(str(path), "--motion", name) for name in ("t", "q")) for path in motions]
            viewer.play(dict(zip(viewer.robots, read * (len(side_by_side) // len(read)), strict=True)))
        if follow is not None:
            viewer.follow(follow)
        if html is not None:
            viewer.export(html)
            say("written", str(html), "bold green")
            if json:
                print_json({"robots": list(viewer.robots), "url": None, "html": str(html)})
            return
        _announce(viewer, list(viewer.robots), json)
        if browser:
            typer.launch(viewer.url)
        _serve(viewer, seconds, once)


def _side_by_side(robots: list[kt.Robot], motions: list[Path]) -> dict[str, kt.Robot] | list[kt.Robot]:
    """The robots that are shown: one of several motions once for each of them, by the names of their files."""
    if len(robots) == 1 and len(motions) > 1:
        stems = [path.stem for path in motions]
        names = stems if len(set(stems)) == len(stems) else [f"{k}: {stem}" for k, stem in enumerate(stems, 1)]
        return dict.fromkeys(names, robots[0])
    if len(motions) not in (0, 1, len(robots)):
        raise typer.BadParameter(
            f"there are {len(motions)} for {len(robots)} robots; expected one, or one for each", param_hint="--motion"
        )
    return robots


def _viewer(robots: Any, q: str | None, show: list[str] | None, host: str, port: int | None) -> Viewer:
    from kinetree.viewer import Viewer  # noqa: PLC0415 - it knows an extra

    options: dict[str, Any] = {"host": host, "port": port}
    if show:
        options["show"] = show
    if q is not None:
        if len(robots) > 1:
            raise typer.BadParameter("it is of one robot; expected no other", param_hint="--q")
        (robot,) = robots
        options["q"] = one_state(configuration(robot, q, "--q"), "--q")
    return Viewer(robots, **options)


def _announce(viewer: Viewer, names: list[str], json: bool) -> None:
    if json:
        print_json({"robots": names, "url": viewer.url, "html": None})
    else:
        out = console()
        out.print(Text.assemble(", ".join(names), " at ", (viewer.url, "bold cyan")))
        if sys.stdout.isatty():
            out.print(Text("Ctrl-C ends it.", style="dim"))
    sys.stdout.flush()


def _serve(viewer: Viewer, seconds: float | None, once: bool) -> None:
    """Serves until the time is over, the visitor has gone, or Ctrl-C."""
    end = None if seconds is None else time.monotonic() + seconds
    visited = False
    while end is None or time.monotonic() < end:
        if viewer.wait(BLINK if end is None else min(BLINK, max(0.0, end - time.monotonic()))):
            return
        present = bool(viewer.server.get_clients())
        if once and visited and not present:
            return
        visited = visited or present
