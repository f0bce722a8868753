"""Robots made from robots: lock joints, carry a payload, graft a tool, change the base, scale, rename."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant, as_numbers, positive
from kinetree.errors import ArgumentError, ArgumentTypeError, ModelError, known, short, unknown
from kinetree.model.assembly import FLOATING_BASE
from kinetree.model.builder import ModelBuilder
from kinetree.model.constraints import TendonCoupling, renamed
from kinetree.model.constraints import scaled as scaled_constraint
from kinetree.model.description import UNBOUNDED, Description, JointDescription, LinkDescription, Options, free_name
from kinetree.model.fluid import drag_shapes
from kinetree.model.geometry import Geometry, scaled
from kinetree.model.joints import Free, Joint
from kinetree.model.joints.dynamics import NONE
from kinetree.model.parametric import with_inputs
from kinetree.robot import Robot
from kinetree.spatial import Inertia, Transform


def with_options(robot: Robot, **options: Any) -> Robot:
    """The same description built with other options of `kt.load`: base, gravity, spatial_order, base_velocity, …

    floating = kt.edit.with_options(robot, base="floating")
    """
    for name in options:
        known("option", name, vars(_options(robot)))
    return built(robot, ModelBuilder.of(description_of(robot)), **options)


def lock(robot: Robot, joints: Mapping[str, ArrayLike] | Iterable[str]) -> Robot:
    """Fix joints at given positions (a number, or as many as the joint has), or by name alone at their neutral ones.

    What a locked joint moved becomes part of the body before it, and followers of it are locked with it.
    """
    builder, wanted = ModelBuilder.of(description_of(robot)), _positions(joints)
    q = robot.neutral()
    names = {joint.name: joint for joint in robot.model.owners if joint is not robot.model.floating_base}
    for name, value in wanted.items():
        joint = _owner(robot, name, names)
        if value is not None:
            given = as_constant(name, [value] if joint.nq == 1 and np.ndim(value) == 0 else value, (joint.nq,))
            if not np.isfinite(given).all():
                raise ArgumentError(f"{name} is {short(value)}; expected finite positions")
            q[joint.q_slice] = given
    for joint in robot.model.joints:
        if joint.name in wanted or joint.follows in wanted:
            described = builder.joints[joint.name]
            placement = joint.transform(q) * described.placement
            ends = described.parent, described.child, described.axis
            builder.joints[joint.name] = JointDescription(
                joint.name, "fixed", *ends, placement, UNBOUNDED, line=described.line
            )
    return built(robot, builder)


def attach(
    robot: Robot,
    frame: str,
    inertia: Inertia,
    *,
    name: str = "payload",
    xyz: ArrayLike = (0.0, 0.0, 0.0),
    rpy: ArrayLike | None = None,
) -> Robot:
    """Fix a body to a frame, such as a payload to the tool; its own frame sits in `frame` at `xyz`, turned by `rpy`."""
    builder = ModelBuilder.of(description_of(robot))
    builder.link(name, inertia)
    _fix(builder, robot, frame, name, f"{name}_joint", xyz, rpy)
    return built(robot, builder)


def graft(
    robot: Robot,
    other: Robot,
    frame: str,
    *,
    prefix: str = "",
    xyz: ArrayLike = (0.0, 0.0, 0.0),
    rpy: ArrayLike | None = None,
) -> Robot:
    """Fix the root of another robot, a gripper or a second arm, to a frame; `prefix` goes before all its names.
    Gravity and fluid are those of the first robot."""
    builder = ModelBuilder.of(description_of(robot))
    added = _renamed(description_of(other), *[lambda name: prefix + name] * 3)
    for kind, mine, theirs in (
        ("link", builder.links, added.links),
        ("joint", builder.joints, added.joints),
        ("frame", {**builder.links, **builder.sites}, {**added.links, **added.sites}),
    ):
        taken = [name for name in theirs if name in mine]
        if taken:
            raise ArgumentError(f"both robots have a {kind} {taken[0]!r}; expected a prefix that tells them apart")
    builder.links |= added.links
    builder.joints |= added.joints
    builder.sites |= added.sites
    for name, positions in added.postures.items():
        builder.postures[name] = {**builder.postures.get(name, {}), **positions}
    builder.loops += [each.prefixed(prefix) if isinstance(each, TendonCoupling) else each for each in added.loops]
    for actuator in added.actuators:
        pulled = tuple((prefix + name, gear) for name, gear in actuator.tendons)
        builder.actuator(replace(actuator, name=prefix + actuator.name, tendons=pulled))
    for tendon in added.tendons:
        builder.tendon(replace(tendon, name=prefix + tendon.name))
    builder.semantics = builder.semantics.joined(added.semantics)
    root = prefix + other.model.frames[0].name
    _fix(builder, robot, frame, root, f"{root}_mount", xyz, rpy)
    kept = (*_options(robot).keep_fixed, *(prefix + name for name in _options(other).keep_fixed))
    return built(robot, builder, keep_fixed=kept)


def change_base(robot: Robot, link: str) -> Robot:
    """Make another link the root: the joints between it and the old root are reversed and keep their coordinates.

    A joint whose frame is not that of its old parent moves a massless link `<joint>_origin`, to which that is fixed. A
    universal or planar joint becomes the series of joints that it is, with names such as `<joint>_1` and in the reverse
    order. A spherical or free joint has the inverse rotation or pose, that of the old parent in the child, as position.
    """
    description = description_of(robot)
    known("link", link, description.links)
    builder = ModelBuilder.of(description)
    above = {joint.child: joint for joint in description.joints.values()}
    inverse = {FLOATING_BASE}
    while link in above:
        joint = above[link]
        _turn_round(builder, joint)
        link = joint.parent
        inverse |= set() if joint.has_one_axis else {joint.name}
    for positions in builder.postures.values():
        for name in inverse & positions.keys():
            del positions[name]  # it was of other coordinates
    return built(robot, builder)


def _turn_round(builder: ModelBuilder, joint: JointDescription) -> None:
    """^P X_C = (X_J X_T)⁻¹ = X_T⁻¹ X_J⁻¹, and X_J⁻¹ is the same joint about the opposite axis."""
    back = joint.placement.inverse()
    if joint.kind == "fixed":
        builder.joints[joint.name] = replace(joint, parent=joint.child, child=joint.parent, placement=back)
        return
    parts = [joint] if joint.has_one_axis else joint.series()
    if not parts:
        _refuse_to_turn(builder, joint)
        parts = [joint]
    at_parent = np.array_equal(back.R, np.eye(3)) and not back.p.any()
    child = joint.parent if at_parent else f"{joint.name}_origin"
    above, turned = joint.child, dict[str, JointDescription]()
    for part in reversed(parts):
        below = child if part is parts[0] else free_name(f"{part.name}_link", builder.links)
        if below not in builder.links:
            builder.link(below)
        turned[part.name] = replace(part, parent=above, child=below, axis=-part.axis, placement=Transform.identity())
        above = below
    joints = ((name, {name: own} if name != joint.name else turned) for name, own in builder.joints.items())
    builder.joints = {name: own for _, several in joints for name, own in several.items()}
    if not at_parent:
        mount = f"{child}_mount"
        builder.joint(mount, "fixed", child, joint.parent, xyz=back.p, rotation=back.R.T)


def _refuse_to_turn(builder: ModelBuilder, joint: JointDescription) -> None:
    """Raise for a joint that is not the same kind of joint from the other side, with the same numbers."""
    reason = None
    if joint.kind not in ("spherical", "free"):
        reason = "expected one axis, a series of axes, a spherical or a free joint"
    elif joint.dynamics != NONE and (joint.kind == "free" or not joint.dynamics.is_isotropic):
        reason = "its rotor, damping, friction or spring is not the same from both sides"
    elif any(isinstance(bound, tuple) for bound in joint.bounds) or (
        joint.kind == "free" and joint.bounds != UNBOUNDED
    ):
        reason = "its limits are not the same from both sides"
    if reason is not None:
        message = f"it is {joint.kind}, and lies between the old base and the new one; {reason}"
        raise builder.error(f"joint {joint.name!r}", message, joint.line)


def merge_fixed(robot: Robot) -> Robot:
    """Join links that fixed joints hold together, except by those that `keep_fixed` keeps; their names stay, as frames.

    The dynamics is the same: bodies are merged in any case. What changes is the description, and what is written.
    """
    description, kept = description_of(robot), set(_options(robot).keep_fixed)
    root = robot.model.frames[0].name
    home = {root: (root, Transform.identity())}
    builder = ModelBuilder.of(replace(description, links={}, joints={}, sites={}))
    for edge in robot.model.edges:
        joint = description.joints[edge.joint]
        link, X = home[edge.parent]
        if joint.kind == "fixed" and joint.name not in kept:
            home[edge.child] = (link, joint.placement * X)
        else:
            home[edge.child] = (edge.child, Transform.identity())
            builder.joints[joint.name] = replace(joint, parent=link, placement=joint.placement * X)
    for name, (link, X) in home.items():
        own = description.links[name]
        before = builder.links.get(link, LinkDescription(Inertia.zero(), line=own.line))
        drag = drag_shapes(own) if description.fluid.is_present else own.drag
        builder.links[link] = replace(
            before,
            inertia=before.inertia + X.transpose() * own.inertia,
            compensated=_sum(before.compensated, None if own.compensated is None else X.transpose() * own.compensated),
            visuals=before.visuals + _moved(own.visuals, X),
            collisions=before.collisions + _moved(own.collisions, X),
            drag=before.drag + tuple(replace(shape, placement=shape.placement * X) for shape in drag),
        )
        if name != link:
            builder.sites[name] = (link, X)
    for name, (on, X_on) in description.sites.items():
        link, X = home[on]
        builder.sites[name] = (link, X_on * X)
    return built(robot, builder)


def _sum(one: Inertia | None, other: Inertia | None) -> Inertia | None:
    return one + other if one is not None and other is not None else one or other


def _scaled(inertia: Inertia, mass: float, length: float) -> Inertia:
    return Inertia(mass * inertia.mass, mass * length * inertia.h, mass * length**2 * inertia.I)


def remove(robot: Robot, link: str) -> Robot:
    """Remove a link and its subtree."""
    description = description_of(robot)
    known("link", link, description.links)
    if link == robot.model.frames[0].name:
        raise ArgumentError(f"link {link!r} is the root; expected a link below it")
    gone = {link}
    for edge in robot.model.edges:
        if edge.parent in gone:
            gone.add(edge.child)
    builder = ModelBuilder.of(description)
    builder.links = {name: own for name, own in description.links.items() if name not in gone}
    builder.joints = {name: joint for name, joint in description.joints.items() if joint.child not in gone}
    builder.sites = {name: site for name, site in description.sites.items() if site[0] not in gone}
    for joint in builder.joints.values():
        if joint.mimic is not None and joint.mimic.joint in description.joints.keys() - builder.joints.keys():
            raise ArgumentError(
                f"joint {joint.name!r} mimics {joint.mimic.joint!r}, which would be removed; lock it first"
            )
    kept = tuple(name for name in _options(robot).keep_fixed if name in builder.joints)
    return built(robot, builder, keep_fixed=kept)


def scale(robot: Robot, length: float = 1.0, mass: float | None = None) -> Robot:
    """Scale all lengths by `length` and all masses by `mass`, which is length³ (constant density) by default.

    Rotational inertia goes with mass · length². Limits of sliding joints and the pitch of screws are lengths too;
    efforts, rotors, damping, friction, springs and the fluid around the robot stay as they are.
    """
    factor = positive("a factor above zero")
    s = factor("length", length)
    m = factor("mass", s**3 if mass is None else mass)
    description = description_of(robot)
    builder = ModelBuilder.of(description)
    for name, own in description.links.items():
        builder.links[name] = replace(
            own,
            inertia=_scaled(own.inertia, m, s),
            compensated=None if own.compensated is None else _scaled(own.compensated, m, s),
            visuals=tuple(scaled(geometry, s) for geometry in own.visuals),
            collisions=tuple(scaled(geometry, s) for geometry in own.collisions),
            drag=tuple(shape.scaled(s) for shape in own.drag),
        )
    slides = {name for name, joint in description.joints.items() if ("", "m") in joint.joint_class.q_labels}
    factors = {name: s if name in slides else 1.0 for name in description.joints}
    for name, joint in description.joints.items():
        mimic, f = joint.mimic, factors[name]
        if mimic is not None:
            ratio = mimic.multiplier * f / factors.get(mimic.joint, 1.0)
            mimic = replace(mimic, multiplier=ratio, offset=f * mimic.offset)
        builder.joints[name] = replace(joint.scaled(s), mimic=mimic)
    for name, (link, X) in description.sites.items():
        builder.sites[name] = (link, Transform(X.R, s * X.p))
    tendons = {tendon.name: s for tendon in description.tendons if tendon.path or {*dict(tendon.joints)} <= slides}
    builder.loops = [scaled_constraint(constraint, s, factors, tendons) for constraint in description.loops]
    for positions in builder.postures.values():
        for name, value in positions.items():
            kind = description.joints[name].joint_class if name in description.joints else Free
            lengths = [s if unit == "m" else 1.0 for _, unit in kind.q_labels]
            if np.size(value) == len(lengths):
                positions[name] = as_numbers(name, np.multiply(lengths, value))
    builder.tendons = [tendon.scaled(s) for tendon in builder.tendons]
    builder.actuators = [actuator.scaled(s) for actuator in builder.actuators]
    return built(robot, builder)


def rename(
    robot: Robot,
    *,
    name: str | None = None,
    links: Mapping[str, str] | None = None,
    joints: Mapping[str, str] | None = None,
    frames: Mapping[str, str] | None = None,
) -> Robot:
    """Other names for the robot, its links, joints and frames (sites), old to new."""
    description = description_of(robot)
    tables = []
    for argument, changes, names in (
        ("links", links, description.links),
        ("joints", joints, description.joints),
        ("frames", frames, description.sites),
    ):
        changes = dict(changes or {})
        for old, new in changes.items():
            known(argument[:-1], old, names)
            if not isinstance(new, str) or not new:
                raise ArgumentTypeError(f"{argument} gives {old!r} the name {short(new)}; expected a non-empty string")
        after = [changes.get(old, old) for old in names]
        twice = next((new for new in after if after.count(new) > 1), None)
        if twice is not None:
            raise ArgumentError(f"{argument} would give two of them the name {twice!r}")
        tables.append(changes)
    changed = _renamed(description, *[lambda old, table=table: table.get(old, old) for table in tables])
    if name is not None:
        changed = replace(changed, name=name)
    kept = tuple(tables[1].get(old, old) for old in _options(robot).keep_fixed)
    return built(robot, ModelBuilder.of(changed), keep_fixed=kept)


def _renamed(
    description: Description, link: Callable[[str], str], joint: Callable[[str], str], site: Callable[[str], str]
) -> Description:
    """With every name replaced by what these functions make of it."""
    joints = {}
    for name, own in description.joints.items():
        mimic = own.mimic
        if mimic is not None:
            mimic = replace(mimic, joint=joint(mimic.joint))
        joints[joint(name)] = replace(
            own, name=joint(name), parent=link(own.parent), child=link(own.child), mimic=mimic
        )

    def frame(name: str) -> str:
        return link(name) if name in description.links else site(name)

    return replace(
        description,
        loops=tuple(renamed(constraint, frame, joint) for constraint in description.loops),
        actuators=tuple(actuator.renamed(joint, frame) for actuator in description.actuators),
        tendons=tuple(tendon.renamed(joint, frame) for tendon in description.tendons),
        links={link(name): own for name, own in description.links.items()},
        joints=joints,
        sites={site(name): (link(on), X) for name, (on, X) in description.sites.items()},
        postures={
            name: {joint(each): value for each, value in positions.items()}
            for name, positions in description.postures.items()
        },
        semantics=description.semantics.renamed(link, joint),
    )


def _options(robot: Robot) -> Options:
    description_of(robot)
    assert robot.model.options is not None
    return robot.model.options


def description_of(robot: Robot) -> Description:
    """The links, joints and frames a robot was assembled from."""
    if not isinstance(robot, Robot):
        raise ArgumentTypeError(f"robot is {short(robot)}; expected a kinetree.Robot")
    if robot.model.description is None:
        raise ModelError(f"model {robot.name!r} was made without a description, so it cannot be edited or written")
    return robot.model.description


def built(robot: Robot, builder: ModelBuilder, **options: Any) -> Robot:
    """A robot with the options of another. Inputs of its code are those whose bodies, joints and frames are there."""
    given = {**vars(_options(robot)), **options}
    model = builder.build(**{**given, "parametric": given["parametric"] if "parametric" in options else None})
    if "parametric" not in options and given["parametric"]:
        assert model.options is not None
        chosen = replace(model.options, parametric=given["parametric"])
        model = with_inputs(replace(model, options=chosen), given["parametric"], lenient=True)
    return Robot(model, textbook=robot.textbook, dtype=robot.dtype)


def _positions(joints: Mapping[str, ArrayLike] | Iterable[str]) -> dict[str, ArrayLike | None]:
    if isinstance(joints, str):
        return {joints: None}
    if isinstance(joints, Mapping):
        return dict(joints)
    if not isinstance(joints, Iterable):
        raise ArgumentTypeError(f"joints is {short(joints)}; expected names of joints, or positions by name")
    return dict.fromkeys(joints)


def _owner(robot: Robot, name: str, owners: Mapping[str, Joint]) -> Joint:
    if name in owners:
        return owners[name]
    for joint in robot.model.joints:
        if joint.name == name and joint.follows is not None:
            raise ArgumentError(f"joint {name!r} follows {joint.follows!r}; expected that joint to be locked")
    raise unknown("joint", name, owners)


def _fix(
    builder: ModelBuilder, robot: Robot, frame: str, child: str, joint: str, xyz: ArrayLike, rpy: ArrayLike | None
) -> None:
    """A fixed joint from a frame, which is a link or a site, to a link."""
    robot.model.frame(frame)  # says what is there if this is not
    link, X = builder.sites.get(frame, (frame, Transform.identity()))
    builder.joint(joint, "fixed", link, child, xyz=xyz, rpy=rpy)
    builder.joints[joint] = replace(builder.joints[joint], placement=builder.joints[joint].placement * X)


def _moved(geometries: tuple[Geometry, ...], X: Transform) -> tuple[Geometry, ...]:
    return tuple(replace(geometry, placement=geometry.placement * X) for geometry in geometries)
