"""Contact of a robot with the ground and with boxes, over time."""

from kinetree.simulation.contact.compliant import CompliantContact
from kinetree.simulation.contact.obstacles import Block, Ground, Terrain
from kinetree.simulation.contact.rigid import RigidContact
from kinetree.simulation.contact.touch import Touch

__all__ = ["Block", "CompliantContact", "Ground", "RigidContact", "Terrain", "Touch"]
