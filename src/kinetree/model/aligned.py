"""The same robot with other body frames: z along the joint's axis, x along the common normal to the next axis.

Denavit and Hartenberg 1955, with frame i on axis i as in Craig 2005, section 3.4. Compiled code is shorter in these
frames: most constants of a tree with dense placements and axes become 0 or 1. With R and p the placement of joint i in
the frame of its parent,

    z_i     is the axis of joint i: S_i = (0, 0, 0, 0, 0, 1)
    x_i     is normal to z_i and to z_c, the axis of the child c that carries most bodies
    R       is Rx(α) for that child, whose joint has the x of its parent, and Rz(θ) Rx(α) for other children
    p       is (a, 0, d) for that child: an origin slides along its axis to where most entries vanish
    q + φ   is the angle of the joint, with the constant angle φ from the joint's x to x_i

Where axes are parallel, x_i points to the axis of the child; where they are the same, φ = 0. A prismatic joint has no
angle that could take up φ, so x_i is the joint's x, but the origin of its body is free, and becomes that of the parent:
p = 0. A helical joint is as a revolute one, with an advance of pitch · φ. Bodies of other joints keep their frames, to
which their velocities refer. A body whose axes, joint and children are along each other already keeps its axes, and
only its origin slides.

Inertias and frames move along. So every quantity stays the same that is in joint space, at a frame or in the world; one
in the coordinates of a body does not. Inertias that are inputs are moved by the code, which takes operations too; what
they are has no part in the choice of frames. Where placements are inputs, there is nothing to choose.
"""

from __future__ import annotations

from dataclasses import replace
from math import atan2, cos, pi, sin

import numpy as np

from kinetree.model.joints import AxisJoint, Continuous, Helical, Joint, Prismatic, Revolute
from kinetree.model.joints.dynamics import of_coordinate
from kinetree.model.tree import Model
from kinetree.ops import Array, cross, is_registered, is_scalar_array
from kinetree.spatial import Inertia, Transform
from kinetree.spatial.rotation import RIGHT_ANGLE_TOLERANCE, normalized

ROUNDING = 1e-15
"""An entry of a rotation this small is zero."""
PARALLEL = 1e-6
"""Sine of an angle of axes below which they are taken as parallel: their common normal has lost its digits."""
FARTHEST = 2.0
"""How far an origin may slide, in lengths of the longest placement: almost parallel axes meet far away."""
PLACEMENT, MOMENT, PRODUCT = 4, 2, 1
"""What a dense entry costs: of a placement or axis, of a first moment, of an inertia off its diagonal."""
MOVE = 3
"""What it costs to move an inertia that is an input, by each dense entry of the rotation, and of the displacement."""
CLEAR_GAIN = 0.98
"""The share of the costs that may be left."""
DENSER = 1.1
"""How much the part of inertias may grow: in sparse ones, quantities differ in what pays."""
OWN = (Revolute, Continuous, Helical)
"""A class that is derived from these may turn in its own way."""
Z = np.array([0.0, 0.0, 1.0])


def shorter(model: Model) -> Model | None:
    """The aligned model, if its dense constants cost clearly less than those of the given one."""
    if model.parametric is not None and model.parametric.placement:
        return None
    alignment = _Alignment(model)
    given, found = alignment.given, alignment.moved(alignment.given)
    is_cheaper = cost(found) + alignment.cost_of_inputs() < CLEAR_GAIN * cost(given)
    if not is_cheaper or _inertias(found) > DENSER * _inertias(given):
        return None
    return alignment.moved(model)


def aligned(model: Model) -> Model:
    """The model with frames by Denavit and Hartenberg, with the same names and coordinates."""
    return _Alignment(model).moved(model)


def cost(model: Model) -> int:
    """A measure of operations: entries of placements, axes and inertias that are neither 0 nor ±1, weighted."""
    total = _inertias(model)
    for joint, X in zip(model.joints[1:], model.placements[1:], strict=True):
        axis = _dense(joint.axis) if isinstance(joint, AxisJoint) else 0
        total += PLACEMENT * (_dense(X.R) + _dense(X.p) + axis)
    return total


def _inertias(model: Model) -> int:
    return sum(map(_cost, model.inertias[1:]))


