"""A named frame of a robot: its pose, motion, Jacobians and operational-space quantities."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, final

from numpy.typing import ArrayLike

from kinetree.algorithms import analytic_jacobian as analytic
from kinetree.algorithms import jacobian as jacobians
from kinetree.algorithms import kinematic_derivatives, kinematics, operational_space
from kinetree.algorithms import regressor as regressors
from kinetree.algorithms.arguments.directions import task_directions
from kinetree.algorithms.arguments.references import AccelerationKind, Reference
from kinetree.errors import known, one_of
from kinetree.ops import Array
from kinetree.robot import shapes
from kinetree.robot.quantity import HasQuantities, Named, NamedOut, prepare, quantity
from kinetree.spatial.parameterization import POSITIONS, ROTATIONS

if TYPE_CHECKING:
    from kinetree.robot import Robot

Task: TypeAlias = str | Iterable[str]
"""Directions of a task: "pose", "position", "orientation", or names among x, y, z, rx, ry, rz."""
Metric: TypeAlias = Literal["kinetic", "euclidean"]
METRICS: tuple[Metric, ...] = ("kinetic", "euclidean")
TASK = {"task": task_directions}
PARAMETERS: dict[str, Callable[[Any], str]] = {
    "position": lambda name: known("position", name, POSITIONS),
    "rotation": lambda name: known("rotation", name, ROTATIONS),
}
_of_task = partial(quantity, select=TASK, lacks_rank=operational_space.lacks_rank, any_frames=True)
"""Declares a quantity in the directions of a task, whose Jacobian may lack rank."""
_of_parameters = partial(quantity, select=PARAMETERS, any_frames=True)
"""Declares a quantity of the parameters of a pose."""


@final
@dataclass(frozen=True)
class Frame(HasQuantities):
    """The kinematics of one frame of a robot; ``reference`` is 'world-aligned', 'local' or 'world'."""

    robot: Robot
    name: str

    @property
    def body(self) -> str | None:
        """The body that the frame is fixed to, or None if it is fixed to the world."""
        body = self.robot.model.frame(self.name).body
        return self.robot.model.names[body] if body else None

    def __repr__(self) -> str:
        return f"<Frame {self.name!r} of {self.robot.name!r}>"

    @quantity(kinematics.frame_pose, shapes.pose, any_frames=True)
    def pose(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The pose in the world, (…, 4, 4)."""

    @quantity(kinematics.frame_velocity, shapes.six, any_frames=True)
    def velocity(
        self, q: ArrayLike, v: ArrayLike, reference: Reference = "world-aligned", **named: Unpack[NamedOut]
    ) -> Array:
        """The linear and angular velocity, (…, 6) [m/s, rad/s]."""

    @quantity(kinematics.frame_acceleration, shapes.six, any_frames=True)
    def acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        reference: Reference = "world-aligned",
        kind: AccelerationKind = "classical",
        **named: Unpack[NamedOut],
    ) -> Array:
        """The linear and angular acceleration, without gravity, (…, 6) [m/s², rad/s²].

        'classical' is the acceleration of the frame's origin; 'spatial', as Featherstone defines it, lacks ω × v.
        """

    @quantity(kinematics.frame_bias_acceleration, shapes.six, any_frames=True)
    def bias_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        reference: Reference = "world-aligned",
        kind: AccelerationKind = "classical",
        **named: Unpack[NamedOut],
    ) -> Array:
        """The acceleration at a = 0, (…, 6) [m/s², rad/s²]: J̇ v for 'world-aligned' with 'classical', and for 'local'
        or 'world' with 'spatial'."""

    @quantity(jacobians.frame_jacobian, shapes.six_rows, any_frames=True)
    def jacobian(self, q: ArrayLike, reference: Reference = "world-aligned", **named: Unpack[NamedOut]) -> Array:
        """The Jacobian J with velocity = J v in the same reference, (…, 6, nv)."""

    @quantity(jacobians.frame_jacobian_rate, shapes.six_rows, any_frames=True)
    def jacobian_rate(
        self, q: ArrayLike, v: ArrayLike, reference: Reference = "world-aligned", **named: Unpack[NamedOut]
    ) -> Array:
        """J̇, the time derivative of the Jacobian along v, (…, 6, nv)."""

    @_of_task(operational_space.inertia, lambda model, task: (len(task), len(task)))
    def operational_space_inertia(
        self, q: ArrayLike, reference: Reference = "world-aligned", task: Task = "pose", **named: Unpack[NamedOut]
    ) -> Array:
        """Λ = (J M⁻¹ Jᵀ)⁻¹, (…, k, k): the apparent inertia at the frame, in the k directions of a task.

        `task` is "pose" (all six), "position", "orientation", or names among x, y, z, rx, ry, rz, in the order of the
        robot's 6-vectors. Without full rank of J, Λ is the pseudo-inverse, which is positive semidefinite.
        """

    @_of_task(operational_space.bias, lambda model, task: (len(task),))
    def operational_space_bias(
        self,
        q: ArrayLike,
        v: ArrayLike,
        reference: Reference = "world-aligned",
        task: Task = "pose",
        **named: Unpack[NamedOut],
    ) -> Array:
        """μ = Λ (J M⁻¹ C v - J̇ v), (…, k) [N, N m]: Λ ẇ + μ + p = F for a force F at the frame with τ = Jᵀ F, where
        w = J v and p is the `operational_space_gravity`."""

    @_of_task(operational_space.gravity, lambda model, task: (len(task),))
    def operational_space_gravity(
        self, q: ArrayLike, reference: Reference = "world-aligned", task: Task = "pose", **named: Unpack[NamedOut]
    ) -> Array:
        """p = Λ J M⁻¹ G, (…, k) [N, N m]."""

    @_of_task(operational_space.consistent_inverse, lambda model, task: (model.nv, len(task)))
    def consistent_inverse(
        self, q: ArrayLike, reference: Reference = "world-aligned", task: Task = "pose", **named: Unpack[NamedOut]
    ) -> Array:
        """The dynamically consistent inverse J̄ = M⁻¹ Jᵀ Λ, (…, nv, k): J̄ w has the least kinetic energy of all v with
        J v = w, and J̄ᵀ τ is the force of torques τ at the frame."""

    @_of_task(operational_space.pseudo_inverse, lambda model, task: (model.nv, len(task)))
    def pseudo_inverse(
        self, q: ArrayLike, reference: Reference = "world-aligned", task: Task = "pose", **named: Unpack[NamedOut]
    ) -> Array:
        """The pseudo-inverse J⁺, (…, nv, k): J⁺ w has the least ‖v‖ of all v that minimize ‖J v - w‖. It ignores
        inertia, unlike `consistent_inverse`."""

    @quantity(
        operational_space.null_space,
        lambda model, task, metric: (model.nv, model.nv),
        select={**TASK, "metric": lambda name: one_of("metric", name, METRICS)},
        lacks_rank=lambda model, frame, task, metric: operational_space.lacks_rank(model, frame, task),
        any_frames=True,
    )
    def null_space_projector(
        self,
        q: ArrayLike,
        reference: Reference = "world-aligned",
        task: Task = "pose",
        metric: Metric = "kinetic",
        **named: Unpack[NamedOut],
    ) -> Array:
        """The projector N, (…, nv, nv), with J N = 0 and N N = N: N v is the velocity nearest to v that does not move
        the frame.

        "kinetic", the default: nearest in kinetic energy, N = 1 - J̄ J; torques Nᵀ τ do not accelerate the frame.
        "euclidean": nearest in joint velocities, N = 1 - J⁺ J, as in differential inverse kinematics; torques N τ do
        accelerate the frame.
        """

    @quantity(kinematic_derivatives.frame_velocity_derivatives, shapes.six_rows, 2, is_large=True, any_frames=True)
    def velocity_derivatives(
        self, q: ArrayLike, v: ArrayLike, reference: Reference = "world-aligned", **named: Unpack[Named]
    ) -> tuple[Array, Array]:
        """∂/∂q and ∂/∂v of the velocity, (…, 6, nv) each; the first is on the tangent space (q ⊕ dv), the second is the
        Jacobian."""

    @quantity(kinematic_derivatives.frame_acceleration_derivatives, shapes.six_rows, 3, is_large=True, any_frames=True)
    def acceleration_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        reference: Reference = "world-aligned",
        kind: AccelerationKind = "classical",
        **named: Unpack[Named],
    ) -> tuple[Array, Array, Array]:
        """∂/∂q, ∂/∂v and ∂/∂a of the acceleration, (…, 6, nv) each; the first is on the tangent space (q ⊕ dv), the
        third is the Jacobian."""

    @quantity(regressors.frame_body_regressor, lambda model: (6, 10), any_frames=True)
    def body_regressor(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The regressor Y_F, (…, 6, 10), of a body fixed to this frame: Y_F φ is the force and moment that move it,
        including its weight, in the frame's axes at its origin; φ are its ten inertial parameters about that origin."""

    @_of_parameters(analytic.pose_parameters, lambda model, **by: (analytic.size(**by),))
    def pose_parameters(
        self, q: ArrayLike, position: str = "cartesian", rotation: str = "quaternion", **named: Unpack[NamedOut]
    ) -> Array:
        """χ, the coordinates of the frame's origin in the world and n parameters of its rotation, (…, 3 + n).

        `position` is 'cartesian', 'cylindrical' or 'spherical'; `rotation` is 'quaternion', 'angle-axis',
        'rotation-vector', 'matrix' or a sequence of Euler angles such as 'ZYX' (intrinsic) or 'xyz' (extrinsic).
        """

    @_of_parameters(analytic.analytic_jacobian, lambda model, **by: (analytic.size(**by), model.nv))
    def analytic_jacobian(
        self, q: ArrayLike, position: str = "cartesian", rotation: str = "quaternion", **named: Unpack[NamedOut]
    ) -> Array:
        """The analytic Jacobian J_A with χ̇ = J_A v for the `pose_parameters` χ, (…, 3 + n, nv).

        E J_A is the world-aligned Jacobian. States without rates of χ, such as gimbal lock, are refused.
        """

    @_of_parameters(analytic.analytic_jacobian_rate, lambda model, **by: (analytic.size(**by), model.nv))
    def analytic_jacobian_rate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        position: str = "cartesian",
        rotation: str = "quaternion",
        **named: Unpack[NamedOut],
    ) -> Array:
        """J̇_A, the time derivative of the analytic Jacobian along v, (…, 3 + n, nv)."""

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
        """Compile quantities of this frame ahead of their first call."""
        options = {"reference": reference, "kind": kind, "task": task, "metric": metric}
        prepare(self, quantities, (), {**options, "position": position, "rotation": rotation}, batch)

    @property
    def _subject(self) -> tuple[Robot, str]:
        return self.robot, self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return Frame, (self.robot, self.name)
