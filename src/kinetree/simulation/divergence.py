"""What is said of states that could not go on."""

from __future__ import annotations

import warnings

import numpy as np

from kinetree.errors import DivergenceWarning
from kinetree.ops import Array


def warn_of(stopped: Array, made: Array, steps: int, batch: tuple[int, ...], remedy: str = "") -> None:
    """A warning if some states, (N,), stopped after they had made so many steps, and what may help."""
    if not stopped.any():
        return
    first = int(np.argmax(stopped))
    which, told = "the state diverged", ""
    if batch:
        index = tuple(int(i) for i in np.unravel_index(first, batch))
        which = f"{int(stopped.sum())} of {len(stopped)} states diverged, the first at index {index},"
        told = "; trajectory.diverged says which"
    message = f"{which} after {int(made[first])} of {steps} steps{told}{'; ' if remedy else ''}{remedy}"
    warnings.warn(message, DivergenceWarning, stacklevel=6)
