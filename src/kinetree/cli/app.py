"""The commands of `kinetree`, put together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinetree import __version__
from kinetree.cli import demo as _demo
from kinetree.cli.bench import bench
from kinetree.cli.cache import app as cache
from kinetree.cli.info import info
from kinetree.cli.output import examples, guarded

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"kinetree {__version__}")
        raise typer.Exit


@app.callback(epilog=examples("kinetree info arm6", "kinetree bench robot.urdf --base floating", "kinetree cache"))
def kinetree(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Kinematics and dynamics of articulated robots.

    ROBOT is the path of a URDF file or the name of a bundled robot: planar2, cartpole, arm6, arm7, quadruped, humanoid.
    """


app.command(epilog=examples("kinetree info arm6", "kinetree info robot.urdf --base floating --json"))(info)
app.command(epilog=examples("kinetree bench arm7", "kinetree bench robot.urdf --quick --json"))(bench)
app.add_typer(cache, name="cache")


@app.command(epilog=examples("kinetree demo", "kinetree demo --folder results"))
@guarded
def demo(
    folder: Annotated[
        Path | None,
        typer.Option(help="Write it there, too, with plots.", file_okay=False, show_default=False),
    ] = None,
) -> None:
    """Dynamics of a bundled arm, how fast they are, a million poses, a law of one's own."""
    _demo.run(folder)
