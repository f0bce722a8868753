"""Configurations by the names of joints: written, drawn at random, named by a file, moved along and compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinetree import ops
from kinetree.algorithms import configuration as algorithms
from kinetree.base.arguments import as_floats, as_generator, as_shape, check_quaternions
from kinetree.base.lazy import lazy
from kinetree.base.typed_numbers import typed_number
from kinetree.compiler import is_traced
from kinetree.errors import ArgumentError, ArgumentTypeError, known, short, unknown
from kinetree.functions.bindable import Bindable
from kinetree.model.semantics import EndEffector, Semantics
from kinetree.model.tree import Limits, Model
from kinetree.ops import Array
from kinetree.robot import shapes
from kinetree.robot.frame import Frame
from kinetree.robot.quantity import HasQuantities, quantity
from kinetree.spatial.rotation import is_rotation_matrix, quaternion_from_matrix

if TYPE_CHECKING:
    from kinetree.robot import Robot

BASE_POSITION, BASE_ORIENTATION = "base_position", "base_orientation"


class Configurations(HasQuantities, Bindable):
    """The coordinates of a `Robot` and their names."""

    @lazy
    def coordinate_names(self) -> tuple[str, ...]:
        """The name of every entry of q: that of its joint, with an ending such as '.x' if it has several; 'base.x', …
        for a floating base."""
        return tuple(name for name, _ in labels(self.model, "q"))

    @lazy
    def velocity_names(self) -> tuple[str, ...]:
        """The name of every entry of v, a and tau, such as 'elbow' or 'base.wx'."""
        return tuple(name for name, _ in labels(self.model, "v"))

    def joint(self, name: str) -> RobotJoint:
        """The joint of this name, fixed ones included: .q_slice and .v_slice, its entries of q and of v, .limits,
        .type, and .frame, the link that it moves."""
        model, robot = self.model, self._robot
        for joint, body in zip(model.joints[1:], model.names[1:], strict=True):
            if joint.name == name:
                moved = robot.frame(body)
                return RobotJoint(robot, name, joint.kind, joint.q_slice, joint.v_slice, moved, joint.follows)
        fixed = {edge.joint: edge.child for edge in model.edges}
        known("joint", name, (*(joint.name for joint in model.joints[1:]), *fixed))
        return RobotJoint(robot, name, "fixed", slice(0, 0), slice(0, 0), robot.frame(fixed[name]))

    # -- configurations ----------------------------------------------------------------------------------------

    def configuration(
        self, positions: Mapping[str, Any] | None = None, /, *, like: ArrayLike | None = None, **joints: Any
    ) -> Array:
        """The configuration q with joints at given positions, (…, nq): `configuration(elbow=0.3, wrist_1="90deg")`.

        Other joints are as in `like`, or neutral. Names are those of joints or of `coordinate_names`; a floating base
        has `base_position`, (…, 3) [m], and `base_orientation`, a quaternion xyzw or a rotation matrix. A joint takes
        as many numbers as it has positions; a joint with one takes a number, or an array (…) for a batch. Texts are
        numbers such as "90deg" and "pi/2". Names that Python cannot write as keywords go into the dict `positions`.
        """
        if positions is not None and not isinstance(positions, Mapping):
            raise ArgumentTypeError(f"positions is {short(positions)}; expected a dict from names to positions")
        rest = algorithms.neutral(self.model) if like is None else as_floats("like", like, (self.nq,))
        placed: list[tuple[slice, Array]] = []
        seen: dict[int, str] = {}
        for name, value in [*(positions or {}).items(), *joints.items()]:
            at = self._place(name)
            for k in range(at.start, at.stop):
                if k in seen:
                    raise ArgumentError(f"{name!r} and {seen[k]!r} are the same coordinate; expected one of them")
                seen[k] = name
            placed.append((at, _positions(name, value, at.stop - at.start)))
        try:
            batch = np.broadcast_shapes(rest.shape[:-1], *(value.shape[:-1] for _, value in placed))
        except ValueError:
            given = ", ".join(f"{name} {np.shape(value)}" for name, value in joints.items())
            raise ArgumentError(f"positions have shapes that do not broadcast: {given}") from None
        q = np.array(np.broadcast_to(rest, (*batch, self.nq)))
        for at, value in placed:
            q[..., at] = value
        check_quaternions("the configuration", q, self.model.quaternions)
        return q.astype(self.dtype, copy=False)

    def _place(self, name: str) -> slice:
        """The entries of q that a name stands for."""
        joints = {joint.name: joint for joint in self.model.owners}
        base = self.model.floating_base
        if isinstance(name, str) and name in joints:
            return joints[name].q_slice
        if base is not None and base.nq == 7 and name in (BASE_POSITION, BASE_ORIENTATION):
            return slice(base.iq, base.iq + 3) if name == BASE_POSITION else slice(base.iq + 3, base.iq + 7)
        if name in self.coordinate_names:
            k = self.coordinate_names.index(name)
            return slice(k, k + 1)
        for joint in self.model.joints:
            if joint.name == name and joint.follows is not None:
                raise ArgumentError(f"joint {name!r} follows {joint.follows!r}, which has the coordinate of both")
        bases = () if base is None else (BASE_POSITION, BASE_ORIENTATION)
        if base is None and name in (BASE_POSITION, BASE_ORIENTATION):
            raise ArgumentError(f"{name} was given, but {self.name!r} has a fixed base; load it with base='floating'")
        raise unknown("joint", name, dict.fromkeys((*joints, *bases, *self.coordinate_names)))

    @lazy
    def postures(self) -> Mapping[str, Array]:
        """Named configurations, (nq,), by name: group states of SRDF, keyframes of MJCF. Other joints are neutral."""
        described = self.model.description
        found = {} if described is None else described.postures
        owners = {joint.name: joint for joint in self.model.owners}
        postures = {}
        for name, positions in found.items():
            q = algorithms.neutral(self.model)
            for joint, value in positions.items():
                if joint in owners and np.size(value) == owners[joint].nq:
                    q[owners[joint].q_slice] = value
            postures[name] = q.astype(self.dtype, copy=False)
            postures[name].setflags(write=False)
        return _Postures(postures)

    @lazy
    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """Named groups of joints, those of `joint_names` in their order: groups of SRDF."""
        owners = [joint.name for joint in self.model.owners if joint is not self.model.floating_base]
        listed = self._semantics.groups.items()
        return MappingProxyType({name: tuple(joint for joint in owners if joint in own) for name, own in listed})

    @property
    def end_effectors(self) -> Mapping[str, EndEffector]:
        """Hands and tools by name, those of SRDF: `link`, `group` and `parent_group` of each."""
        return MappingProxyType(dict(self._semantics.end_effectors))

    @property
    def disabled_collisions(self) -> tuple[tuple[str, str], ...]:
        """Pairs of links that may touch, for planners: <disable_collisions> of SRDF, <exclude> of MJCF. Rollouts do not
        depend on them."""
        frames = {frame.name for frame in self.model.frames}
        return tuple(pair for pair in self._semantics.disabled_collisions if frames.issuperset(pair))

    @property
    def _semantics(self) -> Semantics:
        return Semantics() if self.model.description is None else self.model.description.semantics

    def normalize(self, q: ArrayLike) -> Array:
        """The configuration with its quaternions scaled to unit length, (…, nq); other entries stay as they are."""
        given = np.asarray(q) if is_traced(q) else as_floats("q", q, (self.nq,), self.dtype)
        normal = given.copy()
        for k, part in enumerate(self.model.quaternions):
            with np.errstate(over="ignore"):
                length = ops.sqrt((given[..., part] * given[..., part]).sum(-1))
            if not is_traced(length) and not np.all(valid := (length > 0.0) & np.isfinite(length)):
                joint = [each for each in self.model.owners if each.quaternion is not None][k]
                norm = length[~valid].flat[0]
                raise ArgumentError(
                    f"q has a quaternion of joint {joint.name!r} of norm {norm:g}; expected a finite norm above zero"
                )
            normal[..., part] = given[..., part] / np.asarray(length)[..., None]
        return normal

    def neutral(self) -> Array:
        """The configuration with all joints at zero and a floating base at the origin without rotation, (nq,)."""
        return algorithms.neutral(self.model).astype(self.dtype, copy=False)

    def random(self, rng: np.random.Generator | int | None = None, size: int | tuple[int, ...] = ()) -> Array:
        """Configurations drawn uniformly between the limits, (*size, nq); angles without limits over a full turn.

        `rng` is a generator of NumPy or a seed; without one, every call draws others.
        """
        batch = as_shape("size", size)
        generator = np.random.default_rng() if rng is None else as_generator("rng", rng)
        draws = algorithms.random(self.model, generator, math.prod(batch))
        return draws.reshape((*batch, self.nq)).astype(self.dtype, copy=False)

    @quantity(algorithms.integrate, shapes.positions)
    def integrate(self, q: ArrayLike, dv: ArrayLike, *, out: Array | None = None) -> Array:
        """q ⊕ dv, (…, nq): the configuration after unit time at constant velocity dv."""

    @quantity(algorithms.difference, shapes.velocities)
    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Array | None = None) -> Array:
        """q1 ⊖ q0, (…, nv): the dv with integrate(q0, dv) = q1."""


class _Postures(Mapping[str, Array]):
    """Configurations by name; a new array for every access."""

    def __init__(self, known: Mapping[str, Array]) -> None:
        self._known = MappingProxyType(dict(known))

    def __getitem__(self, name: str) -> Array:
        return self._known[known("posture", name, self._known)].copy()

    def __iter__(self) -> Any:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return f"<postures: {', '.join(self._known) or 'none'}>"


def labels(model: Model, name: Literal["q", "v", "tau"]) -> list[tuple[str, str]]:
    """Names and units of all entries of q, v or tau."""
    found = []
    for joint in model.owners:
        base = "base" if joint is model.floating_base else joint.name
        found += [(f"{base}{ending}", unit) for ending, unit in getattr(joint, f"{name}_labels")]
    return found


def _positions(name: str, value: Any, size: int) -> Array:
    """Positions of a joint, (…, size)."""
    if isinstance(value, str):
        number = typed_number(value)
        if number is None:
            raise ArgumentError(f"{name} is {short(value)}; expected a number, such as 0.5, '30deg' or 'pi/2'")
        value = number
    if isinstance(value, (list, tuple)) and any(isinstance(entry, str) for entry in value):
        value = [_positions(name, entry, 1)[0] for entry in value]
    if name == BASE_ORIENTATION and np.shape(value)[-2:] == (3, 3):
        R = as_floats(name, value, (3, 3))
        if not is_rotation_matrix(R):
            raise ArgumentError(f"{name} is {short(value)}; expected rotation matrices, or quaternions xyzw")
        rows = [quaternion_from_matrix(each) for each in R.reshape(-1, 3, 3)]
        return np.array(rows).reshape(*R.shape[:-2], 4)
    array = as_floats(name, value, ())[..., None] if size == 1 else as_floats(name, value, (size,))
    if not np.isfinite(array).all():
        raise ArgumentError(f"{name} is {short(value)}; expected finite positions")
    return array


@dataclass(frozen=True)
class RobotJoint:
    """One joint of a robot."""

    robot: Robot
    name: str
    type: str
    """'revolute', 'prismatic', 'free', … or 'fixed'."""
    q_slice: slice
    """Its entries of q; those of its leader if it is a mimic joint, none if it is fixed."""
    v_slice: slice
    """Its entries of v, a and tau."""
    frame: Frame
    """The link that it moves."""
    follows: str | None = None
    """The joint that it mimics, if it does."""

    def __repr__(self) -> str:
        return f"<Joint {self.name!r} of {self.robot.name!r}: {self.type}>"

    @property
    def limits(self) -> Limits:
        """Its .lower and .upper positions, .velocity and .effort, one number for every coordinate."""
        whole, q, v = self.robot.limits, self.q_slice, self.v_slice
        return Limits(whole.lower[q], whole.upper[q], whole.velocity[v], whole.effort[v])
