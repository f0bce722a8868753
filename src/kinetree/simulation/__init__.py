"""Motion over time."""

from kinetree.simulation.fixtures import Fixture, Push
from kinetree.simulation.mujoco_world import MujocoWorld
from kinetree.simulation.recording import Recording, Sensed

__all__ = ["Fixture", "MujocoWorld", "Push", "Recording", "Sensed"]
