"""From a description by names to the numbered tree: order the bodies, merge what is fixed, resolve who mimics whom."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import UnknownNameError, known, one_of, short, unknown
from kinetree.model.actuators import Actuator
from kinetree.model.constraints import Constraint, misfit
from kinetree.model.description import UNBOUNDED, Bounds, JointDescription, LinkDescription, Mimic, Options
from kinetree.model.findings import Finding, Severity
from kinetree.model.fluid import DragShape, drag_shapes
from kinetree.model.joints import AxisJoint, Fixed, Free, Joint
from kinetree.model.joints.dynamics import NONE
from kinetree.model.joints.free import BASE_VELOCITIES
from kinetree.model.parametric import with_inputs
from kinetree.model.tendons import Tendon
from kinetree.model.tree import Edge, FramePlacement, Limits, Model
from kinetree.spatial import Inertia, Transform
from kinetree.spatial.packing import SPATIAL_ORDERS

if TYPE_CHECKING:
    from kinetree.model.builder import ModelBuilder

FLOATING_BASE = "floating_base"
"""Name of the joint that lets a floating base move."""
MOST_HINTS = 20
"""How many names that do not exist are told with one that may have been meant."""
LIMIT_TOLERANCE = 1e-6
"""How far, relatively, a follower's limits may fall short of its leader's before that is worth a remark."""
IDENTITY = Transform.identity()


@np.errstate(all="ignore")  # numbers too large for a float are refused at the end
def assemble(draft: ModelBuilder, options: Options) -> Model:
    """The immutable model; bodies, joints and frames are numbered depth first, children in the order described."""
    one_of("base", options.base, ("fixed", "floating"))
    one_of("spatial_order", options.spatial_order, SPATIAL_ORDERS)
    one_of("base_velocity", options.base_velocity, BASE_VELOCITIES)
    kept, fixed = set(options.keep_fixed), [joint.name for joint in draft.joints.values() if joint.kind == "fixed"]
    for name in kept:
        known("fixed joint", name, fixed)
    children = _children(draft)
    root = _root(draft, children)
    tree = _Tree(draft, options)
    if options.base == "floating":
        frame, order = options.base_velocity, options.spatial_order
        tree.add_body(0, root, Free(name=FLOATING_BASE, frame=frame, order=order, dynamics=draft.base_dynamics))
        tree.place_link(root, 1, IDENTITY)
    else:
        tree.place_link(root, 0, IDENTITY)
    waiting = list(reversed(children[root]))
    while waiting:
        joint = waiting.pop()
        tree.add_joint(joint, keep=joint.name in kept)
        waiting.extend(reversed(children[joint.child]))
    return tree.model()


def _children(draft: ModelBuilder) -> dict[str, list[JointDescription]]:
    """The joints below each link, after checking that every link has at most one parent."""
    children: dict[str, list[JointDescription]] = {name: [] for name in draft.links}
    above: dict[str, str] = {}
    for joint in draft.joints.values():
        element = f"joint {joint.name!r}"
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in draft.links:
                message = f"{role} {unknown('link', link, draft.links)}"
                draft.fault(element, message, joint.line, "a link without mass of that name is added")
                draft.links[link], children[link] = LinkDescription(Inertia.zero()), []
        if joint.child in above:
            message = f"link {joint.child!r} is already the child of joint {above[joint.child]!r}"
            raise draft.error(element, message, joint.line)
        above[joint.child] = joint.name
        children[joint.parent].append(joint)
    return children


def _root(draft: ModelBuilder, children: Mapping[str, list[JointDescription]]) -> str:
    if not draft.links:
        raise draft.error("robot", "it has no links")
    below = {joint.child for joints in children.values() for joint in joints}
    roots = [name for name in draft.links if name not in below]
    if len(roots) > 1:
        raise draft.error("robot", f"it has {len(roots)} root links, {roots[0]!r} and {roots[1]!r}; expected one")
    reached, waiting = set(), roots[:]
    while waiting:
        link = waiting.pop()
        reached.add(link)
        waiting.extend(joint.child for joint in children[link])
    if len(reached) < len(draft.links):
        stray = next(name for name in draft.links if name not in reached)
        raise draft.error(f"link {stray!r}", "it is part of a closed loop of joints; expected a tree")
    return roots[0]


def _resolved_mimics(draft: ModelBuilder) -> dict[str, Mimic]:
    """Each follower's leader, ratio and offset, chains of followers multiplied out."""
    direct: dict[str, Mimic] = {}
    lost: list[str] = []
    for joint in draft.joints.values():
        if joint.mimic is not None and _follows(draft, joint, lost):
            direct[joint.name] = joint.mimic
    resolved: dict[str, Mimic] = {}
    for name in direct:
        if name not in resolved:
            _resolve_chain(draft, name, direct, resolved)
    for name in direct:
        mimic, element, line = resolved[name], f"joint {name!r}", draft.joints[name].line
        if not (math.isfinite(mimic.multiplier) and math.isfinite(mimic.offset)):
            raise draft.error(element, f"its multiplier or offset from {mimic.joint!r} is not finite", line)
        leader = draft.joints[mimic.joint]
        if leader.kind == "fixed":
            draft.note(element, f"it mimics {mimic.joint!r}, which is fixed, so it is fixed too", line)
        elif not leader.has_one_axis:
            message = f"it mimics {mimic.joint!r}, a {leader.kind} joint; expected one coordinate"
            raise draft.error(element, message, line)
    return resolved


