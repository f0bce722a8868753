"""The controls of one robot in the page: playback, target, joints, numbers, and what is shown."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import Any

import numpy as np

from kinetree.viewer.base import BaseGizmo
from kinetree.viewer.shown import ShownRobot, standing
from kinetree.viewer.sliders import by_user, sliders

LABELS = {"com": "Centre of mass"}
"""Of layers that the page does not call by their names."""
SPEEDS = ("0.1×", "0.25×", "0.5×", "1×", "2×", "4×")
NO_TARGET = "none"
NOTE = '<div style="font-size:.8em;padding:0 1em .5em;opacity:.8">{}</div>'


class Panel:
    """Controls that change a robot, and follow when something else changes it."""

    def __init__(self, shown: ShownRobot, moving: Any, looks: Any) -> None:
        """Adds them to two containers: what moves the robot, and what is shown of it."""
        self.shown = shown
        self.gui = shown.stage.server.gui
        self._revision = -1
        with moving:
            self.playback = self._playback()
            self._target()
            with self.gui.add_folder("State"):
                self.facts = self.gui.add_html("")
            self._joints()
            with self.gui.add_folder("Efforts"):
                self.efforts = self.gui.add_html("")
        with looks:
            self._layers()

    # -- parts -------------------------------------------------------------------------------------------------

    def _playback(self) -> Any:
        folder = self.gui.add_folder("Playback", visible=self.shown.motion is not None)
        with folder:
            self.time = self.gui.add_slider("Time [s]", min=0.0, max=1.0, step=0.001, initial_value=0.0)
            self.button = self.gui.add_button("Play", icon="player-play")
            self.speed = self.gui.add_dropdown("Speed", SPEEDS, initial_value="1×")
            self.loop = self.gui.add_checkbox("Loop", True)

        shown = self.shown
        self.time.on_update(by_user(self._seek))
        self.button.on_click(by_user(lambda: shown.pause() if shown.playing else shown.resume()))
        self.speed.on_update(by_user(self._set_speed))
        self.loop.on_update(by_user(lambda: setattr(shown, "looping", bool(self.loop.value))))
        return folder

    def _seek(self) -> None:
        self.shown.pause()
        self.shown.seek(self.time.value)

    def _set_speed(self) -> None:
        if self.speed.value in SPEEDS:
            self.shown.speed = float(self.speed.value[:-1])

    def _target(self) -> None:
        robot = self.shown.robot
        self.frames = [frame.name for frame in robot.model.frames if frame.body in robot.model.moving]
        with self.gui.add_folder("Target"):
            self.target = self.gui.add_dropdown(
                "Drag", (NO_TARGET, *self.frames), initial_value=NO_TARGET, hint="the frame to drag; the robot follows"
            )
            self.gap = self.gui.add_html("")
        self.target.on_update(by_user(self._follow))

    def _follow(self) -> None:
        name = self.target.value
        if name not in (NO_TARGET, *self.frames):
            return
        self.gap.content = "" if name == NO_TARGET else NOTE.format(escape(f"{name}: preparing …"))
        self.shown.follow(None if name == NO_TARGET else name)

    def _layers(self) -> None:
        self.boxes = {}
        for name, layer in self.shown.layers.items():
            if layer.has_something:
                self.boxes[name] = self.gui.add_checkbox(LABELS.get(name, name.capitalize()), layer.visible)
                self.boxes[name].on_update(by_user(partial(self._toggle, name)))

    def _toggle(self, name: str) -> None:
        visible = bool(self.boxes[name].value)
        self.shown.show(name, visible=visible)
        if name == "forces" and visible and self.shown.contacts and not self.shown.stage.state.wrenches:
            self.shown.stand()

    def _joints(self) -> None:
        shown = self.shown
        base = shown.robot.model.floating_base
        self.base = None if base is None else BaseGizmo(shown, base)
        with self.gui.add_folder("Joints"):
            if self.base is not None:
                box = self.gui.add_checkbox("Drag base", False)
                gizmo = self.base
                box.on_update(by_user(lambda: gizmo.show(bool(box.value))))
            pose = self.gui.add_button_group("Pose", ("Neutral", "Random"))
            self.sliders = list(sliders(shown))
        pose.on_click(lambda event: self._pose(event.target.value))

    def _pose(self, name: str) -> None:
        shown, base = self.shown, self.shown.robot.model.floating_base
        with shown._lock:
            q = standing(shown.robot, shown.ground)
            if name == "Random":
                start = 0 if base is None else base.nq
                q[start:] = shown.robot.random(np.random.default_rng())[start:]
            shown.move_to(q)

    # -- following ---------------------------------------------------------------------------------------------

    @property
    def frame(self) -> str:
        """The frame that numbers are about: the target's, or the last one that moves."""
        if self.shown.target is not None:
            return self.shown.target.frame
        return self.frames[-1] if self.frames else self.shown.robot.model.frames[-1].name

    def update(self) -> None:
        """Shows what has changed since the last time."""
        shown = self.shown
        if self._revision == shown.revision:
            return
        with shown._lock:
            self._revision, state = shown.revision, shown.stage.state
            if shown.motion is not None:
                self.playback.visible = True
                self.time.max = max(shown.motion.duration, 0.001)
                self.time.value = min(shown.time, self.time.max)
                self.button.label = "Pause" if shown.playing else "Play"
                self.button.icon = "player-pause" if shown.playing else "player-play"
            target = shown.target
            self.target.value = NO_TARGET if target is None else target.frame
            self.gap.content = "" if target is None else NOTE.format(escape(f"{target.frame}: {target.status}"))
            for name, box in self.boxes.items():
                box.value = shown.layers[name].visible
            for slider in self.sliders:
                slider.update()
            if self.base is not None:
                self.base.update()
        numbers = shown.readout.numbers(state, self.frame)
        self.facts.content, self.efforts.content = shown.readout.facts(numbers), shown.readout.efforts(numbers)
