"""One robot in a viewer: its state, what is shown of it, the motion it plays and the target it follows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant, as_floats, as_number, check_quaternions, positive
from kinetree.base.locks import ReentrantLock
from kinetree.errors import ArgumentError, ArgumentTypeError, known, short
from kinetree.geometry import Ground
from kinetree.model.constraints import Contact
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.viewer.follow import Follower
from kinetree.viewer.layers import Frames, Inertias, Layer, Names, Shapes, Skeleton
from kinetree.viewer.motion import Motion, as_motion, by_frame
from kinetree.viewer.overlays import CenterOfMass, Forces, Support
from kinetree.viewer.readout import Readout
from kinetree.viewer.stage import Stage, State
from kinetree.viewer.target import Target, as_pose

BODIES = ("visual", "collision", "skeleton")
KINDS: Mapping[str, Callable[[Stage], Layer]] = {
    "visual": partial(Shapes, kind="visual"),
    "collision": partial(Shapes, kind="collision"),
    "skeleton": Skeleton,
    "frames": Frames,
    "names": Names,
    "com": CenterOfMass,
    "support": Support,
    "inertia": Inertias,
    "forces": Forces,
}
LAYERS = tuple(KINDS)
"""What can be shown of a robot."""


class ShownRobot:
    """A robot in a viewer. `q` can be read and set; everything that is shown follows."""

    def __init__(
        self,
        server: Any,
        robot: Robot,
        name: str,
        *,
        q: ArrayLike | None = None,
        contacts: Iterable[str | Contact] = (),
        show: Iterable[str] | None = None,
        offset: ArrayLike = (0.0, 0.0, 0.0),
        lock: ReentrantLock | None = None,
        wake: threading.Event | None = None,
    ) -> None:
        self.robot, self.name = robot, name
        self.contacts = as_contacts(robot, contacts)
        self.ground = Ground(robot)
        state = State(standing(robot, self.ground) if q is None else checked(robot, q), np.zeros(robot.nv))
        self.stage = Stage(server, robot, name, self.ground, state, as_constant("offset", offset, (3,)))
        self.readout = Readout(robot, self.contacts)
        self.layers: dict[str, Layer] = {name: make(self.stage) for name, make in KINDS.items()}
        self.motion: Motion | None = None
        self.time, self.speed, self.playing, self.looping = 0.0, 1.0, False, True
        self.target: Target | None = None
        self.revision = 0
        """Counts changes of the state, for those who show it too."""
        self._clock = 0.0
        self._lock, self._wake = lock or ReentrantLock(), wake or threading.Event()
        for layer in self._first(show):
            self.layers[layer].show()

    def _first(self, show: Iterable[str] | None) -> list[str]:
        """What is shown at first: the shapes, or sticks if there are none, unless bodies are asked for in another way;
        and what is asked for, or forces."""
        wishes = ["forces"] if show is None else [show] if isinstance(show, str) else list(show)
        for wish in wishes:
            known("layer", wish, LAYERS)
        if not {*BODIES} & {*wishes}:
            wishes.insert(0, next((kind for kind in BODIES if self.layers[kind].has_something), "skeleton"))
        return wishes

    # -- its state ---------------------------------------------------------------------------------------------

    @property
    def q(self) -> Array:
        """The configuration that is shown, (nq,); set it to show another."""
        return self.stage.state.q.copy()

    @q.setter
    def q(self, q: ArrayLike) -> None:
        self.set(q)

    def set(self, q: ArrayLike, v: ArrayLike | None = None, wrenches: Mapping[str, ArrayLike] | None = None) -> None:
        """Show a state: q, (nq,); v, (nv,), for momentum; forces on frames, (6,) or (3,), as arrows."""
        rates = np.zeros(self.robot.nv) if v is None else as_constant("v", v, (self.robot.nv,))
        forces = {name: _force(self.robot, name, w) for name, w in by_frame(wrenches).items()}
        self.place(State(checked(self.robot, q), rates, forces))

    def place(self, state: State) -> None:
        """Show a state that is known to be one."""
        with self._changing(), self.stage.server.atomic():
            self.stage.place(state)
            for layer in self.layers.values():
                if layer.visible:
                    layer.update(state)
            if self.target is not None:
                self.target.moved()

    def move_to(self, q: Array) -> None:
        """Show a configuration at rest, and pause a motion that plays."""
        self.playing = False
        self.place(State(q, np.zeros(self.robot.nv)))

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Holds the lock; at the end those who show the robot are told of a change."""
        with self._lock:
            yield
            self.revision += 1
        self._wake.set()

    def stand(self) -> None:
        """Show the forces of the contacts that carry the robot at rest."""
        if not self.contacts:
            raise ArgumentError(f"{self.name} has no contacts; name the frames it stands on in contacts")
        with self._lock:
            self.place(State(self.stage.state.q, np.zeros(self.robot.nv), self.readout.holding(self.stage.state.q)[1]))

    def show(self, *layers: str, visible: bool = True) -> None:
        """Show or hide some of "visual", "collision", "skeleton", "frames", "names", "com", "support", "inertia" and
        "forces"."""
        for name in layers:
            known("layer", name, LAYERS)
        with self._changing(), self.stage.server.atomic():
            for name in layers:
                self.layers[name].show(visible)

    # -- motion ------------------------------------------------------------------------------------------------

    def play(
        self,
        motion: Any,
        *,
        wrenches: Mapping[str, ArrayLike] | None = None,
        speed: float = 1.0,
        loop: bool = True,
        start: bool = True,
    ) -> None:
        """Play a motion: a rollout or whatever has .t and .q, (t, q), or a trajectory of joints. Returns at once.

        wrenches   forces on frames at these times, (n, 6) or (n, 3), in world axes: arrows
        speed      times real time
        start      or only show where it begins
        """
        read = as_motion(self.robot, motion, wrenches)
        rate = positive("a positive factor")("speed", speed)
        with self._lock:
            self.motion, self.speed, self.looping, self.time = read, rate, bool(loop), 0.0
            self.playing, self._clock = bool(start), time.monotonic()
            self.place(read.at(0.0))

    def _loaded(self) -> Motion:
        if self.motion is None:
            raise ArgumentError(f"{self.name} has no motion; give it one with play(…)")
        return self.motion

    def pause(self) -> None:
        with self._changing():
            self.playing = False

    def resume(self, now: float | None = None) -> None:
        """Play on, from the start if it is at its end; `now` on the clock of others that play, `time.monotonic()`."""
        with self._changing():
            if self.time >= self._loaded().duration:
                self.time = 0.0
            self.playing, self._clock = True, time.monotonic() if now is None else now

    def seek(self, seconds: float) -> None:
        """Show the motion at a time after its start [s]."""
        with self._lock:
            motion, wanted = self._loaded(), as_number("seconds", seconds)
            if np.isnan(wanted):
                raise ArgumentError("seconds is nan; expected a time of the motion")
            self.time = min(max(wanted, 0.0), motion.duration)
            self.place(motion.at(self.time))

    # -- a target ----------------------------------------------------------------------------------------------

    def follow(self, frame: str | None, pose: ArrayLike | None = None) -> Target | None:
        """A target for a frame that can be dragged in the page, or set: `.pose`; the robot follows by inverse
        kinematics. None for the frame takes it away."""
        pose = None if pose is None else as_pose(pose)
        follower = None if frame is None else Follower(self.robot, frame, self.contacts)
        if follower is not None:
            follower.prepare(self.stage.state.q)  # it may take a while, so not while others wait for the lock
        with self._changing():
            if self.target is not None:
                self.target.remove()
                self.target = None
            if follower is not None:
                self.playing = False
                self.target = Target(self.stage, follower, self._wake)
                if pose is not None:
                    self.target.pose = pose
        return self.target

    # -- time --------------------------------------------------------------------------------------------------

    def tick(self, now: float) -> bool:
        """Advances what moves without a user to a time of `time.monotonic()`; whether it goes on after this."""
        with self._lock:
            busy = False
            if self.playing and self.motion is not None:
                busy = self._advance(self.motion, now)
            if self.target is not None:
                q = self.target.advance(self.stage.state.q)
                if q is not None:
                    self.place(State(q, np.zeros(self.robot.nv)))
                    self.target.conclude()
                    self.revision += 1
                    busy = True
            return busy

    def _advance(self, motion: Motion, now: float) -> bool:
        self.time += self.speed * (now - self._clock)
        self._clock = now
        if self.time >= motion.duration:
            if self.looping and motion.duration > 0.0:
                self.time %= motion.duration
            else:
                self.time, self.playing = motion.duration, False
        self.place(motion.at(self.time))
        return self.playing


