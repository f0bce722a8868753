"""kt.convert: the same state, force or Jacobian in the coordinates of another library, or with another base velocity.

Velocities of the two sides are related by v_peer = T(q) v, with T a permutation of the joints, a change of axes for
some of them, and a row for every mimic joint, to which the peers give coordinates of their own. B is a left inverse of
T (B T = 1). All else follows:

    a_peer = T a + Ṫ v      τ = Tᵀ τ_peer      J = J_peer T      M = Tᵀ M_peer T
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_floats, batch_shape, check_quaternions
from kinetree.convert.peer import PEERS, Peer, joints_by_name
from kinetree.errors import ArgumentError, ArgumentTypeError, known, one_of, short
from kinetree.model.joints import Joint
from kinetree.model.joints.coordinates import Coordinates, OnCircle, OnLine
from kinetree.model.tree import Model
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.spatial.last_axes import times
from kinetree.spatial.packing import reordered

CONSISTENT = 1e-6
"""How far a mimic joint may be, relatively, from where its leader puts it."""
FULL_TURNS = 100
"""How many turns of a continuous leader are tried where its followers are all on circles, too."""

Kind: TypeAlias = Literal["q", "v", "a", "tau", "jacobian", "mass_matrix", "wrench"]
KINDS: tuple[Kind, ...] = ("q", "v", "a", "tau", "jacobian", "mass_matrix", "wrench")


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
    """`value` of the given kind, to the conventions of a peer or from them: "pinocchio", "mujoco" or "drake"; or "body"
    or "mixed", for this robot as it is when loaded with that base velocity.

    kind    "q", "v", "a", "tau" (…, n), "jacobian" (…, k, n), "mass_matrix" (…, n, n) or "wrench" (…, 6)
    q, v    of the state, in the conventions of `value`; needed only where a joint's velocity has other axes
    joints  the peer's joints in its order, world and floating base left out, if it is not the order it gives by itself
            to the same URDF; mimic joints that are not in the list have no coordinates there

    A mimic joint's position, velocity and acceleration must agree with its leader's; its effort is added to it. Of a
    jacobian with a multiple of six rows each six are put in the other side's order; other rows, as of a centre of mass,
    stay as they are. Of a wrench only the order changes: it stays at the same point, in the same axes. Bias forces are
    efforts at a = 0, which is not a_peer = 0 where a joint's axes turn on one side only: convert an effort together
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
        peer.check(model)
        ordered = peer.joints(model) if joints is None else _given_order(model, joints)
        self.parts = [peer.coordinates(joint) for joint in ordered]
        self.redundant = [part for part in self.parts if part.redundant]
        self.nq, self.at_q = _places([part.nq for part in self.parts])
        self.nv, self.at_v = _places([part.nv for part in self.parts])

    def convert(self, kind: Kind, value: ArrayLike, q: ArrayLike | None, v: ArrayLike | None, outward: bool) -> Array:
        """To the peer (outward) or from it; q and v are on the side of the value."""
        model = self.model
        nq, nv = (model.nq, model.nv) if outward else (self.nq, self.nv)
        ours, theirs = model.spatial_order, self.peer.spatial_order or model.spatial_order
        orders = (ours, theirs) if outward else (theirs, ours)
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
        states = self._states(given["q"][0] if "q" in given else None, outward)
        T, B = self._maps(states)
        back = B if outward else T  # from the other side's velocities to those of the value's side
        if kind in ("v", "a"):
            drift: Array | float = 0.0
            if kind == "a":
                drift = self._drift(states, B, given["v"][0] if "v" in given else None, outward)
            if outward:
                return times(T, x) + drift
            return self._consistent(kind, x - drift, T, times(B, x - drift))
        if kind == "tau":
            return times(np.swapaxes(back, -1, -2), x)
        if outward and self.redundant:
            self._refuse_spreading(kind)
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

    def _refuse_spreading(self, kind: str) -> None:
        for joint in (part.joint for part in self.redundant if part.joint.owns_coordinates):
            message = f"the several coordinates that {self.peer.name} has for {joint.kind} joint {joint.name!r}"
            raise ArgumentError(f"a {kind} cannot be spread over {message}")
        raise ArgumentError(f"a {kind} cannot be spread over mimic joints; leave them out with joints=")

    def _theirs(self, q: Array) -> Iterator[tuple[Coordinates, Array]]:
        """Every joint with its part of the peer's positions."""
        return ((part, q[..., there]) for part, there in zip(self.parts, self.at_q, strict=True))

    # -- positions ---------------------------------------------------------------------------------------------

    def _configuration(self, q: ArrayLike, outward: bool) -> Array:
        """A configuration of the value's side, checked."""
        array = as_floats("q", q, (self.model.nq if outward else self.nq,))
        if outward:
            check_quaternions("q", array, self.model.quaternions)
        else:
            for part, there in zip(self.parts, self.at_q, strict=True):
                part.check("q", array, there.start)
        return array

    def _q_to_peer(self, q: Array) -> Array:
        return np.concatenate([q[..., :0], *(part.positions(q[..., part.joint.q_slice]) for part in self.parts)], -1)

    def _q_from_peer(self, q: Array) -> Array:
        ours = np.empty((*q.shape[:-1], self.model.nq))
        followers: list[tuple[OnLine, Array]] = []
        for part, theirs in self._theirs(q):
            if part.joint.owns_coordinates:
                ours[..., part.joint.q_slice] = part.own_positions(theirs)
            elif isinstance(part, OnLine):
                followers.append((part, theirs))
        for leader in self.parts:
            led = [pair for pair in followers if pair[0].joint.leader == leader.joint.name and pair[0].joint.ratio]
            if led and isinstance(leader, OnCircle):
                ours[..., leader.joint.q_slice] += 2 * np.pi * full_turns(ours[..., leader.joint.q_slice], led)
        for part, theirs in self._theirs(q):
            if part.redundant and isinstance(part, OnLine):
                own = ours[..., part.joint.q_slice]
                check_consistent("q", part, part.off(theirs, own), np.abs(part.angle(own)))
        return ours

    # -- velocities --------------------------------------------------------------------------------------------

    def _states(self, q: Array | None, outward: bool) -> list[Array]:
        """Our positions of every joint whose velocity has other axes there, from the configuration of the value's side;
        nothing for the other joints."""
        turning = [part for part in self.parts if part.turns]
        if turning and q is None:
            name = turning[0].joint.name
            raise ArgumentError(f"q is needed: the velocity of {name!r} has other axes there, and they turn with it")
        if q is None:
            return [np.zeros(0)] * len(self.parts)
        if outward:
            return [q[..., part.joint.q_slice] if part.turns else np.zeros(0) for part in self.parts]
        return [part.own_positions(theirs) if part.turns else np.zeros(0) for part, theirs in self._theirs(q)]

    def _maps(self, states: list[Array]) -> tuple[Array, Array]:
        """T(q) and its left inverse B."""
        batch = np.broadcast_shapes(*(q.shape[:-1] for q in states))
        T = np.zeros((*batch, self.nv, self.model.nv))
        B = np.zeros((*batch, self.model.nv, self.nv))
        for part, q, there in zip(self.parts, states, self.at_v, strict=True):
            if getattr(part.joint, "ratio", 1.0):  # a follower with ratio 0 never moves
                T[..., there, part.joint.v_slice] = part.T(q)
            if part.joint.owns_coordinates:
                B[..., part.joint.v_slice, there] = part.T_inverse(q)
        return T, B

    def _drift(self, states: list[Array], B: Array, v: Array | None, outward: bool) -> Array | float:
        """Ṫ v: nonzero only for a joint whose axes turn on one side and not on the other."""
        drifting = [part for part in self.parts if part.drifts]
        if not drifting:
            return 0.0
        if v is None:
            name = drifting[0].joint.name
            raise ArgumentError(f"v is needed: the axes of the velocity of {name!r} turn on one side only")
        ours = v if outward else times(B, v)
        drift = np.zeros((*np.broadcast_shapes(ours.shape[:-1], B.shape[:-2]), self.nv))
        for part, q, there in zip(self.parts, states, self.at_v, strict=True):
            if part.drifts:
                drift[..., there] = part.drift(q, ours[..., part.joint.v_slice])
        return drift

    def _consistent(self, kind: str, x: Array, T: Array, ours: Array) -> Array:
        for part, there in zip(self.parts, self.at_v, strict=True):
            if part.redundant:
                own = times(T[..., there, :], ours)
                off, size = np.abs(x[..., there] - own), np.abs(own).max(axis=-1, keepdims=True)
                check_consistent(kind, part, off, size)
        return ours


