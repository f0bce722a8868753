"""Where joints really are: errors of their placements, from measured poses of a frame.

The frame is at T = Π_i (P_i e^δ_i M_i(q)) F e^δ_F for joints on the way from the root to it: P_i is where joint i sits
on its parent, M_i its motion, F where the frame sits on the last body. Every e^δ is a small motion, three lengths and
three angles in the axes of the joint. With T = A e^δ B, a change of δ moves the frame by the twist Ad(B⁻¹) dδ in its
own axes, and the method of Gauss and Newton fits the twists log(T⁻¹ T_measured).

Poses show 4 errors for each revolute joint, 2 for each prismatic one, and 6 of the frame; 3 of them less where only
positions are measured (Mooring, Roth and Driels 1991). Among placements that fit equally well, those nearest to the
model are taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinetree import se3
from kinetree.base.arguments import as_floats, as_real
from kinetree.base.lazy import lazy
from kinetree.edit import description_of
from kinetree.errors import ArgumentError, known, one_of
from kinetree.model import ModelBuilder
from kinetree.ops import Array
from kinetree.robot import Robot, as_robot
from kinetree.spatial import Transform

AXES = ("x", "y", "z", "rx", "ry", "rz")
RANK = 1e-7
"""Relative to the largest, singular values of the Jacobian that count as zero."""
MOST_STEPS = 50
Sought = Literal["placement", "offset"]


@dataclass(frozen=True, eq=False)
class Calibration:
    """The result of `calibrate`."""

    before: Robot
    frame: str
    places: tuple[str, ...]
    """What was moved: joints, and last the frame if it can be."""
    names: tuple[str, ...]
    """Of `parameters`, such as "elbow.x" [m], "elbow.rz" [rad] or "elbow.offset" [rad or m]."""
    parameters: Array
    standard_errors: Array
    """Of each by itself; infinite where poses show it only in sums with others."""
    corrections: tuple[Array, ...]
    """e^δ of each place, (4, 4)."""
    rank: int
    """How many combinations of parameters the poses show."""
    residuals_before: tuple[float, float]
    """Root mean square of positions [m] and rotations [rad] (NaN where they were not measured)."""
    residuals: tuple[float, float]
    """The same after calibration."""

    @lazy
    def robot(self) -> Robot:
        """The robot with corrected placements."""
        builder = ModelBuilder.of(description_of(self.before))
        for place, E in zip(self.places, self.corrections, strict=True):
            correction = Transform.from_pose(E)
            if place in builder.sites and place not in builder.joints:
                link, X = builder.sites[place]
                builder.sites[place] = (link, correction * X)
            else:
                joint = builder.joints[place]
                builder.joints[place] = replace(joint, placement=correction * joint.placement)
        options = self.before.model.options
        assert options is not None
        return Robot(builder.build(**vars(options)), self.before.textbook, self.before.dtype)

    def report(self) -> str:
        """The results as text."""
        (p0, r0), (p1, r1) = self.residuals_before, self.residuals
        turned = "" if np.isnan(r0) else f", {1e3 * r0:.4g} → {1e3 * r1:.4g} mrad"
        lines = [
            f"{self.before.name}: {self.frame} within {1e3 * p0:.4g} → {1e3 * p1:.4g} mm{turned} (root mean square)",
            f"{self.rank} of {len(self.names)} parameters are independent",
            "",
        ]
        for name, value, error in zip(self.names, self.parameters, self.standard_errors, strict=True):
            shown = "in sums only" if np.isinf(error) else f"± {error:.2g}"
            lines.append(f"{name:32s} {value:12.4g} {shown}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<calibration of {self.before.name!r}: {self.rank} combinations of {len(self.names)} parameters>"


def calibrate(
    robot: Robot,
    q: ArrayLike,
    poses: ArrayLike,
    frame: str,
    *,
    sought: Sought = "placement",
    joints: Iterable[str] | None = None,
    tool: bool = True,
) -> Calibration:
    """Placements of joints from measured poses of a frame in the world.

    q        configurations, (n, nq)
    poses    of the frame, (n, 4, 4), or positions of its origin, (n, 3) [m]
    frame    which frame was measured
    sought   "placement": three lengths and three angles of every joint; "offset": only the zero of its encoder
    joints   which joints, of those on the way to the frame; all by default
    tool     whether the placement of the frame itself is sought
    """
    robot = as_robot(robot).astype("float64")
    one_of("sought", sought, ("placement", "offset"))
    at = as_floats("q", q, (robot.nq,))
    if at.ndim != 2 or not len(at):
        raise ArgumentError(f"q has shape {at.shape}; expected (n, {robot.nq})")
    measured, has_rotations = _targets(poses, len(at))
    chain = _Chain(robot, frame, at, _chosen(robot, frame, joints), tool, sought)
    if not chain.names:
        raise ArgumentError(f"nothing on the way to frame {frame!r} is sought; expected joints, or tool=True")
    weights = np.ones(6 if has_rotations else 3)
    first = _root_mean_squares(chain.errors(measured, has_rotations))
    for _ in range(MOST_STEPS):
        errors = chain.errors(measured, has_rotations)
        J = chain.jacobian()[:, : len(weights)] * weights[:, None]
        solution = np.linalg.lstsq(J.reshape(-1, J.shape[-1]), (errors * weights).reshape(-1), rcond=RANK)
        step, rank = solution[0], int(solution[2])
        chain.move(step)
        position, rotation = _root_mean_squares(chain.errors(measured, has_rotations))
        if has_rotations:  # both kinds of errors count by their noise
            weights = np.repeat([1.0, min(1e3, max(1e-3, position / max(rotation, 1e-300)))], 3)
        if float(np.abs(step).max()) < 1e-11:
            break
    errors = chain.errors(measured, has_rotations) * weights
    return Calibration(
        robot,
        frame,
        chain.places,
        chain.names,
        chain.parameters(),
        _standard_errors(chain.jacobian()[:, : len(weights)] * weights[:, None], errors, rank),
        tuple(chain.E),
        rank,
        first,
        _root_mean_squares(chain.errors(measured, has_rotations)),
    )


def _targets(poses: ArrayLike, count: int) -> tuple[Array, bool]:
    """Measured poses (n, 4, 4), of positions with no rotation, and whether rotations were measured."""
    given = as_real("poses", poses, f"an array of shape ({count}, 4, 4) or ({count}, 3)")
    if given.shape == (count, 4, 4):
        return given, True
    if given.shape != (count, 3):
        raise ArgumentError(f"poses has shape {given.shape}; expected ({count}, 4, 4) or ({count}, 3)")
    whole = np.tile(np.eye(4), (count, 1, 1))
    whole[:, :3, 3] = given
    return whole, False


def _chosen(robot: Robot, frame: str, joints: Iterable[str] | None) -> list[int]:
    """Numbers of the bodies whose joints are sought, in the order from the root to the frame."""
    model = robot.model
    way = [i for i in model.support(model.frame(frame).body) if model.joints[i] is not model.floating_base]
    names = {model.joints[i].name: i for i in way}
    if joints is None:
        return way
    wanted = {known(f"joint on the way to {frame!r}", name, names) for name in joints}
    return [i for name, i in names.items() if name in wanted]


class _Chain:
    """The way from the root to a frame, with corrections that are moved."""

    def __init__(self, robot: Robot, frame: str, q: Array, chosen: list[int], tool: bool, sought: Sought) -> None:
        model = robot.model
        placed = model.frame(frame)
        way = model.support(placed.body)
        bodies = robot.poses(q)
        world = np.broadcast_to(np.eye(4), (len(q), 4, 4))
        self.P = [*(model.placements[i].pose() for i in way), placed.X.pose()]
        self.M = []
        for P, i in zip(self.P, way, strict=False):
            parent = bodies[:, model.parents[i] - 1] if model.parents[i] else world
            self.M.append(np.linalg.inv(parent @ P) @ bodies[:, i - 1])
        self.M.append(world if way else np.eye(4)[None])
        place = _place_of_frame(robot, frame) if tool else None
        self.spots = [way.index(i) for i in chosen]
        self.places = tuple(model.joints[i].name for i in chosen)
        self.bases = [_directions(model.joints[i], sought) for i in chosen]
        labels = [AXES if sought == "placement" else _numbered("offset", model.joints[i].nv) for i in chosen]
        if place is not None:
            self.spots.append(len(way))
            self.places = (*self.places, place)
            self.bases.append(np.eye(6))
            labels.append(AXES)
        self.names = tuple(
            f"{name}.{label}" for name, listed in zip(self.places, labels, strict=True) for label in listed
        )
        self.E = [np.eye(4) for _ in self.spots]

    def _factors(self) -> list[Array]:
        """P_i e^δ_i M_i from the root to the frame, whose own M is 1."""
        by_spot = dict(zip(self.spots, self.E, strict=True))
        return [P @ by_spot.get(k, np.eye(4)) @ M for k, (P, M) in enumerate(zip(self.P, self.M, strict=True))]

    def pose(self) -> Array:
        """T of all configurations, (n, 4, 4)."""
        T = np.eye(4)
        for part in self._factors():
            T = T @ part
        return T

    def errors(self, measured: Array, has_rotations: bool) -> Array:
        """Twists from the frame to where it was measured, in its axes, (n, 6); (n, 3) of positions."""
        T = self.pose()
        if has_rotations:
            return se3.log(np.linalg.inv(T) @ measured)
        return np.einsum("nji,nj->ni", T[:, :3, :3], measured[:, :3, 3] - T[:, :3, 3])

    def jacobian(self) -> Array:
        """∂(twist of the frame)/∂δ, (n, 6, parameters)."""
        factors = self._factors()
        after = [np.eye(4)]
        for part in reversed(factors):  # after[k] = product of the last k factors
            after.append(part @ after[-1])
        blocks = []
        for spot, basis, E in zip(self.spots, self.bases, self.E, strict=True):
            B = np.linalg.inv(self.P[spot] @ E) @ after[len(factors) - spot]
            blocks.append(se3.adjoint(np.linalg.inv(B)) @ basis)
        return np.concatenate(blocks, axis=-1)

    def move(self, step: Array) -> None:
        """e^δ ← e^δ e^step, along each place's own directions."""
        start = 0
        for k, basis in enumerate(self.bases):
            own = step[start : start + basis.shape[1]]
            start += basis.shape[1]
            self.E[k] = self.E[k] @ se3.exp(basis @ own)

    def parameters(self) -> Array:
        """All corrections in the order of `names`."""
        return np.concatenate([np.linalg.pinv(basis) @ se3.log(E) for basis, E in zip(self.bases, self.E, strict=True)])


