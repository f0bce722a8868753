"""Where the script `kinetree` begins: what must hold before and after any command runs."""

from __future__ import annotations

import sys

INTERRUPTED = 130
"""What a shell expects of a program that Ctrl-C ended."""


def main() -> None:
    """Run the command line; without typer and rich, say how to get them."""
    try:
        from kinetree.cli.app import app  # noqa: PLC0415 - typer and rich may be missing
    except ModuleNotFoundError as problem:
        if (problem.name or "").startswith("kinetree"):
            raise
        sys.exit(f"The command line needs {problem.name}, which is not installed: pip install 'kinetree[cli]'")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without × or µ shows a question mark
    try:
        app(prog_name="kinetree")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
