"""To and from scipy.spatial.transform.Rotation; SciPy is needed only for the first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_floats, check_quaternions
from kinetree.errors import ArgumentTypeError, short
from kinetree.ops import Array


def to_scipy(quaternion: ArrayLike) -> Any:
    """A `scipy.spatial.transform.Rotation` of unit quaternions (xyzw), (…, 4); older SciPy takes one leading axis."""
    from scipy.spatial.transform import Rotation  # noqa: PLC0415 - optional

    q = as_floats("quaternion", quaternion, (4,))
    check_quaternions("quaternion", q, [slice(0, 4)])
    return Rotation.from_quat(q)


def from_scipy(rotation: Any) -> Array:
    """The unit quaternions (xyzw), (…, 4), of a SciPy Rotation, or of what has its `as_quat`."""
    if not callable(getattr(rotation, "as_quat", None)):
        raise ArgumentTypeError(f"rotation is {short(rotation)}; expected a scipy.spatial.transform.Rotation")
    return as_floats("rotation", np.asarray(rotation.as_quat()), (4,))
