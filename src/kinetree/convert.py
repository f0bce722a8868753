"""kt.convert: the same state, force or Jacobian in the coordinates of another library.

Velocities of the two sides are related by v_peer = T(q) v, with T a permutation of the joints, a rotation of the base's
velocity, and a row for every mimic joint, to which the peers give coordinates of their own. B is a left inverse of T
(B T = 1). All else follows:

    a_peer = T a + Ṫ v      τ = Tᵀ τ_peer      J = J_peer T      M = Tᵀ M_peer T
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinetree.arguments import as_floats, batch_shape, check_circles, check_quaternions
from kinetree.errors import ArgumentError, ArgumentTypeError, one_of, short, unknown
from kinetree.model.joints import AxisJoint, Continuous, Fixed, Free, Joint
from kinetree.model.tree import Model
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.spatial.packing import SpatialOrder, reordered
from kinetree.spatial.rotation import matrix_from_quaternion

Kind: TypeAlias = Literal["q", "v", "a", "tau", "jacobian", "mass_matrix", "wrench"]
KINDS: tuple[Kind, ...] = ("q", "v", "a", "tau", "jacobian", "mass_matrix", "wrench")
CONSISTENT = 1e-6
"""How far a mimic joint may be, relatively, from where its leader puts it."""
FULL_TURNS = 100
"""How many turns of a continuous leader are tried where its followers are all on circles, too."""


@dataclass(frozen=True)
class Peer:
    """What another library does differently."""

    quaternion_first: Literal["x", "w"]
    continuous_on_circle: bool
    """A continuous joint has two positions, cos and sin."""
    siblings_by_name: bool
    """Joints of one link are ordered by name, not as the file has them."""
    base_linear_in_world: bool
    """The base's linear velocity is in world axes (its angular velocity in base axes)."""
    free_pose_in_world: bool
    """A free joint's position is a pose in the world, wherever in the tree it is."""


PEERS = {
    "pinocchio": Peer(
        "x", continuous_on_circle=True, siblings_by_name=True, base_linear_in_world=False, free_pose_in_world=False
    ),
    "mujoco": Peer(
        "w", continuous_on_circle=False, siblings_by_name=False, base_linear_in_world=True, free_pose_in_world=True
    ),
}


def convert(
    robot: Robot,
    kind: Kind,
    value: ArrayLike,
    *,
    to: str | None = None,
    source: str | None = None,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    joints: Sequence[str] | None = None,
) -> Array:
    """`value` of the given kind, to the conventions of a peer or from them: "pinocchio" or "mujoco".

    kind    "q", "v", "a", "tau" (…, n), "jacobian" (…, k, n), "mass_matrix" (…, n, n) or "wrench" (…, 6)
    q, v    of the state, in the conventions of `value`; needed only where the base's velocity has other axes
    joints  the peer's joints in its order, world and floating base left out, if it is not the order it gives by itself
            to the same URDF; mimic joints that are not in the list have no coordinates there

    A mimic joint's position, velocity and acceleration must agree with its leader's; its effort is added to it. Of a
    jacobian with a multiple of six rows each six are put in the other side's order; other rows, as of a centre of mass,
    stay as they are. Of a wrench only the order changes: it stays at the same point, in the same axes. Bias forces are
    efforts at a = 0, which is not a_peer = 0 where the base's axes turn on one side only: convert an effort together
    with the acceleration it belongs to.
    """
    if not isinstance(robot, Robot):
        raise ArgumentTypeError(f"robot is {short(robot)}; expected a kinetree.Robot")
    one_of("kind", kind, KINDS)
    if (to is None) == (source is None):
        raise ArgumentError("give either to= or source=, the name of a peer")
    name = one_of("source" if to is None else "to", to if source is None else source, PEERS)
    sides = _Sides(robot.model, PEERS[name], joints)
    return sides.convert(kind, value, q, v, outward=to is not None)


