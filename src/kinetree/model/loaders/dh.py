"""Denavit-Hartenberg tables, standard and modified, in code or as a TOML file.

Standard (Paul, Corke): from frame i-1 to frame i by Rz(θ) Tz(d) Tx(a) Rx(α); joint i moves about z of frame i-1.
Modified (Craig): by Rx(α) Tx(a) Rz(θ) Tz(d), where a and α belong to the link before; joint i moves about z of frame i.

The frame `link<i>` is frame i of the table, and the inertia of link i is given in its axes. In a standard table the
joint is at the other end of its link: it moves a frame `link<i>_axis`, to which frame i is fixed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant, as_finite, as_number
from kinetree.errors import ArgumentError, ArgumentTypeError, KinetreeError, ModelError, one_of, short, unknown
from kinetree.model.builder import ModelBuilder
from kinetree.model.joints import JointDynamics
from kinetree.ops import Array
from kinetree.spatial import Inertia, Transform
from kinetree.spatial.rotation import matrix_from_rpy

Convention: TypeAlias = Literal["standard", "modified"]
CONVENTIONS: tuple[Convention, ...] = ("standard", "modified")
JOINTS = ("revolute", "prismatic")
MOST_BYTES = 2**20
"""Of a TOML file: some thousand rows."""
KEY = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
LONG_KEY = re.compile(rf"(?:^[ \t]*+\[{{0,2}}|[{{,])[ \t]*+{KEY}(?:[ \t]*+\.[ \t]*+{KEY}){{8}}", re.MULTILINE)
"""A key of many parts, such as a.b.c: for n of them tomllib takes n² of time and memory, and tables have none."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DHLink:
    """One row of a DH table, with the inertia of the link and its motor.

    A revolute joint turns to θ = q + `theta`, a prismatic one slides to d = q + `d`. Motor values are those before the
    gear: at the joint the rotor weighs gear² · motor_inertia, viscous friction is gear² · motor_viscous and Coulomb
    friction |gear| · motor_coulomb.
    """

    a: float = 0.0
    """Distance along x [m]."""
    alpha: float = 0.0
    """Twist about x [rad]."""
    d: float = 0.0
    """Offset along z [m]."""
    theta: float = 0.0
    """Angle about z [rad]."""
    joint: str = "revolute"
    mass: float = 0.0
    """[kg]."""
    com: ArrayLike = (0.0, 0.0, 0.0)
    """Centre of mass in frame i, (3,) [m]."""
    inertia: ArrayLike = (0.0, 0.0, 0.0)
    """About the centre of mass in the axes of frame i: (3, 3), or the diagonal (3,) [kg m²]."""
    motor_inertia: float = 0.0
    """[kg m²]."""
    gear: float = 1.0
    motor_viscous: float = 0.0
    """[N m s/rad]."""
    motor_coulomb: float = 0.0
    """[N m]."""
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    name: str | None = None
    """Of the joint; joint<i> unless given."""


def dh_builder(
    links: Sequence[DHLink | Mapping[str, Any] | Sequence[float]],
    convention: Convention = "standard",
    *,
    name: str = "robot",
    source: str = "",
    tool: ArrayLike | None = None,
) -> ModelBuilder:
    """A chain from a table; rows may also be mappings, or plain (a, alpha, d, theta). `tool` is the pose of the frame
    `tool0` in the last frame, (4, 4); without it they are the same."""
    one_of("convention", convention, CONVENTIONS)
    rows = [_row(k, link) for k, link in enumerate(links, 1)]
    if not rows:
        raise ArgumentError("links is empty; expected one row of a Denavit-Hartenberg table or more")
    builder = ModelBuilder(name, source)
    builder.link("base_link")
    before = "base_link"
    for k, row in enumerate(rows, 1):
        before = _add_row(builder, k, row, before, convention)
    pose = np.eye(4) if tool is None else as_constant("tool", tool, (4, 4))
    X = Transform.from_pose(pose)
    builder.frame("tool0", before, xyz=X.p, rotation=X.R.T)
    return builder