def _directions(joint: Any, sought: Sought) -> Array:
    """A basis of the corrections of a joint, (6, k), linear first."""
    if sought == "placement":
        return np.eye(6)
    q = np.zeros(joint.iq + joint.nq)
    q[joint.q_slice] = joint.neutral()
    return np.array([S.vector("linear-first") for S in joint.motion_subspace(q)]).reshape(-1, 6).T


def _numbered(name: str, count: int) -> tuple[str, ...]:
    return (name,) if count == 1 else tuple(f"{name}[{k}]" for k in range(count))


def _place_of_frame(robot: Robot, frame: str) -> str | None:
    """What places a frame on its body: a site of its own, or a fixed joint; None if it is the body's own link."""
    description = description_of(robot)
    if frame in description.sites:
        return frame
    above = next((joint for joint in description.joints.values() if joint.child == frame), None)
    return above.name if above is not None and above.kind == "fixed" else None


def _standard_errors(J: Array, errors: Array, rank: int) -> Array:
    """Of each parameter; infinite for those that are part of a combination which nothing shows."""
    flat = J.reshape(-1, J.shape[-1])
    _, s, Vt = np.linalg.svd(flat, full_matrices=False)
    variance = float((errors**2).sum()) / max(1, errors.size - rank)
    seen = Vt[:rank]
    found = np.sqrt(variance * ((seen / s[:rank, None]) ** 2).sum(axis=0))
    whole = (seen**2).sum(axis=0) > 1.0 - 1e-6
    return np.where(whole, found, np.inf)


def _root_mean_squares(errors: Array) -> tuple[float, float]:
    position = float(np.sqrt(np.mean((errors[:, :3] ** 2).sum(axis=1))))
    return position, float(np.sqrt(np.mean((errors[:, 3:] ** 2).sum(axis=1)))) if errors.shape[1] == 6 else np.nan