class _Sides:
    """A model's coordinates and those of a peer, with the map between them."""

    def __init__(self, model: Model, peer: Peer, joints: Sequence[str] | None) -> None:
        self.model = model
        self.peer = peer
        if peer.free_pose_in_world:
            _require_free_joints_on_world(model)
        self.joints = _peer_joints(model, peer, joints)
        self.followers = any(not joint.owns_coordinates for joint in self.joints)
        widths = [2 if self._on_circle(joint) else joint.nq for joint in self.joints]
        self.iq = np.concatenate([[0], np.cumsum(widths)]).astype(int)
        self.iv = np.concatenate([[0], np.cumsum([joint.nv for joint in self.joints])]).astype(int)

    def _on_circle(self, joint: Joint) -> bool:
        """Whether the peer's position of the joint is (cos θ, sin θ)."""
        return isinstance(joint, Continuous) and self.peer.continuous_on_circle

    def convert(self, kind: Kind, value: ArrayLike, q: ArrayLike | None, v: ArrayLike | None, outward: bool) -> Array:
        """To the peer (outward) or from it; q and v are on the side of the value."""
        model = self.model
        nq, nv = (model.nq, model.nv) if outward else (int(self.iq[-1]), int(self.iv[-1]))
        orders: tuple[SpatialOrder, SpatialOrder] = (model.spatial_order, "linear-first")
        if not outward:
            orders = orders[::-1]
        x, core = self._value(kind, value, nv, outward)
        given = {"value": (x, core)}
        if q is not None:
            given["q"] = (self._configuration(q, outward), (nq,))
        if v is not None:
            given["v"] = (as_floats("v", v, (nv,)), (nv,))
        batch_shape(given)
        if kind == "wrench":
            return reordered(x, -1, *orders)
        if kind == "q":
            return self._q_to_peer(x) if outward else self._q_from_peer(x)
        R = self._rotations(given["q"][0] if "q" in given else None, outward)
        T, B = self._maps(R)
        back = B if outward else T  # from the other side's velocities to those of the value's side
        if kind in ("v", "a"):
            rate = self._rate(R, T, given["v"][0] if "v" in given else None, outward) if kind == "a" else 0.0  # Ṫ v
            if outward:
                return _times(T, x) + rate
            return self._consistent(kind, x - rate, T, _times(B, x - rate))
        if kind == "tau":
            return _times(np.swapaxes(back, -1, -2), x)
        if outward and self.followers:
            raise ArgumentError(f"a {kind} cannot be spread over mimic joints; leave them out with joints=")
        if kind == "mass_matrix":
            return np.swapaxes(back, -1, -2) @ x @ back
        return reordered(x @ back, -2, *orders) if x.shape[-2] % 6 == 0 else x @ back

    def _value(self, kind: Kind, value: ArrayLike, nv: int, outward: bool) -> tuple[Array, tuple[int, ...]]:
        """The value as floats, and its shape without batch axes."""
        if kind == "q":
            q = self._configuration(value, outward)
            return q, q.shape[-1:]
        if kind != "jacobian":
            core = {"wrench": (6,), "mass_matrix": (nv, nv)}.get(kind, (nv,))
            return as_floats(kind, value, core), core
        J = as_floats(kind, value, ())
        if J.ndim == 1 and nv == 1:  # Pinocchio drops the axis of a single joint
            J = J[:, None]
        J = as_floats(kind, J, (nv,))
        if J.ndim < 2:
            raise ArgumentError(f"{kind} has shape {J.shape}; expected (…, k, {nv})")
        return J, J.shape[-2:]

    # -- positions ---------------------------------------------------------------------------------------------

    def _configuration(self, q: ArrayLike, outward: bool) -> Array:
        """A configuration of the value's side, checked."""
        array = as_floats("q", q, (self.model.nq if outward else int(self.iq[-1]),))
        if outward:
            check_quaternions("q", array, self.model.quaternions)
            return array
        check_quaternions(
            "q", array, self._quaternions(outward), "xyzw" if self.peer.quaternion_first == "x" else "wxyz"
        )
        own = (slice(int(start), int(stop)) for start, stop in zip(self.iq, self.iq[1:], strict=False))
        check_circles(
            "q", array, [part for joint, part in zip(self.joints, own, strict=True) if self._on_circle(joint)]
        )
        return array

    def _quaternions(self, outward: bool) -> list[slice]:
        """Where the value's side has the quaternions of the free joints, in the peer's order of joints."""
        free = [(joint, int(at)) for joint, at in zip(self.joints, self.iq, strict=False) if isinstance(joint, Free)]
        return [slice(start + 3, start + 7) for start in ((joint.iq if outward else at) for joint, at in free)]

    def _q_to_peer(self, q: Array) -> Array:
        parts = []
        for joint in self.joints:
            if isinstance(joint, Free):
                p, xyzw = q[..., joint.q_slice][..., :3], q[..., joint.q_slice][..., 3:]
                parts += [p, xyzw if self.peer.quaternion_first == "x" else np.roll(xyzw, 1, axis=-1)]
            elif isinstance(joint, AxisJoint):
                position = _position(joint, q)
                parts += [np.cos(position), np.sin(position)] if self._on_circle(joint) else [position]
        return np.concatenate([q[..., :0], *parts], axis=-1)

    def _q_from_peer(self, q: Array) -> Array:
        ours = np.empty((*q.shape[:-1], self.model.nq))
        followers: list[tuple[AxisJoint, Array]] = []
        for joint, start, stop in zip(self.joints, self.iq, self.iq[1:], strict=False):
            own = q[..., start:stop]
            if isinstance(joint, Free):
                xyzw = own[..., 3:] if self.peer.quaternion_first == "x" else np.roll(own[..., 3:], -1, axis=-1)
                own = np.concatenate([own[..., :3], xyzw], axis=-1)
            elif self._on_circle(joint):
                own = np.arctan2(own[..., 1:], own[..., :1])
            if joint.owns_coordinates:
                ours[..., joint.q_slice] = own
            elif isinstance(joint, AxisJoint):
                followers.append((joint, q[..., start:stop]))
        for leader in self.joints:
            led = [(joint, own) for joint, own in followers if joint.leader == leader.name and joint.ratio]
            if led and self._on_circle(leader):
                ours[..., leader.q_slice] += 2 * np.pi * _turns(ours[..., leader.q_slice], led)
        for joint, own in followers:
            _check_follower("q", joint.name, own, _position(joint, ours))
        return ours

    # -- velocities --------------------------------------------------------------------------------------------

    def _maps(self, R: Array | None) -> tuple[Array, Array]:
        """T(q) and its left inverse B; R are the rotations of the free bodies, (…, n, 3, 3)."""
        batch = () if R is None else R.shape[:-3]
        T = np.zeros((*batch, int(self.iv[-1]), self.model.nv))
        B = np.zeros((*batch, self.model.nv, int(self.iv[-1])))
        n_free = 0
        for joint, start, stop in zip(self.joints, self.iv, self.iv[1:], strict=False):
            if isinstance(joint, Free):
                block = self._base_block(joint, None if R is None else R[..., n_free, :, :])
                T[..., start:stop, joint.v_slice] = block
                B[..., joint.v_slice, start:stop] = np.swapaxes(block, -1, -2)  # orthogonal
                n_free += 1
            elif isinstance(joint, AxisJoint) and joint.ratio:  # a follower with ratio 0 never moves
                T[..., start, joint.iv] = joint.ratio
                if joint.owns_coordinates:
                    B[..., joint.iv, start] = 1.0
        return T, B

    def _base_block(self, joint: Free, R: Array | None) -> Array:
        """The peer's base velocity, linear first, from ours: turn ours to base axes, then what the peer wants back."""
        order = reordered(np.eye(6), 1, joint.order, "linear-first")
        if R is None:
            return order
        Rt = np.swapaxes(R, -1, -2)
        to_body = Rt if joint.frame == "mixed" else np.broadcast_to(np.eye(3), R.shape)
        block = np.zeros((*R.shape[:-2], 6, 6))
        block[..., :3, :3] = R @ to_body if self.peer.base_linear_in_world else to_body
        block[..., 3:, 3:] = to_body
        return block @ order

    def _rotations(self, q: Array | None, outward: bool) -> Array | None:
        """The rotation matrix of every free body, where any is needed, from the configuration of the value's side."""
        free = [joint for joint in self.joints if isinstance(joint, Free)]
        if not any(joint.frame == "mixed" or self.peer.base_linear_in_world for joint in free):
            return None
        if q is None:
            raise ArgumentError("q is needed: the base's velocity has other axes there, and they turn with it")
        scalar_first = not outward and self.peer.quaternion_first == "w"
        quaternions = (np.roll(q[..., part], -scalar_first, axis=-1) for part in self._quaternions(outward))
        return np.stack([_matrices(xyzw) for xyzw in quaternions], axis=-3)

    def _rate(self, R: Array | None, T: Array, v: Array | None, outward: bool) -> Array | float:
        """Ṫ v: nonzero only for the linear velocity of a base whose axes turn on one side and not on the other."""
        turning = [
            joint
            for joint in self.joints
            if isinstance(joint, Free) and (joint.frame == "mixed") != self.peer.base_linear_in_world
        ]
        if not turning:
            return 0.0
        if v is None:
            raise ArgumentError("v is needed: the axes of the base's linear velocity turn on one side only")
        v_peer = _times(T, v) if outward else v
        rate = np.zeros(np.broadcast_shapes(v_peer.shape, (*T.shape[:-2], v_peer.shape[-1])))
        n_free = 0
        for joint, start in zip(self.joints, self.iv, strict=False):
            if not isinstance(joint, Free):
                continue
            linear, omega = v_peer[..., start : start + 3], v_peer[..., start + 3 : start + 6]  # ω in base axes
            if joint in turning and R is not None:
                R_n = R[..., n_free, :, :]
                if self.peer.base_linear_in_world:  # ours turns: d/dt (R v) = R (a + ω × v)
                    body = _times(np.swapaxes(R_n, -1, -2), linear)
                    rate[..., start : start + 3] = _times(R_n, np.cross(omega, body))
                else:  # the peer's turns: d/dt (Rᵀ ẋ) = Rᵀ ẍ - ω × v
                    rate[..., start : start + 3] = -np.cross(omega, linear)
            n_free += 1
        return rate

    def _consistent(self, kind: str, x: Array, T: Array, ours: Array) -> Array:
        if self.followers:
            back = _times(T, ours)
            for joint, start in zip(self.joints, self.iv, strict=False):
                if not joint.owns_coordinates:
                    _check_follower(kind, joint.name, x[..., start : start + 1], back[..., start : start + 1])
        return ours