def _resolve_chain(draft: ModelBuilder, name: str, direct: Mapping[str, Mimic], resolved: dict[str, Mimic]) -> None:
    """From a follower on to the leader of all, then back, so that every chain is walked once."""
    chain = {name: None}
    leader = direct[name].joint
    while leader in direct and leader not in resolved:
        if leader in chain:
            message = f"it mimics {direct[name].joint!r} in a circle"
            raise draft.error(f"joint {name!r}", message, draft.joints[name].line)
        chain[leader] = None
        leader = direct[leader].joint
    for follower in reversed(chain):
        mimic = direct[follower]
        further = resolved.get(mimic.joint) or Mimic(mimic.joint)
        ratio = mimic.multiplier
        resolved[follower] = Mimic(further.joint, ratio * further.multiplier, mimic.offset + ratio * further.offset)


def _narrowed_limits(draft: ModelBuilder, mimics: Mapping[str, Mimic]) -> dict[str, tuple[float, float, float]]:
    """Of every leader its lower, upper and velocity limits, within which all its followers keep theirs too:
    q_f = ratio · q + offset. What is narrowed is recorded; so are limits of a follower that would leave its leader no
    room, as where those of a mirrored finger were copied, and those are not counted."""
    narrowed: dict[str, tuple[float, float, float]] = {}
    for name, mimic in mimics.items():
        leader, joint = draft.joints[mimic.joint], draft.joints[name]
        ratio, offset = mimic.multiplier, mimic.offset
        lower, upper, velocity, _ = joint.limits
        element = f"joint {name!r}"
        if ratio == 0.0 or not leader.has_one_axis:
            slack = LIMIT_TOLERANCE * max(1.0, abs(offset))
            if not lower - slack <= offset <= upper + slack:
                message = f"it stays at {offset:g}, outside its limits {lower:g} to {upper:g}, wherever its leader"
                draft.note(element, f"{message} {leader.name!r} is", joint.line)
            continue
        low, high, speed = narrowed.get(leader.name, leader.limits[:3])
        there = sorted(ratio * bound + offset for bound in leader.limits[:2])
        slack = LIMIT_TOLERANCE * max([1.0, *(abs(bound) for bound in (*there, lower, upper) if np.isfinite(bound))])
        if lower > there[0] + slack or upper < there[1] - slack:
            apart = lower > there[1] + slack or upper < there[0] - slack
            message = f"its limits {lower:g} to {upper:g} {'exclude all of' if apart else 'are stricter than'}"
            message += f" {there[0]:g} to {there[1]:g}, where its leader {leader.name!r} may take it"
            ends = sorted((bound - offset) / ratio for bound in (lower, upper))
            room = max(low, ends[0]), min(high, ends[1])
            if room[0] < room[1] or leader.limits[0] == leader.limits[1] == room[0] == room[1]:
                low, high = room
                message += f"; the leader's are narrowed to {low:g} to {high:g}"
            else:
                message += "; they would leave its leader no room, and are not counted"
            draft.note(element, message, joint.line)
        fastest = abs(ratio) * leader.limits[2]
        if velocity < fastest * (1.0 - LIMIT_TOLERANCE):  # a negative one too, refused then where it is used
            speed = min(speed, velocity / abs(ratio))
            message = f"its velocity limit {velocity:g} is stricter than {fastest:g}"
            message += f", which its leader {leader.name!r} may give it; the leader's is narrowed to {speed:g}"
            draft.note(element, message, joint.line)
        narrowed[leader.name] = low, high, speed
    return narrowed


