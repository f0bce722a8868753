"""Random trees, for tests of algorithms that must hold for every robot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kinetree.base.arguments import as_count, as_generator, number_that
from kinetree.errors import ArgumentError, short
from kinetree.model.builder import GRAVITY, ModelBuilder
from kinetree.model.description import Mimic
from kinetree.model.joints import JOINTS, AxisJoint, BaseVelocity, JointDynamics
from kinetree.model.joints.dynamics import NONE
from kinetree.model.tree import Model
from kinetree.spatial import Inertia, SpatialOrder
from kinetree.spatial.rotation import matrix_from_quaternion, random_quaternion

EVERY_JOINT = (*JOINTS, "mimic")


def random_inertia(rng: np.random.Generator) -> Inertia:
    """The inertia of a cloud of random point masses: physically consistent, in general position."""
    points = rng.normal(size=(8, 3)) * 0.2 + rng.uniform(-0.2, 0.2, size=3)
    masses = rng.uniform(0.1, 1.0, size=8)
    rotational = sum(m * ((r @ r) * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points, strict=True))
    return Inertia(float(masses.sum()), masses @ points, rotational)


def random_model(
    rng: np.random.Generator | int,
    bodies: int = 8,
    joints: Sequence[str] = EVERY_JOINT,
    *,
    base: str = "fixed",
    branching: float = 0.5,
    gravity: tuple[float, float, float] = GRAVITY,
    spatial_order: SpatialOrder = "linear-first",
    base_velocity: BaseVelocity = "body",
    joint_dynamics: bool = False,
) -> Model:
    """A tree of `bodies` links below the root, with joints drawn from `joints`, arbitrary axes and inertias.

    `branching` is the chance that a link hangs on any earlier link instead of on the one before it; `joint_dynamics`
    gives the joints rotors, damping, friction and springs. Joint kinds: those of
    `ModelBuilder.joint`, and 'mimic' (one of them that follows an earlier joint, both with one coordinate).
    """
    rng, bodies = as_generator("rng", rng), as_count("bodies", bodies)
    branching = number_that(lambda x: 0.0 <= x <= 1.0, "a chance between 0 and 1")("branching", branching)
    kinds = [joints] if isinstance(joints, str) or not isinstance(joints, Iterable) else list(joints)
    known = (*JOINTS, "mimic")
    for kind in kinds:
        if kind not in known:
            raise ArgumentError(f"joints has {short(kind)}; expected {', '.join(map(repr, known))}")
    if not kinds:
        raise ArgumentError("joints is empty; expected one kind of joint or more")
    with_axis = [kind for kind, joint in JOINTS.items() if issubclass(joint, AxisJoint)]
    builder = ModelBuilder("random tree")
    builder.link("link0", random_inertia(rng))
    leaders: list[str] = []
    for i in range(1, bodies + 1):
        parent = int(rng.integers(i)) if rng.random() < branching else i - 1
        kind, mimic = str(rng.choice(kinds)), None
        if kind == "mimic":
            kind = str(rng.choice([kind for kind in with_axis if kind in kinds] or with_axis))
            if leaders:
                mimic = Mimic(str(rng.choice(leaders)), rng.uniform(-2.0, 2.0), rng.uniform(-1.0, 1.0))
        if kind in with_axis and mimic is None:
            leaders.append(f"joint{i}")
        builder.link(f"link{i}", random_inertia(rng))
        builder.joint(
            f"joint{i}",
            kind,
            f"link{parent}",
            f"link{i}",
            xyz=rng.uniform(-0.5, 0.5, size=3),
            rotation=matrix_from_quaternion(random_quaternion(rng)),
            mimic=mimic,
            dynamics=_random_dynamics(rng, JOINTS[kind].nv) if joint_dynamics else NONE,
            **JOINTS[kind].random_geometry(rng),
            **({} if mimic is not None else _random_limits(rng, kind)),  # a follower goes where its leader's let it
        )
    builder.frame("tool", f"link{bodies}", xyz=rng.uniform(-0.5, 0.5, size=3), rpy=rng.uniform(-1.0, 1.0, size=3))
    return builder.build(base, gravity=gravity, spatial_order=spatial_order, base_velocity=base_velocity)


def _random_limits(rng: np.random.Generator, kind: str) -> dict[str, Any]:
    joint = JOINTS[kind]
    nv = max(1, joint.nv) if joint.has_motor else 1
    drawn: dict[str, Any] = {"velocity": rng.uniform(1.0, 5.0, size=nv), "effort": rng.uniform(10.0, 100.0, size=nv)}
    if joint.has_limits:
        drawn |= {"lower": rng.uniform(-2.0, -0.5, size=joint.nq), "upper": rng.uniform(0.5, 2.0, size=joint.nq)}
    return drawn


def _random_dynamics(rng: np.random.Generator, nv: int) -> JointDynamics:
    names = ("armature", "damping", "friction", "stiffness", "rest")
    return JointDynamics(**{name: tuple(rng.uniform(0.0, 1.0, size=max(1, nv))) for name in names})
