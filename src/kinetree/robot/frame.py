"""A named frame of a robot: where it is and how it moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

from numpy.typing import ArrayLike

from kinetree.algorithms.directions import task_directions
from kinetree.algorithms.references import ACCELERATION_KINDS, REFERENCES, AccelerationKind, Reference
from kinetree.errors import one_of, unknown
from kinetree.functions.binding import native
from kinetree.ops import Array
from kinetree.robot.engine import Request
from kinetree.robot.quantities import OF_FRAME, OF_POSE, OF_TASK, Quantity, of_pose, of_task
from kinetree.spatial.parameterization import POSITIONS, ROTATIONS

if TYPE_CHECKING:
    from kinetree.robot import Robot

Task: TypeAlias = str | Iterable[str]
"""Directions of a frame: "pose", "position", "orientation", or names among x, y, z, rx, ry, rz."""
Metric: TypeAlias = Literal["kinetic", "euclidean"]
METRICS: tuple[Metric, ...] = ("kinetic", "euclidean")


@final
@dataclass(frozen=True)
class Frame:
    """The kinematics of one frame of a robot; ``reference`` is 'world-aligned', 'local' or 'world'."""

    robot: Robot
    name: str

    @property
    def body(self) -> str | None:
        """The body it is fixed to, or None if it is bolted to the world."""
        body = self.robot.model.frame(self.name).body
        return self.robot.model.names[body] if body else None

    def __repr__(self) -> str:
        return f"<Frame {self.name!r} of {self.robot.name!r}>"

    @native
    def pose(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Pose in the world, (…, 4, 4)."""
        return self._call("pose", (q,), out)

    @native
    def velocity(
        self, q: ArrayLike, v: ArrayLike, reference: Reference = "world-aligned", *, out: Array | None = None
    ) -> Array:
        """Linear and angular velocity, (…, 6) [m/s, rad/s]."""
        reference = one_of("reference", reference, REFERENCES)
        return self._call("velocity", (q, v), out, reference)

    @native
    def acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        reference: Reference = "world-aligned",
        kind: AccelerationKind = "classical",
        *,
        out: Array | None = None,
    ) -> Array:
        """Linear and angular acceleration, gravity not included, (…, 6) [m/s², rad/s²].

        'classical' is the acceleration of the point; 'spatial' is without ω × v, as Featherstone defines it.
        """
        reference = one_of("reference", reference, REFERENCES)
        kind = one_of("kind", kind, ACCELERATION_KINDS)
        return self._call("acceleration", (q, v, a), out, reference, kind)

    @native
    def bias_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        reference: Reference = "world-aligned",
        kind: AccelerationKind = "classical",
        *,
        out: Array | None = None,
    ) -> Array:
        """The acceleration at a = 0, (…, 6); J̇ v for world-aligned classical, and for local or world spatial."""
        reference = one_of("reference", reference, REFERENCES)
        kind = one_of("kind", kind, ACCELERATION_KINDS)
        return self._call("bias_acceleration", (q, v), out, reference, kind)

    @native
    def jacobian(self, q: ArrayLike, reference: Reference = "world-aligned", *, out: Array | None = None) -> Array:
        """J with velocity = J v in the same reference, (…, 6, nv)."""
        reference = one_of("reference", reference, REFERENCES)
        return self._call("jacobian", (q,), out, reference)

    @native
    def jacobian_rate(
        self, q: ArrayLike, v: ArrayLike, reference: Reference = "world-aligned", *, out: Array | None = None
    ) -> Array:
        """J̇, the time derivative of the Jacobian along v, (…, 6, nv)."""
        reference = one_of("reference", reference, REFERENCES)
        return self._call("jacobian_rate", (q, v), out, reference)

    @native
    def operational_space_inertia(
        self,
        q: ArrayLike,
        reference: Reference = "world-aligned",
        task: Task = "pose",
        *,
        out: Array | None = None,
    ) -> Array:
        """Λ = (J M⁻¹ Jᵀ)⁻¹, (…, k, k): the inertia felt at the frame, in the k directions of a task.

        `task` is "pose", all six, "position", "orientation", or names among x, y, z, rx, ry, rz, in the order of the
        robot's 6-vectors. Where J has not full rank Λ is the pseudo-inverse, which is positive semidefinite.
        """
        return self._of_task("operational_space_inertia", task, (q,), reference, out)

    @native
    def operational_space_bias(
        self,
        q: ArrayLike,
        v: ArrayLike,
        reference: Reference = "world-aligned",
        task: Task = "pose",
        *,
        out: Array | None = None,
    ) -> Array:
        """μ = Λ (J M⁻¹ C v - J̇ v), (…, k) [N, N m], in Λ ẇ + μ + p = F of a force F at the frame with τ = Jᵀ F."""
        return self._of_task("operational_space_bias", task, (q, v), reference, out)

    @native
    def operational_space_gravity(
        self,
        q: ArrayLike,
        reference: Reference = "world-aligned",
        task: Task = "pose",
        *,
        out: Array | None = None,
    ) -> Array:
        """p = Λ J M⁻¹ G, (…, k) [N, N m]."""
        return self._of_task("operational_space_gravity", task, (q,), reference, out)

    @native
    def consistent_inverse(
        self,
        q: ArrayLike,
        reference: Reference = "world-aligned",
        task: Task = "pose",
        *,
        out: Array | None = None,
    ) -> Array:
        """J̄ = M⁻¹ Jᵀ Λ, (…, nv, k), the dynamically consistent inverse: of all v with J v = w, J̄ w has the least
        kinetic energy; J̄ᵀ τ is the force that torques make at the frame."""
        return self._of_task("consistent_inverse", task, (q,), reference, out)

    @native
    def pseudo_inverse(
        self,
        q: ArrayLike,
        reference: Reference = "world-aligned",
        task: Task = "pose",
        *,
        out: Array | None = None,
    ) -> Array:
        """J⁺, (…, nv, k): of all v with the least ‖J v - w‖, J⁺ w has the least ‖v‖. It does not know about inertia:
        `consistent_inverse` does."""
        return self._of_task("pseudo_inverse", task, (q,), reference, out)

    @native
    def null_space_projector(
        self,
        q: ArrayLike,
        reference: Reference = "world-aligned",
        task: Task = "pose",
        metric: Metric = "kinetic",
        *,
        out: Array | None = None,
    ) -> Array:
        """N, (…, nv, nv), with J N = 0 and N N = N: N v is the nearest velocity to v that does not move the frame.

        "kinetic", by default: nearest in kinetic energy, N = 1 - J̄ J, and torques Nᵀ τ do not accelerate the frame.
        "euclidean": nearest in joint velocities, N = 1 - J⁺ J, as differential inverse kinematics has it. Torques
        N τ do accelerate the frame.
        """
        if one_of("metric", metric, METRICS) == "euclidean":
            return self._of_task("euclidean_projector", task, (q,), reference, out)
        return self._of_task("null_space_projector", task, (q,), reference, out, metric)

    @native
    def velocity_derivatives(
        self, q: ArrayLike, v: ArrayLike, reference: Reference = "world-aligned"
    ) -> tuple[Array, Array]:
        """∂/∂q and ∂/∂v of the velocity, (…, 6, nv) each, q moved by `integrate`; the second is the Jacobian."""
        reference = one_of("reference", reference, REFERENCES)
        slopes: tuple[Array, Array] = self._several("velocity_derivatives", (q, v), reference)
        return slopes

    @native
    def acceleration_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        reference: Reference = "world-aligned",
        kind: AccelerationKind = "classical",
    ) -> tuple[Array, Array, Array]:
        """∂/∂q, ∂/∂v and ∂/∂a of the acceleration, (…, 6, nv) each, q moved by `integrate`; the third is the
        Jacobian."""
        reference = one_of("reference", reference, REFERENCES)
        kind = one_of("kind", kind, ACCELERATION_KINDS)
        slopes: tuple[Array, Array, Array] = self._several("acceleration_derivatives", (q, v, a), reference, kind)
        return slopes

    @native
    def body_regressor(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Array | None = None) -> Array:
        """Y_F, (…, 6, 10): Y_F φ is the force and moment that move a body fixed to this frame, its weight included, in
        the frame's axes at its origin; φ are the body's ten parameters about it."""
        return self._call("body_regressor", (q, v, a), out)

    def pose_parameters(
        self, q: ArrayLike, position: str = "cartesian", rotation: str = "quaternion", *, out: Array | None = None
    ) -> Array:
        """χ, the coordinates of its origin in the world and the parameters of its rotation, (…, 3 + n).

        `position` is 'cartesian', 'cylindrical' or 'spherical'; `rotation` is 'quaternion', 'angle-axis',
        'rotation-vector', 'matrix' or a sequence of Euler angles, 'ZYX' (intrinsic) or 'xyz' (extrinsic).
        """
        return self._of_pose("pose_parameters", position, rotation)(q, out=out)

    def analytic_jacobian(
        self, q: ArrayLike, position: str = "cartesian", rotation: str = "quaternion", *, out: Array | None = None
    ) -> Array:
        """J_A with χ̇ = J_A v of the `pose_parameters` χ, (…, 3 + n, nv): E J_A is the world-aligned Jacobian.

        Refused where χ has no rates, as in gimbal lock.
        """
        return self._of_pose("analytic_jacobian", position, rotation)(q, out=out)

    def analytic_jacobian_rate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        position: str = "cartesian",
        rotation: str = "quaternion",
        *,
        out: Array | None = None,
    ) -> Array:
        """J̇_A, the time derivative of the analytic Jacobian along v, (…, 3 + n, nv)."""
        return self._of_pose("analytic_jacobian_rate", position, rotation)(q, v, out=out)

    def prepare(
        self,
        *quantities: str,
        reference: Reference = "world-aligned",
        kind: AccelerationKind = "classical",
        position: str = "cartesian",
        rotation: str = "quaternion",
        task: Task = "pose",
        metric: Metric = "kinetic",
        batch: bool = False,
    ) -> None:
        """Compile quantities of this frame before they are first asked for."""
        reference = one_of("reference", reference, REFERENCES)
        kind = one_of("kind", kind, ACCELERATION_KINDS)
        parameterization = _parameterization(position, rotation)
        options: dict[str, tuple[str, ...]] = {"pose": (), "body_regressor": ()}
        with_kind = ("acceleration", "bias_acceleration", "acceleration_derivatives")
        options |= dict.fromkeys(with_kind, (reference, kind))
        for name in quantities:
            if not isinstance(name, str) or name not in (*OF_FRAME, *OF_POSE):
                raise unknown("quantity", name, (*OF_FRAME, *OF_POSE))
        chosen = task_directions(task)
        one_of("metric", metric, METRICS)
        for name in quantities:
            if name in OF_POSE:
                request = Request(of_pose(name, *parameterization), self.name)
            elif name in OF_TASK:
                request = _task_request(self.name, name, chosen, reference, metric)
            else:
                request = Request(OF_FRAME[name], self.name, options.get(name, (reference,)))
            self.robot._engine.prepare(request, batch)

    def _native_call(self, method: FunctionType) -> Callable[..., Any] | None:
        return self.robot._engine.native_call(self, OF_FRAME[method.__name__], self.name, method)

    def _of_pose(self, name: str, position: str, rotation: str) -> Callable[..., Array]:
        """A quantity of `OF_POSE` as a call, native where there are such, which is kept."""
        key = f"{name} of {position} and {rotation}"
        call: Callable[..., Array] | None = self.__dict__.get(key)
        if call is None:
            quantity = of_pose(name, *_parameterization(position, rotation))
            method = _pose_method(quantity)
            found = self.robot._engine.native_call(self, quantity, self.name, method) or MethodType(method, self)
            call = self.__dict__.setdefault(key, found)
        return call

    def __reduce__(self) -> tuple[Any, ...]:
        return Frame, (self.robot, self.name)

    def _call(self, name: str, values: tuple[Any, ...], out: Array | None, *options: str) -> Array:
        result: Array = self.robot._engine.evaluate(OF_FRAME[name], values, out, subject=self.name, options=options)
        return result

    def _of_task(
        self, name: str, task: Task, values: tuple[Any, ...], reference: Reference, out: Array | None, *others: str
    ) -> Array:
        """A quantity for some directions of the frame."""
        reference = one_of("reference", reference, REFERENCES)
        if task == "pose" and name != "euclidean_projector":
            return self._call(name, values, out, reference, "pose", *others)
        chosen = task_directions(task)
        key = f"{name} of {chosen}"
        call: Callable[..., Array] | None = self.__dict__.get(key)
        if call is None:
            quantity = of_task(name, chosen)
            method = _task_method(quantity)
            found = self.robot._engine.native_call(self, quantity, self.name, method) or MethodType(method, self)
            call = self.__dict__.setdefault(key, found)
        return call(*values, reference, out=out)

    def _several(self, name: str, values: tuple[Any, ...], *options: str) -> Any:
        return self.robot._engine.evaluate(OF_FRAME[name], values, subject=self.name, options=options)


