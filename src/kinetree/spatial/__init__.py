"""Spatial algebra: typed motions, forces, inertias and the changes of coordinates between them."""

from kinetree.spatial.articulated import ArticulatedInertia
from kinetree.spatial.coriolis import CoriolisInertia
from kinetree.spatial.force import Force
from kinetree.spatial.inertia import Inertia
from kinetree.spatial.motion import Motion
from kinetree.spatial.packing import SpatialOrder, pack, unpack
from kinetree.spatial.transform import Transform

__all__ = [
    "ArticulatedInertia", "CoriolisInertia", "Force", "Inertia", "Motion", "SpatialOrder", "Transform", "pack",
    "unpack",
]  # fmt: skip