def standing(robot: Robot, ground: Ground) -> Array:
    """Neutral, within limits; a floating base so high that nothing is in the ground."""
    q = robot.neutral()
    for joint in robot.model.owners:
        if joint.quaternion is None:
            part = joint.q_slice
            q[part] = np.clip(q[part], robot.limits.lower[part], robot.limits.upper[part])
    base = robot.model.floating_base
    height = ground.height(q) if base is not None else 0.0
    if base is not None and np.isfinite(height):
        q[base.iq + 2] -= height
    return q


def checked(robot: Robot, q: ArrayLike) -> Array:
    """One configuration, or one sentence."""
    read = as_floats("q", q, (robot.nq,))
    if read.ndim != 1:
        raise ArgumentError(f"q has shape {read.shape}; expected one configuration, ({robot.nq},)")
    if not np.isfinite(read).all():
        raise ArgumentError("q is not finite; expected a configuration to show")
    check_quaternions("q", read, robot.model.quaternions)
    return read.copy()


def as_contacts(robot: Robot, contacts: Iterable[str | Contact]) -> tuple[Contact, ...]:
    """Frames by name are point contacts."""
    if not isinstance(contacts, (str, Contact, Iterable)):
        raise ArgumentTypeError(f"contacts is {short(contacts)}; expected names of frames or kt.Contact")
    listed = [contacts] if isinstance(contacts, (str, Contact)) else list(contacts)
    found = []
    for contact in listed:
        if not isinstance(contact, (str, Contact)):
            raise ArgumentTypeError(f"contacts has {short(contact)}; expected names of frames or kt.Contact")
        found.append(Contact(contact) if isinstance(contact, str) else contact)
        robot.frame(found[-1].frame)
    return tuple(found)


def _force(robot: Robot, frame: str, wrench: ArrayLike) -> Array:
    robot.frame(frame)
    size = 3 if np.shape(wrench) == (3,) else 6
    return as_constant(f"wrenches[{frame!r}]", wrench, (size,))
