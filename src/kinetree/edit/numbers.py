"""Robots with other numbers: inertias, limits, rotors, damping, friction, springs, placements; and further frames.

Links and joints stay what they are, so code of a parametric robot whose inputs these numbers are serves both robots.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_number
from kinetree.edit.edits import built, description_of
from kinetree.errors import ArgumentError, ArgumentTypeError, known, short
from kinetree.model.bounds import checked_bounds
from kinetree.model.builder import ModelBuilder
from kinetree.model.description import Bounds, JointDescription
from kinetree.model.fluid import DragBox
from kinetree.model.joints.dynamics import PerCoordinate
from kinetree.robot import Robot
from kinetree.spatial import Inertia, Transform

Names = str | Iterable[str]


def set_inertia(robot: Robot, link: str, inertia: Inertia) -> Robot:
    """Give a link another inertia, about its own frame: `kt.Inertia.from_com(mass, com, rotational)`."""
    description = description_of(robot)
    before = description.links[known("link", link, description.links)]
    checked = ModelBuilder(description.name, description.source)
    share = 0.0 if before.compensated is None else before.compensated.mass / before.inertia.mass
    checked.link(link, inertia, gravity_compensation=share, line=before.line)  # refuses what no link can have
    builder, after = ModelBuilder.of(description), checked.links[link]
    drag = tuple(each for each in before.drag if not (isinstance(each, DragBox) and each.fits(before.inertia)))
    builder.links[link] = replace(before, inertia=after.inertia, compensated=after.compensated, drag=drag)
    for finding in [each for each in builder.findings if each.element == f"link {link!r}"]:
        del builder._findings[finding]  # they were of the former inertia
    builder._findings |= dict.fromkeys(checked.findings)
    return built(robot, builder)


def set_mass(robot: Robot, link: str, mass: float) -> Robot:
    """Give a link another mass [kg], with its centre of mass where it is and its inertia in proportion."""
    links = description_of(robot).links
    own, m = links[known("link", link, links)].inertia, as_number("mass", mass)
    if own.mass == 0.0:
        raise ArgumentError(f"link {link!r} has no mass that could be scaled to {m:g} kg; expected set_inertia for it")
    if not 0.0 <= m < np.inf:
        raise ArgumentError(f"mass is {m:g}; expected a mass of zero or more")
    return set_inertia(robot, link, Inertia(m, own.h * (m / own.mass), own.I * (m / own.mass)))


def set_limits(
    robot: Robot,
    joints: Names,
    *,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    effort: ArrayLike | None = None,
) -> Robot:
    """Change the limits of one or more joints [rad or m, rad/s or m/s, N m or N]; omitted values stay.

    Each is one number for all coordinates of a joint, or one for each; np.inf is no limit.
    """
    given = (lower, upper, velocity, effort)
    if all(bound is None for bound in given):
        raise ArgumentError("set_limits got no limit; expected lower, upper, velocity or effort")
    builder = ModelBuilder.of(description_of(robot))
    for joint in _joints(builder, joints):
        merged = [own if new is None else new for own, new in zip(joint.bounds, given, strict=True)]
        with builder.located(f"joint {joint.name!r}", joint.line):
            bounds: Bounds = checked_bounds(joint.kind, *merged)
            for name, new in (("velocity", velocity), ("effort", effort)):
                if new is not None and np.min(new) < 0.0:
                    raise ArgumentError(f"{name} limit is {np.min(new):g}; expected zero or more")
        builder.joints[joint.name] = replace(joint, bounds=bounds)
    return built(robot, builder)


def set_dynamics(
    robot: Robot,
    joints: Names,
    *,
    armature: PerCoordinate | None = None,
    damping: PerCoordinate | None = None,
    friction: PerCoordinate | None = None,
    stiffness: PerCoordinate | None = None,
    rest: PerCoordinate | None = None,
) -> Robot:
    """Change rotor inertia, damping, friction or spring of one or more joints; omitted values stay.

    Each is one number for all coordinates of a joint, or one for each, as in `kt.JointDynamics`. Damping, friction and
    springs are part of the dynamics of a robot that was loaded with passive=True.
    """
    given = {"armature": armature, "damping": damping, "friction": friction, "stiffness": stiffness, "rest": rest}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise ArgumentError(f"set_dynamics got no number; expected {', '.join(given)}")
    builder = ModelBuilder.of(description_of(robot))
    for joint in _joints(builder, joints):
        element = f"joint {joint.name!r}"
        with builder.located(element, joint.line):
            dynamics = replace(joint.dynamics, **changes)
        if misfit := dynamics.misfit(joint.joint_class.nv):
            raise builder.error(element, misfit, joint.line)
        builder.joints[joint.name] = replace(joint, dynamics=dynamics)
    return built(robot, builder)


def set_fluid(
    robot: Robot, *, density: float | None = None, viscosity: float | None = None, wind: ArrayLike | None = None
) -> Robot:
    """Change density [kg/m³], viscosity [Pa s] or wind [m/s] of the fluid around the robot; omitted values stay.

    It acts on `kt.DragBox` and `kt.DragEllipsoid` of links, or on the boxes of their inertias, if the robot was loaded
    with passive=True.
    """
    given = {"density": density, "viscosity": viscosity, "wind": wind}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise ArgumentError(f"set_fluid got no number; expected {', '.join(given)}")
    builder = ModelBuilder.of(description_of(robot))
    builder.fluid = replace(builder.fluid, **changes)
    return built(robot, builder)


def place_joint(
    robot: Robot,
    joint: str,
    *,
    xyz: ArrayLike | None = None,
    rpy: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
) -> Robot:
    """Change the placement of a joint, including fixed joints, in its parent link: xyz [m], and rpy [rad] or a matrix;
    omitted values stay."""
    builder = ModelBuilder.of(description_of(robot))
    (own,) = _joints(builder, joint)
    placement = _placed(builder, f"joint {joint!r}", own.placement, xyz, rpy, rotation)
    builder.joints[joint] = replace(own, placement=placement)
    return built(robot, builder)


def place_frame(
    robot: Robot,
    frame: str,
    *,
    xyz: ArrayLike | None = None,
    rpy: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
) -> Robot:
    """Place a frame elsewhere in the link that it is fixed to, as `place_joint` does; the frame is a site, or a link
    behind a fixed joint."""
    description = description_of(robot)
    robot.model.frame(frame)  # says what is there if this is not
    if frame in description.sites:
        builder = ModelBuilder.of(description)
        link, X = builder.sites[frame]
        builder.sites[frame] = (link, _placed(builder, f"frame {frame!r}", X, xyz, rpy, rotation))
        return built(robot, builder)
    above = {joint.child: joint for joint in description.joints.values()}.get(frame)
    if above is None or above.kind != "fixed":
        moved = "is the root" if above is None else f"is moved by joint {above.name!r}"
        raise ArgumentError(f"link {frame!r} {moved}; expected a site, or a link behind a fixed joint")
    return place_joint(robot, above.name, xyz=xyz, rpy=rpy, rotation=rotation)


def add_frame(
    robot: Robot,
    name: str,
    at: str,
    *,
    xyz: ArrayLike = (0.0, 0.0, 0.0),
    rpy: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
) -> Robot:
    """Add a frame, such as a tool centre point, fixed to the frame `at`: at xyz [m], turned by rpy [rad] or matrix."""
    builder = ModelBuilder.of(description_of(robot))
    robot.model.frame(at)  # says what is there if this is not
    if name in builder.links:
        raise ArgumentError(f"frame {name!r} is a link of {robot.name!r} already; expected another name")
    link, X = builder.sites.get(at, (at, Transform.identity()))
    builder.frame(name, link, xyz=xyz, rpy=rpy, rotation=rotation)
    builder.sites[name] = (link, builder.sites[name][1] * X)
    return built(robot, builder)


def _joints(builder: ModelBuilder, joints: Names) -> list[JointDescription]:
    if not isinstance(joints, (str, Iterable)):
        raise ArgumentTypeError(f"joints is {short(joints)}; expected names of joints")
    names = (joints,) if isinstance(joints, str) else joints
    return [builder.joints[known("joint", name, builder.joints)] for name in names]


def _placed(
    builder: ModelBuilder,
    element: str,
    X: Transform,
    xyz: ArrayLike | None,
    rpy: ArrayLike | None,
    rotation: ArrayLike | None,
) -> Transform:
    """X with another position, another rotation, or both."""
    if xyz is None and rpy is None and rotation is None:
        raise ArgumentError(f"{element} got no place; expected xyz, rpy or rotation")
    R = X.R if rpy is None and rotation is None else builder._rotation(element, rpy, rotation, None).T
    return Transform(R, X.p if xyz is None else builder._vector(element, "xyz", xyz, None))
