"""Several robots side by side with one clock, and how far they differ."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.viewer.motion import as_motion
from kinetree.viewer.readout import TABLE
from kinetree.viewer.shown import ShownRobot
from kinetree.viewer.sliders import by_user


def play_together(
    motions: Mapping[str, Any],
    robots: Mapping[str, ShownRobot],
    *,
    speed: float = 1.0,
    loop: bool = True,
    start: bool = True,
) -> None:
    """Play a motion by each of these robots, from the same moment on; a shorter one stays where it ends until the
    longest is over."""
    if not motions:
        raise ArgumentError("motions is empty; expected one for each robot that plays, by name")
    read = {name: as_motion(robots[name].robot, motion) for name, motion in motions.items()}
    duration = max(motion.duration for motion in read.values())
    for name, motion in read.items():
        robots[name].play(motion.held(duration), speed=speed, loop=loop, start=False)
    if start:
        _resume([robots[name] for name in read])


def _resume(robots: list[ShownRobot]) -> None:
    with robots[0]._lock:  # which they share
        now = time.monotonic()
        for shown in robots:
            shown.resume(now)


class Together:
    """Controls for all robots that have a motion, and a table of differences; shown where there are two or more."""

    def __init__(self, robots: Mapping[str, ShownRobot], gui: Any) -> None:
        self.robots = robots
        self.folder = gui.add_folder("Together", visible=False)
        with self.folder:
            self.time = gui.add_slider("Time [s]", min=0.0, max=1.0, step=0.001, initial_value=0.0)
            self.button = gui.add_button("Play", icon="player-play")
            self.differences = gui.add_html("")
        self.time.on_update(by_user(self._seek))
        self.button.on_click(by_user(self._toggle))

    @property
    def moving(self) -> list[ShownRobot]:
        """The robots that have a motion."""
        return [shown for shown in self.robots.values() if shown.motion is not None]

    def _seek(self) -> None:
        for shown in self.moving:
            shown.pause()
            shown.seek(self.time.value)

    def _toggle(self) -> None:
        moving = self.moving
        if any(shown.playing for shown in moving):
            for shown in moving:
                shown.pause()
        else:
            now = min(shown.time for shown in moving)
            for shown in moving:
                shown.seek(now)
            _resume(moving)

    def update(self) -> None:
        """Shows the time and the differences of the states that are shown."""
        moving = self.moving
        self.folder.visible = len(moving) > 1
        if len(moving) > 1:
            playing = any(shown.playing for shown in moving)
            self.time.max = max(0.001, *(shown.motion.duration for shown in moving if shown.motion is not None))
            self.time.value = min(moving[0].time, self.time.max)
            self.button.label, self.button.icon = ("Pause", "player-pause") if playing else ("Play", "player-play")
            first, *others = moving
            rows = (row for other in others for row in differences(first, other))
            self.differences.content = TABLE.format("".join(rows))


def differences(one: ShownRobot, other: ShownRobot) -> Iterator[str]:
    """Rows of a table: the joint of both in which they differ most, and the distance between the last frame of both."""
    joints = {joint.name: joint for joint in one.robot.model.owners if joint.nq == joint.nv == 1}
    gaps = {
        joint.name: (other.q[joint.iq] - one.q[joints[joint.name].iq], joint.q_labels[0][1])
        for joint in other.robot.model.owners
        if joint.name in joints and joint.nq == joint.nv == 1
    }
    if gaps:
        name, (gap, unit) = max(gaps.items(), key=lambda item: abs(item[1][0]))
        yield _row(f"{other.name}: {name}", f"{gap:+.3f} {unit}")
    frames = [frame.name for frame in one.robot.model.frames if frame.name in other.robot.frame_names]
    if frames:
        one_at, other_at = (shown.robot.frame(frames[-1]).pose(shown.q)[:3, 3] for shown in (one, other))
        yield _row(f"{other.name}: {frames[-1]}", f"{np.linalg.norm(other_at - one_at):.3f} m apart")


def _row(label: str, value: str) -> str:
    return f'<tr><td>{escape(label)}</td><td style="text-align:right">{escape(value)}</td></tr>'
