"""Inertias as MuJoCo accepts them: principal moments that a rigid body can have, and none of a moving body zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kinetree.ops import Array
from kinetree.spatial import Inertia, Transform

LEAST = 2e-15
"""MuJoCo refuses a moving body with less mass [kg] or a smaller principal moment [kg m²] than 1e-15."""
ROUNDING = 1e-13
"""Relative: a triangle inequality that is broken by less was not broken by the author."""


@dataclass(frozen=True, eq=False)
class Principal:
    """Mass, centre of mass, principal moments in ascending order, and their axes as columns."""

    mass: float
    com: Array
    moments: Array
    axes: Array

    @property
    def is_nothing(self) -> bool:
        return self.mass == 0.0 and not self.moments.any()

    @property
    def may_move(self) -> bool:
        """Whether MuJoCo lets a joint move it."""
        return self.mass >= LEAST and float(self.moments.min()) >= LEAST

    def made_movable(self) -> Principal:
        """With as little more as MuJoCo asks for, less than any digit that matters."""
        return replace(self, mass=max(self.mass, LEAST), moments=np.maximum(self.moments, LEAST))


def principal(inertia: Inertia) -> tuple[Principal, str | None]:
    """The same inertia about its centre of mass along its principal axes, and what MuJoCo would refuse in it.

    In that case the moments are raised until it would not.
    """
    mass, com, problem = float(inertia.mass), inertia.com, None
    if mass == 0.0 and np.any(inertia.h):
        problem = "the first moment of mass without mass"
    moments, axes = np.linalg.eigh((inertia.about_com + inertia.about_com.T) / 2)
    slack = ROUNDING * max(abs(float(moments[2])), mass * float(com @ com))
    if moments[0] < -slack:
        problem = f"the negative principal moment {moments[0]:.3g} kg m²"
    low, middle, high = (max(0.0, float(moment)) for moment in moments)
    if low + middle < high - slack:
        given = f"{low:.6g}, {middle:.6g}, {high:.6g} kg m²"
        problem = problem or f"the principal moments {given}, which break the triangle inequality,"
    if low + middle < high:
        low = high - middle
        while low + middle < high:
            low = float(np.nextafter(low, np.inf))
    return Principal(mass, com, np.array([low, middle, high]), axes if np.linalg.det(axes) > 0 else -axes), problem


def link_inertias(
    head: str, links: Mapping[str, tuple[Transform, Inertia]], moves: bool
) -> tuple[dict[str, Principal], str | None]:
    """Inertias of links that are fixed to each other, the first of them moved by a joint, and what cannot be written.

    Each has its own, if MuJoCo accepts them all; otherwise the first has the sum. ``links`` has ^link X_head.
    """
    each = {link: principal(inertia) for link, (_, inertia) in links.items()}
    found = {link: inertia for link, (inertia, _) in each.items()}
    problems = [f"{problem} of link {link!r}" for link, (_, problem) in each.items() if problem]
    if problems:
        total = Inertia.zero()
        for X, inertia in links.values():
            total = total + X.transpose() * inertia
        whole, remains = principal(total)
        found, problems = {head: whole}, problems if remains else []
    if moves and not any(inertia.may_move for inertia in found.values()):
        found[head] = found[head].made_movable()
    written = {link: inertia for link, inertia in found.items() if not inertia.is_nothing}
    return written, problems[0] if problems else None
