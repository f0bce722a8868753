"""Is this an inertia that a body can have?"""

from __future__ import annotations

import math

import numpy as np

from kinetree.spatial import Inertia
from kinetree.spatial.inertia import TOLERANCE


def inertia_error(inertia: Inertia) -> str | None:
    """Why this inertia cannot be used at all, or None."""
    values = [inertia.mass, *inertia.h.tolist(), *inertia.I.ravel().tolist()]
    if len(values) != 13 or not all(map(math.isfinite, values)):
        return f"mass {inertia.mass!r} or inertia is not finite"
    if inertia.mass < 0:
        return f"mass is {inertia.mass:g} kg; expected a mass of zero or more"
    scale = np.abs(inertia.I).max()
    if np.abs(inertia.I - inertia.I.T).max() > TOLERANCE * scale:
        return "the rotational inertia is not symmetric"
    return None


def inertia_doubts(inertia: Inertia) -> list[str]:
    """What no rigid body with positive density could show, in words."""
    if inertia.is_consistent():
        return []
    if inertia.mass == 0.0:
        return [f"it has {'rotational inertia' if np.any(inertia.I) else 'a first moment'} but no mass"]
    a, b, c = map(float, inertia.principal_moments)
    if a < -TOLERANCE * abs(c):
        return [f"principal moment of inertia {a:.3g} kg m² is negative"]
    return [f"principal moments {a:.3g}, {b:.3g}, {c:.3g} kg m² break the triangle inequality"]
