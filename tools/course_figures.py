"""Draws the pictures of the course, docs/course/*.svg, from the numbers of the library: python tools/course_figures.py

Their greys and colours are readable on a light and on a dark page; `tests/course/test_figures.py` draws them again and
compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import kinetree as kt
from kinetree import flight

FOLDER = Path(__file__).parents[1] / "docs" / "course"
COLOURS = {"g": "#78909c", "r": "#d9534f", "b": "#3b82c4", "o": "#d98b1f"}
HEAD = (
    '<marker id="{0}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6" markerHeight="6" '
    'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="{1}"/></marker>'
)
STYLE = (
    'text{font:italic 17px "STIX Two Math","Times New Roman",serif;fill:#78909c}.n{font-style:normal}'
    + "".join(f".{key}{{stroke:{colour};fill:none;stroke-width:2}}" for key, colour in COLOURS.items())
    + ".link{stroke:#3b82c4;stroke-width:7;stroke-linecap:round;stroke-linejoin:round;fill:none}"
    + ".dash{stroke-dasharray:5 4}.thin{stroke-width:1.2}.faint{opacity:.45}"
)
Point = Sequence[float]


class Drawing:
    """A picture in pixels; `at` maps coordinates of its subject (x to the right, y up) to them."""

    def __init__(self, width: int, height: int, origin: Point = (0.0, 0.0), scale: float | Point = 1.0) -> None:
        self.width, self.height, self.parts = width, height, list[str]()
        self.move(origin, scale)

    def move(self, origin: Point, scale: float | Point) -> None:
        """Puts the subject's (0, 0) at a pixel, and gives pixels per unit."""
        self.origin = np.array(origin, dtype=float)
        self.scale = np.broadcast_to(scale, 2) * np.array([1.0, -1.0])

    def at(self, point: Any) -> np.ndarray:
        return self.origin + self.scale * np.asarray(point, dtype=float)

    def line(self, *points: Any, kind: str = "g", arrow: str = "") -> None:
        """Through points; `arrow` puts heads of that colour at the end."""
        ends = f' marker-end="url(#{arrow})"' if arrow else ""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in self.at(points))
        self.parts.append(f'<polyline class="{kind}" points="{path}"{ends}/>')

    def arrow(self, start: Any, vector: Any, kind: str = "r") -> None:
        self.line(start, np.add(start, vector), kind=kind, arrow=kind.partition(" ")[0])

    def dot(self, point: Any, colour: str = "r", radius: float = 5.0, hollow: bool = False) -> None:
        x, y = self.at(point)
        fill, stroke = ("#fff", f' stroke="{COLOURS[colour]}" stroke-width="2.5"') if hollow else (COLOURS[colour], "")
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{fill}"{stroke}/>')

    def text(self, point: Any, words: str, shift: Point = (0, 0), plain: bool = True, end: str = "start") -> None:
        """Words at a point, moved by pixels; symbols are italic with plain=False."""
        x, y = self.at(point) + shift
        upright = ' class="n"' if plain else ""
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(f'<text{upright} x="{x:.1f}" y="{y:.1f}" text-anchor="{end}">{words}</text>')

    def arc(self, center: Any, radius: float, start: float, stop: float, kind: str = "g", arrow: bool = True) -> None:
        """About a point, by angles in rad."""
        angles = np.linspace(start, stop, 25)
        points = np.asarray(center) + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        self.line(*points, kind=kind, arrow=kind.partition(" ")[0] if arrow else "")

    def box(self, corner: Any, size: Any, kind: str = "g", fill: str = "none", opacity: float = 1.0) -> None:
        """From its lower left corner."""
        (x, y), (right, top) = self.at(corner), self.at(np.add(corner, size))
        place = f'x="{x:.1f}" y="{top:.1f}" width="{right - x:.1f}" height="{y - top:.1f}"'
        self.parts.append(f'<rect class="{kind}" style="fill:{fill};fill-opacity:{opacity:g}" {place}/>')

    def axes(self, x: Point, y: Point, names: tuple[str, str] = ("x", "z")) -> None:
        """Two lines through the origin."""
        for ends, name, shift in (
            (((x[0], 0.0), (x[1], 0.0)), names[0], (0, 19)),
            (((0.0, y[0]), (0.0, y[1])), names[1], (-8, 8)),
        ):
            self.line(*ends, kind="g thin", arrow="g")
            self.text(ends[1], name, shift, plain=False, end="end")

    def plot(self, x: Any, curves: Iterable[tuple[Any, str]], box: Point, names: tuple[str, str], span: Point) -> None:
        """Curves in a box of pixels (x, y, width, height) with ticks at the ends of both axes; `span` is that of y."""
        left, top, width, height = box
        x = np.asarray(x, dtype=float)
        low, high = span
        scale = (width / np.ptp(x), height / (high - low))
        self.move((left - x.min() * scale[0], top + height + low * scale[1]), scale)
        self.box((x.min(), low), (np.ptp(x), high - low), kind="g thin")
        if low < 0.0 < high:
            self.line((x.min(), 0.0), (x.max(), 0.0), kind="g thin dash")
        for values, kind in curves:
            self.line(*np.stack([x, np.clip(values, low, high)], axis=1), kind=kind)
        for value, end in ((x.min(), "start"), (x.max(), "end")):
            self.text((value, low), f"{value:g}".replace("-", "−"), (0, 19), end=end)
        self.text((x.mean(), low), names[0], (0, 20), end="middle")
        for value, down in ((low, 0), (high, 12)):
            self.text((x.min(), value), f"{value:g}".replace("-", "−"), (-6, down), end="end")
        self.text((x.min(), high), names[1], (0, -8))

    def svg(self, title: str) -> str:
        heads = "".join(HEAD.format(*each) for each in COLOURS.items())
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" role="img" aria-label="{title}"><title>{title}</title><defs>{heads}</defs>'
            f"<style>{STYLE}</style>{''.join(self.parts)}</svg>\n"
        ).replace("−0.0,", "0.0,")