def _task_request(frame: str, name: str, task: tuple[str, ...], reference: Reference, metric: Metric) -> Request:
    """What a call for these directions will ask for."""
    if name == "null_space_projector" and metric == "euclidean":
        name = "euclidean_projector"
    quantity = of_task(name, task)
    if quantity is not OF_FRAME.get(name):
        return Request(quantity, frame, (reference,))
    return Request(quantity, frame, (reference, "pose", *["kinetic"] * (name == "null_space_projector")))


@cache
def _pose_method(quantity: Quantity) -> FunctionType:
    """A method of frames that computes this quantity."""

    def of_q(self: Frame, q: ArrayLike, *, out: Array | None = None) -> Any:
        return self.robot._engine.evaluate(quantity, (q,), out, subject=self.name)

    def of_q_and_v(self: Frame, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Any:
        return self.robot._engine.evaluate(quantity, (q, v), out, subject=self.name)

    method: Any = of_q if len(quantity.inputs) == 1 else of_q_and_v
    return method


@cache
def _task_method(quantity: Quantity) -> FunctionType:
    """A method of frames that computes this quantity."""

    def of_q(self: Frame, q: ArrayLike, reference: Reference = "world-aligned", *, out: Array | None = None) -> Any:
        return self.robot._engine.evaluate(quantity, (q,), out, subject=self.name, options=(reference,))

    def of_q_and_v(
        self: Frame, q: ArrayLike, v: ArrayLike, reference: Reference = "world-aligned", *, out: Array | None = None
    ) -> Any:
        return self.robot._engine.evaluate(quantity, (q, v), out, subject=self.name, options=(reference,))

    method: Any = of_q if len(quantity.inputs) == 1 else of_q_and_v
    return method


def _parameterization(position: str, rotation: str) -> tuple[str, str]:
    """The names of both, if there are such."""
    for argument, name, known in (("position", position, POSITIONS), ("rotation", rotation, ROTATIONS)):
        if not isinstance(name, str) or name not in known:
            raise unknown(argument, name, known)
    return str(position), str(rotation)
