"""Quadratic programs as robots pose them: sequences of steps of inverse kinematics and of whole-body control."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from robots import find, standing, without_geometry

import kinetree as kt

DT = 0.005
GRAVITY = 9.81


@dataclass(frozen=True)
class Program:
    """½ xᵀ H x + gᵀ x with lower ≤ (x, C x) ≤ upper; equations have equal bounds, and come first among the rows."""

    H: np.ndarray
    g: np.ndarray
    C: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @property
    def equations(self) -> int:
        n = len(self.g)
        return int(np.count_nonzero(self.lower[n:] == self.upper[n:]))

    def outside(self, x: np.ndarray) -> float:
        """How far x is beyond its bounds."""
        rows = np.concatenate([x, self.C @ x])
        return float(max(0.0, (self.lower - rows).max(), (rows - self.upper).max()))

    def cost(self, x: np.ndarray) -> float:
        return float(0.5 * x @ self.H @ x + self.g @ x)

    def kkt(self, x: np.ndarray, z: np.ndarray) -> float:
        """The largest violation of the conditions of optimality, gradients relative to the largest of their terms."""
        rows = np.concatenate([x, self.C @ x])
        gradient = self.H @ x + self.g + z[: len(x)] + self.C.T @ z[len(x) :]
        scale = max(1.0, np.abs(self.g).max(), np.abs(z).max(initial=0.0))
        away = np.abs(np.where(z > 0, self.upper, np.where(z < 0, self.lower, rows)) - rows)
        return float(max(np.abs(gradient).max() / scale, self.outside(x), (np.abs(z) * away).max() / scale))


def load(ending: str, base: str) -> kt.Robot:
    """A robot of example-robot-data without its meshes."""
    return kt.load(without_geometry(find(ending)), base)  # type: ignore[arg-type]


def posed(ik: kt.ik.DifferentialIK, *given: np.ndarray) -> Program:
    """What a step asks its solver, with both triangles of H."""
    H, *others = ik._formula.call(*given)
    return Program(np.triu(H) + np.triu(H, 1).T, *others)


def arm_steps(steps: int = 100) -> Iterator[Program]:
    """A pose task on UR5 with limits of position and velocity; the target is faster than the joints may be."""
    robot = load("ur5_robot.urdf", "fixed")
    ik = kt.ik.DifferentialIK(robot, kt.ik.Pose("wrist_3_link", gain=40.0), kt.ik.Limits(slower=0.4), dt=DT)
    q = np.array([0.3, -1.0, 1.2, 0.2, 0.5, 0.1])
    start = q.copy()
    for k in range(steps):
        swing = 0.6 * np.sin(2 * np.pi * k * DT / 0.25) * np.array([1, 0.6, -0.8, 0.5, 0.9, -0.7])
        target = robot.frame("wrist_3_link").pose(start + swing)
        yield posed(ik, q, target)
        q = robot.integrate(q, DT * ik.velocity(q, target))


def humanoid_steps(steps: int = 100) -> Iterator[Program]:
    """Two hands and a posture on G1 with tight limits."""
    robot = load("g1_29dof_rev_1_0.urdf", "floating")
    hands = ("left_rubber_hand", "right_rubber_hand")
    tasks = [*(kt.ik.Pose(hand, gain=40.0) for hand in hands), kt.ik.Posture(weight=0.1)]
    ik = kt.ik.DifferentialIK(robot, tasks, kt.ik.Limits(slower=0.03), dt=DT)
    start = q = standing(robot)
    away = np.random.default_rng(0).normal(size=robot.nv)
    for k in range(steps):
        moved = robot.integrate(start, 0.3 * np.sin(2 * np.pi * k * DT / 0.25) * away)
        given = (q, *(robot.frame(hand).pose(moved) for hand in hands), start)
        yield posed(ik, *given)
        q = robot.integrate(q, DT * ik.velocity(*given))


@dataclass(frozen=True)
class Walker:
    """A humanoid for whole-body control: its feet, and what may be asked of them."""

    robot: kt.Robot
    feet: tuple[str, str]
    sole: float
    """Height of the foot's frame above the ground [m]."""
    corners: bool
    """Four forces at the corners of each foot in place of a wrench."""
    friction: float = 0.5
    length: float = 0.08
    width: float = 0.04

    def squats(self, steps: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """q, v and wanted accelerations of the centre of mass, of squats with a sway, feet in place."""
        robot = self.robot
        q = standing(robot)
        contacts = [kt.Contact(foot, "surface") for foot in self.feet]
        ik = kt.ik.DifferentialIK(
            robot, [kt.ik.CenterOfMass(), kt.ik.Posture(weight=0.05)], None, dt=DT, contacts=contacts
        )
        start, posture = robot.center_of_mass(q), q.copy()
        for k in range(steps):
            w = 2 * np.pi / 0.8
            t = k * DT
            reach = np.array([0.03, 0.05, 0.05])
            goal = start + reach * [np.sin(w * t), np.sin(2 * w * t), np.cos(w * t) - 1]
            wish = -reach * w * w * [np.sin(w * t), 4 * np.sin(2 * w * t), np.cos(w * t)]
            v = ik.velocity(q, goal, posture)
            yield q, v, wish
            q = robot.integrate(q, DT * v)

    def forces(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Jᵀ of all contact forces, (nv, k), and rows ≥ 0 of their cones with their weights, (rows, k), (k,)."""
        columns, cones = [], []
        for foot in self.feet:
            J, T = self.robot.frame(foot).jacobian(q), self.robot.frame(foot).pose(q)
            if not self.corners:
                columns.append(J.T)
                cones.append(self.wrench_cone())
                continue
            for x in (-self.length, self.length):
                for y in (-self.width, self.width):
                    r = T[:3, :3] @ [x, y, -self.sole]
                    columns.append((J[:3] - kt.skew(r) @ J[3:]).T)
                    cones.append(self.pyramid())
        rows = np.zeros((sum(map(len, cones)), sum(cone.shape[1] for cone in cones)))
        r = c = 0
        for cone in cones:
            rows[r : r + len(cone), c : c + cone.shape[1]] = cone
            r, c = r + len(cone), c + cone.shape[1]
        return np.concatenate(columns, axis=1), rows, np.full(rows.shape[1], 1e-5)

    def pyramid(self) -> np.ndarray:
        """μ f_z ± f_x ≥ 0, μ f_z ± f_y ≥ 0, f_z ≥ 0."""
        mu = self.friction
        return np.array([[1, 0, mu], [-1, 0, mu], [0, 1, mu], [0, -1, mu], [0, 0, 1]], dtype=float)

    def wrench_cone(self) -> np.ndarray:
        """The pyramid, the centre of pressure inside the sole, and a bound of the moment about z."""
        h = self.sole
        rows = [[*row, 0, 0, 0] for row in self.pyramid()]
        rows += [[0, s * h, self.width, s, 0, 0] for s in (1, -1)]
        rows += [[-s * h, 0, self.length, 0, s, 0] for s in (1, -1)]
        rows += [[0, 0, 0.05, 0, 0, s] for s in (1, -1)]
        return np.array(rows, dtype=float)

    def programs(self, steps: int = 100) -> Iterator[Program]:
        """In accelerations and contact forces; joint torques are rows, by the equation of motion."""
        robot = self.robot
        nv = robot.nv
        posture = standing(robot)
        for q, v, wish in self.squats(steps):
            M, bias = robot.mass_matrix(q), robot.bias_forces(q, v)
            J = np.concatenate([robot.frame(foot).jacobian(q) for foot in self.feet])
            rate = np.concatenate([robot.frame(foot).bias_acceleration(q, v) for foot in self.feet])
            JT, cone, small = self.forces(q)
            n = nv + JT.shape[1]
            H, g = np.diag(np.concatenate([np.full(nv, 1e-6), small])), np.zeros(n)
            J_com = robot.center_of_mass_jacobian(q)
            bias_com = robot.center_of_mass_acceleration(q, v, np.zeros(nv))
            H[:nv, :nv] += J_com.T @ J_com
            g[:nv] -= J_com.T @ (wish - bias_com)
            wanted = (100.0 * robot.difference(q, posture) - 20.0 * v)[6:]
            H[range(6, nv), range(6, nv)] += 1e-2
            g[6:nv] -= 1e-2 * wanted
            motion = np.concatenate([M, -JT], axis=1)
            feet = np.concatenate([J, np.zeros((12, JT.shape[1]))], axis=1)
            C = np.concatenate(
                [motion[:6], feet, motion[6:], np.concatenate([np.zeros((len(cone), nv)), cone], axis=1)]
            )
            effort = 0.5 * robot.limits.effort[6:]
            held = np.concatenate([-bias[:6], -rate])
            free = np.full(n, np.inf)
            lower = np.concatenate([-free, held, -effort - bias[6:], np.zeros(len(cone))])
            upper = np.concatenate([free, held, effort - bias[6:], np.full(len(cone), np.inf)])
            yield Program(H, g, C, lower, upper)


def g1() -> Walker:
    """A wrench at each foot."""
    robot = load("g1_29dof_rev_1_0.urdf", "floating")
    return Walker(robot, ("left_ankle_roll_link", "right_ankle_roll_link"), 0.035, corners=False)


def talos() -> Walker:
    """Four forces at each foot."""
    robot = load("talos_reduced.urdf", "floating")
    return Walker(robot, ("left_sole_link", "right_sole_link"), 0.0, corners=True)


def scaled(count: int = 60) -> Iterator[Program]:
    """Random programs whose variables are measured in units up to 1e5 apart, as if metres met micrometres."""
    rng = np.random.default_rng(3)
    n, equations, inequalities = 12, 4, 10
    for _ in range(count):
        root, inside = rng.normal(size=(n, n)), rng.normal(size=n)
        units = 10.0 ** rng.uniform(-2.5, 2.5, size=n)
        C = rng.normal(size=(equations + inequalities, n))
        room = np.concatenate([rng.random(n), np.zeros(equations), rng.random(inequalities)])
        rows = np.concatenate([inside, C @ inside])
        H = units[:, None] * (root @ root.T / n + 1e-3 * np.eye(n)) * units
        yield Program(H, 3.0 * units * rng.normal(size=n), C, rows - room, rows + room)


def infeasible(programs: list[Program], seed: int = 0) -> list[Program]:
    """The same with two bounds that contradict each other through the rows of C, not at once."""
    rng = np.random.default_rng(seed)
    out = []
    for p in programs:
        n = len(p.g)
        combined = (
            rng.normal(size=3) @ p.C[rng.choice(len(p.C), 3, replace=False)] if len(p.C) > 3 else rng.normal(size=n)
        )
        C = np.concatenate([p.C, combined[None], combined[None] * 2.0])
        lower, upper = np.concatenate([p.lower, [1.0, -np.inf]]), np.concatenate([p.upper, [np.inf, 1.0]])
        out.append(Program(p.H, p.g, C, lower, upper))
    return out