def read_dh(text: bytes | str, source: str) -> ModelBuilder:
    """The same from TOML: name, convention, and a table [[link]] for every row with the names of `DHLink`."""
    if len(text) > MOST_BYTES:
        raise ModelError(f"{source} has {len(text) >> 10} kB; expected a table of at most {MOST_BYTES >> 10} kB")
    try:
        table = tomllib.loads(_without_long_keys(text if isinstance(text, str) else text.decode()))
    except RecursionError:
        raise ModelError(f"{source}: its values are nested too deep; expected a Denavit-Hartenberg table") from None
    except ValueError as problem:  # of tomllib, of the encoding, or a number of more digits than Python reads
        raise ModelError(f"{source}: not well-formed TOML ({problem})") from None
    known = ("name", "convention", "link", "tool")
    for key in table:
        if key not in known:
            raise ModelError(f"{source}: {unknown('entry', key, known)}")
    rows = table.get("link", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ModelError(f"{source}: link is {short(rows)}; expected tables [[link]]")
    try:
        name = table.get("name", "robot")
        if not isinstance(name, str):
            raise ArgumentTypeError(f"name is {short(name)}; expected a string")
        return dh_builder(rows, table.get("convention", "standard"), name=name, source=source, tool=table.get("tool"))
    except ModelError:
        raise
    except KinetreeError as problem:
        raise ModelError(f"{source}: {problem}") from None


def _without_long_keys(text: str) -> str:
    """The text, unless it has keys that no table has."""
    if found := LONG_KEY.search(text):
        raise ValueError(f"line {text.count(chr(10), 0, found.start()) + 1} has a key of more than 8 parts")
    return text


def _row(k: int, link: object) -> DHLink:
    if isinstance(link, DHLink):
        return link
    if isinstance(link, Mapping):
        names = [field.name for field in fields(DHLink)]
        for key in link:
            if key not in names:
                raise ArgumentError(f"row {k}: {unknown('entry', key, names)}")
        return DHLink(**link)
    a, alpha, d, theta = as_constant(f"row {k}", link, (4,))
    return DHLink(a=float(a), alpha=float(alpha), d=float(d), theta=float(theta))


def _add_row(builder: ModelBuilder, k: int, row: DHLink, before: str, convention: Convention) -> str:
    element = f"row {k}"
    if row.joint not in JOINTS:
        raise builder.error(element, f"joint is {short(row.joint)}; expected 'revolute' or 'prismatic'")
    with builder.located(element):
        a, alpha, d, theta, gear = (
            as_finite(name, getattr(row, name)) for name in ("a", "alpha", "d", "theta", "gear")
        )
    twist = Transform(matrix_from_rpy((alpha, 0.0, 0.0)).T, np.array([a, 0.0, 0.0]))  # Tx(a) Rx(α), which commute
    screw = Transform(matrix_from_rpy((0.0, 0.0, theta)).T, np.array([0.0, 0.0, d]))  # Rz(θ) Tz(d)
    link, is_standard = f"link{k}", convention == "standard"
    moved = f"{link}_axis" if is_standard else link
    placement = screw if is_standard else screw * twist
    with builder.located(element):
        dynamics = JointDynamics(
            armature=gear * gear * as_number("motor_inertia", row.motor_inertia),
            damping=gear * gear * as_number("motor_viscous", row.motor_viscous),
            friction=abs(gear) * as_number("motor_coulomb", row.motor_coulomb),
        )
        inertia = Inertia.from_com(row.mass, row.com, _tensor(row.inertia))
    if is_standard:
        builder.link(moved)
        builder.joint(f"{link}_fixed", "fixed", moved, link, xyz=twist.p, rotation=twist.R.T)
    builder.link(link, inertia)
    builder.joint(
        row.name or f"joint{k}",
        row.joint,
        before,
        moved,
        xyz=placement.p,
        rotation=placement.R.T,
        lower=row.lower,
        upper=row.upper,
        velocity=row.velocity,
        effort=row.effort,
        dynamics=dynamics,
    )
    return link


def _tensor(value: ArrayLike) -> Array:
    try:
        return np.diag(as_constant("inertia", value, (3,)))
    except (ArgumentError, ArgumentTypeError):
        return as_constant("inertia", value, (3, 3))