FIGURES: dict[str, tuple[str, Callable[[], Drawing]]] = {}


def figure(name: str, title: str) -> Callable[[Callable[[], Drawing]], Callable[[], Drawing]]:
    """The picture NAME.svg, with a text for those who do not see it."""

    def add(draw: Callable[[], Drawing]) -> Callable[[], Drawing]:
        FIGURES[name] = title, draw
        return draw

    return add


def planar(d: Drawing, q: Any, kind: str = "link", tip: bool = True) -> np.ndarray:
    """The arm of two links; returns shoulder, elbow and tip."""
    robot = kt.load("planar2").eager
    elbow, end = robot.poses(np.array(q, dtype=float))[1, [0, 2], 3], robot.frame("tip").pose(np.array(q))[[0, 2], 3]
    points = np.array([[0.0, 0.0], elbow, end])
    d.line(*points, kind=kind)
    for joint in points[:2]:
        d.dot(joint, "b", 7, hollow=True)
    if tip:
        d.dot(end)
    return points


def skeleton(d: Drawing, robot: kt.Robot, q: np.ndarray, axes: tuple[int, int], kind: str = "b") -> None:
    """A line from every body to its parent, seen along the third axis."""
    eager = robot.eager
    places = eager.poses(q)[:, axes, 3]
    for body, parent in enumerate(robot.model.parents[1:]):
        if parent > 0:
            d.line(places[parent - 1], places[body], kind=kind)
    leaves = [name for name in robot.frame_names if name.endswith(("_foot", "_sole", "_hand", "head"))]
    for name in leaves:
        frame = eager.frame(name)
        end = frame.pose(q)[axes, 3]
        nearest = np.argmin(np.linalg.norm(eager.poses(q)[:, :3, 3] - frame.pose(q)[:3, 3], axis=1))
        d.line(places[nearest], end, kind=kind)


def standing_dog() -> tuple[kt.Robot, np.ndarray]:
    robot = kt.load("quadruped", base="floating")
    legs = {"haa": 0.0, "hfe": 0.6, "kfe": -1.2}
    return robot, robot.configuration({name: legs[name[-3:]] for name in robot.joint_names})


