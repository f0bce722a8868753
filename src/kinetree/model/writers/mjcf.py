"""MJCF from a model, such that reading it again gives the same dynamics, and MuJoCo computes them too.

Links are bodies, fixed joints are bodies without joints. A joint that MJCF does not have becomes a series of hinges and
slides: a universal one two hinges, a planar one two slides and a hinge. A mimic joint becomes an equality constraint,
which MuJoCo keeps only softly. Limits of speeds are left out, and of efforts of a ball: MJCF has none.
A moving link called world gets another name. Whatever else it cannot express is refused, unless the loss is wanted.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from kinetree.errors import ModelError, ModelWarning
from kinetree.model.assembly import FLOATING_BASE
from kinetree.model.bounds import AS_GOOD_AS_ZERO, NO_LIMIT, written_bound
from kinetree.model.description import Description, JointDescription, free_name
from kinetree.model.fluid import drag_shapes
from kinetree.model.joints import Free, Joint, JointDynamics
from kinetree.model.loaders.xml import Element, number, numbers, written
from kinetree.model.tendons import Wrap
from kinetree.model.tree import Model
from kinetree.model.writers.losses import check_losses, description_of
from kinetree.model.writers.mjcf_actuators import actuator_elements
from kinetree.model.writers.mjcf_drag import drag_elements
from kinetree.model.writers.mjcf_equality import EqualityWriter
from kinetree.model.writers.mjcf_geometry import Convert, GeometryWriter, pose, quaternion
from kinetree.model.writers.mjcf_inertia import Principal, link_inertias
from kinetree.ops import Array
from kinetree.spatial import Transform

WORLD = "world"
DEEPEST = 495
"""How many bodies may hang on each other: MuJoCo reads XML of 500 levels."""
PASSIVE = {"spring": "disable", "damper": "disable", "frictionloss": "disable"}


def mjcf(
    model: Model,
    folder: Path | None = None,
    lossy: bool = False,
    convert: Convert | None = None,
    lengths: Mapping[str, float] | None = None,
) -> str:
    """The document; paths of meshes are relative to `folder`. With `lossy`, without what MJCF cannot say.

    `convert` reads mesh files that MuJoCo does not; `lengths` are those of tendons where all coordinates are zero.
    """
    writer = _Writer(model, description_of(model), GeometryWriter(folder, convert), lengths or {})
    document = writer.document()
    check_losses("MJCF", [*writer.lost, *writer.geometry.lost], lossy)
    for link, name in renamed_links(model).items():
        message = f"link {link!r} is written as {name!r}: in MJCF the name belongs to the world itself"
        warnings.warn(message, ModelWarning, stacklevel=3)
    return written(document)


def renamed_links(model: Model) -> dict[str, str]:
    """Links that MJCF knows by another name."""
    root, links = model.frames[0].name, {} if model.description is None else model.description.links
    moves = model.floating_base is not None or root != WORLD
    return {WORLD: free_name(f"{WORLD}_link", links)} if WORLD in links and moves else {}


class _Writer:
    def __init__(
        self, model: Model, description: Description, geometry: GeometryWriter, lengths: Mapping[str, float]
    ) -> None:
        self.model = model
        self.lengths = lengths
        self.description = description
        self.geometry = geometry
        self.lost: list[str] = []
        self.bodies: dict[str | None, Element] = {}
        self.frozen = {joint.name: joint for joint in model.frozen}
        self.root = model.frames[0].name
        self.floats = model.floating_base is not None
        self.children: dict[str, list[JointDescription]] = {}
        for joint in description.joints.values():
            self.children.setdefault(joint.parent, []).append(joint)
        self.sites: dict[str, list[tuple[str, Transform]]] = {}
        for name, (link, X) in description.sites.items():
            self.sites.setdefault(link, []).append((name, X))
        self.surfaces = {item.frame for each in model.tendons for item in each.path if isinstance(item, Wrap)}
        """Frames that are written as geoms, by the tendons that wrap around them."""
        self.added: dict[str, str] = {}
        self.wrapped: dict[Wrap, str] = {}
        self.renamed = renamed_links(model)
        self.moving = self._moving_links()
        self.inertias = self._inertias()

    def document(self) -> Element:
        model = self.model
        root = Element("mujoco", {"model": model.name})
        root.children.append(Element("compiler", {"angle": "radian", "inertiafromgeom": "false"}))
        option = Element("option", {"gravity": numbers(model.gravity)} | self._fluid())
        passive = [self.description.base_dynamics, *(joint.dynamics for joint in self.description.joints.values())]
        has_any = model.tendons or model.compensated or any(dynamics.is_passive for dynamics in passive)
        has_any = has_any or model.fluid.is_present
        if not model.passive and has_any:
            option.children.append(Element("flag", PASSIVE))
        root.children.append(option)
        world = self._world()
        if self.geometry.assets:
            root.children.append(Element("asset", children=self.geometry.assets))
        root.children.append(world)
        if apart := [pair for pair in self.description.semantics.disabled_collisions if set(pair) <= self._linked()]:
            names = ([self.renamed.get(link, link) for link in pair] for pair in apart)
            excludes = [Element("exclude", {"body1": one, "body2": other}) for one, other in names]
            root.children.append(Element("contact", children=excludes))
        equality = EqualityWriter(model, lambda link: self.bodies.get(link, world), self.lengths)
        if ties := list(equality.elements()):
            root.children.append(Element("equality", children=ties))
        self.lost += equality.lost
        tendons, actuators = actuator_elements(model.actuators, model.tendons, self, self.lost)
        for tag, elements in (("tendon", tendons), ("actuator", actuators)):
            if elements:
                root.children.append(Element(tag, children=elements))
        return root

    def _linked(self) -> set[str]:
        """The links that are bodies of the document, or the world."""
        return {self.root, *(joint.child for joint in self.description.joints.values())}

    # -- bodies ------------------------------------------------------------------------------------------------

    def _world(self) -> Element:
        """A root link that is fixed is a body without joints, or if it is called so the world itself."""
        world = Element("worldbody")
        root = world
        if self.floats or self.root != WORLD:
            root = Element("body", {"name": self.renamed.get(self.root, self.root)})
            world.children.append(root)
            if self.floats:
                name = {} if FLOATING_BASE in self.description.joints else {"name": FLOATING_BASE}
                own = self._alike(FLOATING_BASE, Free, self.description.base_dynamics)
                root.children.append(Element("joint", name | {"type": "free"} | own))
        self._fill(root, self.root)
        if any(joint.joint_class.mjcf == "free" for joint in self.children.get(self.root, ())):
            root = world  # where alone free joints may be; the root link is at its origin
        waiting = [(root, joint, 2) for joint in reversed(self.children.get(self.root, []))]
        while waiting:
            parent, joint, depth = waiting.pop()
            if depth > DEEPEST:
                message = f"more than {DEEPEST} bodies hang on each other, too many for MuJoCo's reader"
                raise ModelError(f"link {joint.child!r} cannot be written: {message}")
            body = self._body(joint)
            parent.children.append(body)
            waiting += [(body, below, depth + 1) for below in reversed(self.children.get(joint.child, []))]
        return world

    def _body(self, joint: JointDescription) -> Element:
        placement = joint.placement
        if joint.name in self.frozen:
            placement = self.frozen[joint.name].transform(np.zeros(1)) * placement
        body = Element("body", {"name": self.renamed.get(joint.child, joint.child)} | pose(placement))
        if joint.name not in self.frozen:
            body.children += self._joints(joint)
        self._fill(body, joint.child)
        return body

    def _fill(self, body: Element, link: str) -> None:
        self.bodies[link] = body
        self._compensate(body, link)
        inertia = self._drag(body, link)
        if inertia is not None and body.tag == "body":
            values = {"mass": number(inertia.mass), "pos": numbers(inertia.com)}
            values |= {"quat": quaternion(inertia.axes), "diaginertia": numbers(inertia.moments)}
            body.children.append(Element("inertial", values))
        body.children += self.geometry.geoms(link, self.description.links[link], link in self.moving)
        for name, X in self.sites.get(link, ()):
            if name not in self.surfaces:
                body.children.append(Element("site", {"name": name} | pose(X)))

    def _fluid(self) -> dict[str, str]:
        fluid = self.model.fluid
        if not fluid.is_present:
            return {}
        return {"density": number(fluid.density), "viscosity": number(fluid.viscosity), "wind": numbers(fluid.wind)}

    def _drag(self, body: Element, link: str) -> Principal | None:
        """The inertia to write; in a fluid, along the axes of the box that it is."""
        inertia = self.inertias.get(link)
        if inertia is None or link not in self.moving or not self.model.fluid.is_present:
            return inertia
        found = drag_elements(drag_shapes(self.description.links[link]), inertia)
        if found is None:
            self.lost.append(f"the drag of link {link!r}, which is not that of the box of its inertia or of ellipsoids")
            return inertia
        body.children += found[0]
        return found[1]

    def _compensate(self, body: Element, link: str) -> None:
        held, whole = self.description.links[link].compensated, self.inertias.get(link)
        if held is None or body.tag != "body":
            return
        share = held.mass / whole.mass if whole is not None and whole.mass else 0.0
        if whole is None or not np.allclose(held.h, share * whole.mass * whole.com, rtol=1e-9, atol=1e-12):
            self.lost.append(f"the gravity compensation of link {link!r}, which is not at its centre of mass")
        else:
            body.attributes["gravcomp"] = number(share)

    def site(self, frame: str) -> str:
        """A frame of a tendon; a link has its own site."""
        if frame in self.description.sites and frame not in self.surfaces:
            return frame
        if frame not in self.added:
            link, X = self.description.sites.get(frame, (frame, Transform.identity()))
            name = free_name(f"{frame}_site", self.description.sites, self.description.links, self.added.values())
            self.added[frame] = name
            self.bodies[link].children.append(Element("site", {"name": name} | pose(X)))
        return self.added[frame]

    def moved_by(self, link: str, kind: str) -> str | None:
        """The ball or free joint that moves a link, by its name in the document."""
        if self.floats and link == self.root and kind == "free":
            return FLOATING_BASE if FLOATING_BASE not in self.description.joints else None
        above = (joint for joint in self.description.joints.values() if joint.child == link)
        return next((joint.name for joint in above if joint.joint_class.mjcf == kind), None)

    def is_base_of(self, joint: str, frame: str) -> bool:
        """Whether a frame is that of a joint in its parent."""
        own, (link, X) = (
            self.description.joints[joint],
            self.description.sites.get(frame, (frame, Transform.identity())),
        )
        near = np.allclose(X.R, own.placement.R, atol=1e-12) and np.allclose(X.p, own.placement.p, atol=1e-12)
        return link == own.parent and near

    def geom(self, wrap: Wrap) -> str:
        """What a tendon wraps around: a geom of the link with this name and shape, or one that nobody sees."""
        if wrap not in self.wrapped:
            link, X = self.description.sites.get(wrap.frame, (wrap.frame, Transform.identity()))
            body, own = self.bodies[link], {"type": wrap.shape} | pose(X)
            name, size = wrap.frame, numbers([wrap.radius])
            for each in body.children:
                there = {key: each.attributes[key] for key in ("type", "pos", "quat") if key in each.attributes}
                if each.attributes.get("name") == name and there == own and each.attributes["size"].split()[0] == size:
                    break
            else:
                name = free_name(name, self.geometry.names)
                self.geometry.names.add(name)
                unseen = {"size": f"{size} {size}", "contype": "0", "conaffinity": "0", "rgba": "0 0 0 0"}
                body.children.append(Element("geom", {"name": name} | own | unseen))
            self.wrapped[wrap] = name
        return self.wrapped[wrap]

    # -- joints ------------------------------------------------------------------------------------------------

    def _joints(self, joint: JointDescription) -> Iterator[Element]:
        word = joint.joint_class.mjcf
        if word in (None, "hinge", "slide"):
            parts = joint.series() if word is None else [joint]
            if not parts and joint.joint_class.nv:
                raise ModelError(f"joint {joint.name!r} is {joint.kind}, which MJCF cannot express")
            for part in parts:
                spare = free_name(part.name, self.description.joints)
                yield self._coordinate(part, joint.name if part is joint else spare)
            return
        if word == "free":
            self._check_free(joint)
        own = self._alike(joint.name, joint.joint_class, joint.dynamics)
        yield Element("joint", {"name": joint.name, "type": str(word)} | own)

    def _coordinate(self, joint: JointDescription, name: str) -> Element:
        """A hinge or slide."""
        lower, upper, _, effort = joint.limits
        attributes = {"name": name, "type": str(joint.joint_class.mjcf), "axis": numbers(joint.axis)}
        if lower > -NO_LIMIT or upper < NO_LIMIT:
            lower, upper = written_bound(lower), written_bound(upper)
            more = max(lower + AS_GOOD_AS_ZERO, float(np.nextafter(lower, np.inf)))  # no range may be empty
            attributes["range"] = numbers([lower, max(upper, more)])
        if 0.0 <= effort < NO_LIMIT:
            effort = effort or AS_GOOD_AS_ZERO
            attributes["actuatorfrcrange"] = numbers([-effort, effort])
        own = {quantity: values[0] for quantity, values in _dynamics(joint.dynamics, 1).items()}
        return Element("joint", attributes | {quantity: number(value) for quantity, value in own.items() if value})

    def _alike(self, name: str, kind: type[Joint], dynamics: JointDynamics) -> dict[str, str]:
        """Dynamics of a ball or a free joint, which are the same for all its coordinates."""
        attributes = {}
        for quantity, values in _dynamics(dynamics, kind.nv).items():
            if not np.any(values):
                continue
            is_spring = quantity == "springref" or (kind is Free and quantity == "stiffness")
            if np.ptp(values) or is_spring:
                what = {"springref": "rest", "frictionloss": "friction"}.get(quantity, quantity)
                self.lost.append(f"the {what} {values.tolist()} of joint {name!r}, which is {kind.kind}")
            else:
                attributes[quantity] = number(float(values[0]))
        return attributes

    # -- what MuJoCo asks for ----------------------------------------------------------------------------------

    def _check_free(self, joint: JointDescription) -> None:
        X = joint.placement
        at_origin = np.allclose(X.R, np.eye(3), atol=1e-15) and not X.p.any()
        if self.floats or joint.parent != self.root or not at_origin:
            raise ModelError(
                f"free joint {joint.name!r} is not at the origin of the world, where alone MJCF has free joints"
            )

    def _moving_links(self) -> set[str]:
        bodies = {frame.name: frame.body for frame in self.model.frames}
        return {link for link in self.description.links if bodies[link] in self.model.moving}

    def _inertias(self) -> dict[str, Principal]:
        """Of every link that has one. Links fixed to each other may lend what no body could have alone."""
        groups: dict[str, dict[str, Transform]] = {self.root: {self.root: Transform.identity()}}
        leader = {self.root: self.root}
        waiting = list(self.children.get(self.root, ()))
        while waiting:
            joint = waiting.pop()
            waiting += self.children.get(joint.child, ())
            is_fixed = joint.kind == "fixed" or joint.name in self.frozen
            head = leader[joint.child] = leader[joint.parent] if is_fixed else joint.child
            X = Transform.identity()
            if is_fixed:
                X = joint.placement * groups[head][joint.parent]
                if joint.name in self.frozen:
                    X = self.frozen[joint.name].transform(np.zeros(1)) * X
            groups.setdefault(head, {})[joint.child] = X
        found: dict[str, Principal] = {}
        for head, placed in groups.items():
            links = {link: (X, self.description.links[link].inertia) for link, X in placed.items()}
            inertias, problem = link_inertias(head, links, moves=head in self.moving)
            if problem and head in self.moving:
                self.lost.append(problem)
            found |= inertias
        return found


def _dynamics(own: JointDynamics, nv: int) -> dict[str, Array]:
    """What a joint adds to the dynamics, by MuJoCo's names, for each coordinate."""
    values = {"armature": own.armature, "damping": own.damping, "frictionloss": own.friction}
    if np.any(own.stiffness):
        values |= {"stiffness": own.stiffness, "springref": own.rest}
    return {quantity: np.broadcast_to(value, nv) for quantity, value in values.items()}
