"""Is this an inertia that a body can have?"""

from __future__ import annotations

import numpy as np

from kinetree.spatial import Inertia

TOLERANCE = 1e-6
"""Relative to the largest principal moment: files print inertias with six digits or so."""


def inertia_error(inertia: Inertia) -> str | None:
    """Why this inertia cannot be used at all, or None."""
    values = np.concatenate([[inertia.mass], inertia.h, inertia.I.ravel()])
    if values.shape != (13,) or not np.isfinite(values).all():
        return f"mass {inertia.mass!r} or inertia is not finite"
    if inertia.mass < 0:
        return f"mass is {inertia.mass:g} kg; expected a mass of zero or more"
    scale = np.abs(inertia.I).max()
    if np.abs(inertia.I - inertia.I.T).max() > TOLERANCE * scale:
        return "the rotational inertia is not symmetric"
    return None


def inertia_doubts(inertia: Inertia) -> list[str]:
    """What no rigid body with positive density could show, in words."""
    about_com = inertia.about_com
    a, b, c = map(float, np.linalg.eigvalsh(about_com))
    slack = TOLERANCE * max(abs(a), abs(c))
    if inertia.mass == 0.0:
        return ["it has rotational inertia but no mass"] if np.any(about_com) else []
    if a < -slack:
        return [f"principal moment of inertia {a:.3g} kg m² is negative"]
    if a + b < c - slack:
        return [f"principal moments {a:.3g}, {b:.3g}, {c:.3g} kg m² break the triangle inequality"]
    return []