@figure("rotation", "Frame B is frame A rotated by 30 degrees about z")
def rotation() -> Drawing:
    d = Drawing(420, 270, (150, 220), 160)
    R = kt.rotations.matrix_from_rotation_vector(np.array([0.0, 0.0, np.pi / 6]))[:2, :2]
    for axis, name, mark in ((0, "x", (4, 18)), (1, "y", (8, 10))):
        d.arrow((0, 0), np.eye(2)[axis], "g")
        d.text(np.eye(2)[axis], f"{name} of A", mark, plain=False)
        d.arrow((0, 0), R[:, axis], "b")
    d.arc((0, 0), 0.45, 0.0, np.pi / 6)
    d.text((0.47, 0.1), "30°")
    d.text(R[:, 0], f"({R[0, 0]:.3f}, {R[1, 0]:.1f})", (4, 2))
    d.text(R[:, 1], f"(−{-R[0, 1]:.1f}, {R[1, 1]:.3f})", (-62, -8))
    return d


@figure("jacobian", "The columns of the Jacobian of the tip, each at a right angle to its lever arm")
def jacobian() -> Drawing:
    d = Drawing(430, 330, (80, 280), 200)
    d.axes((-0.2, 1.6), (-0.1, 1.1))
    q = (0.0, np.pi / 2)
    shoulder, elbow, tip = planar(d, q)
    J = kt.load("planar2").eager.frame("tip").jacobian(np.array(q))[[0, 2]]
    d.line(shoulder, tip, kind="g dash")
    for column, words, shift in ((0, "joint 1: (−0.5, 1)", (14, 4)), (1, "joint 2: (−0.5, 0)", (-136, -6))):
        d.arrow(tip, 0.55 * J[:, column])
        d.text(tip + 0.55 * J[:, column], words, shift)
    d.text(tip, "tip (1, 0.5)", (12, 6))
    d.text(elbow, "1 m", (-110, 20))
    d.text(elbow, "0.5 m", (10, -40))
    return d


@figure("two_solutions", "Two configurations of the planar arm with the tip at the same point")
def two_solutions() -> Drawing:
    d = Drawing(400, 290, (60, 230), 200)
    d.axes((-0.15, 1.5), (-0.15, 1.0))
    first = np.arctan2(0.5, 1.0)
    planar(d, (2.0 * first, -np.pi / 2), kind="link faint")
    _, _, tip = planar(d, (0.0, np.pi / 2))
    d.line((0, 0), tip, kind="g dash")
    d.text(tip, "tip (1, 0.5)", (10, 0))
    d.text((1, 0), "q = (0°, 90°)", (-50, 26))
    d.text((0.6, 0.8), f"q = ({np.degrees(2 * first):.2f}°, −90°)", (-40, -14))
    return d


@figure("twist", "Velocities of two points of a body that rotates about A")
def twist() -> Drawing:
    d = Drawing(400, 240, (80, 190), 400)
    for r in (0.1, 0.2, 0.3, 0.4):
        d.arrow((r, 0), (0, 0.5 * r), "g")
    d.line((0, 0), (0.5, 0), kind="link")
    d.arrow((0.5, 0), (0, 0.25))
    d.dot((0, 0), "b", 7, hollow=True)
    d.dot((0.5, 0), "b")
    d.arc((0, 0), 0.09, 0.5, 4.6)
    d.text((0, 0), "A", (-6, 28))
    d.text((0.5, 0), "B", (-6, 28))
    d.text((0.25, 0), "r = 0.5 m", (-30, 24))
    d.text((0, 0), "ω = 2 rad/s", (-62, -44))
    d.text((0.5, 0.25), "1 m/s", (-20, -8))
    return d


