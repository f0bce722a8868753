"""SDFormat from a model, such that reading it again gives the same dynamics, here and in other readers.

Every link stands in the frame of its parent, and every joint at the origin of its child. A robot that does not float is
fixed to the world. A joint that SDFormat does not have becomes a series of those it has. Links, joints and frames share
their names there, and none may have :: in it or be called world: where they do, they get other names, with a warning.
What SDFormat cannot express is refused, unless the loss is wanted.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator

import numpy as np

from kinetree.errors import ModelError, ModelWarning
from kinetree.model.description import Description, JointDescription, LinkDescription, free_name
from kinetree.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Shape, Sphere
from kinetree.model.joints.dynamics import of_coordinate
from kinetree.model.loaders.reading import MOMENTS
from kinetree.model.loaders.sdf import KINDS
from kinetree.model.loaders.xml import Element, number, numbers
from kinetree.model.loaders.xml import written as written_xml
from kinetree.model.plausibility import inertia_doubts
from kinetree.model.tree import Model
from kinetree.model.writers.losses import check_losses, common_losses, description_of, split
from kinetree.model.writers.mesh_points import MeshFiles, mesh_name
from kinetree.spatial import Transform
from kinetree.spatial.rotation import quaternion_from_matrix

TYPES = {kind: word for word, kind in KINDS.items() if word != "revolute2"}
WORLD = "world"
RIGHT = 1e-9
"""The largest cosine of a right angle."""


def sdf(model: Model, lossy: bool = False, files: MeshFiles | None = None) -> str:
    """The document; with `lossy`, without what SDFormat cannot say. Meshes that have no file get one of `files`."""
    writer = _Writer(model, split(description_of(model), _has_words), files)
    document = writer.document()
    check_losses("SDFormat", writer.lost, lossy)
    for old, new in writer.renamed.items():
        message = f"{old!r} is written as {new!r}: in SDFormat the name is taken or reserved"
        warnings.warn(message, ModelWarning, stacklevel=3)
    odd = [name for name, link in writer.description.links.items() if inertia_doubts(link.inertia)]
    if odd:
        message = f"the inertia of link {odd[0]!r} is one that no body can have, and other readers replace it"
        more = f" (so are {len(odd) - 1} more)" if len(odd) > 1 else ""
        warnings.warn(message + more, ModelWarning, stacklevel=3)
    return written_xml(document)


class _Writer:
    def __init__(self, model: Model, description: Description, files: MeshFiles | None) -> None:
        self.description, self.files = description, files
        self.root, self.floats = model.frames[0].name, model.floating_base is not None
        self.lost = [*common_losses(description), *self._losses()]
        self.free = {joint.child for joint in description.joints.values() if joint.kind == "free"}
        self.on_root = [joint for joint in description.joints.values() if joint.parent == self.root]
        self.is_world = self._is_world()
        self.renamed: dict[str, str] = {}
        self.links, self.sites, self.joints = self._names()

    def document(self) -> Element:
        description = self.description
        kinds = {joint.kind for joint in description.joints.values()}
        mimics = any(joint.mimic is not None for joint in description.joints.values())
        version = "1.11" if mimics else "1.10" if "helical" in kinds else "1.9"
        model = Element("model", {"name": description.name or "robot"})
        above = {joint.child: joint for joint in description.joints.values()}
        for name, link in description.links.items():
            if name != self.root or not self.is_world:
                model.children.append(self._link(name, link, above.get(name)))
        if not self.is_world and not self.floats:
            name = free_name(f"{self.links[self.root]}_on_world", self.links.values(), self.joints.values())
            model.children.append(_joint(name, "fixed", WORLD, self.links[self.root]))
        for joint in description.joints.values():
            if joint.kind != "free":
                model.children.append(self._joint(joint))
        for name, (on, X) in description.sites.items():
            frame = Element("frame", {"name": self.sites[name], "attached_to": self.links[on]})
            frame.children += _pose(X)
            model.children.append(frame)
        return Element("sdf", {"version": version}, children=[model])

    # -- names -------------------------------------------------------------------------------------------------

    def _is_world(self) -> bool:
        """Whether the root is nothing but the world itself: a link of that name without anything, which a joint tells
        from a robot that floats."""
        link = self.description.links[self.root]
        is_bare = not (link.inertia.mass or np.any(link.inertia.I) or link.visuals or link.collisions)
        on_it = any(on == self.root for on, _ in self.description.sites.values())
        is_told = any(joint.kind != "free" for joint in self.on_root)
        return self.root == WORLD and not self.floats and is_bare and not on_it and is_told

    def _names(self) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
        """Of links, frames and joints, such that no two are the same."""
        taken = {WORLD}
        tables = []
        for kind, names in (
            ("link", self.description.links),
            ("frame", self.description.sites),
            ("joint", self.description.joints),
        ):
            table = {}
            for name in names:
                plain = name.replace("::", "__").strip("_") if _is_reserved(name) else name
                own = plain if plain not in taken else free_name(f"{plain}_{kind}", taken)
                if kind == "link" and name == self.root and self.is_world:
                    own = WORLD
                elif own != name:
                    self.renamed[name] = own
                taken.add(own)
                table[name] = own
            tables.append(table)
        return tables[0], tables[1], tables[2]

    # -- links -------------------------------------------------------------------------------------------------

    def _link(self, name: str, link: LinkDescription, above: JointDescription | None) -> Element:
        element = Element("link", {"name": self.links[name]})
        if above is not None and above.kind == "free":
            X = above.placement
            if self.floats or above.parent != self.root or not np.allclose(X.pose(), np.eye(4), atol=1e-15):
                raise ModelError(
                    f"free joint {above.name!r} is not at the origin of the world, where alone SDFormat has free links"
                )
        elif above is not None:
            is_on_world = above.parent == self.root and self.is_world
            element.children += _pose(above.placement, None if is_on_world else self.links[above.parent])
        inertia = link.inertia
        tensor = [_text(name, number(inertia.about_com[i, j])) for i, j, name in MOMENTS]
        inertial = Element("inertial", children=_pose(Transform(np.eye(3), np.array(inertia.com))))
        inertial.children += [_text("mass", number(inertia.mass)), Element("inertia", children=tensor)]
        element.children.append(inertial)
        for tag, geometries in (("visual", link.visuals), ("collision", link.collisions)):
            names: set[str] = set()
            for k, geometry in enumerate(geometries):
                if (shape := self._shape(geometry.shape)) is not None:
                    own = free_name(geometry.name or f"{tag}{k}", names)
                    names.add(own)
                    element.children.append(_geometry(tag, own, geometry, shape))
        return element

    def _shape(self, shape: Shape) -> Element | None:
        match shape:
            case Box() | Sphere() | Ellipsoid() | Cylinder() | Capsule():
                sizes = [_text(name, numbers(np.ravel(size))) for name, size in vars(shape).items()]
                return Element(type(shape).__name__.lower(), children=sizes)
            case Plane(half_size=half):
                extent = [] if half is None else [_text("size", numbers([2.0 * half[0], 2.0 * half[1]]))]
                return Element("plane", children=[_text("normal", "0 0 1"), *extent])
            case Mesh(scale=scale):
                if name := mesh_name(shape, self.files):
                    return Element("mesh", children=[_text("uri", name), _text("scale", numbers(scale))])
        return None

    # -- joints ------------------------------------------------------------------------------------------------

    def _joint(self, joint: JointDescription) -> Element:
        element = _joint(self.joints[joint.name], TYPES[joint.kind], self.links[joint.parent], self.links[joint.child])
        directions = {"axis": joint.axis} if joint.joint_class.has_axis() else {}
        directions |= {"axis2": joint.own["axis2"]} if joint.kind == "universal" else {}
        for k, (tag, direction) in enumerate(directions.items()):
            element.children.append(self._axis(joint, tag, np.asarray(direction), k))
        if joint.kind == "helical":
            element.children.append(_text("screw_thread_pitch", number(2.0 * np.pi * joint.own["pitch"])))
        return element

    def _axis(self, joint: JointDescription, tag: str, direction: Iterable[float], k: int) -> Element:
        axis = Element(tag, children=[_text("xyz", numbers(direction))])
        bounds = dict(zip(("lower", "upper", "velocity", "effort"), joint.bounds, strict=True))
        values = {name: of_coordinate(bound, k) for name, bound in bounds.items()}
        limits = [_text(name, number(value)) for name, value in values.items() if np.isfinite(value)]
        axis.children += [Element("limit", children=limits)] if limits else []
        own = {
            "damping": joint.dynamics.damping,
            "friction": joint.dynamics.friction,
            "spring_stiffness": joint.dynamics.stiffness,
            "spring_reference": joint.dynamics.rest,
        }
        terms = [_text(name, number(of_coordinate(value, k))) for name, value in own.items() if of_coordinate(value, k)]
        axis.children += [Element("dynamics", children=terms)] if terms else []
        if joint.mimic is not None and joint.mimic.joint in self.joints and not k:  # without one it moves on its own
            mimic = Element("mimic", {"joint": self.joints[joint.mimic.joint]})
            values = {"multiplier": joint.mimic.multiplier, "offset": joint.mimic.offset, "reference": 0.0}
            mimic.children += [_text(name, number(value)) for name, value in values.items()]
            axis.children.append(mimic)
        return axis

    # -- what cannot be said -----------------------------------------------------------------------------------

    def _losses(self) -> Iterator[str]:
        for name, joint in self.description.joints.items():
            if joint.kind not in (*TYPES, "free"):
                raise ModelError(f"joint {name!r} is {joint.kind}, which SDFormat cannot express")
            own = joint.dynamics
            if np.any(own.armature):
                yield f"the armature of joint {name!r}"
            if joint.kind in ("spherical", "free"):
                if own.is_passive:
                    yield f"damping, friction or a spring of joint {name!r}, which is {joint.kind}"
                if np.isfinite([each for bound in joint.bounds for each in np.ravel(bound)]).any():
                    yield f"the limits of joint {name!r}, which is {joint.kind}"
            if joint.kind == "continuous" and np.isfinite(np.ravel(joint.bounds[:2])).any():
                yield f"the position limits of joint {name!r}, which is continuous"
        for name, link in self.description.links.items():
            for geometry in (*link.visuals, *link.collisions):
                if geometry.texture is not None:
                    yield f"the texture {geometry.texture!r} of link {name!r}"
                if self._shape(geometry.shape) is None:
                    yield f"the {type(geometry.shape).__name__.lower()} of link {name!r}, which has no file"


def _has_words(joint: JointDescription) -> bool:
    """Whether SDFormat has such a joint; other readers take universal ones only with axes at a right angle."""
    is_skew = joint.kind == "universal" and abs(float(joint.axis @ joint.own["axis2"])) > RIGHT
    return joint.kind in (*TYPES, "free") and not is_skew


def _is_reserved(name: str) -> bool:
    return "::" in name or (name.startswith("__") and name.endswith("__"))


def _joint(name: str, kind: str, parent: str, child: str) -> Element:
    ends = [_text("parent", parent), _text("child", child)]
    return Element("joint", {"name": name, "type": kind}, children=ends)


def _geometry(tag: str, name: str, geometry: Geometry, shape: Element) -> Element:
    element = Element(tag, {"name": name}, children=_pose(geometry.placement))
    element.children.append(Element("geometry", children=[shape]))
    if tag == "visual" and geometry.color is not None:
        colors = [_text(which, numbers(geometry.color)) for which in ("ambient", "diffuse")]
        element.children.append(Element("material", children=colors))
    return element


def _pose(X: Transform, relative_to: str | None = None) -> list[Element]:
    """Where the frame that X leads to sits in the one it comes from."""
    given = {} if relative_to is None else {"relative_to": relative_to}
    if np.array_equal(X.R, np.eye(3)):
        return [_text("pose", numbers([*X.p, 0.0, 0.0, 0.0]), given)] if X.p.any() or given else []
    values = numbers([*X.p, *quaternion_from_matrix(X.R.T)])
    return [_text("pose", values, given | {"rotation_format": "quat_xyzw"})]


def _text(tag: str, text: str, attributes: dict[str, str] | None = None) -> Element:
    return Element(tag, attributes or {}, text=text)
