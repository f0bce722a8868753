"""The kinematic tree: bodies, joints, inertias and frames of one robot, immutable.

Bodies are numbered from the root outward, 1 … n; body 0 is the world. Joint i moves body i relative to its parent λ(i):

    ^i X_λ(i) = joints[i].transform(q) * placements[i]
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.errors import unknown
from kinetree.model.actuators import Actuator
from kinetree.model.constraints import Constraint
from kinetree.model.description import Description, Options
from kinetree.model.findings import Finding
from kinetree.model.fluid import NO_FLUID, DragShape, Fluid
from kinetree.model.joints import AxisJoint, Joint
from kinetree.model.tendons import Tendon
from kinetree.ops import Array, is_registered, is_scalar_array, zeros
from kinetree.spatial import Inertia, SpatialOrder, Transform

if TYPE_CHECKING:
    from kinetree.model.forest import Copies
    from kinetree.model.parametric import Parametric


@dataclass(frozen=True, eq=False)
class FramePlacement:
    """A named frame fixed to a body: X = ^F X_body."""

    name: str
    body: int
    X: Transform


@dataclass(frozen=True)
class Edge:
    """A joint between two links as the author wrote it, before fixed joints were merged."""

    joint: str
    parent: str
    child: str


@dataclass(frozen=True, eq=False)
class Limits:
    """Bounds of positions, (nq,), and of speeds and efforts, (nv,); infinite where there is none."""

    lower: Array
    upper: Array
    velocity: Array
    effort: Array


_REMARKS = ("findings", "description", "options")
"""Fields of a model on which no result depends."""


@dataclass(frozen=True, eq=False)
class Model:
    """One robot. Index 0 of every per-body tuple is the world; ``inertias[0]`` is the inertia of the links fixed to
    it."""

    name: str
    joints: tuple[Joint, ...]
    parents: tuple[int, ...]
    placements: tuple[Transform, ...]
    inertias: tuple[Inertia, ...]
    names: tuple[str, ...]
    """Names of the bodies, 'world' first."""
    frames: tuple[FramePlacement, ...]
    limits: Limits
    gravity: Array
    edges: tuple[Edge, ...] = ()
    """All joints, fixed ones included, depth first; ``frames[0]`` is the root link."""
    frozen: tuple[AxisJoint, ...] = ()
    """Joints that mimic a fixed one, so that they are fixed too; other libraries give them a coordinate."""
    spatial_order: SpatialOrder = "linear-first"
    passive: bool = False
    """Whether damping, friction and springs of joints are part of the dynamics."""
    friction_width: float = 0.01
    """The speed [rad/s or m/s] that friction takes to come up, w in `JointDynamics`."""
    parametric: Parametric | None = None
    """The numbers that are inputs of its code."""
    loops: tuple[Constraint, ...] = ()
    """Constraints that close loops; the quantities of the tree do not know them."""
    actuators: tuple[Actuator, ...] = ()
    tendons: tuple[Tendon, ...] = ()
    compensated: tuple[Inertia, ...] = ()
    """The part of every body's inertia that forces hold up against gravity; empty if there is none."""
    fluid: Fluid = NO_FLUID
    """What surrounds the bodies."""
    drag: tuple[tuple[int, DragShape], ...] = ()
    """Bodies, and shapes on them that the fluid acts on, with ^shape X_body; empty without a fluid."""
    findings: tuple[Finding, ...] = ()
    description: Description | None = field(default=None, repr=False)
    """What it was assembled from, and how: for editing and writing."""
    options: Options | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        _freeze(self)

    # -- the tree ----------------------------------------------------------------------------------------------

    @property
    def n_bodies(self) -> int:
        """Moving bodies, the world not counted."""
        return len(self.joints) - 1

    def root_to_tips(self) -> Iterator[tuple[int, int]]:
        """Every body i with its parent λ(i), parents before children."""
        return ((i, self.parents[i]) for i in range(1, len(self.parents)))

    def tips_to_root(self) -> Iterator[tuple[int, int]]:
        """Every body i with its parent λ(i), children before parents."""
        return ((i, self.parents[i]) for i in reversed(range(1, len(self.parents))))

    def children(self, body: int) -> tuple[int, ...]:
        """μ(i): the bodies whose parent is i."""
        return tuple(i for i, p in self.root_to_tips() if p == body)

    def support(self, body: int) -> tuple[int, ...]:
        """κ(i): the bodies on the way from the root to i, i included."""
        path = []
        while body:
            path.append(body)
            body = self.parents[body]
        return tuple(reversed(path))

    def subtree(self, body: int) -> tuple[int, ...]:
        """ν(i): the bodies supported by joint i, i included."""
        inside = {body}
        for i, p in self.root_to_tips():
            if p in inside:
                inside.add(i)
        return tuple(sorted(inside - {0}))

    # -- coordinates -------------------------------------------------------------------------------------------

    @lazy
    def owners(self) -> tuple[Joint, ...]:
        """The joints that own coordinates, in the order of q and v, a floating base included."""
        return tuple(joint for joint in self.joints if joint.owns_coordinates)

    @lazy
    def nq(self) -> int:
        return sum(joint.nq for joint in self.owners)

    @lazy
    def nv(self) -> int:
        return sum(joint.nv for joint in self.owners)

    @lazy
    def floating_base(self) -> Joint | None:
        """The joint between the world and the root link, if the base floats."""
        return self.joints[1] if self.names[1:2] == (self.frames[0].name,) else None

    @lazy
    def actuated(self) -> tuple[int, ...]:
        """The entries of v that have a motor: all but those of free joints, a floating base among them."""
        return tuple(k for joint in self.owners if joint.has_motor for k in range(joint.iv, joint.iv + joint.nv))

    @lazy
    def armature(self) -> Array:
        """Rotor inertias as the coordinates feel them, a follower's through its leader, (nv,)."""
        rotors = [np.asarray(joint.dynamics.armature) for joint in self.joints]
        total = zeros(self.nv, *rotors)
        for joint, rotor in zip(self.joints, rotors, strict=True):
            total[joint.v_slice] += joint.lever * (joint.lever * rotor)
        return total

    @lazy
    def has_mimics(self) -> bool:
        return any(joint.follows is not None for joint in self.joints)

    @lazy
    def quaternions(self) -> tuple[slice, ...]:
        """Where q holds unit quaternions."""
        return tuple(joint.quaternion for joint in self.owners if joint.quaternion is not None)

    # -- bodies and frames -------------------------------------------------------------------------------------

    @lazy
    def moving(self) -> tuple[int, ...]:
        """The bodies with a joint that can move on the way to the root; a kept fixed joint alone moves nothing."""
        found: set[int] = set()
        for i, p in self.root_to_tips():
            if p in found or self.joints[i].nv > 0:
                found.add(i)
        return tuple(sorted(found))

    @lazy
    def mass(self) -> float:
        """Mass of everything that moves [kg]; what is bolted to the world does not count."""
        total: Any = sum(self.inertias[i].mass for i in self.moving)
        return total if is_registered(total) else float(total)

    @lazy
    def _frames_by_name(self) -> dict[str, FramePlacement]:
        return {frame.name: frame for frame in self.frames}

    def frame(self, name: str) -> FramePlacement:
        found = self._frames_by_name.get(name) if isinstance(name, str) else None
        if found is None:
            raise unknown("frame", name, self._frames_by_name)
        return found

    # -- code --------------------------------------------------------------------------------------------------

    @lazy
    def shortened(self) -> Model:
        """The same robot with body frames and inertias in which code is shorter."""
        from kinetree.model.aligned import shorter  # noqa: PLC0415 - both import this module
        from kinetree.model.regrouped import regrouped  # noqa: PLC0415

        return regrouped(shorter(self) or self)

    @lazy
    def copies(self) -> tuple[Copies, ...]:
        """The trees on the world, equal ones together; none if there are no equal ones, or if they are connected."""
        from kinetree.model.forest import copies  # noqa: PLC0415 - it imports this module

        return copies(self)

    @lazy
    def has_symbols(self) -> bool:
        """Whether its parameters are symbols: it is part of a traced function."""
        return self.parametric is not None and is_scalar_array(self.parametric.values)

    @lazy
    def representative(self) -> Model:
        """A model of numbers for decisions on the structure of code: this one, or one in general position."""
        from kinetree.model.parametric import representative  # noqa: PLC0415 - it imports this module

        return representative(self) if self.has_symbols else self

    @lazy
    def structure(self) -> str:
        """A hash of all that its code depends on: the digest, without the numbers that are inputs."""
        from kinetree.model.parametric import blank  # noqa: PLC0415 - it imports this module

        return self.digest if self.parametric is None else blank(self).digest

    # -- identity ----------------------------------------------------------------------------------------------

    @lazy
    def digest(self) -> str:
        """A hash of all that determines the results: equal models have equal digests, in every process."""
        if self.has_symbols:
            return f"{self.structure} with symbols"
        state = hashlib.sha256()
        for value in self._decisive:
            _feed(state.update, value)
        return state.hexdigest()

    @property
    def _decisive(self) -> Iterator[object]:
        """What results depend on."""
        return (getattr(self, each.name) for each in fields(self) if each.name not in _REMARKS)

    @lazy
    def kinds(self) -> frozenset[type]:
        """The classes of all that it is made of."""
        found = {type(each) for value in self._decisive for each in _inside(value)}
        return frozenset(filter(is_dataclass, found))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        _freeze(self)  # arrays come out of a pickle writeable


