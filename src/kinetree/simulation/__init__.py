"""Motion over time."""

from kinetree.simulation.contact import Block, CompliantContact, Ground, RigidContact, Terrain, Touch
from kinetree.simulation.fixtures import Fixture, Push
from kinetree.simulation.mujoco_world import MujocoWorld
from kinetree.simulation.next_state import linearized_step, next_state
from kinetree.simulation.recording import Recording, Sensed

__all__ = [
    "Block", "CompliantContact", "Fixture", "Ground", "MujocoWorld", "Push", "Recording", "RigidContact", "Sensed",
    "Terrain", "Touch", "linearized_step", "next_state",
]  # fmt: skip
