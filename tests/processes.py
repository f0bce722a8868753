"""Python in processes of its own, with this one's environment and what a test adds to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

PATIENCE = float(os.environ.get("PATIENCE", "1"))
"""How many times longer than usual a process may take, as on an emulated machine."""


def interruptible(command: list[str]) -> subprocess.Popen[str]:
    """A process in a group of its own that heeds interrupts, also where this one, in the background, does not."""

    def heed() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=heed, start_new_session=True)  # noqa: PLW1509


def start(code: str, *arguments: object, cwd: Path | None = None, **variables: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-c", code, *map(str, arguments)],
        cwd=cwd,
        env=_environment(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], seconds: float = 120.0) -> str:
    """What it printed; it must have ended well, in time, and without a word of complaint."""
    try:
        printed, complaints = process.communicate(timeout=PATIENCE * seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"it hangs: {process.communicate()}") from None
    assert (process.returncode, complaints) == (0, ""), f"exit code {process.returncode}\n{complaints}"
    return printed


def run(code: str, *arguments: object, cwd: Path | None = None, **variables: object) -> str:
    return finish(start(code, *arguments, cwd=cwd, **variables))


def _environment(variables: Mapping[str, object]) -> dict[str, str]:
    """None takes a variable away; modules beside this one can be imported."""
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    both = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **variables}
    return {name: str(value) for name, value in both.items() if value is not None}
