"""What is shown of a robot, each made when it is first asked for: shapes, sticks, frames, names and inertias.

All of these are fixed to bodies, so they move with them.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from kinetree.errors import KinetreeError, ModelWarning
from kinetree.geometry import surfaces
from kinetree.geometry.ground import placed_shapes
from kinetree.geometry.surfaces import Surface, revolved
from kinetree.model.geometry import Color, Ellipsoid
from kinetree.model.joints import AxisJoint
from kinetree.model.tree import Model
from kinetree.ops import Array
from kinetree.viewer.stage import Stage, State, titled, wxyz

GREY: Color = (0.72, 0.75, 0.79, 1.0)
COLLISION: Color = (0.95, 0.55, 0.15, 0.35)
INERTIA: Color = (0.35, 0.45, 0.95, 0.4)
STICK: Color = (0.45, 0.5, 0.58, 1.0)
JOINT: Color = (0.15, 0.39, 0.92, 1.0)


class Layer(ABC):
    """Something that can be shown and hidden."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.nodes: list[Any] = []
        self.visible = False
        self._made = False

    @property
    def has_something(self) -> bool:
        """Whether there is anything to show."""
        return True

    def show(self, visible: bool = True) -> None:
        """Shows or hides the layer."""
        if visible and not self._made:
            self._made = True
            self.make()
        for node in self.nodes:
            node.visible = visible
        self.visible = visible
        if visible:
            self.update(self.stage.state)

    @abstractmethod
    def make(self) -> None:
        """Adds its nodes to the scene."""

    def update(self, state: State) -> None:
        """Follows the robot, where moving with a body is not enough."""
        return None

    def add(self, path: str, surface: Surface, color: Color, pose: Array) -> None:
        """Adds a surface as a node."""
        place: dict[str, Any] = {"position": pose[:3, 3], "wxyz": wxyz(pose[:3, :3])}
        if surface.textured is not None:
            self.nodes.append(self.stage.scene.add_mesh_trimesh(path, surface.textured, **place))
            return
        mesh = self.stage.scene.add_mesh_simple(
            path, surface.vertices.astype(np.float32), surface.triangles.astype(np.uint32), color=bytes_of(color),
            opacity=color[3] if color[3] < 1.0 else None, side="double", cast_shadow=color[3] > 0.5, **place,
        )  # fmt: skip
        self.nodes.append(mesh)


def bytes_of(color: Color) -> tuple[int, int, int]:
    """Red, green and blue from 0 to 255."""
    red, green, blue = (round(255.0 * part) for part in color[:3])
    return red, green, blue


class Shapes(Layer):
    """The links' visuals, or what they collide with. A mesh's own colours come first, as in RViz."""

    def __init__(self, stage: Stage, kind: str) -> None:
        super().__init__(stage)
        self.kind = kind
        self.missing: list[str] = []

    @property
    def has_something(self) -> bool:
        return bool(placed_shapes(self.stage.robot.model, self.kind))

    def make(self) -> None:
        reasons: dict[str, None] = {}
        for k, (frame, pose, geometry) in enumerate(placed_shapes(self.stage.robot.model, self.kind)):
            try:
                parts = surfaces(geometry.shape)
            except KinetreeError as problem:
                reasons[str(problem)] = None
                continue
            for i, part in enumerate(parts):
                color = COLLISION if self.kind == "collision" else part.color or geometry.color or GREY
                title = f"{frame.name}{moved_by(self.stage.robot.model, frame.body)}"
                self.add(titled(self.stage.paths[frame.body], title, f"{self.kind}_{k}_{i}"), part, color, pose)
        self.missing = list(reasons)
        if reasons:
            first, count = self.missing[0], len(reasons)
            more = f" (and {count - 1} more like it)" if count > 1 else ""
            message = f"{self.stage.name}: {first}{more}; the rest is shown"
            warnings.warn(message, ModelWarning, stacklevel=2)


def moved_by(model: Model, body: int) -> str:
    """What to say of the joint that moves a body; nothing of the world and of a floating base."""
    joint = model.joints[body]
    return f", joint {joint.name}" if body and joint is not model.floating_base else ""


