"""References that the garbage collector does not see."""

from __future__ import annotations

import numpy as np

from kinetree.ops import Array


def hold(thing: object) -> Array:
    """Keeps an object until this is deallocated, and not only until the collector has found its owner.

    The collector runs all finalizers of a dead cycle, in any order, before it takes the first object apart. What a
    finalizer of the user's may still call must not have been finalized by then; and an object to which there is a
    reference from elsewhere is not. The collector does not look into arrays: this is such a reference.
    """
    box = np.empty(1, dtype=object)
    box[0] = thing
    return box
