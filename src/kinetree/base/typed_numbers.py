"""Numbers as people type them: 0.5, 1e-3, 30deg, pi/2."""

from __future__ import annotations

import math
import re

PI = re.compile(r"([+-]?)(?:(\d+(?:\.\d*)?)\*?)?pi(?:/(\d+(?:\.\d*)?))?")


def typed_number(text: str) -> float | None:
    """The finite number that a text stands for, degrees in radians; None if there is none."""
    word = text.strip()
    if word.endswith("deg"):
        degrees = typed_number(word.removesuffix("deg"))
        return None if degrees is None else math.radians(degrees)
    try:
        if match := PI.fullmatch(word):
            sign, times, over = match.groups()
            return float(f"{sign}1") * float(times or 1) * math.pi / float(over or 1)
        value = float(word)
    except (ValueError, ZeroDivisionError):
        return None
    return value if math.isfinite(value) else None