class _Alignment:
    """E[i] = ^i' X_i, from the given frame of body i to the chosen one, and what becomes of the joints."""

    def __init__(self, model: Model) -> None:
        """`given` has no inertias where these are inputs."""
        self.inputs = () if model.parametric is None else model.parametric.inertial
        known = [Inertia.zero() if i in self.inputs else inertia for i, inertia in enumerate(model.inertias)]
        self.given = model = replace(model, inertias=tuple(known))
        self.longest = max((_size(X.p) for X in model.placements[1:]), default=0.0)
        self.main = _main_children(model)
        self.E = {0: Transform.identity()}
        self.joints, self.placements = [model.joints[0]], [model.placements[0]]
        for i, p in model.root_to_tips():
            joint, X = model.joints[i], model.placements[i] * self.E[p].inverse()
            if type(joint) is Prismatic:
                self._align_slide(i, joint, X)
            elif isinstance(joint, (Revolute, Helical)) and type(joint) in OWN:
                self._align_turn(i, joint, X)
            else:
                self._add(i, joint, X, Transform.identity())

    def moved(self, given: Model) -> Model:
        """The given model in these frames; its inertias, frames and the parameters of its joints may be symbols."""
        E = self.E
        return replace(
            given,
            joints=tuple(self.joints),
            placements=tuple(self.placements),
            inertias=tuple(
                self._exact(E[i]) * inertia if is_registered(inertia.mass) else self._moved(E[i], inertia)
                for i, inertia in enumerate(given.inertias)
            ),
            compensated=tuple(self._moved(E[i], part) for i, part in enumerate(given.compensated)),
            drag=tuple(
                (i, replace(shape, placement=self._placed(shape.placement, E[i].inverse()))) for i, shape in given.drag
            ),
            frames=tuple(replace(each, X=self._placed(each.X, E[each.body].inverse())) for each in given.frames),
        )

    def cost_of_inputs(self) -> int:
        """What it costs to move inertias that are inputs."""
        moves = [self._exact(self.E[i]) for i in self.inputs]
        return sum(MOVE * (_dense(E.R) + int(np.count_nonzero(E.p))) for E in moves)

    def _add(self, i: int, joint: Joint, X: Transform, E: Transform) -> None:
        self.joints.append(joint)
        self.placements.append(self._exact(X))
        self.E[i] = E

    # -- one joint; X = ^J X_λ' from the chosen frame of the parent to the given one of the joint ------------------

    def _align_slide(self, i: int, joint: Prismatic, X: Transform) -> None:
        E = Transform.unchecked(_axes(_joint_x(X.R, joint.axis), joint.axis), X.inverse().p)
        self._add(i, replace(joint, axis=Z), Transform.unchecked(E.R @ X.R, np.zeros(3)), E)

    def _align_turn(self, i: int, joint: Revolute | Helical, X: Transform) -> None:
        z = joint.axis
        if self._is_sparse(i, z, X.R):
            E = Transform.unchecked(np.eye(3), z * self._slide(i, z, np.eye(3), X))
            self._add(i, joint, E * X, E)
            return
        x = _joint_x(X.R, z)
        phi = self._angle(i, x, z)
        quarters = round(phi / (pi / 2))
        if abs(phi - quarters * pi / 2) <= RIGHT_ANGLE_TOLERANCE:  # exact as part of the placement
            x, phi = (x, cross(z, x), -x, -cross(z, x))[quarters % 4], 0.0
        axes = _axes(cos(phi) * x + sin(phi) * cross(z, x), z)
        t = self._slide(i, z, axes, X)
        advance = joint.pitch * phi if isinstance(joint, Helical) else 0.0
        dynamics = joint.dynamics
        if phi:  # the angle is larger by φ, so that a spring is slack at rest + φ
            dynamics = dynamics.unchecked(rest=of_coordinate(dynamics.rest, 0) + phi)
        turned = replace(joint, axis=Z, offset=joint.offset + phi, shift=phi, dynamics=dynamics)
        at_joint, at_body = Transform.unchecked(_axes(x, z), z * t), Transform.unchecked(axes, z * (t + advance))
        self._add(i, turned, at_joint * X, at_body)

    def _is_sparse(self, i: int, z: Array, R: Array) -> bool:
        """Whether the axis and the rotations of the placement and of the children of body i are of zeros and ones."""
        rotations = [self.given.placements[c].R for c in self.given.children(i)]
        return not any(map(_dense, (z, _rotation(R), *rotations)))

    def _angle(self, i: int, x: Array, z: Array) -> float:
        """φ from the joint's x to the x of the body; of the two directions of a normal, the nearer one."""
        c = self.main.get(i)
        if c is None:
            return 0.0
        joint, X = self.given.joints[c], self.given.placements[c]
        normal = cross(z, X.R.T @ joint.axis) if isinstance(joint, AxisJoint) else np.zeros(3)
        if _size(normal) <= PARALLEL:
            normal = X.p - z * (z @ X.p)
            if _size(normal) <= PARALLEL * self.longest:
                return 0.0
        normal = normal if normal @ x >= 0.0 else -normal
        return atan2(z @ cross(x, normal), x @ normal)

    def _slide(self, i: int, z: Array, axes: Array, X: Transform) -> float:
        """How far the origin moves along the axis, for zeros in the placement, in the inertia and in the placements of
        children. The placement of a joint that carries the whole tree from the world is part of few quantities."""
        given = self.given
        inertia, lines = given.inertias[i], [self._line(c, axes) for c in given.children(i)]
        along, above = axes @ z, X.R.T @ z  # in the axes of the body, and of its parent
        placement = 0 if given.parents[i] == 0 and len(given.children(0)) == 1 else PLACEMENT
        ways = [0.0, *_zeros(X.p, above)]
        if inertia.mass:
            ways.append(float(z @ inertia.h) / inertia.mass)
        for p, u in lines:
            ways += [float(along @ (p + s * u)) for s in (0.0, *_zeros(p, u))]

        def left(t: float) -> tuple[int, float]:
            moved = self._moved(Transform.unchecked(axes, z * t), inertia)
            children = sum(self._fewest(p - t * along, u) for p, u in lines)
            return placement * self._entries(X.p + t * above) + _cost(moved) + PLACEMENT // 2 * children, abs(t)

        return min((t for t in ways if abs(t) <= FARTHEST * self.longest), key=left)

    def _fewest(self, p: Array, u: Array) -> int:
        """How many entries a point has at least that slides from p along u."""
        return min(self._entries(p + s * u) for s in (0.0, *_zeros(p, u)))

    def _line(self, c: int, axes: Array) -> tuple[Array, Array]:
        """A point of the axis of child c and its direction in the chosen axes of its parent; no direction where it has
        no axis to slide along."""
        joint, X = self.given.joints[c], self.given.placements[c]
        u = X.R.T @ joint.axis if isinstance(joint, AxisJoint) else np.zeros(3)
        return axes @ X.p, axes @ u

    def _entries(self, p: Array) -> int:
        return int(np.count_nonzero(self._length(p)))

    # -- without what is only rounding -----------------------------------------------------------------------------

    def _length(self, p: Array) -> Array:
        return np.where(np.abs(p) <= 4 * ROUNDING * self.longest, 0.0, p)

    def _exact(self, X: Transform) -> Transform:
        return Transform.unchecked(_rotation(X.R), self._length(X.p))

    def _placed(self, X: Transform, E_inverse: Transform) -> Transform:
        """^F X_i' of a frame, which may be an input."""
        return X * self._exact(E_inverse) if is_scalar_array(X.p) else self._exact(X * E_inverse)

    def _moved(self, E: Transform, inertia: Inertia) -> Inertia:
        moved = E * inertia
        h = self._length(moved.h / inertia.mass) * inertia.mass if inertia.mass else moved.h
        return Inertia(inertia.mass, h, np.where(np.abs(moved.I) <= ROUNDING * np.abs(moved.I).max(), 0.0, moved.I))