@figure("free_body", "Forces on one link: that of its parent, its weight, and that of its child in reverse")
def free_body() -> Drawing:
    d = Drawing(430, 280, (90, 190), 220)
    start, end = np.array([0.0, 0.0]), np.array([1.0, 0.35])
    center = 0.5 * (start + end)
    d.line(start, end, kind="link")
    d.arrow(start, (0.05, 0.5), "b")
    d.arrow(center, (0.0, -0.35), "g")
    d.arrow(end, (0.1, -0.4), "b")
    d.arc(start, 0.2, 2.2, 4.1, kind="b")
    d.arc(end, 0.17, 1.0, -0.9, kind="b")
    for joint in (start, end):
        d.dot(joint, "b", 7, hollow=True)
    d.dot(center)
    d.text((0.05, 0.5), "fᵢ", (8, 8), plain=False)
    d.text((-0.2, 0), "nᵢ", (-24, 6), plain=False)
    d.text(center, "m g", (8, 74), plain=False)
    d.text((1.1, -0.05), "−fⱼ", (6, 6), plain=False)
    d.text((1.2, 0.35), "−nⱼ", (2, -16), plain=False)
    d.text(center, "centre of mass", (-92, -30))
    return d


@figure("passes", "Velocities and accelerations go from the base to the tip, forces from the tip to the base")
def passes() -> Drawing:
    d = Drawing(470, 220, (60, 120), 110)
    names = ("base", "body 1", "body 2", "body 3")
    for k, name in enumerate(names):
        d.box((k - 0.34, -0.16), (0.68, 0.32), kind="b")
        d.text((k, 0), name, (0, 6), end="middle")
    for k in range(3):
        d.line((k, 0.22), (k + 0.5, 0.42), (k + 0.95, 0.22), kind="b", arrow="b")
        d.line((k + 1, -0.22), (k + 0.5, -0.42), (k + 0.05, -0.22), kind="r", arrow="r")
    d.text((1.5, 0.42), "outward: v, a by (4)–(7), net forces by (8)", (0, -18), end="middle")
    d.text((1.5, -0.42), "inward: f by (9), τ by (10)", (0, 30), end="middle")
    return d


@figure("mass_matrix", "Entries of the mass matrix of a quadruped: base, four legs, and zeros between legs")
def mass_matrix() -> Drawing:
    robot = kt.load("quadruped", base="floating")
    M = robot.eager.mass_matrix(robot.random(np.random.default_rng(0)))
    d = Drawing(450, 320, (60, 30), (15, 15))
    d.box((0, -18), (18, 18), kind="g thin")
    for i, j in zip(*np.nonzero(M), strict=True):
        d.box((j, -i - 1), (1, 1), kind="", fill=COLOURS["b" if min(i, j) >= 6 else "g"], opacity=0.75)
    for start, size, name in ((0, 6, "base"), (6, 3, "leg 1"), (9, 3, "leg 2"), (12, 3, "leg 3"), (15, 3, "leg 4")):
        d.text((-0.4, -start - size / 2), name, (0, 5), end="end")
    d.text((18.6, -7), "zeros:")
    d.text((18.6, -8.4), "legs are")
    d.text((18.6, -9.8), "not coupled")
    return d


@figure("centrifugal", "The centrifugal force on the mass at the tip, with its lever arm about the elbow")
def centrifugal() -> Drawing:
    d = Drawing(430, 310, (70, 250), 200)
    shoulder, elbow, tip = planar(d, (0.0, np.pi / 2))
    d.line(shoulder, tip, kind="g dash")
    d.arrow(tip, 0.45 * tip)
    d.arc(shoulder, 0.22, -0.5, 0.9, kind="g")
    d.text((0.22, 0.0), "1 rad/s", (12, 22))
    d.text(tip + 0.45 * tip, "m ω² r = 1.118 N", (-118, -8))
    d.text(tip, "1 kg", (12, 16))
    d.text(elbow, "elbow: 0.5 N m", (14, 20))
    return d


@figure("falling_arm", "The planar arm falls from rest: every tenth of a second")
def falling_arm() -> Drawing:
    shown = kt.load("planar2").rollout(np.zeros(2), np.zeros(2), None, dt=1e-3, steps=400).q[::100]
    d = Drawing(480, 330, (60, 60), 200)
    d.axes((-0.2, 1.95), (-1.2, 0.2))
    for k, each in enumerate(shown):
        _, _, tip = planar(d, each, kind="link" if k == 4 else "link faint", tip=False)
        d.dot(tip, "r", 4)
        d.text(tip, "" if k == 1 else f"{0.1 * k:.1f} s", (10, 5 if k else -10))
    return d


