"""Control allocation: which rotor speeds give a wrench, and what is given up where they cannot."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from itertools import combinations
from typing import Any, final

import numpy as np

from kinetree import ops
from kinetree.base.arguments import as_constant, as_real
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.flight.part import placement
from kinetree.flight.rotor import Rotor
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.spatial import Force

AXES = ("x", "y", "z", "roll", "pitch", "yaw")
"""Rows of the matrix: forces along, and moments about, the axes of the base."""
RANK = 1e-9


@final
class Allocation:
    """Thrusts f (n,) of rotors to the wrench on the base, about its origin and in its axes: w = B f.

    robot    whose base, or a body that moves with it, has all rotors
    rotors   of any layout: in a plane, tilted, coaxial
    axes     those that are controlled: by default "z", "roll", "pitch", "yaw" where all thrusts are parallel to z, and
             all six otherwise

    Speeds are ω = √(f/k_T); with a rotor that failed, `without(k)` is the allocation to the others.
    """

    def __init__(
        self, robot: Robot, rotors: Iterable[Rotor], axes: Iterable[str] | None = None, failed: Iterable[int] = ()
    ) -> None:
        self.robot, self.rotors = robot, tuple(rotors)
        for rotor in self.rotors:
            if not isinstance(rotor, Rotor):
                raise ArgumentTypeError(f"rotors has {short(rotor)}; expected kt.flight.Rotor")
        if not self.rotors:
            raise ArgumentError("rotors is empty; expected at least one")
        base = robot.model.floating_base
        if base is None:
            raise ArgumentError(f"{robot.name!r} has a fixed base; expected kt.load(…, base='floating')")
        bodies = {robot.frame(rotor.frame).body for rotor in self.rotors}
        if bodies != {robot.body_names[0]}:
            raise ArgumentError(f"rotors are on {', '.join(map(str, bodies))}; expected all on {robot.body_names[0]!r}")
        self.failed = tuple(sorted(set(failed)))
        if any(k not in range(len(self.rotors)) for k in self.failed):
            raise ArgumentError(f"failed is {self.failed}; expected numbers of rotors, 0 to {len(self.rotors) - 1}")
        self.matrix = np.stack([_wrench(robot, rotor) for rotor in self.rotors], axis=1)
        """B, (6, n): columns are wrenches of one newton of thrust."""
        parallel = np.abs(self.matrix[:2]).max() < RANK
        chosen = tuple((AXES[2:] if parallel else AXES) if axes is None else axes)
        for axis in chosen:
            if axis not in AXES:
                raise ArgumentError(f"axes has {short(axis)}; expected some of {', '.join(AXES)}")
        self.axes = chosen
        self.limits = np.array([rotor.thrust * rotor.max_speed**2 for rotor in self.rotors])
        """The largest thrust of each rotor [N], zero of those that failed."""
        self.limits[list(self.failed)] = 0.0
        self._of = [AXES.index(axis) for axis in chosen]
        working = self.matrix[self._of].copy()
        working[:, list(self.failed)] = 0.0
        self.rank = int(np.linalg.matrix_rank(working, RANK * np.abs(working).max(initial=1.0)))
        """Of the controlled rows: below their number, some cannot be controlled on their own."""
        self.inverse = np.linalg.pinv(working)
        """B⁺, (n, len(axes)): the thrusts with the least sum of squares."""
        self._lifting, self._rising = self._lift_direction()

    def _lift_direction(self) -> tuple[Array, list[int]]:
        """Thrusts d (n,), the largest 1, that lift and do nothing else to the controlled axes; rotors with d > 0."""
        rows = [AXES.index("z"), *(row for row in self._of if AXES[row] != "z")]
        working = self.matrix[rows].copy()
        working[:, list(self.failed)] = 0.0
        d = np.linalg.pinv(working)[:, 0]
        d = d / max(float(d.max()), RANK)
        d[np.abs(d - 1.0) < RANK] = 1.0
        return d, np.flatnonzero(d > RANK).tolist()

    def __repr__(self) -> str:
        lost = f", without {self.failed}" if self.failed else ""
        return f"<Allocation of {len(self.rotors)} rotors to {', '.join(self.axes)}{lost}>"

    def without(self, *failed: int, axes: Iterable[str] | None = None) -> Allocation:
        """The allocation when these rotors stand still; without yaw, axes=("z", "roll", "pitch"), where it is lost."""
        return Allocation(self.robot, self.rotors, self.axes if axes is None else axes, (*self.failed, *failed))

    @property
    def hover(self) -> Array:
        """Thrusts (n,) [N] that carry the weight of the robot with its base level, by least squares."""
        weight = np.zeros(6)
        weight[2] = self.robot.mass * float(np.linalg.norm(self.robot.gravity))
        q = self.robot.neutral()
        lever = self.robot.center_of_mass(q)
        weight[3:] = np.cross(lever, weight[:3])
        return np.asarray(self.inverse @ weight[self._of])

    def margin(self, wrench: Any) -> float:
        """How far a wrench of the controlled axes is inside what rotors can give, in the units of the wrench: negative
        where they cannot give it (the available control authority index of Du, Quan, Cai 2015).

        What they can give is a zonotope, {B f, 0 ≤ f ≤ f_max}; the distance to each facet has a closed form. It is -inf
        if two or more axes are lost.
        """
        w = as_constant("wrench", wrench, (len(self.axes),))
        if not np.isfinite(self.limits).all():
            raise ArgumentError("a rotor has no max_speed; expected one for each, without which there is no margin")
        G = self.matrix[self._of] * self.limits
        d = len(self.axes)
        centered = w - 0.5 * G.sum(axis=1)
        nearest = np.inf
        for chosen in combinations(range(G.shape[1]), d - 1):
            U, s, _ = np.linalg.svd(G[:, chosen])
            if d > 1 and s[-1] < RANK * max(s[0], RANK):
                continue
            normal = U[:, -1]
            nearest = min(nearest, 0.5 * np.abs(normal @ G).sum() - abs(normal @ centered))
        return float(nearest) if np.isfinite(nearest) else -float(np.inf)

    # -- traced ------------------------------------------------------------------------------------------------

    def thrusts(self, wrench: Any) -> Array:
        """f (n,) [N] for a wrench of the controlled axes, within limits; one state, or traced.

        Where limits are met, yaw is given up first, as far as it must be, then forces across; then the lift is changed
        so that roll and pitch fit, and only then these are scaled down, both alike: a multicopter that keeps its
        attitude can fly back. Roll and pitch keep their ratio in every layout, also where a rotor has failed.
        """
        w = wrench if ops.is_scalar_array(wrench) else as_real("wrench", wrench, f"({len(self.axes)},)")
        if np.shape(w) != (len(self.axes),):
            raise ArgumentError(f"wrench has shape {np.shape(w)}; expected ({len(self.axes)},): {', '.join(self.axes)}")
        parts = {axis: self.inverse[:, k] * w[k] for k, axis in enumerate(self.axes)}
        lift, tilt, across, turn = (
            sum((parts[axis] for axis in group if axis in parts), start=np.zeros(len(self.rotors)))
            for group in (("z",), ("roll", "pitch"), ("x", "y"), ("yaw",))
        )
        f = lift + tilt * self._share_of_tilt(tilt)
        f = f + self._shift(f) * self._lifting
        for part in (across, turn):
            f = f + part * self._share(f, part)
        return np.array([ops.clip(f[k], 0.0, limit) for k, limit in enumerate(self.limits)])

    def _share_of_tilt(self, tilt: Array) -> Any:
        """The largest s in [0, 1] for which some lift λ has 0 ≤ s t_k + λ d_k ≤ f_max of all rotors k that lift by d_k:
        λ ≥ s max(-t_j/d_j), and so s (t_k/d_k + max(-t_j/d_j)) ≤ f_max/d_k."""
        slopes = {k: tilt[k] / self._lifting[k] for k in self._rising}
        deepest, share = _most([-slope for slope in slopes.values()]), 1.0
        rooms = {k: float(self.limits[k] / self._lifting[k]) for k in self._rising}
        for room in sorted(set(rooms.values()) - {np.inf}):
            steepest = _most([slopes[k] for k in self._rising if rooms[k] == room])
            share = ops.minimum(share, room / ops.maximum(steepest + deepest, 1e-12))
        return share

    def _shift(self, f: Array) -> Any:
        """The least change λ of the lift for which thrusts f_k + λ d_k are within limits, of a tilt that fits [N]."""
        up: Any = 0.0
        down: Any = 0.0
        for k in self._rising:
            up = ops.maximum(up, -f[k] / self._lifting[k])
            if np.isfinite(self.limits[k]):
                down = ops.maximum(down, (f[k] - self.limits[k]) / self._lifting[k])
        return up - down

    def _share(self, f: Array, part: Array) -> Any:
        """The largest s in [0, 1] for which the thrusts f + s part of the working rotors are within limits."""
        share: Any = 1.0
        for k in range(len(self.rotors)):
            if k not in self.failed:
                room = ops.where(ops.less(0.0, part[k]), self.limits[k] - f[k], f[k])
                share = ops.minimum(share, ops.maximum(room, 0.0) / ops.maximum(ops.absolute(part[k]), 1e-12))
        return share

    def speeds(self, wrench: Any) -> Array:
        """ω (n,) [rad/s] for a wrench of the controlled axes, within limits; one state, or traced."""
        return self.speeds_of(self.thrusts(wrench))

    def speeds_of(self, thrusts: Any) -> Array:
        """ω = √(f/k_T) (n,) [rad/s]."""
        k = np.array([rotor.thrust for rotor in self.rotors])
        return np.asarray(ops.sqrt(ops.maximum(thrusts, 0.0) / k))


def _wrench(robot: Robot, rotor: Rotor) -> Array:
    """The wrench on the base of one newton of thrust, (6,), linear first."""
    drag = -rotor.direction * rotor.torque / rotor.thrust
    force = Force(np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, drag]))
    return (placement(robot, rotor.frame).transpose() * force).vector()


def _most(values: list[Any]) -> Any:
    """The largest of some values."""
    return reduce(ops.maximum, values) if values else 0.0
