"""Are these vectors of unit length? A small kernel of its own: NumPy takes longer to ask than many a quantity takes."""

from __future__ import annotations

from functools import cache

import numpy as np

from kinetree import ops
from kinetree.arguments import UNIT_TOLERANCE
from kinetree.compiler.call import Kernel
from kinetree.compiler.jit import host
from kinetree.compiler.program import build
from kinetree.ops import Array, Scalar


def _is_off(x: Array) -> Scalar:
    """1 where |‖x‖² - 1| is above the tolerance, 0 elsewhere and for NaN."""
    return ops.less(UNIT_TOLERANCE, ops.absolute(x @ x - 1.0))


@cache
def _kernel(size: int) -> Kernel:
    return Kernel(build(_is_off, [(size,)], host()))


def all_unit(vectors: Array) -> bool:
    """Whether all rows of (N, n) are of unit length, within the tolerance."""
    off = np.empty((len(vectors), 1))
    _kernel(vectors.shape[1]).batch([vectors], [off])
    return not off.any()