@figure("spring", "The planar arm with a spring from its tip to a point")
def spring() -> Drawing:
    d = Drawing(400, 350, (110, 310), 140)
    d.axes((-0.5, 1.6), (-0.15, 2.05))
    _, elbow, tip = planar(d, (0.3, 0.8), tip=False)
    hook = np.array([0.0, 2.0])
    along = hook - tip
    across = np.array([-along[1], along[0]]) / np.linalg.norm(along)
    ends = [tip, tip + 0.15 * along]
    zigzag = [tip + s * along + (-1) ** k * 0.06 * across for k, s in enumerate(np.linspace(0.2, 0.8, 13))]
    d.line(*ends, *zigzag, hook - 0.15 * along, hook, kind="r")
    d.dot(hook, "g")
    d.dot(tip, "b")
    d.text(hook, "(0, 0, 2)", (-94, 20))
    d.text(0.5 * (hook + tip), "30 N/m, 0.5 m at rest", (16, -6))
    d.text(elbow, "2 kg", (10, 18))
    d.text(tip, "1 kg", (12, 8))
    return d


@figure("floating_base", "A humanoid with the frame of its base, its centre of mass G and the momentum about it")
def floating_base() -> Drawing:
    robot = kt.load("humanoid", base="floating")
    q = robot.neutral()
    d = Drawing(470, 380, (170, 175), 175)
    skeleton(d, robot, q, (1, 2), "b")
    base, G = np.zeros(2), robot.eager.center_of_mass(q)[1:]
    d.arrow(base, (0.3, 0.0), "g")
    d.arrow(base, (0.0, 0.3), "g")
    d.dot(base, "g")
    d.dot(G)
    d.arc(G, 0.14, 0.3, 5.4, kind="r")
    d.arrow(G, (-0.5, 0.25))
    d.text((0.3, 0.0), "base: 6 velocities, no motor", (-30, 20))
    d.text(G, "G", (10, -14), plain=False)
    d.text(np.add(G, (-0.5, 0.25)), "m ċ", (-34, 4), plain=False)
    d.text(G, "kᴳ", (-68, 24), plain=False)
    d.text((0.0, -0.97), "60 kg", (-16, 30))
    return d


@figure("cat_loop", "Joints go round a closed loop; meanwhile the base has turned")
def cat_loop() -> Drawing:
    robot = kt.load("quadruped", base="floating", gravity=(0, 0, 0))
    q, steps, turned = robot.neutral(), 100, [0.0]
    angles = 2 * np.pi * np.arange(steps + 1) / steps
    loop = 0.6 * np.stack([np.sin(angles), np.cos(angles) - 1.0])
    for change in np.diff(loop, axis=1).T:
        V = np.zeros(18)
        V[6::3], V[7::3] = change
        V[:6] = -robot.locked_velocity(q, V)
        q = robot.integrate(q, V)
        turned.append(np.degrees(2 * np.arccos(min(1.0, abs(q[6])))))
    d = Drawing(500, 250, (110, 60), 110)
    d.axes((-0.8, 0.85), (-1.4, 0.3), ("hips", "thighs"))
    d.line(*loop.T, kind="b")
    d.line(*loop.T[:14], kind="b", arrow="b")
    d.dot((0, 0), "b")
    d.plot(
        np.linspace(0, 1, steps + 1), [(turned, "r")], (270, 40, 200, 160), ("part of the loop", "turned [°]"), (0, 40)
    )
    return d


