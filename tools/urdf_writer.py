"""URDF documents of robots made of solid boxes, cylinders and spheres, written to be read.

A link's mass is spread evenly over the volume of its solids; its centre of mass and inertia follow from that. Lengths
are in m, masses in kg, angles in rad.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Vector = tuple[float, float, float]
ORIGIN: Vector = (0.0, 0.0, 0.0)
RIGHT_ANGLE = math.pi / 2
AXES = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1", "-y": "0 -1 0"}
TURNS: dict[str, Vector] = {"x": (0.0, RIGHT_ANGLE, 0.0), "y": (-RIGHT_ANGLE, 0.0, 0.0), "z": ORIGIN}
"""Roll, pitch, yaw that bring z onto an axis."""
COLOURS = {"light": "0.85 0.86 0.88 1", "dark": "0.2 0.22 0.25 1", "accent": "0.95 0.5 0.1 1"}


@dataclass(frozen=True)
class Solid:
    """One primitive of a link: where it is, how large, and what it looks like."""

    geometry: str
    volume: float
    unit_inertia: Vector
    """Principal moments about its own centre per mass [m²], in link axes."""
    at: Vector
    rpy: Vector
    colour: str
    drawn_only: bool
    """It has neither mass nor contacts."""


def box(x: float, y: float, z: float, at: Vector = ORIGIN, colour: str = "light", drawn_only: bool = False) -> Solid:
    """Edges along the link's axes: I_xx = m (y² + z²) / 12."""
    unit = ((y**2 + z**2) / 12, (z**2 + x**2) / 12, (x**2 + y**2) / 12)
    return Solid(f'<box size="{numbers((x, y, z))}"/>', x * y * z, unit, at, ORIGIN, colour, drawn_only)


def cylinder(
    radius: float, length: float, at: Vector = ORIGIN, along: str = "z", colour: str = "light", drawn_only: bool = False
) -> Solid:
    """About its axis m r² / 2, across it m (3 r² + l²) / 12."""
    across = (3 * radius**2 + length**2) / 12
    x, y, z = (radius**2 / 2 if axis == along else across for axis in "xyz")
    geometry = f'<cylinder radius="{number(radius)}" length="{number(length)}"/>'
    return Solid(geometry, math.pi * radius**2 * length, (x, y, z), at, TURNS[along], colour, drawn_only)


def sphere(radius: float, at: Vector = ORIGIN, colour: str = "light") -> Solid:
    """About any axis through its centre 2 m r² / 5."""
    unit = 2 * radius**2 / 5
    volume = 4 * math.pi * radius**3 / 3
    return Solid(f'<sphere radius="{number(radius)}"/>', volume, (unit, unit, unit), at, ORIGIN, colour, False)


@dataclass(frozen=True)
class Limits:
    """Of a joint: effort [N m or N], velocity [rad/s or m/s], position [rad or m]; no position, no bounds."""

    effort: float
    velocity: float
    lower: float | None = None
    upper: float | None = None


class Writer:
    """A document that grows link by link, each below the joint that moves it."""

    def __init__(self, name: str, about: str) -> None:
        comment = textwrap.fill(f"<!-- {about} -->", width=120, subsequent_indent="     ")
        self._lines = ['<?xml version="1.0"?>', comment, f'<robot name="{name}">']

    def text(self) -> str:
        """The whole document."""
        return "\n".join([*self._lines, "</robot>", ""])

    def comment(self, words: str) -> None:
        """A heading above what follows."""
        self._write(1, f"<!-- {words} -->")

    def link(self, name: str, mass: float, *solids: Solid, inertia: np.ndarray | None = None) -> None:
        """A link and its solids, with the inertia that follows from them, or one that was measured about its origin."""
        self._write(1, f'<link name="{name}">')
        centre, spread = _spread(mass, [solid for solid in solids if not solid.drawn_only])
        centre, inertia = (centre, spread) if inertia is None else (ORIGIN, inertia)
        self._write(2, "<inertial>", f'  <origin xyz="{numbers(centre)}"/>', f'  <mass value="{number(mass)}"/>')
        entries = (("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2))
        moments = " ".join(f'{key}="{inertia[i, j]:.6g}"' for key, i, j in entries)
        self._write(2, f"  <inertia {moments}/>", "</inertial>")
        for tag in ("visual", "collision"):
            for solid in solids:
                if tag == "collision" and solid.drawn_only:
                    continue
                self._write(2, f"<{tag}>", f"  {_origin(solid.at, solid.rpy)}")
                self._write(3, f"<geometry>{solid.geometry}</geometry>")
                if tag == "visual":
                    rgba = COLOURS[solid.colour]
                    self._write(3, f'<material name="{solid.colour}"><color rgba="{rgba}"/></material>')
                self._write(2, f"</{tag}>")
        self._write(1, "</link>")

    def joint(
        self, name: str, kind: str, parent: str, child: str, axis: str, limits: Limits, at: Vector = ORIGIN
    ) -> None:
        """A joint that moves `child`; its axis is one of the coordinate axes."""
        bounds = ""
        if limits.lower is not None and limits.upper is not None:
            bounds = f'lower="{number(limits.lower)}" upper="{number(limits.upper)}" '
        self._joint(name, kind, parent, child, _origin(at))
        self._write(2, f'<axis xyz="{AXES[axis]}"/>')
        self._write(2, f'<limit {bounds}effort="{number(limits.effort)}" velocity="{number(limits.velocity)}"/>')
        self._write(1, "</joint>")

    def frame(self, name: str, parent: str, at: Vector, rpy: Vector = ORIGIN, joint: str = "") -> None:
        """A place on a link, as a link without mass on a fixed joint."""
        self._joint(joint or f"{name}_mount", "fixed", parent, name, _origin(at, rpy))
        self._write(1, "</joint>", f'<link name="{name}"/>')

    def _joint(self, name: str, kind: str, parent: str, child: str, origin: str) -> None:
        self._write(1, f'<joint name="{name}" type="{kind}">')
        self._write(2, origin, f'<parent link="{parent}"/>', f'<child link="{child}"/>')

    def _write(self, depth: int, *lines: str) -> None:
        self._lines += ["  " * depth + line for line in lines]


def number(value: float) -> str:
    """Short, and exact for what has at most nine digits."""
    return f"{value + 0.0:.9g}"  # -0.0 + 0.0 is 0.0


def numbers(values: Sequence[float]) -> str:
    """Several, as an attribute holds them."""
    return " ".join(map(number, values))


def _origin(at: Vector, rpy: Vector = ORIGIN) -> str:
    turn = f' rpy="{" ".join(str(angle) if angle else "0" for angle in rpy)}"' if any(rpy) else ""
    return f'<origin xyz="{numbers(at)}"{turn}/>'


def _spread(mass: float, solids: Sequence[Solid]) -> tuple[Vector, np.ndarray]:
    """Centre of mass, to the µm, and inertia about it, by the parallel-axis theorem."""
    volume = sum(solid.volume for solid in solids)
    x, y, z = (
        round(sum(solid.volume * solid.at[k] for solid in solids) / volume, 6) + 0.0  # never -0.0
        for k in range(3)
    )
    inertia = np.zeros((3, 3))
    for solid in solids:
        d = np.subtract(solid.at, (x, y, z))
        about_centre = np.diag(solid.unit_inertia) + d @ d * np.eye(3) - np.outer(d, d)
        inertia += mass * solid.volume / volume * about_centre
    return (x, y, z), np.where(np.abs(inertia) < 1e-15, 0.0, inertia)
