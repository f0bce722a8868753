"""How far a long simulation is: a bar on the terminal, if there is one and it takes more than two seconds."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

from kinetree.errors import printable

PATIENCE = 2.0
"""Seconds before anything is shown."""
OFTEN = 0.1
"""Seconds from one picture to the next."""
WIDTH = 40


class Progress:
    """Told how much was done, it shows how much of the whole that is; from any thread."""

    def __init__(self, total: float, title: str) -> None:
        self.total, self.title, self.done = total, title, 0.0
        self._begun = time.monotonic()
        self._due = self._begun + PATIENCE
        self._shown = False
        self._lock = threading.Lock()
        self._is_wanted = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

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
        return f"{printable(self.title)} {'━' * filled}{'─' * (WIDTH - filled)} {100 * share:3.0f} %, {left:.0f} s left"