@figure("contact_forces", "A standing quadruped with the forces of the ground and their friction cones")
def contact_forces() -> Drawing:
    robot, q = standing_dog()
    feet = [name for name in robot.frame_names if name.endswith("foot")]
    d = Drawing(440, 330, (220, 100), 330)
    skeleton(d, robot, q, (0, 2))
    rest = np.zeros(robot.nv)
    stance = robot.constrained([kt.Contact(foot) for foot in feet])
    _, f = stance.inverse_dynamics(q, rest, rest)
    G = robot.eager.center_of_mass(q)[[0, 2]]
    ground = robot.eager.frame(feet[0]).pose(q)[2, 3]
    d.line((-0.6, ground), (0.6, ground), kind="g thin")
    for foot, rows in zip(feet, stance.rows, strict=True):
        if "left" in foot:
            at, force = robot.eager.frame(foot).pose(q)[[0, 2], 3], f[rows][[0, 2]]
            d.line(np.add(at, (-0.18, 0.3)), at, np.add(at, (0.18, 0.3)), kind="g thin dash")
            d.arrow(at, force / 400.0)
            d.text(at, f"{force[1]:.0f} N", (-20, 22))
    d.arrow(G, (0, -0.3), "g")
    d.dot(G, "g")
    d.text(G, f"m g = {robot.mass * 9.81:.0f} N", (-38, -22))
    d.text((-0.6, 0.1), "μ = 0.6: forces stay in the dashed cones", (0, -22))
    return d


@figure("sag", "A joint under impedance control, with and without gravity compensation")
def sag() -> Drawing:
    robot, goal, curves = kt.load("planar2"), np.array([0.3, 0.0]), []
    for compensated in (False, True):
        control = kt.control.JointImpedance(robot, (200.0, 100.0), (40.0, 20.0), gravity=compensated)
        law = kt.compile(lambda robot, q, v: control(q, v, goal))  # noqa: B023 - traced before the next turn
        path = robot.rollout(np.zeros(2), np.zeros(2), law, dt=5e-3, steps=400)
        curves.append(path.q[:, 0])
    t = path.t
    d = Drawing(440, 270)
    shown = [(curves[0], "r"), (curves[1], "b"), (np.full(len(t), 0.3), "g thin dash")]
    d.plot(t, shown, (70, 40, 330, 180), ("time [s]", "first joint of planar2 [rad]"), (-0.2, 0.4))
    d.text((2.0, 0.3), "goal, and with G(q)", (-6, -8), end="end")
    d.text((2.0, curves[0][-1]), "without G(q)", (-6, -10), end="end")
    return d


@figure("inertia_ellipse", "The inertia that the tip of the planar arm shows: 1 kg along x, 3 kg along z")
def inertia_ellipse() -> Drawing:
    d = Drawing(440, 330, (70, 270), 190)
    d.axes((-0.2, 1.85), (-0.15, 1.3))
    q = np.array([0.0, np.pi / 2])
    planar(d, q)
    Lambda = kt.load("planar2").eager.frame("tip").operational_space_inertia(q, task=("x", "z"))
    round_ = np.stack([np.cos(np.linspace(0, 2 * np.pi, 60)), np.sin(np.linspace(0, 2 * np.pi, 60))])
    tip = np.array([1.0, 0.5])
    d.line(*(tip + 0.22 * (Lambda @ round_).T), kind="r")
    d.text(tip, f"{Lambda[0, 0]:.0f} kg", (48, 6))
    d.text(np.add(tip, (0.0, 0.66)), f"{Lambda[1, 1]:.0f} kg", (10, 0))
    return d


@figure("quadratic_program", "Tasks, contacts and limits enter a quadratic program, and torques come out")
def quadratic_program() -> Drawing:
    d = Drawing(520, 230)
    rows = (("tasks: minimise", 40), ("contacts: equations, cones", 90), ("limits: inequalities", 140))
    for words, y in rows:
        d.parts.append(f'<rect class="b" x="6" y="{y}" width="262" height="34"/>')
        d.text((137, -y - 23), words, end="middle")
        d.line((268, -y - 17), (316, -107), kind="g", arrow="g")
    d.parts.append('<rect class="r" x="320" y="80" width="84" height="54"/>')
    d.text((362, -112), "QP", end="middle")
    d.line((404, -107), (440, -107), kind="g", arrow="g")
    d.text((446, -112), "a, f, τ", plain=False)
    d.text((137, -200), "M a + b + g = Sᵀτ + Jᵀf", plain=False, end="middle")
    d.line((268, -195), (316, -125), kind="g", arrow="g")
    return d


