"""What is shown in the world of a robot and changes with its state: centre of mass, support polygon, forces."""

from __future__ import annotations

import numpy as np

from kinetree.geometry import convex_hull, surfaces
from kinetree.geometry.ground import margin
from kinetree.model.geometry import Color, Sphere
from kinetree.ops import Array
from kinetree.viewer.layers import Layer, bytes_of
from kinetree.viewer.stage import Stage, State, titled

MASS: Color = (0.9, 0.15, 0.35, 1.0)
INSIDE: Color = (0.1, 0.65, 0.35, 0.45)
OUTSIDE: Color = (0.9, 0.2, 0.15, 0.45)
FORCE: Color = (0.95, 0.6, 0.05, 1.0)
ABOVE = 0.002
"""How far above the ground lines are drawn, so that they are not in it [m]."""


class CenterOfMass(Layer):
    """A ball where it is, a line down and a disc on the ground."""

    def make(self) -> None:
        radius, root = 0.018 * self.stage.size, self.stage.root
        (ball,) = surfaces(Sphere(radius))
        self.add(titled(root, "centre of mass", "com"), ball, MASS, np.eye(4))
        self.add(titled(root, "below the centre of mass", "com"), ball, MASS, np.eye(4))
        line = self.stage.scene.add_line_segments(
            f"{root}/com_line", np.zeros((1, 2, 3), np.float32), bytes_of(MASS), thickness=0.15 * radius
        )
        self.nodes.append(line)
        self.nodes[1].scale = (0.8, 0.8, 0.05)

    def update(self, state: State) -> None:
        com = self.stage.robot.center_of_mass(state.q)
        below = np.array([com[0], com[1], ABOVE])
        self.nodes[0].position, self.nodes[1].position = com, below
        self.nodes[2].points = np.array([[com, below]], dtype=np.float32)


class Support(Layer):
    """The convex hull of the lowest points; green with the centre of mass above it, red without."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.polygon: Array = np.zeros((0, 2))
        self.inside = False

    def make(self) -> None:
        corners = np.zeros((3, 3), np.float32)
        fan = self.stage.scene.add_mesh_simple(
            titled(self.stage.root, "support polygon", "support"),
            corners,
            np.array([[0, 1, 2]], np.uint32),
            side="double",
            cast_shadow=False,
        )
        edge = self.stage.scene.add_line_segments(
            f"{self.stage.root}/support_edge",
            np.zeros((1, 2, 3), np.float32),
            bytes_of(INSIDE),
            thickness=0.004 * self.stage.size,
        )
        self.nodes = [fan, edge]

    def update(self, state: State) -> None:
        points = self.stage.ground.touching(state.q)
        self.polygon = convex_hull(points[:, :2])
        com = self.stage.robot.center_of_mass(state.q)[:2]
        self.inside = len(self.polygon) > 2 and margin(self.polygon, com) >= 0.0
        color = INSIDE if self.inside else OUTSIDE
        for node in self.nodes:
            node.visible = self.visible and len(self.polygon) > 2
        if len(self.polygon) < 3:
            return
        height = points[:, 2].min() + ABOVE
        corners = np.column_stack([self.polygon, np.full(len(self.polygon), height)]).astype(np.float32)
        fan, edge = self.nodes
        count = len(corners)
        fan.vertices, fan.faces = corners, np.array([[0, k, k + 1] for k in range(1, count - 1)], np.uint32)
        fan.color, fan.opacity = bytes_of(color), color[3]
        edge.points = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
        edge.colors = np.tile(np.array(bytes_of(color), np.uint8), (count, 2, 1))


class Forces(Layer):
    """Forces of the environment as arrows from where they act; one of the robot's weight is 0.4 of its size long."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        weight = stage.robot.mass * float(np.linalg.norm(stage.robot.gravity))
        self.metres_per_newton = 0.4 * stage.size / weight if weight > 0.0 else 0.01

    def make(self) -> None:
        """The arrows are made with the first force."""

    def arrows(self, state: State) -> Array:
        """Arrows from where each force acts to its tip, (n, 2, 3) [m]."""
        found = []
        for frame, wrench in state.wrenches.items():
            force = np.asarray(wrench, dtype=float)[:3]
            start = self.stage.robot.frame(frame).pose(state.q)[:3, 3]
            if np.linalg.norm(force) * self.metres_per_newton > 1e-4 * self.stage.size:
                found.append([start, start + self.metres_per_newton * force])
        return np.array(found, dtype=np.float32).reshape(-1, 2, 3)

    def update(self, state: State) -> None:
        points = self.arrows(state)
        thick = 0.006 * self.stage.size
        if not self.nodes and len(points):
            arrows = self.stage.scene.add_arrows(
                titled(self.stage.root, "forces on the robot", "forces"),
                points,
                bytes_of(FORCE),
                shaft_radius=thick,
                head_radius=2.2 * thick,
                head_length=4.5 * thick,
            )
            self.nodes = [arrows]
        for node in self.nodes:
            if len(points):
                node.points = points
            node.visible = self.visible and bool(len(points))
