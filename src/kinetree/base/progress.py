"""How far a long simulation or compilation is: a bar on the terminal, if it takes more than two seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType

from kinetree.base.locks import ReentrantLock
from kinetree.errors import printable

PATIENCE = 2.0
"""Seconds before anything is shown."""
OFTEN = 0.1
"""Seconds from one picture to the next."""
WIDTH = 40


class Progress:
    """Told how much was done, it shows how much of the whole that is; from any thread."""

    def __init__(self, total: float, title: str, unit: str = "") -> None:
        """With a unit, such as "states", it also shows how many of them are done each second."""
        self.total, self.title, self.unit, self.done = total, title, unit, 0.0
        self._begun = time.monotonic()
        self._due = self._begun + PATIENCE
        self._shown = False
        self._lock = ReentrantLock()
        self._is_wanted = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._is_wanted = False
            if self._shown:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()

    def show_now(self) -> None:
        """Show the bar from now on, not only after two seconds."""
        self._due = self._begun

    def tell(self, amount: float) -> None:
        """Adds an amount of work that is done."""
        with self._lock:
            self.done += amount
            now = time.monotonic()
            if self._is_wanted and now >= self._due:
                self._due, self._shown = now + OFTEN, True
                sys.stderr.write(f"\r{self.picture(now - self._begun)}\x1b[K")
                sys.stderr.flush()

    def picture(self, seconds: float) -> str:
        """The line as it stands after so many seconds."""
        share = min(1.0, self.done / self.total)
        filled = int(share * WIDTH)
        left = seconds * (1.0 - share) / share if share else 0.0
        bar = f"{'━' * filled}{'─' * (WIDTH - filled)}"
        rate = f", {_short(self.done / seconds)} {self.unit}/s" if self.unit and seconds else ""
        return f"{printable(self.title)} {bar} {100 * share:3.0f} %{rate}, {left:.0f} s left"


def _short(number: float) -> str:
    """A number with three digits, such as 12.3 M."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


@contextmanager
def announced(title: str, seconds: float) -> Iterator[None]:
    """A context for work that takes about so many seconds and cannot tell how far it is: a bar that follows the clock
    on a terminal, one line on stderr elsewhere. Short work is not announced."""
    if seconds < PATIENCE or sys.stderr is None:
        yield
        return
    if not sys.stderr.isatty():
        print(f"kinetree: {printable(title)}: about {seconds:.0f} s", file=sys.stderr)
        yield
        return
    over = threading.Event()
    with Progress(seconds, title) as progress:
        progress.show_now()

        def follow() -> None:
            while not over.wait(OFTEN):
                progress.tell(OFTEN * min(1.0, 2.0 * (1.0 - progress.done / seconds)))  # slower towards the end

        try:
            with suppress(RuntimeError):  # no thread can start while Python shuts down
                threading.Thread(target=follow, daemon=True).start()
            yield
        finally:
            over.set()
