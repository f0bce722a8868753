"""Coordinates that follow from others: do they agree with them?"""

from __future__ import annotations

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.model.joints.coordinates import Coordinates, OnCircle, OnLine
from kinetree.ops import Array

CONSISTENT = 1e-6
"""How far a mimic joint may be, relatively, from where its leader puts it."""
FULL_TURNS = 100
"""How many turns of a continuous leader are tried where its followers are all on circles, too."""


def full_turns(angle: Array, followers: list[tuple[OnLine, Array]]) -> Array:
    """How many full turns k put the followers of a continuous joint at ratio (θ + 2π k) + offset, (…, 1).

    A follower that is not on a circle says it at once; others leave it open, and the smallest |k| that fits is taken.
    """
    on_line = [(part.joint, theirs) for part, theirs in followers if not isinstance(part, OnCircle)]
    if on_line:
        joint, theirs = max(on_line, key=lambda pair: abs(pair[0].ratio))
        return np.round(((theirs[..., :1] - joint.offset) / joint.ratio - angle) / (2 * np.pi))
    candidates = np.array(sorted(range(-FULL_TURNS, FULL_TURNS + 1), key=abs))
    angles = angle + 2 * np.pi * candidates
    fits = [part.off(theirs, angles) <= CONSISTENT for part, theirs in followers]
    return candidates[np.argmax(np.sum(fits, axis=0), axis=-1)][..., None]  # the first that suits the most of them


def check_consistent(kind: str, part: Coordinates, off: Array, size: Array) -> None:
    """Raises if coordinates that follow from others are too far off where those put them; `size`, (…, 1), is what they
    are compared with."""
    wrong = off > CONSISTENT * np.maximum(1.0, size)
    if np.any(wrong):
        owns = part.joint.owns_coordinates
        what, reason = (part.joint.kind, "its angle") if owns else ("mimic", "its leader")
        raise ArgumentError(
            f"{kind} of {what} joint {part.joint.name!r} is off by {float(off[wrong].max()):.3g} from where {reason} "
            "puts it"
        )
