"""Build a robot in code, link by link; the loaders build theirs the same way.

builder = kt.ModelBuilder("pendulum")
builder.link("stand")
builder.link("rod", kt.Inertia.from_com(mass=1.0, com=(0, 0, -0.5), rotational=np.diag([0.08, 0.08, 0.0])))
builder.joint("hinge", "revolute", "stand", "rod", axis=(0, 1, 0), xyz=(0, 0, 1))
robot = kt.Robot(builder.build())
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant, as_number, as_numbers, number_that, positive
from kinetree.errors import ArgumentError, ArgumentTypeError, ModelError, ModelWarning, short
from kinetree.model.actuators import Actuator
from kinetree.model.assembly import assemble
from kinetree.model.bounds import bound_doubts, checked_bounds
from kinetree.model.constraints import CONSTRAINTS, EXPECTED, Constraint
from kinetree.model.description import Description, JointDescription, LinkDescription, Mimic, Options, Safety
from kinetree.model.findings import Finding, Severity
from kinetree.model.fluid import NO_FLUID, DragBox, DragEllipsoid, DragShape
from kinetree.model.geometry import Geometry
from kinetree.model.joints import JOINTS, BaseVelocity, JointDynamics
from kinetree.model.joints.dynamics import NONE, PerCoordinate
from kinetree.model.parametric import Choice, as_choice
from kinetree.model.plausibility import inertia_doubts, inertia_error
from kinetree.model.semantics import Semantics
from kinetree.model.tendons import Tendon
from kinetree.model.tree import Model
from kinetree.ops import Array
from kinetree.spatial import Inertia, SpatialOrder, Transform
from kinetree.spatial.rotation import is_rotation_matrix, matrix_from_rpy

GRAVITY = (0.0, 0.0, -9.81)
PARALLEL = 1e-6
"""Directions that differ by less [rad] are parallel."""


class ModelBuilder:
    """Collects links, joints and frames in any order; `build` checks them and makes the immutable `Model`."""

    def __init__(self, name: str = "robot", source: str = "", repairs: bool = False) -> None:
        self.name = name
        self.source = source
        self.repairs = repairs
        self.links: dict[str, LinkDescription] = {}
        self.joints: dict[str, JointDescription] = {}
        self.sites: dict[str, tuple[str, Transform]] = {}
        self.postures: dict[str, dict[str, PerCoordinate]] = {}
        self.base_dynamics = NONE
        """Of the joint between the world and a floating base."""
        self.loops: list[Constraint] = []
        self.actuators: list[Actuator] = []
        self.tendons: list[Tendon] = []
        self.semantics = Semantics()
        """Groups, end effectors and pairs of links that may touch."""
        self.fluid = NO_FLUID
        """What surrounds the links; part of the dynamics if `passive` is."""
        self._findings: dict[Finding, None] = {}  # in order, each once: building twice finds the same things twice

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(self._findings)

    # -- describing --------------------------------------------------------------------------------------------

    def description(self) -> Description:
        """The description so far; later additions do not change it."""
        return Description(
            self.name,
            self.source,
            dict(self.links),
            dict(self.joints),
            dict(self.sites),
            tuple(self._findings),
            {name: dict(positions) for name, positions in self.postures.items()},
            self.base_dynamics,
            tuple(self.loops),
            tuple(self.actuators),
            tuple(self.tendons),
            self.semantics,
            self.fluid,
        )

    @classmethod
    def of(cls, description: Description) -> ModelBuilder:
        """A builder that starts from another's description."""
        builder = cls(description.name, description.source)
        builder.links |= description.links
        builder.joints |= description.joints
        builder.sites |= description.sites
        builder.postures |= {name: dict(positions) for name, positions in description.postures.items()}
        builder.base_dynamics = description.base_dynamics
        builder.loops += description.loops
        builder.actuators += description.actuators
        builder.tendons += description.tendons
        builder.semantics = description.semantics
        builder.fluid = description.fluid
        builder._findings |= dict.fromkeys(description.findings)
        return builder

    def link(
        self,
        name: str,
        inertia: Inertia | None = None,
        *,
        visuals: Iterable[Geometry] = (),
        collisions: Iterable[Geometry] = (),
        gravity_compensation: float = 0.0,
        drag: Iterable[DragShape] = (),
        line: int | None = None,
    ) -> None:
        """Add a link; without inertia it is massless. What it looks like and collides with is for viewers. Of its
        weight, forces hold up the share `gravity_compensation`, if `passive` forces are part of the dynamics. A `fluid`
        acts on the shapes `drag`, by default on the box of its inertia."""
        self._check_name("link", name, line)
        element = f"link {name!r}"
        if name in self.links:
            raise self.error(element, "the name is taken by another link", line)
        inertia = Inertia.zero() if inertia is None else inertia
        if not isinstance(inertia, Inertia):
            raise self.error(element, f"inertia is {short(inertia)}; expected a kinetree.Inertia", line)
        with self.located(element, line):
            inertia = Inertia(
                as_number("mass", inertia.mass), as_constant("h", inertia.h, (3,)), as_constant("I", inertia.I, (3, 3))
            )
        if problem := inertia_error(inertia):
            self.fault(element, problem, line, "it has no mass and no inertia")
            inertia = Inertia.zero()
        for doubt in inertia_doubts(inertia):
            self.note(element, doubt, line, "warning")
        with self.located(element, line):
            share = number_that(math.isfinite, "a finite share of its weight")(
                "gravity_compensation", gravity_compensation
            )
        held = Inertia(share * inertia.mass, share * inertia.h, share * inertia.I) if share and inertia.mass else None
        for shape in (shapes := tuple(drag)):
            if not isinstance(shape, DragBox | DragEllipsoid):
                raise self.error(element, f"drag has {short(shape)}; expected kt.DragBox or kt.DragEllipsoid", line)
        self.links[name] = LinkDescription(inertia, tuple(visuals), tuple(collisions), line, held, shapes)

    def joint(
        self,
        name: str,
        kind: str,
        parent: str,
        child: str,
        *,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        axis2: ArrayLike | None = None,
        pitch: float | None = None,
        xyz: ArrayLike = (0.0, 0.0, 0.0),
        rpy: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        velocity: ArrayLike = np.inf,
        effort: ArrayLike = np.inf,
        mimic: Mimic | None = None,
        dynamics: JointDynamics = NONE,
        safety: Safety | None = None,
        line: int | None = None,
        **own: ArrayLike,
    ) -> None:
        """Add a joint of kind 'revolute', 'continuous', 'prismatic', 'helical', 'universal', 'spherical', 'planar',
        'fixed', 'free', or another that `kinetree.model.joints.register` has made known.

        The joint's frame, which is the child's frame at q = 0, sits in the parent at `xyz` [m], turned by `rpy` [rad]
        or the matrix `rotation`; `axis` is in that frame, for a planar joint normal to the plane. A universal joint
        turns about `axis`, then about `axis2`; a helical one advances by `pitch` [m/rad]; `own` are parameters of other
        kinds. Limits in rad or m, rad/s or m/s, N m or N: one for all coordinates of the joint, or one for each of its
        positions or velocities.
        """
        self._check_name("joint", name, line)
        element = f"joint {name!r}"
        if name in self.joints:
            raise self.error(element, "the name is taken by another joint", line)
        if not isinstance(kind, str) or kind not in JOINTS:
            types = ", ".join(map(repr, JOINTS))
            raise self.error(element, f"type is {short(kind)}; expected one of {types}", line)
        for role, link in (("parent", parent), ("child", child)):
            if not isinstance(link, str):
                raise self.error(element, f"{role} is {short(link)}; expected the name of a link", line)
        if not isinstance(mimic, Mimic | None):
            raise self.error(element, f"mimic is {short(mimic)}; expected a kinetree.Mimic", line)
        if not isinstance(dynamics, JointDynamics):
            raise self.error(element, f"dynamics is {short(dynamics)}; expected kinetree.JointDynamics", line)
        if misfit := dynamics.misfit(JOINTS[kind].nv):
            raise self.error(element, misfit, line)
        direction = self._vector(element, "axis", axis, line)
        if JOINTS[kind].has_axis():
            direction = self._direction(element, "axis", direction, line)
        given = {"axis2": axis2, "pitch": pitch, **own}
        parameters = self._parameters(element, kind, direction, given, line)
        with self.located(element, line):
            bounds = checked_bounds(kind, lower, upper, velocity, effort)
        for doubt in bound_doubts(bounds):
            self.note(element, doubt, line, "warning")
        placement = Transform(self._rotation(element, rpy, rotation, line).T, self._vector(element, "xyz", xyz, line))
        self.joints[name] = JointDescription(
            name, kind, parent, child, direction, placement, bounds, mimic, dynamics, safety, line, parameters
        )

    def frame(
        self,
        name: str,
        link: str,
        *,
        xyz: ArrayLike = (0.0, 0.0, 0.0),
        rpy: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
    ) -> None:
        """Add a named frame (a site, a tool centre point) fixed to a link."""
        element = f"frame {name!r}"
        self._check_name("frame", name, None)
        if name in self.sites:
            raise self.error(element, "the name is taken by another frame")
        if not isinstance(link, str):
            raise self.error(element, f"link is {short(link)}; expected the name of a link")
        R = self._rotation(element, rpy, rotation, None)
        self.sites[name] = (link, Transform(R.T, self._vector(element, "xyz", xyz, None)))

    def posture(self, name: str, positions: Mapping[str, ArrayLike]) -> None:
        """Add a named posture: positions of some of the joints, by name, for `robot.postures`."""
        self._check_name("posture", name, None)
        with self.located(f"posture {name!r}"):
            self.postures[name] = {joint: as_numbers(joint, value) for joint, value in positions.items()}

    def loop(self, constraint: Constraint) -> None:
        """Add a constraint that closes a loop: a `kt.Loop` between two frames, a `kt.Coupling` of two joints, a
        `kt.TendonCoupling` of two tendons, or a `kt.Contact` of a frame with the world. `robot.constrained` and
        rollouts hold it."""
        if not isinstance(constraint, CONSTRAINTS):
            raise self.error("loop", f"it is {short(constraint)}; expected {EXPECTED}")
        self.loops.append(constraint)

    def actuator(self, actuator: Actuator) -> None:
        """Add an actuator, which turns a control into efforts of joints."""
        self._add("actuator", actuator, Actuator, self.actuators)

    def tendon(self, tendon: Tendon) -> None:
        """Add a spring, damper or friction over several joints; it is part of the dynamics if `passive` is."""
        self._add("tendon", tendon, Tendon, self.tendons)

    def _add(self, what: str, given: Any, kind: type[Actuator | Tendon], others: list[Any]) -> None:
        if not isinstance(given, kind):
            raise self.error(what, f"it is {short(given)}; expected a kinetree.{kind.__name__}")
        if given.name in [other.name for other in others]:
            raise self.error(f"{what} {given.name!r}", f"the name is taken by another {what}")
        others.append(given)

    def note(
        self, element: str, message: str, line: int | None = None, severity: Severity = "note", count: int = 1
    ) -> None:
        """Record a finding for `robot.check()`."""
        self._findings[Finding(message, element, line, severity, self.source, count)] = None

    def warn(self, element: str, message: str, line: int | None = None, count: int = 1) -> None:
        """Record it and warn at once: the dynamics are not those that the file describes."""
        self.note(element, message, line, "warning", count)
        warnings.warn(str(self.error(element, message, line)), ModelWarning, stacklevel=2)

    def fault(self, element: str, message: str, line: int | None, assumed: str) -> None:
        """Refuse what decides the dynamics and is not there or cannot be; a builder that repairs records what it
        assumes instead."""
        if not self.repairs:
            raise self.error(element, message, line)
        self.note(element, f"{message}; {assumed}", line, "error")

    def error(self, element: str, message: str, line: int | None = None) -> ModelError:
        """A ModelError that says the file, the element and the line."""
        where = self.source or f"model {short(self.name)}"
        what = f"{_cut(element)}: {_cut(message)}"
        problem = ModelError(f"{where}{f', line {line}' if line is not None else ''}: {what}")
        problem.findings = (*self._findings, Finding(_cut(message), _cut(element), line, "error", self.source))
        return problem

    # -- building ----------------------------------------------------------------------------------------------

    def build(
        self,
        base: str = "fixed",
        *,
        gravity: ArrayLike = GRAVITY,
        spatial_order: SpatialOrder = "linear-first",
        base_velocity: BaseVelocity = "body",
        keep_fixed: Iterable[str] = (),
        passive: bool = True,
        friction_width: float = 0.01,
        parametric: Choice = None,
    ) -> Model:
        """The immutable model. Links joined by fixed joints are merged, except by those named in `keep_fixed`.

        `passive` makes damping, friction and springs of joints part of the dynamics; `friction_width` [rad/s or m/s]
        is the speed at which friction has come up to 71 %. `parametric` makes numbers inputs of the code, as in
        `kt.load`.
        """
        options = Options(
            base=base,
            gravity=self._vector("model", "gravity", gravity, None),
            spatial_order=spatial_order,
            base_velocity=base_velocity,
            keep_fixed=_names("keep_fixed", keep_fixed),
            passive=bool(passive),
            friction_width=positive("a speed above zero")("friction_width", friction_width),
            parametric=as_choice(parametric),
        )
        return assemble(self, options)

    # -- checks ------------------------------------------------------------------------------------------------

    def _check_name(self, kind: str, name: object, line: int | None) -> None:
        if not isinstance(name, str) or not name:
            raise self.error(kind, f"name is {short(name)}; expected a non-empty string", line)

    def _vector(self, element: str, what: str, value: ArrayLike, line: int | None) -> Array:
        try:
            vector = as_constant(what, value, (3,)).copy()
        except (ArgumentError, ArgumentTypeError):
            vector = np.full(3, np.nan)
        if not all(map(math.isfinite, vector.tolist())):
            raise self.error(element, f"{what} is {short(value)}; expected three finite numbers", line)
        return vector

    def _direction(self, element: str, what: str, axis: Array, line: int | None) -> Array:
        """The axis with length one."""
        scale = float(np.abs(axis).max())  # so that nothing overflows when squared
        length = scale * float(np.linalg.norm(axis / scale)) if scale else 0.0
        if length < 1e-9:
            self.fault(element, f"{what} is (0, 0, 0); expected a direction", line, "it is taken to be x")
            return np.array([1.0, 0.0, 0.0])
        if abs(length - 1.0) > 1e-3:
            self.note(element, f"{what} has length {length:.6g}; it was normalized", line)
        return axis / scale / np.linalg.norm(axis / scale)

    def _parameters(
        self, element: str, kind: str, axis: Array, given: Mapping[str, ArrayLike | None], line: int | None
    ) -> dict[str, float | Array]:
        """What joints of this kind have besides an axis; nothing else may be given."""
        found: dict[str, float | Array] = {}
        known = {each.name: each for each in JOINTS[kind].parameters}
        for name, value in given.items():
            if value is not None and name not in known:
                raise self.error(element, f"{name} is given; a {kind} joint has none", line)
        for name, parameter in known.items():
            value = given.get(name)
            if value is None:
                raise self.error(element, f"{name} is missing; {parameter.purpose}", line)
            if parameter.is_direction:
                found[name] = direction = self._direction(element, name, self._vector(element, name, value, line), line)
                if np.linalg.norm(np.cross(axis, direction)) < PARALLEL:
                    raise self.error(element, f"axis and {name} are parallel; expected two directions", line)
                continue
            with self.located(element, line):
                found[name] = number_that(math.isfinite, f"a finite number [{parameter.unit}]")(name, value)
        return found

    @contextmanager
    def located(self, element: str, line: int | None = None) -> Iterator[None]:
        """Add the place in the model to errors about arguments."""
        try:
            yield
        except (ArgumentError, ArgumentTypeError) as problem:
            raise self.error(element, str(problem), line) from None

    def _rotation(self, element: str, rpy: ArrayLike | None, matrix: ArrayLike | None, line: int | None) -> Array:
        if matrix is None:
            return matrix_from_rpy(self._vector(element, "rpy", (0.0, 0.0, 0.0) if rpy is None else rpy, line))
        if rpy is not None:
            raise self.error(element, "both rpy and rotation are given; expected one of them", line)
        try:
            R = as_constant("rotation", matrix, (3, 3)).copy()
        except (ArgumentError, ArgumentTypeError):
            R = np.zeros((3, 3))
        if not is_rotation_matrix(R):
            raise self.error(element, f"rotation is {short(matrix)}; expected a 3×3 rotation matrix", line)
        return R


def _cut(text: str, most: int = 600) -> str:
    """A text as it may stand in a sentence, whatever names a file has."""
    return text if len(text) <= most else f"{text[:most]}…"


def _names(argument: str, values: Iterable[str]) -> tuple[str, ...]:
    """Names of fixed joints, one or several."""
    if not isinstance(values, Iterable):
        raise ArgumentTypeError(f"{argument} is {short(values)}; expected names of fixed joints")
    names = (values,) if isinstance(values, str) else tuple(values)
    for name in names:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"{argument} has {short(name)}; expected the name of a fixed joint")
    return names
