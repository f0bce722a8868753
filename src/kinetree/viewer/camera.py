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
LIGHTS = ("studio", "plain")
"""With reflections and shadows, which are beautiful, and slow without a graphics card; or without."""
GROUND, BRIGHT = (170, 165, 160), 5.0
"""Colour and intensity of what the sky and the ground give to plain light."""
UPPER = 0.42
"""The part of a phone's screen that is not covered."""


def frame_scene(server: Any, stages: list[Stage], light: str) -> None:
    """Puts ground, light and camera around the robots."""
    centre, radius = sight(stages)
    if light == "plain":
        server.scene.configure_environment_map(hdri=None)
        server.scene.configure_default_lights(cast_shadow=False)
        server.scene.add_light_hemisphere("/sky", ground_color=GROUND, intensity=BRIGHT)
    cell = 10.0 ** np.round(np.log10(max(radius, 1e-3)) - 0.5)
    server.scene.add_grid(
        "/ground", infinite_grid=True, cell_size=cell, section_size=5.0 * cell, cell_color=(222, 225, 230),
        section_color=(190, 196, 205), fade_distance=22.0 * radius, fade_strength=1.5, shadow_opacity=0.25,
    )  # fmt: skip
    position, _ = eye(centre, radius, 1.6)
    camera = server.initial_camera
    camera.look_at, camera.position, camera.fov = tuple(centre), tuple(position), float(FIELD)
    camera.near, camera.far = float(0.01 * radius), float(300.0 * radius)


def point_camera(client: Any, stages: list[Stage]) -> None:
    """Turns a browser's camera to the robots; on a phone above the panel, which covers the lower part."""
    centre, radius = sight(stages)
    position, look_at = eye(centre, radius, float(client.camera.aspect))
    with client.atomic():
        client.camera.fov = float(FIELD)
        client.camera.up_direction = (0.0, 0.0, 1.0)
        client.camera.position, client.camera.look_at = position, look_at


def eye(centre: Array, radius: float, aspect: float) -> tuple[Array, Array]:
    """Where the camera stands and looks, so that a ball of this radius fills the picture, or the upper part of it."""
    slope = float(np.tan(0.5 * FIELD))
    back = DIRECTION / np.linalg.norm(DIRECTION)
    if aspect >= 0.6:  # below, a window is as narrow as that of a phone
        half = np.arctan(slope * min(aspect, 1.0))
        return centre + back * ROOM * radius / np.sin(half), centre
    distance = ROOM * radius / (slope * min(aspect, UPPER))
    up = np.array([0.0, 0.0, 1.0]) - back[2] * back
    below = centre - up / np.linalg.norm(up) * (1.0 - UPPER) * slope * distance
    return below + back * distance, below


def sight(stages: list[Stage]) -> tuple[Array, float]:
    """Centre and radius of what is to be seen."""
    extents = [np.add(stage.extent(), stage.offset) for stage in stages]
    low, high = np.min([e[0] for e in extents], axis=0), np.max([e[1] for e in extents], axis=0)
    return 0.5 * (low + high), max(0.5 * float(np.linalg.norm(high - low)), 0.1)
