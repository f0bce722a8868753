"""SDFormat 1.4 to 1.12: links, joints, frames, nested and included models.

Poses are given in any frame, and belong to the configuration in which all joints are at zero. Where a joint is not at
the origin of its child, it moves a massless link <child>/<joint>, to which the child is fixed. A link that hangs on
nothing is the root; where there are several, or some joint is on the world, they are free bodies on it, or fixed to it
in a model that is static.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kinetree.errors import short
from kinetree.model.builder import GRAVITY, ModelBuilder
from kinetree.model.description import free_name
from kinetree.model.loaders.closing_joints import CLOSING, add_frame, close_loop, orthonormal
from kinetree.model.loaders.document import read_document
from kinetree.model.loaders.reading import MOMENTS
from kinetree.model.loaders.resources import Resources
from kinetree.model.loaders.sdf_axes import SdfJoint, axes_of, named
from kinetree.model.loaders.sdf_frames import MODEL, WORLD, Frames
from kinetree.model.loaders.sdf_geometry import shapes
from kinetree.model.loaders.sdf_values import TRUE, Values
from kinetree.model.loaders.xml import Element, check_size, parse
from kinetree.ops import Array
from kinetree.spatial import Inertia

KINDS = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "ball": "spherical",
    "universal": "universal",
    "revolute2": "universal",
    "screw": "helical",
}
DEEPEST = 20
"""Levels of files that include others."""
MOST_INCLUDED = 500
KNOWN = {
    "model": ("pose", "link", "joint", "frame", "model", "include", "static", "self_collide", "allow_auto_disable"),
    "link": ("pose", "inertial", "visual", "collision", "gravity", "self_collide", "kinematic", "velocity_decay"),
    "inertial": ("pose", "mass", "inertia", "density", "fluid_added_mass"),
    "joint": ("pose", "parent", "child", "axis", "axis2", "thread_pitch", "screw_thread_pitch"),
}


def read_sdf(text: bytes | str, source: str, resources: Resources, repair: bool = False) -> tuple[ModelBuilder, Array]:
    """The models of a document, and gravity."""
    root = parse(text, source)
    reader = _Reader(ModelBuilder("robot", source, repair), resources)
    reader.document(root)
    return reader.builder, reader.gravity


class _Reader:
    def __init__(self, builder: ModelBuilder, resources: Resources) -> None:
        self.builder, self.resources = builder, resources
        self.values = Values(builder)
        self.frames = Frames(lambda sentence: builder.error("SDFormat", sentence))
        self.joints: list[SdfJoint] = []
        self.links: dict[str, bool] = {}
        """Of every link whether its model is static."""
        self.gravity: Array = np.array(GRAVITY)
        self.included = self.bytes = 0
        """Files that are included, and their bytes."""

    def document(self, root: Element) -> None:
        """All models of a document, in a world or not."""
        if root.tag not in ("sdf", "gazebo"):
            raise self.values.error(f"<{root.tag}>", "the root element is not <sdf>", root)
        places = root.all("world") or [root]
        models = [(place, each) for place in places for each in place.children if each.tag in ("model", "include")]
        for world in root.all("world"):
            self.values.note_others(world, ("model", "include", "gravity", "light", "physics", "scene", "frame"))
            for gravity in world.all("gravity"):
                self.gravity = np.array(self.values.numbers("world", gravity, 3))
            self._add_frames(world, "", "")
        if not models:
            raise self.values.error("SDFormat", "it has no <model>", root)
        for _, element in models:
            self._add(element, "" if len(models) == 1 and not root.all("world") else None, "", root, self.resources, 0)
        self._build()
        self.values.note_ignored()

    # -- models ------------------------------------------------------------------------------------------------

    def _add(
        self, element: Element, prefix: str | None, scope: str, root: Element, resources: Resources, depth: int
    ) -> None:
        """A <model> or an <include>, with this prefix for all in it, by default its name; scope is that around it."""
        if element.tag == "include":
            outer, (element, root, resources) = element, self._included(element, resources, depth)
            name = self.values.word(outer, "name", element.attributes.get("name", ""))
            placed = outer if outer.all("pose") else element
            inner = self.values.word(outer, "placement_frame", element.attributes.get("placement_frame", ""))
            static = self.values.flag(outer, "static", self.values.flag(element, "static"))
            if outer.attributes.get("merge", "").lower() == "true":
                prefix = scope
        else:
            name, placed = element.attributes.get("name", ""), element
            inner, static = element.attributes.get("placement_frame", ""), self.values.flag(element, "static")
        own = f"{scope}{name}::" if prefix is None else prefix
        if not scope and self.builder.name == "robot" and name:
            self.builder.name = name
        label = f"model {name!r}"
        self.values.note_others(element, KNOWN["model"])
        parts = root.attributes.get("version", "1.12").split(".")
        version = tuple(int(part[:4]) for part in parts if part.isascii() and part.isdigit())
        frame = f"{own}{MODEL}"
        if frame in self.frames.given:  # merged: what is in it is placed by the model around
            frame = f"{own}_merged_{len(self.frames.given)}_{MODEL}"
        relative_to = self.values.relative_to(placed)
        around = f"{scope}{MODEL}" if scope else WORLD
        carrier = element.attributes.get("canonical_link") or next(
            (link.attributes.get("name", "") for link in element.all("link")), ""
        )
        attached = f"{own}{carrier}" if carrier else around
        pose = self.values.pose(label, placed)
        self.frames.add(frame, f"{scope}{relative_to}" if relative_to else around, pose, attached)
        if inner:
            self.frames.placed_by[frame] = f"{own}{inner}"
        for link in element.all("link"):
            self._add_link(link, own, frame, static, resources)
        for joint in element.all("joint"):
            self._add_joint(joint, own, version)
        self._add_frames(element, own, frame)
        for child in element.children:
            if child.tag in ("model", "include"):
                self._add(child, None, own, root, resources, depth + 1)

    def _included(self, element: Element, resources: Resources, depth: int) -> tuple[Element, Element, Resources]:
        """The model of another file, its document, and where its own files are."""
        uri = self.values.word(element, "uri")
        label = f"<include> {uri!r}"
        self.included += 1
        if depth >= DEEPEST or self.included > MOST_INCLUDED:
            message = f"expected files at most {DEEPEST} levels deep, and at most {MOST_INCLUDED} of them"
            raise self.values.error(label, f"too many files include each other; {message}", element)
        path = resources.find(uri)
        if path is None:
            package, _, rest = uri.partition("://")[2].partition("/")
            folder = resources.package(package) if "://" in uri else None
            folders = [Path(folder) / rest] if folder else [place / uri for place in resources.own[:1]]
            path = next((str(file) for place in folders if (file := _sdf_in(place)) is not None), None)
        if path is None:
            raise self.values.error(label, "it was not found; name the folder it lies in by package_dirs", element)
        text = read_document(Path(path)).text
        self.bytes += len(text)
        check_size(self.bytes, f"{self.builder.source}, with the files that it includes,")
        root = parse(text, path)
        models = root.all("model")
        if len(models) != 1:
            raise self.values.error(label, f"it has {len(models)} models; expected one", element)
        inner = Resources(Path(path).parent)
        inner.given, inner.packages = resources.given, resources.packages
        return models[0], root, inner

    def _add_frames(self, element: Element, own: str, model: str) -> None:
        for frame in element.all("frame"):
            name = self.values.required(frame, "name", "frame")
            attached = frame.attributes.get("attached_to")
            on = f"{own}{attached}" if attached and attached != WORLD else WORLD if attached or not model else model
            relative = self.values.relative_to(frame)
            pose = self.values.pose(f"frame {name!r}", frame)
            self.frames.add(f"{own}{name}", named(own, relative) if relative else on, pose, on)

    def _add_link(self, element: Element, own: str, model: str, static: bool, resources: Resources) -> None:
        values, name = self.values, own + self.values.required(element, "name", "link")
        label = f"link {name!r}"
        values.note_others(element, KNOWN["link"])
        relative = values.relative_to(element)
        in_frame = named(own, relative) if relative else model
        self.frames.add(name, in_frame, values.pose(label, element), name)
        if not values.flag(element, "gravity", default=True):
            self.builder.warn(label, "gravity does not pull on it in the file, and does here", element.line)
        if values.flag(element, "kinematic"):
            self.builder.warn(label, "it is kinematic in the file, moved by no force, and is not here", element.line)
        for decay in element.all("velocity_decay"):
            if any(values.value(label, decay, tag, 0.0) for tag in ("linear", "angular")):
                self.builder.warn(label, "its <velocity_decay>, a drag of the air, was ignored", decay.line)
        self.links[name] = static
        self.builder.link(
            name,
            self._inertia(label, values.single(label, element, "inertial")),
            visuals=shapes(values, label, element.all("visual"), resources),
            collisions=shapes(values, label, element.all("collision"), resources),
            line=element.line,
        )

    def _inertia(self, label: str, inertial: Element | None) -> Inertia:
        """SDFormat's link without <inertial> has a mass of 1 kg and moments of 1 kg m²."""
        if inertial is None:
            return Inertia.from_com(1.0, np.zeros(3), np.eye(3))
        if inertial.attributes.get("auto", "").lower() in TRUE:
            message = "<inertial auto> asks for an inertia from shapes and density, which is not computed"
            self.values.fault(label, message, inertial, "it counts as what <mass> and <inertia> say")
        for added in inertial.all("fluid_added_mass"):
            self.builder.warn(label, "its <fluid_added_mass> was ignored", added.line)
        self.values.note_others(inertial, KNOWN["inertial"])
        T = self.values.pose(label, inertial)
        tensor = self.values.single(label, inertial, "inertia")
        about_com = np.eye(3)
        for i, j, tag in MOMENTS if tensor is not None else ():
            about_com[i, j] = about_com[j, i] = self.values.value(label, tensor, tag, 1.0 if i == j else 0.0)
        mass = self.values.value(label, inertial, "mass", 1.0)
        return Inertia.from_com(mass, T[:3, 3], T[:3, :3] @ about_com @ T[:3, :3].T)

    # -- joints ------------------------------------------------------------------------------------------------

    def _add_joint(self, element: Element, own: str, version: tuple[int, ...]) -> None:
        name = own + self.values.required(element, "name", "joint")
        label = f"joint {name!r}"
        self.values.note_others(element, KNOWN["joint"])
        kind = self.values.required(element, "type", label)
        if kind not in KINDS:
            raise self.values.error(label, f"type is {short(kind)}; expected one of {', '.join(KINDS)}", element)
        for role in ("parent", "child"):
            if not self.values.word(element, role):
                raise self.values.error(label, f"it has no <{role}>", element)
        parent, child = (named(own, self.values.word(element, role)) for role in ("parent", "child"))
        relative = self.values.relative_to(element)
        pose = self.values.pose(label, element)
        self.frames.add(name, named(own, relative) if relative else child, pose, child)
        self.joints.append(SdfJoint(element, name, own, kind, parent, child, version))

    def _build(self) -> None:
        """The tree, when all frames are known."""
        for name in self.frames.given:
            self.frames.pose(name)
        above = self._tree()
        roots = [link for link in self.links if link not in above]
        on_world = any(self.frames.link(joint.parent) == WORLD for joint in self.joints)
        if on_world or len(roots) > 1 or any(self.links[root] for root in roots):
            self.builder.link(free_name(WORLD, self.links))
            for root in roots:
                self._put_on_world(root)
        elif roots and not np.allclose(self.frames.pose(roots[0]), np.eye(4)):
            self.builder.note(f"link {roots[0]!r}", "its pose in the world was left out: it is the root of the robot")
        for joint in self.joints:
            child = self.frames.link(joint.child)
            if above.get(child) is joint:
                self._build_joint(joint, child)
            else:
                self._close_loop(joint)
        for name in self.frames.given:
            is_frame = name not in self.links and name not in self.builder.joints and not name.endswith(MODEL)
            if is_frame and (link := self.frames.link(name)) in self.builder.links:
                in_link = np.linalg.inv(self.frames.pose(link)) @ self.frames.pose(name)
                add_frame(self.builder, name, link, in_link)

    def _tree(self) -> dict[str, SdfJoint]:
        """The joint that every link hangs on: of several, the first that does not lead back to the link itself."""
        above: dict[str, SdfJoint] = {}
        over: dict[str, str] = {}
        """Of links that hang on others, one further up."""
        for joint in self.joints:
            child, top = self.frames.link(joint.child), self.frames.link(joint.parent)
            if child == top:
                message = f"its parent and its child are both part of {short(top)}"
                raise self.values.error(f"joint {joint.name!r}", message, joint.element)
            while top in over:
                over[top] = top = over.get(over[top], over[top])
            if child not in above and child != top:
                above[child], over[child] = joint, top
        return above

    def _put_on_world(self, root: str) -> None:
        kind = "fixed" if self.links[root] else "free"
        T = self.frames.pose(root) if kind == "fixed" else np.eye(4)
        self.builder.joint(f"{root}_{kind}", kind, WORLD, root, xyz=T[:3, 3], rotation=T[:3, :3])

    def _build_joint(self, joint: SdfJoint, child: str) -> None:
        parent, T = self.frames.link(joint.parent), self.frames.pose(joint.name)
        in_child = np.linalg.inv(T) @ self.frames.pose(child)
        in_parent = np.linalg.inv(self.frames.pose(parent)) @ T
        kind, moved = KINDS[joint.kind], child
        if kind == "fixed":
            in_parent = in_parent @ in_child
        elif not np.allclose(in_child, np.eye(4), atol=1e-12, rtol=0.0):
            moved = free_name(f"{child}/{joint.name.rpartition('::')[2]}", self.builder.links, self.links)
            self.builder.link(moved)
        R, p = orthonormal(in_parent[:3, :3]), in_parent[:3, 3]
        own = axes_of(self.values, self.frames, joint, kind) if kind not in ("fixed", "spherical") else {}
        self.builder.joint(joint.name, kind, parent, moved, xyz=p, rotation=R, line=joint.element.line, **own)
        if moved != child:
            name = free_name(f"{child}_fixed", self.builder.joints, [other.name for other in self.joints])
            R, p = orthonormal(in_child[:3, :3]), in_child[:3, 3]
            self.builder.joint(name, "fixed", moved, child, xyz=p, rotation=R)

    def _close_loop(self, joint: SdfJoint) -> None:
        """A joint whose child hangs on another one."""
        label, kind = f"joint {joint.name!r}", KINDS[joint.kind]
        if kind not in CLOSING:
            named = ", ".join(word for word, each in KINDS.items() if each in CLOSING)
            message = f"it closes a loop and is {joint.kind}; expected one of {named}"
            raise self.values.error(label, message, joint.element)
        own = axes_of(self.values, self.frames, joint, kind) if kind in ("revolute", "continuous") else {}
        if np.isfinite([own.get("lower", -np.inf), own.get("upper", np.inf)]).any():
            self.values.note(label, "it closes a loop, so its limits were ignored", joint.element)
        if own and own["dynamics"].is_passive:
            message = "it closes a loop, so its damping, friction or spring was ignored"
            self.builder.warn(label, message, joint.element.line)
        T = self.frames.pose(joint.name)
        links = self.frames.link(joint.parent), self.frames.link(joint.child)
        first, second = ((link, np.linalg.inv(self.frames.pose(link)) @ T) for link in links)
        close_loop(self.builder, joint.name, kind, (first, second), own.get("axis", np.zeros(3)))


def _sdf_in(folder: Path) -> Path | None:
    """The SDF file of a model's folder, by its manifest."""
    config = folder / "model.config"
    if config.is_file():
        listed = parse(read_document(config).text, str(config)).all("sdf")
        if listed and (folder / listed[-1].text.strip()).is_file():
            return folder / listed[-1].text.strip()
    return folder / "model.sdf" if (folder / "model.sdf").is_file() else None
