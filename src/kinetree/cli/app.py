"""The commands of `kinetree`, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from kinetree import __version__
from kinetree.cli.annotate import annotate
from kinetree.cli.bench import bench
from kinetree.cli.cache import app as cache
from kinetree.cli.check import check
from kinetree.cli.convert import convert
from kinetree.cli.dynamics import dynamics
from kinetree.cli.equations import equations
from kinetree.cli.export import export
from kinetree.cli.identify import identify
from kinetree.cli.ik import ik
from kinetree.cli.info import info
from kinetree.cli.montecarlo import montecarlo
from kinetree.cli.output import examples, option
from kinetree.cli.show_demo import demo
from kinetree.cli.simulate import simulate
from kinetree.cli.view import view
from kinetree.robot.load import bundled_robots

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"kinetree {__version__}")
        raise typer.Exit


@app.callback(
    epilog=examples("kinetree info arm6", "kinetree view robot.urdf", "kinetree dynamics arm6 mass_matrix --q random"),
    help=f"""Kinematics, dynamics and control of articulated robots.

    ROBOT is the path of a URDF, xacro, MJCF or SDFormat file, or the name of a bundled robot:
    {", ".join(bundled_robots())}.

    Exit codes: 0 success; 1 invalid input, or a negative result such as no solution; 2 wrong usage.
    """,
)
def kinetree(
    version: Annotated[bool, option("Print the version.", "--version", callback=_show_version, is_eager=True)] = False,
) -> None:
    """What comes before any command."""


EXAMPLES = {
    info: ("kinetree info arm6", "kinetree info robot.urdf --base floating --json"),
    check: ("kinetree check robot.urdf", "kinetree check robot.xacro --xacro-arg side:=left --package-dir ~/ws/src"),
    view: (
        "kinetree view arm6 --follow tool0",
        "kinetree view quadruped humanoid --base floating",
        "kinetree view cartpole --motion motion.npz --html motion.html",
    ),
    ik: (
        "kinetree ik arm6 tool0 --position 0.4,0.2,0.5",
        "kinetree ik arm7 tool0 -p 0.4,0,0.5 --rpy 180deg,0,0 --json | kinetree dynamics arm7 gravity_forces --q -",
    ),
    dynamics: (
        "kinetree dynamics arm6 --q shoulder_lift=30deg,elbow=pi/2",
        "kinetree dynamics arm6 inverse_dynamics --q random:1 --a 1,0,0,0,0,0 --wrench tool0=0,0,-20",
        "kinetree dynamics arm6 jacobian pose --frame tool0 --json",
    ),
    simulate: (
        "kinetree simulate cartpole --q pivot=0.1 --plot motion.png",
        "kinetree simulate arm6 --hold elbow=1 --push tool0=0,40,0@0.5:0.7 --out motion.npz",
    ),
    identify: (
        "kinetree identify robot.urdf log.parquet --armature --out identified.xml",
        "kinetree identify robot.urdf log.csv --payload tool0 --plot torques.png",
    ),
    annotate: (
        "kinetree annotate robot.urdf logs/ --quantity inverse_dynamics --out torques/",
        "kinetree annotate arm6 logs/ -q inverse_dynamics -q pose@tool0 --out results/ --engine dask --workers 2",
    ),
    montecarlo: (
        "kinetree montecarlo cartpole --samples 100000 --spread-q 0.1 --hold neutral",
        "kinetree montecarlo arm6 --samples 1000000 --hold elbow=1 --out runs/ --engine ray --workers 2 --json",
    ),
    equations: ("kinetree equations planar2 --symbolic all", "kinetree equations puma560 --out puma.c"),
    export: (
        "kinetree export robot.xacro robot.urdf",
        "kinetree export arm6 arm6.xml",
        "kinetree export planar2 --to svg --quantity mass_matrix > mass_matrix.svg",
        "kinetree export arm6 --to c --quantity inverse_dynamics --quantity mass_matrix",
    ),
    convert: (
        "kinetree convert quadruped q --base floating --to mujoco",
        "kinetree convert arm6 q --from drake --value 0,0.1,0.2,0,0,0",
    ),
    bench: ("kinetree bench arm7", "kinetree bench robot.urdf --quick --json"),
}

for command, lines in EXAMPLES.items():
    app.command(epilog=examples(*lines))(command)
app.add_typer(cache, name="cache")
app.command(epilog=examples("kinetree demo", "kinetree demo --folder results"))(demo)