def _freeze(value: Any) -> None:
    """Makes every array inside read-only."""
    for each in _inside(value):
        if isinstance(each, np.ndarray):
            each.setflags(write=False)


def _inside(value: Any) -> Iterator[Any]:
    """A value made of dataclasses and tuples, and all that is in it."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        yield each
        kind: Any = type(each)
        waiting += each if isinstance(each, tuple) else [getattr(each, name) for name in _field_names(kind)]


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """Of a dataclass; of any other type, none."""
    return tuple(each.name for each in fields(kind)) if is_dataclass(kind) else ()


@cache
def _title(kind: type) -> bytes | None:
    """How a dataclass begins in a hash; None for any other type."""
    return f"{kind.__module__}.{kind.__qualname__}(".encode() if is_dataclass(kind) else None


def _feed(update: Callable[[bytes], None], value: object) -> None:
    """Feeds a value made of dataclasses, tuples, arrays, strings and numbers to a hash, unambiguously."""
    kind: Any = type(value)
    title = _title(kind)
    if title is not None:
        update(title)
        for name in _field_names(kind):
            _feed(update, getattr(value, name))
        update(b")")
    elif isinstance(value, tuple):
        update(b"[%d:" % len(value))
        for item in value:
            _feed(update, item)
    elif isinstance(value, np.ndarray):
        update(repr(value.shape).encode() + np.ascontiguousarray(value, dtype=float).tobytes())
    elif isinstance(value, (int, float, np.number)):
        update(b"d" + struct.pack("<d", value))  # 1, 1.0 and np.float64(1) are the same number
    else:
        update(repr(value).encode() + b";")
