"""Motion over time."""

from kinetree.simulation.contact import Block, CompliantContact, Ground, RigidContact, Terrain, Touch

__all__ = ["Block", "CompliantContact", "Ground", "RigidContact", "Terrain", "Touch"]
