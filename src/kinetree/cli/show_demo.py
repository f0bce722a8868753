"""`kinetree demo`."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Annotated

from kinetree.cli.output import JsonOption, guarded, option, print_json


@guarded
def demo(
    folder: Annotated[Path | None, option("Folder for text, plots and an animated page.", file_okay=False)] = None,
    walk: Annotated[bool, option("Include the humanoid that walks under whole-body control.")] = True,
    json: JsonOption = False,
) -> None:
    """Show dynamics and their speed, a million poses, a compiled function, a walking humanoid, and the viewer."""
    from kinetree.cli.demo import run  # noqa: PLC0415 - it needs much that other commands do not

    if not json:
        run(folder, walks=walk)
        return
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        run(folder, walks=walk)
    files = [] if folder is None else sorted(str(path) for path in folder.iterdir())
    print_json({"lines": text.getvalue().splitlines(), "files": files})
