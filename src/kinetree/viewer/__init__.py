"""Robots in the browser, through viser (`pip install 'kinetree[viewer]'`)."""

from kinetree.viewer.shown import LAYERS, ShownRobot
from kinetree.viewer.target import Target
from kinetree.viewer.viewer import Viewer, view

__all__ = ["LAYERS", "ShownRobot", "Target", "Viewer", "view"]
