"""References that the garbage collector does not see."""

from __future__ import annotations

import numpy as np

from kinetree.ops import Array


def keep_alive(thing: object) -> Array:
    """A reference that keeps an object from being finalized until the reference itself is deallocated.

    The collector runs all finalizers of a dead cycle, in any order, before it deallocates the first object. A user's
    finalizer may still call machine code, so the owner of that code must not be finalized with the cycle. The
    collector does not look into arrays: for it, an object in an array is referenced from outside of the cycle.
    """
    reference = np.empty(1, dtype=object)
    reference[0] = thing
    return reference
