"""`kinetree demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinetree.cli import demo as shown
from kinetree.cli.output import guarded


@guarded
def demo(
    folder: Annotated[
        Path | None,
        typer.Option(help="Write it there, too, with plots.", file_okay=False, show_default=False),
    ] = None,
) -> None:
    """Dynamics of a bundled arm, how fast they are, a million poses, a law of one's own."""
    shown.run(folder)
