"""Robots in the browser: a web server with a scene, a panel for every robot, and a thread that moves them."""

from __future__ import annotations

import threading
import time
import webbrowser
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_number
from kinetree.base.files import replaced, write_text
from kinetree.base.locks import ReentrantLock
from kinetree.errors import ArgumentError, ArgumentTypeError, KinetreeError, known, one_of, short
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.viewer import server as web
from kinetree.viewer.camera import LIGHTS, frame_scene, point_camera
from kinetree.viewer.export import recorded
from kinetree.viewer.panel import Panel
from kinetree.viewer.shown import ShownRobot
from kinetree.viewer.target import Target
from kinetree.viewer.together import Together, play_together

FRAME = 1.0 / 40.0
"""Between two pictures of something that moves [s]."""
NUMBERS = 0.1
"""Between two updates of the panel [s]."""
APART = 0.3
"""Between robots side by side, as a part of their width."""

Robots = Robot | Sequence[Robot] | Mapping[str, Robot]


class Viewer:
    """A viewer that shows robots at `url` until it is closed. All methods return at once; the page is updated.

    robots     one, several, or several by name
    q          the configuration to show first, (nq,); of several robots, one for each
    contacts   frames the robot stands on, by name or as `kt.Contact`; of several robots, one list for each
    show       what to show first: one of "visual", "collision" and "skeleton", or else the first of them that the
               robot has; and any of "frames", "names", "com", "support", "inertia", "forces"
    host       the address to listen at; other machines can connect only if it is not the loopback. Whoever connects
               needs the token in `url`
    port       to listen at; None takes one that is free
    open       whether to open the page in the user's browser
    title      of the panel; the robots' names if not given
    light      "studio" with reflections and shadows, or "plain", which is faster without a graphics card
    """

    def __init__(
        self,
        robots: Robots,
        *,
        q: Any = None,
        contacts: Any = (),
        show: Iterable[str] | None = None,
        host: str = web.LOOPBACK,
        port: int | None = None,
        open: bool = False,
        title: str | None = None,
        light: str = "studio",
    ) -> None:
        named, self._light = _named(robots), one_of("light", light, LIGHTS)
        self.lock, self._wake, self._closed = ReentrantLock(), threading.Event(), threading.Event()
        self.server, self._access = web.start(host, port, title or ", ".join(named))
        try:
            self.robots = self._staged(named, q, contacts, show)
            frame_scene(self.server, self._stages, self._light)
            self.panels = self._panels()
        except BaseException:
            web.stop(self.server)
            raise
        self.server.on_client_connect(lambda client: point_camera(client, self._stages))
        self._thread = threading.Thread(target=self._run, name="kinetree viewer", daemon=True)
        self._thread.start()
        self._wake.set()
        if open:
            webbrowser.open(self.url)

    # -- what it is --------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The address of the page, with its token."""
        host = web.LOOPBACK if self._access.host in ("0.0.0.0", "::", "") else self._access.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/?token={self._access.token}"

    @property
    def port(self) -> int:
        return int(self.server.get_port())

    @property
    def first(self) -> ShownRobot:
        """The first robot, which the methods below are about."""
        return next(iter(self.robots.values()))

    @property
    def _open_first(self) -> ShownRobot:
        """The same, for what cannot be shown any more when the page is closed."""
        if self._closed.is_set():
            raise KinetreeError("the viewer is closed; robot.view() opens another")
        return self.first

    def __getitem__(self, name: str) -> ShownRobot:
        """A robot by name."""
        return self.robots[known("robot", name, self.robots)]

    def __repr__(self) -> str:
        state = "closed" if self._closed.is_set() else self.url
        return f"<Viewer of {', '.join(self.robots)}: {state}>"

    @property
    def _stages(self) -> list[Any]:
        return [shown.stage for shown in self.robots.values()]

    # -- the first robot ---------------------------------------------------------------------------------------

    @property
    def q(self) -> Array:
        """The configuration that is shown, (nq,); set it to show another."""
        return self.first.q

    @q.setter
    def q(self, q: ArrayLike) -> None:
        self._open_first.set(q)

    def set(self, q: ArrayLike, v: ArrayLike | None = None, wrenches: Mapping[str, ArrayLike] | None = None) -> None:
        """Show a state; see `ShownRobot.set`."""
        self._open_first.set(q, v, wrenches)

    def show(self, *layers: str, visible: bool = True) -> None:
        """Show or hide layers of all robots; see `ShownRobot.show`."""
        for shown in self.robots.values():
            shown.show(*layers, visible=visible)

    def play(self, motion: Any, **options: Any) -> None:
        """Play a motion; see `ShownRobot.play`. Several, by the names of robots, begin together, and a shorter one
        stays where it ends until the longest is over."""
        if isinstance(motion, Mapping):
            for name in motion:
                known("robot", name, self.robots)
            _ = self._open_first
            play_together(motion, self.robots, **options)
        else:
            self._open_first.play(motion, **options)

    def follow(self, frame: str | None, pose: ArrayLike | None = None) -> Target | None:
        """A target to drag; see `ShownRobot.follow`."""
        return self._open_first.follow(frame, pose)

    # -- pictures ----------------------------------------------------------------------------------------------

    def screenshot(
        self, path: str | Path | None = None, *, width: int = 1280, height: int = 800, timeout: float = 10.0
    ) -> Array:
        """A picture of the page, (height, width, 3) of bytes, drawn by a browser that has it open; as a PNG in `path`.

        timeout   how long to wait for a browser to connect, and then for its picture [s]
        """
        client = self._client(as_number("timeout", timeout))
        try:
            pixels = client.get_render(height=height, width=width, transport_format="png", timeout=timeout)
        except (TimeoutError, RuntimeError) as problem:
            raise KinetreeError(f"the browser sent no picture: {problem}") from None
        picture = on_white(np.asarray(pixels))
        if path is not None:
            with replaced(path) as file:
                file.write_bytes(web.png(picture))
        return picture

    def _client(self, timeout: float) -> Any:
        end = time.monotonic() + timeout
        while not self.server.get_clients():
            if time.monotonic() > end or self._closed.is_set():
                raise KinetreeError(f"no browser shows {self.url}; open it there, then ask for a screenshot")
            time.sleep(0.05)
        return next(iter(self.server.get_clients().values()))

    def export(self, path: str | Path, *, rate: float = 30.0) -> Path:
        """A page that needs no server and no network: the scene as it is shown, and the motions that robots play, at
        `rate` pictures a second."""
        if not 0.0 < as_number("rate", rate) <= 240.0:
            raise ArgumentError(f"rate is {rate:g}; expected pictures a second, up to 240")
        with self.lock:
            page = recorded(self.robots, float(rate), self._light)
        write_text(path, page)
        return Path(path)

    # -- until when --------------------------------------------------------------------------------------------

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until it is closed, or so many seconds; whether it is. Control-C closes it."""
        try:
            return self._closed.wait(timeout)
        except KeyboardInterrupt:
            self.close()
            return True

    def close(self) -> None:
        """Ends the page and the server; the port is free afterwards."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._wake.set()
        self._thread.join(timeout=10.0)
        web.stop(self.server)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -- inside ------------------------------------------------------------------------------------------------

    def _staged(self, named: Mapping[str, Robot], q: Any, contacts: Any, show: Any) -> dict[str, ShownRobot]:
        """Every robot on its stage, side by side along y."""
        count = len(named)
        configurations = [q] if count == 1 else [None] * count if q is None else list(q)
        held: list[Any] = [contacts] if count == 1 else list(contacts) or [()] * count
        for argument, values in (("q", configurations), ("contacts", held)):
            if len(values) != count:
                raise ArgumentError(f"{argument} has {len(values)} entries; expected one for each of {count} robots")
        robots: dict[str, ShownRobot] = {}
        options: dict[str, Any] = {"show": show, "lock": self.lock, "wake": self._wake}
        edge = 0.0
        for (name, robot), at, stands in zip(named.items(), configurations, held, strict=True):
            shown = ShownRobot(self.server, robot, name, q=at, contacts=stands, **options)
            low, high = (float(corner[1]) for corner in shown.stage.extent())
            if robots:
                gap = APART * max(high - low, 0.5)
                shown.stage.base.position = (0.0, edge + gap - low, 0.0)
                edge += gap + (high - low)
            else:
                edge = high
            robots[name] = shown
        return robots

    def _panels(self) -> list[Panel | Together]:
        """A tab for every robot, and one for what is shown; above them, one clock for several robots."""
        gui, single = self.server.gui, len(self.robots) == 1
        together = [] if single else [Together(self.robots, gui)]
        tabs = gui.add_tab_group()
        moving = [tabs.add_tab("Move" if single else name) for name in self.robots]
        show, panels = tabs.add_tab("Show"), list[Panel]()
        for (name, shown), tab in zip(self.robots.items(), moving, strict=True):
            with show:
                looks = gui.add_folder("Layers" if single else name)
            panels.append(Panel(shown, tab, looks))
        with show, gui.add_folder("Page"):
            self._buttons()
        return [*together, *panels]

    def _buttons(self) -> None:
        for label, icon, action in (
            ("Reset camera", "camera-rotate", lambda event: point_camera(event.client, self._stages)),
            ("Screenshot", "camera", lambda event: self._send_picture(event.client)),
            ("Save as HTML", "download", lambda event: self._send_page(event.client)),
        ):
            self.server.gui.add_button(label, icon=icon).on_click(action)

    def _send_picture(self, client: Any) -> None:
        view = client.camera
        pixels = client.get_render(view.image_height, view.image_width, transport_format="png", timeout=20.0)
        self._send(client, "png", web.png(on_white(pixels)))

    def _send_page(self, client: Any) -> None:
        with self.lock:
            text = recorded(self.robots, 30.0, self._light)
        self._send(client, "html", text.encode())

    def _send(self, client: Any, suffix: str, content: bytes) -> None:
        client.send_file_download(f"{'_'.join(self.robots)}.{suffix}", content, save_immediately=True)

    def _run(self) -> None:
        """Advances what moves, then lets the panels follow; sleeps while nothing happens."""
        last = 0.0
        while not self._closed.is_set():
            self._wake.clear()
            started = time.monotonic()
            with self.lock:
                now = time.monotonic()
                busy = any([shown.tick(now) for shown in self.robots.values()])
            if started - last >= NUMBERS or not busy:
                last = started
                for panel in self.panels:
                    panel.update()
            if busy:
                self._closed.wait(max(0.0, FRAME - (time.monotonic() - started)))
            else:
                self._wake.wait()


