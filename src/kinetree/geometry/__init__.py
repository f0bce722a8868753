"""What robots look like, as triangles; and what follows from it: the points they stand on."""

from kinetree.geometry.ground import Ground, convex_hull
from kinetree.geometry.surfaces import Surface, surfaces

__all__ = ["Ground", "Surface", "convex_hull", "surfaces"]
