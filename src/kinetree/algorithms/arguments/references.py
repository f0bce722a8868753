"""References: the axes and the point in which a velocity, acceleration or Jacobian of frame F is expressed.

world-aligned:  at the origin of F, in world axes
local:          at the origin of F, in the axes of F
world:          at the origin of the world, in world axes (the velocity of the body-fixed point passing there)
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from kinetree.spatial import Force, Motion, Transform

Reference: TypeAlias = Literal["world-aligned", "local", "world"]
REFERENCES: tuple[Reference, ...] = ("world-aligned", "local", "world")
AccelerationKind: TypeAlias = Literal["classical", "spatial"]
Point: TypeAlias = Literal["origin", "center-of-mass"]
POINTS: tuple[Point, ...] = ("origin", "center-of-mass")
"""Points of a body: the origin of its frame, on its joint, or its own centre of mass."""
ACCELERATION_KINDS: tuple[AccelerationKind, ...] = ("classical", "spatial")


def expressed(local: Motion, X_F0: Transform, reference: Reference) -> Motion:
    """A motion given in the axes of F at its origin, in another reference; X_F0 leads from world to F."""
    if reference == "local":
        return local
    aligned = local.rotated(X_F0.R.T)
    return aligned if reference == "world-aligned" else aligned.moved(-X_F0.p)


def localized(wrench: Force, X_F0: Transform, reference: Reference) -> Force:
    """A wrench given in a reference, in the axes of F at its origin."""
    if reference == "local":
        return wrench
    if reference == "world":
        return X_F0 * wrench
    return wrench.rotated(X_F0.R)