@figure("energy_drift", "Energy of the planar arm under three integrators")
def energy_drift() -> Drawing:
    robot, curves = kt.load("planar2"), []
    for kind in ("semi-implicit-euler", "midpoint", "rk4"):
        path = robot.rollout([0.5, -0.3], np.zeros(2), None, dt=0.01, steps=500, integrator=kind)
        energy = robot.kinetic_energy(path.q, path.v) + robot.potential_energy(path.q)
        curves.append(energy - energy[0])
    d = Drawing(460, 280)
    shown = list(zip(curves, ("o", "r", "b"), strict=True))
    d.plot(path.t, shown, (70, 40, 350, 190), ("time [s]", "change of energy [J], steps of 0.01 s"), (-2, 4))
    for k, (words, x, y) in enumerate((("semi-implicit Euler", 0.4, 3.4), ("midpoint", 0.4, -1.0), ("RK4", 0.4, -1.6))):
        d.text((x, y), words)
        d.line((x - 0.25, y + 0.25), (x - 0.05, y + 0.25), kind="orb"[k])
    return d


@figure("quadrotor", "A quadrotor from above: places and directions of its rotors")
def quadrotor() -> Drawing:
    robot = kt.load("quadrotor", base="floating")
    rotors = [part for part in flight.aircraft("quadrotor").parts if isinstance(part, flight.Rotor)]
    d = Drawing(440, 350, (220, 175), 560)
    places = [robot.eager.frame(rotor.frame).pose(robot.neutral())[:2, 3] for rotor in rotors]
    seen = [np.array([-y, x]) for x, y in places]  # x of the body is up on the page
    for k, (at, rotor) in enumerate(zip(seen, rotors, strict=True), start=1):
        d.line((0, 0), at, kind="link")
        spin = 1.0 if rotor.direction > 0 else -1.0
        d.arc(at, 0.085, 0.4, 0.4 + spin * 5.0, kind="r" if spin > 0 else "b")
        d.text(1.75 * at, f"{k}", (-5, 6))
    d.arrow((0, 0), (0, 0.24), "g")
    d.arrow((0, 0), (-0.24, 0), "g")
    d.text((0, 0.24), "x", (8, 6), plain=False)
    d.text((-0.24, 0), "y", (-2, -8), plain=False)
    return d


@figure("flat_path", "A path of minimum snap through waypoints, from the side, with thrusts along it")
def flat_path() -> Drawing:
    robot = kt.load("quadrotor", base="floating")
    path = flight.minimum_snap([[0, 0, 1], [2, 1, 2], [3, -1, 1.5], [0, 0, 1]], [0, 1.0, 2.0, 3.0], [0, 1.0, 2.0, 0])
    t = np.linspace(0.0, 3.0, 121)
    points = np.array([path(each).position for each in t])
    d = Drawing(500, 330, (60, 310), (95, 95))
    d.axes((-0.3, 4.3), (-0.1, 3.0))
    d.line(*points[:, [0, 2]], kind="b")
    for when in np.linspace(0.2, 2.8, 9):
        now = path(when)
        thrust = np.asarray(now.acceleration) - robot.gravity
        d.arrow(np.asarray(now.position)[[0, 2]], 0.035 * thrust[[0, 2]])
    for when in (0.0, 1.0, 2.0):
        d.dot(np.asarray(path(when).position)[[0, 2]], "g")
    d.text((1.9, 2.5), "thrust along ẍ − g", (0, -22))
    return d


@figure("lift", "Lift coefficient of a wing over the angle of attack: linear, then stall")
def lift() -> Drawing:
    wing = flight.LinearPolar(5.0, lift=0.25, drag=0.02, induced=1 / (np.pi * 0.9 * 10))
    degrees = np.linspace(-5.0, 30.0, 141)
    section = wing.at(np.radians(degrees))
    d = Drawing(450, 290)
    line = 0.25 + 5.0 * np.radians(degrees)
    shown = [(section.lift, "b"), (section.drag, "r")]
    d.plot(degrees, shown, (60, 40, 350, 200), ("angle of attack [°]", "coefficients"), (-0.5, 2.0))
    d.line(*np.stack([degrees, line], axis=1)[degrees < 18.0], kind="g dash")
    d.text((3.0, 1.1), "lift", (-8, 0))
    d.text((5.0, 0.14), "drag")
    d.text((18.6, 1.75), "0.25 + 5 α")
    return d