def _follows(draft: ModelBuilder, joint: JointDescription, lost: list[str]) -> bool:
    """Whether the joint really mimics another; what keeps it from doing so is recorded, and its name if that other does
    not exist."""
    mimic, element = joint.mimic, f"joint {joint.name!r}"
    if mimic is None:
        return False
    if not joint.has_one_axis:
        draft.note(element, f"it is {joint.kind}, so its mimic tag was ignored", joint.line)
        return False
    if not np.isfinite([mimic.multiplier, mimic.offset]).all():
        raise draft.error(element, "the mimic multiplier or offset is not finite", joint.line)
    if mimic.joint not in draft.joints:
        lost.append(joint.name)
        missing = f"joint {short(mimic.joint)} does not exist"
        if len(lost) <= MOST_HINTS:  # to look for similar names takes as long as there are joints
            missing = str(unknown("joint", mimic.joint, draft.joints))
        draft.warn(element, f"cannot mimic: {missing}; it becomes a joint with its own coordinate", joint.line)
        return False
    return True


class _Tree:
    """The lists of a Model while they grow."""

    def __init__(self, draft: ModelBuilder, options: Options) -> None:
        self.draft, self.options = draft, options
        self.mimics = _resolved_mimics(draft)
        self.narrowed = _narrowed_limits(draft, self.mimics)
        self.joints: list[Joint] = [Fixed(name="world")]
        self.parents = [0]
        self.placements = [Transform.identity()]
        self.inertias = [Inertia.zero()]
        self.compensated: dict[int, Inertia] = {}
        self.names = ["world"]
        self.bounds = [UNBOUNDED]
        self.placed: dict[str, tuple[int, Transform]] = {}
        self.edges: list[Edge] = []
        self.frozen: list[AxisJoint] = []
        self.nq = self.nv = 0

    def add_body(
        self, parent: int, link: str, joint: Joint, placement: Transform | None = None, bounds: Bounds = UNBOUNDED
    ) -> int:
        if joint.owns_coordinates:
            joint = replace(joint, iq=self.nq, iv=self.nv)
            self.nq += joint.nq
            self.nv += joint.nv
        self.joints.append(joint)
        self.parents.append(parent)
        self.placements.append(Transform.identity() if placement is None else placement)
        self.inertias.append(Inertia.zero())
        self.names.append(link)
        self.bounds.append(bounds)
        return len(self.joints) - 1

    def place_link(self, link: str, body: int, X: Transform) -> None:
        """Fix a link to a body, X = ^link X_body, and add its inertia to the body's."""
        self.placed[link] = (body, X)
        own = self.draft.links[link].inertia
        self.inertias[body] = self.inertias[body] + (own if X is IDENTITY else X.transpose() * own)
        if (held := self.draft.links[link].compensated) is not None:
            self.compensated[body] = self.compensated.get(body, Inertia.zero()) + X.transpose() * held

    def add_joint(self, joint: JointDescription, keep: bool) -> None:
        self.edges.append(Edge(joint.name, joint.parent, joint.child))
        body, X = self.placed[joint.parent]
        placement = joint.placement * X
        mimic = self.mimics.get(joint.name)
        if mimic is not None and self.draft.joints[mimic.joint].kind == "fixed":
            frozen = replace(joint, dynamics=NONE).joint(Mimic(mimic.joint, 0.0, mimic.offset))
            assert isinstance(frozen, AxisJoint)
            self.frozen.append(frozen)
            placement = frozen.transform(np.zeros(1)) * placement
        elif joint.kind != "fixed" or keep:
            moved = joint.joint(mimic, frame=self.options.base_velocity, order=self.options.spatial_order)
            body = self.add_body(body, joint.child, moved, placement, joint.bounds)
            placement = IDENTITY
        self.place_link(joint.child, body, placement)

    def model(self) -> Model:
        self._check_finite()
        options = self.options
        tendons = self._tendons()
        actuators = self._actuators([tendon.name for tendon in tendons])
        odd = (*self._massless_bodies(), *self._free_joints(options.base))
        model = Model(
            name=self.draft.name,
            joints=self._joints_with_leaders(),
            parents=tuple(self.parents),
            placements=tuple(self.placements),
            inertias=tuple(self.inertias),
            names=tuple(self.names),
            frames=self._frames(),
            limits=self._limits(),
            gravity=options.gravity,
            edges=tuple(self.edges),
            frozen=tuple(self.frozen),
            spatial_order=options.spatial_order,
            passive=options.passive,
            friction_width=options.friction_width,
            actuators=actuators,
            tendons=tendons,
            compensated=self._compensated(),
            fluid=self.draft.fluid,
            drag=self._drag(),
            findings=(*self.draft.findings, *odd),
            description=self.draft.description(),
            options=options,
        )
        if self.draft.loops:
            loops = self._loops(model)  # it notes what it leaves out
            findings, description = (*self.draft.findings, *odd), self.draft.description()
            model = replace(model, loops=loops, findings=findings, description=description)
        return with_inputs(model, options.parametric)

    def _compensated(self) -> tuple[Inertia, ...]:
        found = self.compensated
        return tuple(found.get(i, Inertia.zero()) for i in range(len(self.joints))) if found else ()

    def _drag(self) -> tuple[tuple[int, DragShape], ...]:
        """The shapes of all links that a fluid acts on, by body."""
        found = list[tuple[int, DragShape]]()
        for link, (body, X) in self.placed.items() if self.draft.fluid.is_present else ():
            shapes = drag_shapes(self.draft.links[link]) if body else ()
            found += [(body, replace(shape, placement=shape.placement * X)) for shape in shapes]
        return tuple(found)

    def _tendons(self) -> tuple[Tendon, ...]:
        """Those whose joints can move and whose frames are there."""
        frames = {*self.placed, *self.draft.sites}
        kept = []
        for each in self.draft.tendons:
            missing = next((name for name in each.frames if name not in frames), None)
            if missing is not None:
                why = f"frame {missing!r} is not part of the robot"
                self.draft.note(f"tendon {each.name!r}", f"it was left out: {why}", None, "warning")
            elif self._moves("tendon", each):
                kept.append(each)
        return tuple(kept)

    def _actuators(self, tendons: Container[str]) -> tuple[Actuator, ...]:
        """Those whose joints can move and whose tendons and frames are there."""
        frames, kept = {*self.placed, *self.draft.sites}, []
        for each in self.draft.actuators:
            missing = next((f"tendon {name!r}" for name, _ in each.tendons if name not in tendons), None)
            missing = missing or next((f"frame {name!r}" for name in each.frames if name not in frames), None)
            if missing is not None:
                why = f"{missing} is not part of the robot"
                self.draft.note(f"actuator {each.name!r}", f"it was left out: {why}", None, "warning")
            elif self._moves("actuator", each):
                kept.append(each)
        return tuple(kept)

    def _moves(self, what: str, each: Actuator | Tendon) -> bool:
        """Whether its joints can move; a joint of an edited robot may be locked or gone."""
        moving = {joint.name for joint in self.joints if isinstance(joint, AxisJoint)}
        idle = next((name for name, _ in each.joints if name not in moving), None)
        if idle is not None:
            message = f"it was left out: joint {idle!r} does not move with one coordinate"
            self.draft.note(f"{what} {each.name!r}", message, None, "warning")
        return idle is None

    def _loops(self, model: Model) -> tuple[Constraint, ...]:
        """Those that hold something; editing may have left others."""
        loops = []
        for constraint in self.draft.loops:
            severity: Severity = "note"
            try:
                problem = misfit(model, constraint)
            except UnknownNameError as missing:
                problem, severity = str(missing), "warning"
            if problem is None:
                loops.append(constraint)
            else:
                self.draft.note("loop", f"it was left out: {problem}", None, severity)
        return tuple(dict.fromkeys(loops))

    def _check_finite(self) -> None:
        """Numbers that are each a float may add up to more than one holds."""
        positions = np.isfinite([X.p for _, X in self.placed.values()]).all(axis=1)
        inertias = np.isfinite([[inertia.mass, *inertia.h, *inertia.I.flat] for inertia in self.inertias]).all(axis=1)
        for what, names, finite in (
            ("its distance from what it is fixed to", tuple(self.placed), positions),
            ("its inertia with all that is fixed to it", self.names, inertias),
        ):
            if not finite.all():
                raise self.draft.error(f"link {names[int(np.argmin(finite))]!r}", f"{what} is not finite")

    def _joints_with_leaders(self) -> tuple[Joint, ...]:
        """A follower may come before its leader in the tree, so it learns the leader's indices only here."""
        owners = {joint.name: joint for joint in self.joints if joint.owns_coordinates}
        pairs = [(joint, joint if joint.follows is None else owners[joint.follows]) for joint in self.joints]
        return tuple(
            joint if joint is leader else replace(joint, iq=leader.iq, iv=leader.iv) for joint, leader in pairs
        )

    def _frames(self) -> tuple[FramePlacement, ...]:
        frames = [FramePlacement(name, body, X) for name, (body, X) in self.placed.items()]
        for name, (link, X) in self.draft.sites.items():
            if link not in self.placed:
                raise self.draft.error(f"frame {name!r}", str(unknown("link", link, self.placed)))
            if name in self.placed:
                raise self.draft.error(f"frame {name!r}", "the name is taken by a link")
            body, X_link = self.placed[link]
            frames.append(FramePlacement(name, body, X * X_link))
        return tuple(frames)

    def _limits(self) -> Limits:
        limits = Limits(*(np.full(n, np.inf) for n in (self.nq, self.nq, self.nv, self.nv)))
        for joint, (lower, upper, velocity, effort) in zip(self.joints, self.bounds, strict=True):
            if joint.owns_coordinates:
                lower, upper, velocity = self.narrowed.get(joint.name, (lower, upper, velocity))
                limits.lower[joint.q_slice], limits.upper[joint.q_slice] = lower, upper
                limits.velocity[joint.v_slice], limits.effort[joint.v_slice] = velocity, effort
            if joint.quaternion is not None:
                limits.lower[joint.quaternion], limits.upper[joint.quaternion] = -np.inf, np.inf
        return limits

    def _massless_bodies(self) -> list[Finding]:
        """Bodies that move no mass: the joint above them accelerates without effort."""
        carried = [inertia.mass for inertia in self.inertias]
        for i in reversed(range(1, len(self.parents))):
            carried[self.parents[i]] += carried[i]
        found = []
        for joint, link, mass in zip(self.joints[1:], self.names[1:], carried[1:], strict=True):
            if mass == 0.0 and joint.nv > 0:
                message = f"joint {joint.name!r} moves nothing that has mass"
                found.append(Finding(message, f"link {link!r}", severity="warning", file=self.draft.source))
        return found

    def _free_joints(self, base: str) -> list[Finding]:
        """Free joints other than a floating base: files have them for objects, and for robots loaded as fixed."""
        message = (
            "it is free, and free joints have no motor: controllers give it no effort; if it is the base of an MJCF "
            "robot, load it with base='floating'"
        )
        inner = self.joints[2:] if base == "floating" else self.joints
        free = [joint for joint in inner if isinstance(joint, Free)]
        return [Finding(message, f"joint {joint.name!r}", file=self.draft.source) for joint in free]
