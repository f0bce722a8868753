"""The numbers of a model by the names textbooks give them: m1, l1, lc1, I1zz, g.

m_i         mass of body i
l_i         from the origin of body i to the joint of its child; l0 from the world's to the first joint
lc_i        from the origin of body i to its centre of mass
I_i xx …    inertia about the centre of mass, in the body's axes
g           gravity

A vector with several components that are not zero adds the axis, l1x and l1z; a body with several children adds the
child, l1_3. Lengths and g are positive: signs stay in the equations. What is zero stays zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinetree.errors import ArgumentTypeError, one_of, short
from kinetree.model.tree import Model
from kinetree.ops import Array, skew
from kinetree.spatial import Inertia, Transform
from kinetree.spatial.inertia import ROUNDING

KINDS = ("mass", "length", "inertia", "gravity")


@dataclass(frozen=True)
class Parameter:
    """A number of the model with a name: kind is one of KINDS; its number in the model is sign · value."""

    name: str
    kind: str
    value: float
    latex: str


Naming = Callable[[Parameter], Any]
"""The scalar that stands for a parameter: a symbol, or its value."""


def as_kinds(symbolic: bool | str | Iterable[str]) -> tuple[str, ...]:
    """Which numbers shall be symbols, in the order of KINDS."""
    if isinstance(symbolic, bool):
        return KINDS if symbolic else ()
    if not isinstance(symbolic, Iterable):
        raise ArgumentTypeError(f"symbolic is {short(symbolic)}; expected True, False or some of {', '.join(KINDS)}")
    chosen = {one_of("symbolic", kind, KINDS) for kind in ([symbolic] if isinstance(symbolic, str) else symbolic)}
    return tuple(kind for kind in KINDS if kind in chosen)


def renamed(model: Model, naming: Naming) -> Model:
    """The model with every parameter replaced by what `naming` gives for it."""
    world = Inertia.zero()
    return replace(
        model,
        placements=tuple(
            Transform.unchecked(X.R, _vector(X.p, _length_name(model, i), "length", naming)) if i else X
            for i, X in enumerate(model.placements)
        ),
        inertias=tuple(_inertia(inertia, i, naming) if i else world for i, inertia in enumerate(model.inertias)),
        gravity=_vector(model.gravity, ("g", "", "g"), "gravity", naming),
    )


def _length_name(model: Model, body: int) -> tuple[str, str, str]:
    """Stem, what follows the axis, and the same in LaTeX, of the way from the parent to this body."""
    parent = model.parents[body]
    own = f"_{body}" if len(model.children(parent)) > 1 else ""
    return f"l{parent}", own, f"l_{{{parent}{own.replace('_', ',')}"


def _vector(vector: Array, name: tuple[str, str, str], kind: str, naming: Naming) -> Array:
    stem, end, latex = name
    scalars = np.empty(3, dtype=object)
    several = np.count_nonzero(vector) > 1
    for k, number in enumerate(vector.tolist()):
        scalars[k] = 0.0
        if number:
            axis = "xyz"[k] if several else ""
            written = f"{latex}{axis}}}" if "{" in latex else latex + (f"_{axis}" if axis else "")
            size = naming(Parameter(f"{stem}{axis}{end}", kind, abs(number), written))
            scalars[k] = size if number > 0 else -size
    return scalars


def _inertia(inertia: Inertia, body: int, naming: Naming) -> Inertia:
    """About the origin, from the named mass, centre of mass and inertia about that."""
    mass: Any = 0.0
    com: Array = np.zeros(3)
    if inertia.mass:
        mass = naming(Parameter(f"m{body}", "mass", float(inertia.mass), f"m_{{{body}}}"))
        place = np.array([_short(c, float(np.abs(inertia.com).max())) for c in inertia.com])
        com = _vector(place, (f"lc{body}", "", f"l_{{c{body}"), "length", naming)
    rotational = np.zeros((3, 3), dtype=object)
    about_com, scale = inertia.about_com, float(np.abs(inertia.I).max())
    for row, column in zip(*np.triu_indices(3), strict=True):
        number, axes = float(about_com[row, column]), "xyz"[row] + "xyz"[column]
        moment = 0.0
        if abs(number) > ROUNDING * scale:
            name = Parameter(f"I{body}{axes}", "inertia", _short(number, scale), f"I_{{{body}{axes}}}")
            moment = naming(name)
        rotational[row, column] = rotational[column, row] = moment
    c = skew(com)
    return Inertia(mass, com * mass, rotational - (c @ c) * mass)


def _short(number: float, scale: float) -> float:
    """The number without the digits that rounding has left in it, next to one of size `scale`."""
    return round(number, 15 - math.ceil(math.log10(scale))) if number and scale else 0.0