def view(robot: Robot, motion: Any = None, **options: Any) -> Viewer:
    """A viewer of one robot, which plays a motion if one is given; several, by name, side by side."""
    viewer = Viewer(dict.fromkeys(motion, robot) if isinstance(motion, Mapping) and motion else robot, **options)
    if motion is not None:
        try:
            viewer.play(motion)
        except BaseException:
            viewer.close()
            raise
    return viewer


def on_white(pixels: Array) -> Array:
    """An image with opacity, (h, w, 4), on white."""
    if pixels.shape[-1] == 3:
        return pixels
    opacity = pixels[..., 3:].astype(float) / 255.0
    return np.round(pixels[..., :3] * opacity + 255.0 * (1.0 - opacity)).astype(np.uint8)


def _named(robots: Robots) -> dict[str, Robot]:
    """The robots by names that differ."""
    several = (robots,) if isinstance(robots, Robot) else robots
    if not isinstance(several, (Sequence, Mapping)):
        raise ArgumentTypeError(f"robots is {short(robots)}; expected robots, such as kt.load gives")
    listed = several.items() if isinstance(several, Mapping) else [(None, robot) for robot in several]
    named: dict[str, Robot] = {}
    for given, robot in listed:
        if not isinstance(robot, Robot):
            raise ArgumentTypeError(f"robots has {short(robot)}; expected robots, such as kt.load gives")
        name = robot.name if given is None else given
        count = sum(other == name or other.startswith(f"{name} ") for other in named)
        named[f"{name} {count + 1}" if count else name] = robot
    if not named:
        raise ArgumentError("robots is empty; expected at least one")
    return named