class Skeleton(Layer):
    """Sticks from joint to joint and to the ends, with the axes of joints: for robots without shapes."""

    def make(self) -> None:
        model, thick = self.stage.robot.model, 0.008 * self.stage.size
        for i in range(model.n_bodies + 1):
            ends = [model.placements[c].p for c in model.children(i)]
            ends += [frame.X.p for frame in model.frames if frame.body == i and not model.children(i)]
            distinct = {tuple(np.round(end, 6)): end for end in ends}
            for k, end in enumerate(distinct.values()):
                if np.linalg.norm(end) > thick:
                    stick = _rod(np.zeros(3), np.asarray(end, dtype=float), thick)
                    path = titled(self.stage.paths[i], model.names[i], f"stick_{k}")
                    self.add(path, stick, STICK, np.eye(4))
            joint = model.joints[i]
            if isinstance(joint, AxisJoint):
                half = 3.0 * thick * np.asarray(joint.axis, dtype=float)
                path = titled(self.stage.paths[i], f"{joint.name}, {joint.kind} joint", "axis")
                self.add(path, _rod(-half, half, 2.0 * thick), JOINT, np.eye(4))


class Frames(Layer):
    """The axes of every frame: x red, y green, z blue."""

    def make(self) -> None:
        model, length = self.stage.robot.model, 0.06 * self.stage.size
        for i in range(model.n_bodies + 1):
            here = [frame for frame in model.frames if frame.body == i]
            if here:
                axes = self.stage.scene.add_batched_axes(
                    titled(self.stage.paths[i], "\n".join(f"frame {frame.name}" for frame in here), "frames"),
                    np.array([wxyz(frame.X.R.T) for frame in here]),
                    np.array([frame.X.p for frame in here]),
                    axes_length=length,
                    axes_radius=0.05 * length,
                )
                self.nodes.append(axes)


class Names(Layer):
    """The name of every frame that is no other's neighbour, next to it."""

    def make(self) -> None:
        placed: dict[tuple[int, tuple[float, ...]], list[str]] = {}
        for frame in self.stage.robot.model.frames:
            placed.setdefault((frame.body, tuple(np.round(frame.X.p, 4))), []).append(frame.name)
        for k, ((body, position), names) in enumerate(placed.items()):
            text = names[-1] if len(names) == 1 else f"{names[-1]} +{len(names) - 1}"
            self.nodes.append(self.stage.scene.add_label(f"{self.stage.paths[body]}/name_{k}", text, position=position))


class Inertias(Layer):
    """For every body the ellipsoid of uniform density with its mass and inertia: half axes √(5 (Iy + Iz - Ix) / 2m)."""

    def make(self) -> None:
        model = self.stage.robot.model
        for i in model.moving:
            radii, pose = ellipsoid(model.inertias[i])
            if radii.max() > 0.0:
                thick = np.maximum(radii, 0.02 * radii.max())  # one that is flat has to be seen too
                (surface,) = surfaces(Ellipsoid((thick[0], thick[1], thick[2])))
                title = f"inertia of {model.names[i]}, {model.inertias[i].mass:.3g} kg"
                self.add(titled(self.stage.paths[i], title, "inertia"), surface, INERTIA, pose)


def ellipsoid(inertia: Any) -> tuple[Array, Array]:
    """Half axes (3,) [m] and pose in the body's frame of the ellipsoid with this inertia; zeros without mass."""
    pose = np.eye(4)
    if not inertia.mass > 0.0:
        return np.zeros(3), pose
    moments = inertia.principal_moments
    squares = 2.5 * (moments.sum() - 2.0 * moments) / inertia.mass
    pose[:3, :3], pose[:3, 3] = inertia.principal_axes, inertia.com
    return np.sqrt(np.maximum(squares, 0.0)), pose


def _rod(start: Array, end: Array, radius: float) -> Surface:
    """A round bar between two points."""
    along = end - start
    length = float(np.linalg.norm(along))
    z = along / length
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    R = np.stack([x, np.cross(z, x), z], axis=1)
    bar = revolved(np.array([0.0, radius, radius, 0.0]), np.array([0.0, 0.0, length, length]))
    return Surface(bar.vertices @ R.T + start, bar.triangles)
