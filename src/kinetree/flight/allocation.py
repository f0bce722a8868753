"""Control allocation: which rotor speeds give a wrench, and what is given up where they cannot."""

from __future__ import annotations

from collections.abc import Iterable
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

        Where limits are met, yaw is given up first, as far as it must be, then collective thrust is shifted so that
        roll and pitch fit, and only then these are scaled down: a multicopter that keeps its attitude can fly back.
        """
        w = wrench if ops.is_scalar_array(wrench) else as_real("wrench", wrench, f"({len(self.axes)},)")
        if np.shape(w) != (len(self.axes),):
            raise ArgumentError(f"wrench has shape {np.shape(w)}; expected ({len(self.axes)},): {', '.join(self.axes)}")
        parts = {axis: self.inverse[:, k] * w[k] for k, axis in enumerate(self.axes)}
        lift, tilt, turn = (
            sum((parts[axis] for axis in group if axis in parts), start=np.zeros(len(self.rotors)))
            for group in (("z", "x", "y"), ("roll", "pitch"), ("yaw",))
        )
        working = [k for k in range(len(self.rotors)) if k not in self.failed]
        tilt = tilt * _largest_share([(tilt[k], self.limits[k]) for k in working])
        f = lift + tilt
        f = f + self._shift(f, working)
        share: Any = 1.0
        for k in working:
            room = ops.where(ops.less(0.0, turn[k]), self.limits[k] - f[k], f[k])
            share = ops.minimum(share, ops.maximum(room, 0.0) / ops.maximum(ops.absolute(turn[k]), 1e-12))
        given = [ops.clip(f[k] + share * turn[k], 0.0, self.limits[k]) for k in range(len(self.rotors))]
        return np.array(given)

    def _shift(self, f: Array, working: list[int]) -> Any:
        """How much all thrusts are raised or lowered so that they are within limits [N]."""
        up: Any = 0.0
        down: Any = 0.0
        for k in working:
            up = ops.maximum(up, -f[k])
            down = ops.maximum(down, f[k] - self.limits[k])
        return up - down if all(np.isfinite(self.limits[k]) for k in working) else up

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


def _largest_share(pairs: list[tuple[Any, float]]) -> Any:
    """The largest s in [0, 1] with which max s f - min s f fits between 0 and the least limit."""
    highest: Any = 0.0
    lowest: Any = 0.0
    for f, _ in pairs:
        highest, lowest = ops.maximum(highest, f), ops.minimum(lowest, f)
    room = min((limit for _, limit in pairs), default=0.0)
    return 1.0 if not np.isfinite(room) else ops.minimum(1.0, room / ops.maximum(highest - lowest, 1e-12))