def _places(sizes: list[int]) -> tuple[int, list[slice]]:
    """How many entries parts of these sizes have together, and where each part is."""
    ends = [int(end) for end in np.cumsum([0, *sizes])]
    return ends[-1], [slice(start, end) for start, end in pairwise(ends)]


def _given_order(model: Model, names: Sequence[str]) -> list[Joint]:
    """The joints with coordinates on the peer's side, as the caller lists them; a floating base first."""
    base = model.floating_base
    by_name = joints_by_name(model)
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ArgumentTypeError(f"joints is {short(names)}; expected a list of joint names")
    names = list(names)
    for name in names:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"joints has {short(name)}; expected the name of a joint")
        known("joint", name, by_name)
    missing = [joint.name for joint in model.owners if joint.name not in names and joint is not base]
    if missing or len(set(names)) != len(names):
        raise ArgumentError(f"joints lists {missing[0]!r} nowhere" if missing else "joints lists a joint twice")
    return [*([base] if base is not None else []), *(by_name[name] for name in names)]


def full_turns(angle: Array, followers: list[tuple[OnLine, Array]]) -> Array:
    """How many full turns k put the followers of a continuous joint at ratio (θ + 2π k) + offset, (…, 1).

    A follower that is not on a circle says it at once; others leave it open, and the smallest |k| that fits is taken.
    """
    on_line = [(part.joint, theirs) for part, theirs in followers if not isinstance(part, OnCircle)]
    if on_line:
        joint, theirs = max(on_line, key=lambda pair: abs(pair[0].ratio))
        return np.round(((theirs[..., :1] - joint.offset) / joint.ratio - angle) / (2 * np.pi))
    candidates = np.array(sorted(range(-FULL_TURNS, FULL_TURNS + 1), key=abs))
    angles = angle + 2 * np.pi * candidates
    fits = [part.off(theirs, angles) <= CONSISTENT for part, theirs in followers]
    return candidates[np.argmax(np.sum(fits, axis=0), axis=-1)][..., None]  # the first that suits the most of them


def check_consistent(kind: str, part: Coordinates, off: Array, size: Array) -> None:
    """Raises if coordinates that follow from others are too far off where those put them; `size`, (…, 1), is what they
    are compared with."""
    wrong = off > CONSISTENT * np.maximum(1.0, size)
    if np.any(wrong):
        owns = part.joint.owns_coordinates
        what, reason = (part.joint.kind, "its angle") if owns else ("mimic", "its leader")
        raise ArgumentError(
            f"{kind} of {what} joint {part.joint.name!r} is off by {float(off[wrong].max()):.3g} from where {reason} "
            "puts it"
        )