def _peer_joints(model: Model, peer: Peer, names: Sequence[str] | None) -> list[Joint]:
    """The joints with coordinates on the peer's side, in its order; a floating base first."""
    base = [model.floating_base] if model.floating_base is not None else []
    movable = (joint for joint in model.joints if not isinstance(joint, Fixed) and joint not in base)
    by_name: dict[str, Joint] = {joint.name: joint for joint in (*movable, *model.frozen)}
    if names is not None:
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise ArgumentTypeError(f"joints is {short(names)}; expected a list of joint names")
        names = list(names)
        for name in names:
            if not isinstance(name, str):
                raise ArgumentTypeError(f"joints has {short(name)}; expected the name of a joint")
            if name not in by_name:
                raise unknown("joint", name, by_name)
        missing = [joint.name for joint in model.owners if joint.name not in names and joint not in base]
        if missing or len(set(names)) != len(names):
            raise ArgumentError(f"joints lists {missing[0]!r} nowhere" if missing else "joints lists a joint twice")
        return base + [by_name[name] for name in names]
    children: dict[str, list[tuple[str, str]]] = {}
    for edge in model.edges:
        children.setdefault(edge.parent, []).append((edge.joint, edge.child))
    ordered, waiting = base, [("", model.frames[0].name)]
    while waiting:
        name, link = waiting.pop()
        if name in by_name:
            ordered.append(by_name[name])
        below = children.get(link, [])
        waiting.extend(reversed(sorted(below) if peer.siblings_by_name else below))
    return ordered