@figure("modes", "Eigenvalues of the aircraft in level flight at 25 m/s")
def modes() -> Drawing:
    plane, craft = kt.load("fixed_wing", base="floating"), flight.aircraft("fixed_wing")
    found = flight.modes(flight.linearize(plane, craft, flight.trim(plane, craft, 25.0)))
    d = Drawing(500, 350, (400, 175), 14.5)
    d.axes((-26.0, 6.0), (-11.5, 11.5), ("Re [1/s]", "Im [1/s]"))
    shifts = {
        "roll": (-14, -12),
        "spiral": (6, -10),
        "phugoid": (-76, -10),
        "dutch roll": (-94, 5),
        "short period": (-112, 5),
    }
    for name, mode in found.items():
        for value in np.atleast_1d(mode.eigenvalue):
            for each in {complex(value), complex(value).conjugate()}:
                d.dot((each.real, each.imag), "r" if abs(each.imag) > 1e-9 else "b")
        top = complex(np.atleast_1d(mode.eigenvalue)[0])
        d.text((top.real, abs(top.imag)), name, shifts.get(name, (-40, -12)))
    return d


@figure("line_course", "Courses of the vector field towards a line")
def line_course() -> Drawing:
    d = Drawing(520, 280, (40, 140), 3.6)
    d.line((0, 0), (110, 0), kind="b", arrow="b")
    for along in range(5, 106, 20):
        for off in (-30, -20, -10, 10, 20, 30):
            course = -np.radians(70.0) * 2 / np.pi * np.arctan(0.1 * off)
            d.arrow((along, off), 9.0 * np.array([np.cos(course), np.sin(course)]), "g")
    d.text((110, 0), "the line", (10, 5))
    return d


@figure("regressor", "Entries of the regressor of an arm with six joints")
def regressor() -> Drawing:
    robot, rng = kt.load("arm6").eager, np.random.default_rng(0)
    Y = robot.regressor(robot.random(rng), rng.normal(size=6), rng.normal(size=6))
    d = Drawing(500, 190, (60, 40), (7, 18))
    d.box((0, -6), (60, 6), kind="g thin")
    for i, j in zip(*np.nonzero(np.abs(Y) > 1e-12), strict=True):
        d.box((j, -i - 1), (1, 1), kind="", fill=COLOURS["b"], opacity=0.75)
    for k in range(6):
        d.line((10 * k, 0), (10 * k, -6), kind="g thin")
        d.text((10 * k + 5, -6), f"body {k + 1}", (0, 18), end="middle")
        d.text((-1, -k - 0.5), f"τ{'₁₂₃₄₅₆'[k]}", (0, 5), plain=False, end="end")
    return d


@figure("invisible", "For the upper arm, the forearm is a point mass at the elbow")
def invisible() -> Drawing:
    d = Drawing(560, 230, (40, 180), 130)
    planar(d, (0.5, 0.6), tip=True)
    d.text((1.05, 0.9), "m₂, anywhere on it", (-60, -50))
    elbow = np.array([np.cos(0.5), np.sin(0.5)])
    d.text((1.45, 0.4), "=")
    d.move((310, 180), 130)
    d.line((0, 0), elbow, kind="link")
    d.dot((0, 0), "b", 7, hollow=True)
    d.dot(elbow, "r", 9)
    d.text(elbow, "m₂ at the elbow", (-60, -18))
    d.text((0.0, -0.2), "inertia of the upper arm + m₂ l₁²", (-30, 10))
    return d


def drawn(name: str) -> str:
    """The text of NAME.svg."""
    title, draw = FIGURES[name]
    return re.sub(r"-0\.0\b", "0.0", draw().svg(title))


def main() -> None:
    """Write them all."""
    for name in FIGURES:
        (FOLDER / f"{name}.svg").write_text(drawn(name), encoding="utf-8")


if __name__ == "__main__":
    main()
