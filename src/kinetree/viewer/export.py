"""An animation as one HTML file that needs no server and no network: viser's own page with the scene inside."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinetree.viewer import server as web
from kinetree.viewer.camera import frame_scene
from kinetree.viewer.shown import ShownRobot


def recorded(robots: Mapping[str, ShownRobot], rate: float, light: str) -> str:
    """The page, recorded on a server of its own, so that nobody who watches the robots sees it happen."""
    server, _ = web.start(web.LOOPBACK, None, "")
    try:
        copies = [_copy(server, shown) for shown in robots.values()]
        frame_scene(server, [copy.stage for copy in copies], light)
        recording = server.get_scene_serializer()
        duration = max((copy.motion.duration for copy in copies if copy.motion is not None), default=0.0)
        for time in np.arange(1, int(np.ceil(duration * rate)) + 1) / rate:
            recording.insert_sleep(1.0 / rate)
            for copy in copies:
                if copy.motion is not None:
                    copy.seek(min(float(time), copy.motion.duration))
        return web.with_names(recording.as_html())
    finally:
        web.stop(server)


def _copy(server: object, shown: ShownRobot) -> ShownRobot:
    """The same robot on another server, its motion at the start."""
    layers = [name for name, layer in shown.layers.items() if layer.visible]
    copy = ShownRobot(
        server, shown.robot, shown.name, q=shown.q, contacts=shown.contacts, show=layers, offset=shown.stage.offset
    )
    state = shown.stage.state
    copy.set(state.q, state.v, state.wrenches)
    if shown.motion is not None:
        copy.motion = shown.motion
        copy.seek(0.0)
    return copy