def _times(A: Array, x: Array) -> Array:
    return (A @ x[..., None])[..., 0]


def _matrices(xyzw: Array) -> Array:
    """Rotation matrices of quaternions (…, 4)."""
    R = matrix_from_quaternion(np.moveaxis(xyzw, -1, 0))
    return np.moveaxis(R, (0, 1), (-2, -1))


def _require_free_joints_on_world(model: Model) -> None:
    for i, p in model.root_to_tips():
        X, joint = model.placements[i], model.joints[i]
        if isinstance(joint, Free) and (p != 0 or X.p.any() or not np.array_equal(X.R, np.eye(3))):
            raise ArgumentError(
                f"free joint {joint.name!r} is not at the origin of the world; there its position would be a pose in "
                "the world, so it cannot be converted joint by joint"
            )


def _position(joint: AxisJoint, q: Array) -> Array:
    """Where a joint is, (…, 1) [rad or m]."""
    if joint.ratio == 0.0:  # it follows nothing
        return np.full((*q.shape[:-1], 1), joint.offset)
    return joint.ratio * q[..., joint.q_slice] + joint.offset


def _turns(angle: Array, followers: list[tuple[AxisJoint, Array]]) -> Array:
    """How many full turns k put the followers of a continuous joint at ratio (θ + 2π k) + offset, (…, 1).

    A follower that is not on a circle says it at once; others leave it open, and the smallest |k| that fits is taken.
    """
    on_line = [(joint, own) for joint, own in followers if own.shape[-1] == 1]
    if on_line:
        joint, own = max(on_line, key=lambda pair: abs(pair[0].ratio))
        return np.round(((own - joint.offset) / joint.ratio - angle) / (2 * np.pi))
    candidates = np.array(sorted(range(-FULL_TURNS, FULL_TURNS + 1), key=abs))
    angles = angle + 2 * np.pi * candidates
    fits = [_off(own, joint.ratio * angles + joint.offset) <= CONSISTENT for joint, own in followers]
    return candidates[np.argmax(np.sum(fits, axis=0), axis=-1)][..., None]  # the first that suits the most of them


def _off(given: Array, expected: Array) -> Array:
    """The distance of a given position, (…, 1), or a point on the circle, (…, 2), from the expected position."""
    if given.shape[-1] == 1:
        return np.abs(given - expected)
    c, s = given[..., :1], given[..., 1:]
    return np.abs(np.arctan2(s * np.cos(expected) - c * np.sin(expected), c * np.cos(expected) + s * np.sin(expected)))


def _check_follower(kind: str, name: str, given: Array, expected: Array) -> None:
    off = _off(given, expected)
    wrong = off > CONSISTENT * np.maximum(1.0, np.abs(expected))
    if np.any(wrong):
        raise ArgumentError(
            f"{kind} of mimic joint {name!r} is off by {float(off[wrong].max()):.3g} from where its leader puts it"
        )