def _main_children(model: Model) -> dict[int, int]:
    """The child that carries most bodies, of every body that has children."""
    carried = [1] * len(model.parents)
    main: dict[int, int] = {}
    for i, p in model.tips_to_root():
        carried[p] += carried[i]
        if p not in main or carried[i] >= carried[main[p]]:
            main[p] = i
    return main


def _joint_x(R: Array, z: Array) -> Array:
    """The x of a joint with this axis in its given frame, with R = ^J R_λ': normal to z and to one axis of the parent,
    that which leaves the fewest dense entries of the placement."""
    choices = []
    for k in (2, 1, 0):
        normal = cross(R[:, k], z)
        x = normalized(normal) if _size(normal) > PARALLEL else normalized(cross(cross(z, R[:, (k + 1) % 3]), z))
        choices.append(x if x @ R[:, 0] >= 0.0 else -x)
    return min(choices, key=lambda x: _dense(_rotation(_axes(x, z) @ R)))


def _zeros(p: Array, u: Array) -> list[float]:
    """Where p + t u has an entry that is zero."""
    return [float(-p[k] / u[k]) for k in range(3) if abs(u[k]) > PARALLEL]


def _axes(x: Array, z: Array) -> Array:
    """The rotation to a frame with these directions."""
    return np.array([x, cross(z, x), z])


def _rotation(R: Array) -> Array:
    R = np.where(np.abs(R) <= ROUNDING, 0.0, R)
    return np.where(np.abs(np.abs(R) - 1.0) <= ROUNDING, np.sign(R), R)


def _cost(inertia: Inertia) -> int:
    return MOMENT * _dense(inertia.h) + PRODUCT * _dense(inertia.I[np.triu_indices(3, 1)])


def _dense(values: Array) -> int:
    return int(np.count_nonzero(~np.isin(values, (0.0, 1.0, -1.0))))


def _size(x: Array) -> float:
    return float(np.linalg.norm(x))
