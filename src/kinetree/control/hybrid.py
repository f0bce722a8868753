"""Motion in some directions of a task frame and force in the others."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree.algorithms.arguments.directions import DIRECTIONS, directions
from kinetree.base.arguments import as_constant
from kinetree.control.controller import Controller
from kinetree.control.frame_directions import FrameDirections
from kinetree.control.gains import as_gain, spring_and_damper, times
from kinetree.control.on_contacts import OnContacts
from kinetree.control.rest_posture import RestPosture, at_rest
from kinetree.control.robots import as_regularization, standing
from kinetree.errors import ArgumentError, short
from kinetree.ops import Array, zeros
from kinetree.robot import Robot
from kinetree.robot.constrained import Constrained
from kinetree.spatial.packing import pack
from kinetree.spatial.rotation import is_rotation_matrix
from kinetree.tasks.frame import linear_first


@final
class HybridMotionForce(Controller):
    """τ = Jᵀ (Λ S_M ẇ - S_F f + μ + p) with ẇ = ẇ* + k_p e + k_d ė, and f the wrench *on the robot* that is wanted:
    `controller(q, v, (pose, velocity, acceleration, force))`. Its push on the world is -f (Khatib 1987).

    force_directions    of x, y, z, rx, ry, rz of the task frame, those in which force is controlled (S_F)
    motion_directions   those in which motion is (S_M); all others unless given
    axes                of the task frame: world axes unless given; a rotation matrix (3, 3) whose columns they are; or
                        the name of a frame of the robot whose axes they are, `frame` itself among them
    force_gain          of measured forces: f + k_f (f - measured) is commanded. The reference then has a fifth part,
                        the wrench measured on the robot. Without it there is no feedback of forces
    stiffness, damping, posture, posture_stiffness, posture_damping, regularization   as of OperationalSpace, six
                        directions in the axes of the task frame

    Poses, velocities and wrenches of the reference are in world axes at the frame's origin, as everywhere.
    """

    def __init__(
        self,
        robot: Robot | Constrained,
        frame: str,
        stiffness: Any,
        damping: Any = None,
        *,
        force_directions: Any = ("z",),
        motion_directions: Any = None,
        axes: Any = None,
        force_gain: Any = None,
        posture: Any = None,
        posture_stiffness: Any = None,
        posture_damping: Any = None,
        regularization: float = 3e-4,
    ) -> None:
        robot, self.equations = standing(robot, "HybridMotionForce")
        self.task = FrameDirections.named(robot, frame, "pose")
        self.pushed = directions("force_directions", force_directions)
        rest = tuple(row for row in range(6) if row not in self.pushed)
        self.moved = rest if motion_directions is None else directions("motion_directions", motion_directions)
        both = sorted({*self.pushed} & {*self.moved})
        if both:
            raise ArgumentError(f"{DIRECTIONS[both[0]]!r} is a direction of motion and of force; expected one of them")
        settings = spring_and_damper(stiffness, damping, 6)
        self.axes_of = robot.frame(axes).name if isinstance(axes, str) else None
        if self.axes_of is None:
            settings["axes"] = _axes(axes)
        self.has_feedback = force_gain is not None
        if self.has_feedback:
            settings["force_gain"] = as_gain("force_gain", force_gain, 6)
        self.rest, of_posture = RestPosture.of(robot, posture, posture_stiffness, posture_damping)
        self.regularization = as_regularization(regularization)
        still = {"velocity": np.zeros(6), "acceleration": np.zeros(6)}
        arguments: dict[str, Any] = {"q": ("q",), "v": ("v",), **self.task.references(robot), "force": (6,)}
        if self.has_feedback:
            arguments["measured"] = (6,)
        else:
            still["force"] = np.zeros(6)
        arguments |= {name: value.shape for name, value in settings.items()} | RestPosture.shapes(of_posture)
        self._names = tuple(arguments)[2:]
        structure = (self.pushed, self.moved, self.axes_of, self.has_feedback, self.rest, self.regularization)
        if self.has_feedback:  # what comes last must be given, and so must what is before it
            still = {}
        self._prepare(robot, arguments, still, {**settings, **of_posture}, (self.task, *structure, self.equations))

    @property
    def S_M(self) -> Array:
        """Selects the directions of motion, in the axes of the task frame, (6, 6)."""
        return np.diag([float(row in self.moved) for row in range(6)])

    @property
    def S_F(self) -> Array:
        """Selects the directions of force, (6, 6)."""
        return np.diag([float(row in self.pushed) for row in range(6)])

    def formula(self, robot: Robot, q: Array, v: Array, *values: Any) -> Array:
        """All in the axes of the task frame, as rows of X J with X = diag(Rᵀ, Rᵀ)."""
        given = dict(zip(self._names, values, strict=True))
        task = self.task
        R = given["axes"] if self.axes_of is None else robot.frame(self.axes_of).pose(q)[:3, :3]
        error, J = task.evaluate(robot, q, given["pose"])
        error = _turned(R, error)
        rate = _turned(R, task.rate(robot, given["velocity"]) - J @ v)
        w = _turned(R, task.rate(robot, given["acceleration"]))
        w = w + times(given["stiffness"], error) + times(given["damping"], rate)
        w = _selected(self.moved, w) - _turned(R, task.drift(robot, q, v))
        wrench = _turned(R, linear_first(robot, given["force"]))
        if self.has_feedback:
            measured = _turned(R, linear_first(robot, given["measured"]))
            wrench = wrench + times(given["force_gain"], wrench - measured)
        X_J = np.array([_turned(R, column) for column in J.T]).T
        a_0 = self.rest.acceleration(robot, q, v, [given[name] for name in given if name.startswith("posture")])
        pushed = _selected(self.pushed, wrench)
        if self.equations is not None:
            body = OnContacts(robot, self.equations, q, v, at_rest(robot, a_0), X_J)
            felt = task.inertia(robot, q, body.J, self.regularization)
            turned_back = pack(R @ pushed[:3], R @ pushed[3:], robot.model.spatial_order)
            return body.torques(felt.force(w - X_J @ body.a), {task.frame: turned_back})
        if a_0 is not None:
            w = w - X_J @ a_0
        felt = task.inertia(robot, q, X_J, self.regularization)
        force = felt.force(w) - pushed
        return X_J.T @ force + robot.inverse_dynamics(q, v, at_rest(robot, a_0))


def _axes(axes: Any) -> Array:
    R = np.eye(3) if axes is None else as_constant("axes", axes, (3, 3))
    if not is_rotation_matrix(R):
        raise ArgumentError(f"axes is {short(axes)}; expected a rotation matrix, or the name of a frame")
    return R


def _turned(R: Array, six: Array) -> Array:
    """A 6-vector, linear first, in the axes that are the columns of R."""
    return np.concatenate([R.T @ six[:3], R.T @ six[3:]])


def _selected(rows: tuple[int, ...], six: Array) -> Array:
    kept = zeros(6, six)
    for row in rows:
        kept[row] = six[row]
    return kept
