"""Where the script `kinetree` begins and ends: what must hold whatever command runs."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

INTERRUPTED = 130
"""What a shell expects of a program that Ctrl-C ended."""


def main() -> None:
    """Run the command line; without typer and rich, say how to get them."""
    try:
        _prepare_streams()
        from kinetree.cli.app import app  # noqa: PLC0415 - typer and rich may be missing

        app(prog_name="kinetree")
    except ModuleNotFoundError as problem:
        package = (problem.name or "").partition(".")[0]
        if package not in ("typer", "rich"):
            raise
        sys.exit(f"The command line needs {package}, which is not installed: pip install 'kinetree[cli]'")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        _flush()


def _prepare_streams() -> None:
    """A terminal without × or µ shows a question mark; a stream that was closed swallows what is written to it."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - until the process ends
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _flush() -> None:
    """Write what is left; Python itself would do that later, and complain if the reader has gone."""
    try:
        sys.stdout.flush()
    except OSError:
        discard_stdout()


def discard_stdout() -> None:
    """Let what is still to be written vanish."""
    with suppress(OSError, ValueError):  # it may not be a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
