"""Work on files of strangers in a child process with limits, which the operating system holds: memory and time.

What a file can ask for is not always seen before it is done: a line of MJCF may stand for a billion bodies, a mesh of
some megabytes may unpack to gigabytes, an expression in xacro may compute for ever.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import spawn
from pathlib import Path
from typing import IO, Any

from kinetree.errors import ModelError
from kinetree.model.loaders import limited_child


@dataclass(frozen=True)
class Limits:
    """What a child may have: memory [bytes], and time [s] to compute and to be waited for."""

    memory: int
    seconds: int


class Child:
    """A script that runs with limits, and the pipes to it."""

    def __init__(self, process: subprocess.Popen[bytes], limits: Limits) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.stdin: IO[bytes] = process.stdin
        self.stdout: IO[bytes] = process.stdout
        self.limits = limits
        self.is_late = False
        self._process = process

    def send(self, *parts: bytes, last: bool = False) -> None:
        """Writes to it; that it has ended is seen from what it says, or does not say."""
        with suppress(OSError, ValueError):  # it is gone, or told all
            for part in parts:
                self.stdin.write(part)
            self.stdin.flush()
        if last:
            with suppress(OSError):
                self.stdin.close()

    def read(self, most: int) -> bytes:
        """All that it says until it ends, up to so many bytes; in pieces, so that no more room is taken than needed."""
        answer = bytearray()
        while len(answer) < most and (piece := self.stdout.read(2**20)):
            answer += piece
        return bytes(answer)

    def end(self) -> str | None:
        """Waits for it; how it ended if not well, as "takes more than 1 s". C++ aborts where memory ends."""
        code = self._process.wait()
        memory, seconds = f"{self.limits.memory / 2**30:.2g} GB", f"{self.limits.seconds} s"
        if self.is_late or code == -getattr(signal, "SIGXCPU", 0):
            return f"takes more than {seconds}"
        if code in (-signal.SIGABRT, -getattr(signal, "SIGKILL", 0), 1):
            return f"takes more than {memory} of memory"
        return f"crashes (exit code {code}) when it has" if code else None

    def stop(self) -> None:
        """Because of the time."""
        self.is_late = True
        self._process.kill()


@contextmanager
def started(script: Any, source: str, limits: Limits, packages: Sequence[str] = (), hint: str = "") -> Iterator[Child]:
    """A module of this folder as a script in a child that has read its limits; it is gone when the block ends.

    packages   folders in which it finds what it imports besides the standard library
    hint       how else a user may get there if no process can be started
    """
    executable = spawn.get_executable()  # an application that embeds Python sets it, as for multiprocessing
    if not executable:
        raise ModelError(f"{source}: there is no Python to read it in a process of its own{hint}")
    command = [os.fsdecode(executable), "-I", "-S", limited_child.__file__]
    environment = os.environ | {"MALLOC_ARENA_MAX": "2"}  # of each arena glibc reserves 64 MB
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
    except OSError as problem:
        reason = problem.strerror or problem
        raise ModelError(f"{source}: no process can be started to read it ({reason}){hint}") from None
    with process:
        child = Child(process, limits)
        timer = threading.Timer(limits.seconds, child.stop)
        timer.daemon = True
        timer.start()
        try:
            order = {"script": script.__file__, "packages": list(packages)}
            order |= {"memory": limits.memory, "seconds": limits.seconds}
            child.send(json.dumps(order).encode() + b"\n")
            yield child
        finally:
            timer.cancel()
            process.kill()
            child.send(last=True)


def folder_of(package: str) -> str | None:
    """The folder to import a package from; None if it is not installed."""
    from importlib.util import find_spec  # noqa: PLC0415 - needed for few files

    spec = find_spec(package)
    return None if spec is None or spec.origin is None else str(Path(spec.origin).parents[1])
