"""Where the camera stands at first, and the ground: all robots in sight, from the front and a little above."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.ops import Array
from kinetree.viewer.stage import Stage

FIELD = np.radians(40.0)
"""Of view, from top to bottom."""
DIRECTION = np.array([1.0, 0.65, 0.42])
"""From what is looked at to the camera."""
ROOM = 1.1
"""How much more than the robots is in sight."""


def frame_scene(server: Any, stages: list[Stage]) -> None:
    """Puts ground, light and camera around the robots."""
    centre, radius = sight(stages)
    cell = 10.0 ** np.round(np.log10(max(radius, 1e-3)) - 0.5)
    server.scene.add_grid(
        "/ground",
        infinite_grid=True,
        cell_size=cell,
        section_size=5.0 * cell,
        cell_color=(222, 225, 230),
        section_color=(190, 196, 205),
        fade_distance=22.0 * radius,
        fade_strength=1.5,
        shadow_opacity=0.25,
    )
    position = eye(centre, radius, 1.6)
    camera = server.initial_camera
    camera.look_at, camera.position, camera.fov = tuple(centre), tuple(position), float(FIELD)
    camera.near, camera.far = float(0.01 * radius), float(300.0 * radius)


def point_camera(client: Any, stages: list[Stage]) -> None:
    """Turns a browser's camera to the robots, from farther away where its window is narrow."""
    centre, radius = sight(stages)
    with client.atomic():
        client.camera.fov = float(FIELD)
        client.camera.up_direction = (0.0, 0.0, 1.0)
        client.camera.position = eye(centre, radius, float(client.camera.aspect))
        client.camera.look_at = centre


def eye(centre: Array, radius: float, aspect: float) -> Array:
    """From where a ball of this radius fills the picture."""
    half = 0.5 * FIELD if aspect >= 1.0 else np.arctan(np.tan(0.5 * FIELD) * aspect)
    return centre + DIRECTION / np.linalg.norm(DIRECTION) * ROOM * radius / np.sin(half)


def sight(stages: list[Stage]) -> tuple[Array, float]:
    """Centre and radius of what is to be seen."""
    extents = [np.add(stage.extent(), stage.offset) for stage in stages]
    low, high = np.min([e[0] for e in extents], axis=0), np.max([e[1] for e in extents], axis=0)
    return 0.5 * (low + high), max(0.5 * float(np.linalg.norm(high - low)), 0.1)
