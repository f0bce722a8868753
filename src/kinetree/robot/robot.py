"""Robot = Model + quantities. Every quantity takes one state or a batch: leading axes broadcast."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms import (
    configuration,
    coriolis,
    crba,
    derivatives,
    energy,
    factorization,
    forward_dynamics,
    joint_forces,
    rnea,
)
from kinetree.algorithms import newton_euler as vector_recursion
from kinetree.algorithms.arguments.references import (
    AccelerationKind,
    Point,
    Reference,
)
from kinetree.base.arguments import as_generator, as_shape
from kinetree.base.files import write_text
from kinetree.base.lazy import lazy
from kinetree.base.lazy_imports import importing
from kinetree.equations.named import as_kinds
from kinetree.errors import ArgumentTypeError, KinetreeError, ModelError, short
from kinetree.functions.bindable import Bindable
from kinetree.functions.compiled_function import Place
from kinetree.model.constraints import Constraint
from kinetree.model.description import Finding
from kinetree.model.tree import Limits, Model
from kinetree.model.writers.mjcf import mjcf
from kinetree.model.writers.urdf import urdf
from kinetree.ops import Array
from kinetree.robot import shapes
from kinetree.robot.bodies import BodyQuantities
from kinetree.robot.frame import Frame
from kinetree.robot.one_body import OneBodyQuantities
from kinetree.robot.parameters import ParameterQuantities
from kinetree.robot.quantity import prepare, quantity
from kinetree.robot.textbook_methods import TextbookMethods
from kinetree.robot.wrench import Wrenches

if TYPE_CHECKING:
    from kinetree.ik.solution import Solution
    from kinetree.interop.sympy import Equations
    from kinetree.robot.constrained import Constrained
    from kinetree.simulation.dynamics import Surroundings
    from kinetree.simulation.trajectory import Trajectory
    from kinetree.viewer.viewer import Viewer

EAGER = "KINETREE_EAGER"
"""Environment variable: set to 1, every quantity is computed by the textbook path."""


@final
@dataclass(frozen=True)
class Robot(OneBodyQuantities, ParameterQuantities, BodyQuantities, TextbookMethods, Bindable):
    """A robot's kinematics and dynamics. Immutable, hashable, picklable.

    Each quantity is compiled for this robot when it is first asked for; with `textbook` it is computed by the algorithm
    as it is written, much slower. What concerns the robot as a whole is in `kinetree.robot.centroidal` and
    `kinetree.robot.one_body`, what is linear in its masses and inertias in `kinetree.robot.parameters`, all bodies at
    once in `kinetree.robot.bodies`, the same by other methods in `kinetree.robot.textbook_methods`.
    """

    model: Model
    textbook: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            hint = "; call .build() on a ModelBuilder" if hasattr(self.model, "build") else ""
            raise ArgumentTypeError(f"model is {short(self.model)}; expected a kinetree.Model{hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Robot, (self.model, self.textbook)

    @property
    def eager(self) -> Robot:
        """The same robot by the textbook path, for debugging and comparison."""
        return Robot(self.model, textbook=True)

    @lazy
    def _frames(self) -> dict[str, Frame]:
        return {}

    @property
    def _subject(self) -> tuple[Robot, None]:
        return self, None

    @property
    def is_eager(self) -> bool:
        """Whether quantities are computed by their algorithms as they are written."""
        return self.textbook or os.environ.get(EAGER, "") not in ("", "0")

    # -- what it is --------------------------------------------------------------------------------------------

    @property
    def mass(self) -> float:
        """Mass of all that moves [kg]; links bolted to the world do not count."""
        return self.model.mass

    @property
    def gravity(self) -> Array:
        """Gravitational acceleration in the world, (3,) [m/s²]."""
        return self.model.gravity

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints that own coordinates, in the order of q and v, a floating base not included."""
        return tuple(joint.name for joint in self.model.owners if joint is not self.model.floating_base)

    @property
    def actuated_joints(self) -> tuple[str, ...]:
        """The joints with a motor, in the order of v: all but free joints, a floating base among them."""
        return tuple(joint.name for joint in self.model.owners if joint.has_motor)

    @property
    def selection_matrix(self) -> Array:
        """S with M a + C v + G = Sᵀ τ, (motors, nv): a row of the identity for every entry of v that has a motor.

        For τ of the motors alone, `S.T @ tau` has nv entries, zeros where there is no motor.
        """
        return selection(self.nv, self.model.actuated)

    @property
    def body_names(self) -> tuple[str, ...]:
        """The bodies: what a joint moves, and what `keep_fixed` kept; in the order of `poses`."""
        return self.model.names[1:]

    @property
    def frame_names(self) -> tuple[str, ...]:
        """All links and sites."""
        return tuple(frame.name for frame in self.model.frames)

    @property
    def limits(self) -> Limits:
        """Position bounds .lower and .upper (nq), .velocity and .effort (nv)."""
        return self.model.limits

    def frame(self, name: str) -> Frame:
        """The kinematics of a named frame."""
        known = self._frames.get(name) if isinstance(name, str) else None
        if known is None:
            known = self._frames.setdefault(name, Frame(self, self.model.frame(name).name))
        return known

    def check(self) -> tuple[Finding, ...]:
        """What is suspicious in the model: odd inertias, massless moving links, tags that were ignored."""
        return self.model.findings

    def to_mjcf(self, path: str | os.PathLike[str] | None = None, *, lossy: bool = False) -> str:
        """The robot as an MJCF document, also written to `path` if that is given; meshes are named relative to it.

        Reading it again gives the same dynamics, and so does MuJoCo, except that it keeps mimic joints only softly to
        their leaders. What MJCF has no words for is an error unless `lossy` leaves it out; limits of speeds always are.
        """
        text = mjcf(self.model, None if path is None else Path(path).absolute().parent, lossy)
        if path is not None:
            write_text(path, text)
        return text

    def to_urdf(self, path: str | os.PathLike[str] | None = None, *, lossy: bool = False) -> str:
        """The robot as a URDF document, also written to `path` if that is given.

        Reading it again gives the same dynamics. Gravity and the kind of base are options of loading; what URDF has no
        words for, such as armature and springs, is an error unless `lossy` leaves it out.
        """
        if self.model.description is None:
            raise ModelError(f"model {self.name!r} was made without a description, so it cannot be written")
        text = urdf(self.model.description, lossy)
        if path is not None:
            write_text(path, text)
        return text

    def __repr__(self) -> str:
        return f"<Robot {self.name!r}: {self.nq} positions, {self.nv} velocities, {len(self.body_names)} bodies>"

    # -- configurations ----------------------------------------------------------------------------------------

    def neutral(self) -> Array:
        """All joints at zero, a floating base at the origin without rotation, (nq,)."""
        return configuration.neutral(self.model)

    def random(self, rng: np.random.Generator | int, size: int | tuple[int, ...] = ()) -> Array:
        """Configurations drawn uniformly between the limits, (*size, nq); unlimited angles over a full turn."""
        batch = as_shape("size", size)
        draws = configuration.random(self.model, as_generator("rng", rng), math.prod(batch))
        return draws.reshape((*batch, self.nq))

    @quantity(configuration.integrate, shapes.positions)
    def integrate(self, q: ArrayLike, dv: ArrayLike, *, out: Array | None = None) -> Array:
        """q ⊕ dv, (…, nq): the configuration reached with constant velocity dv in unit time."""

    @quantity(configuration.difference, shapes.velocities)
    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Array | None = None) -> Array:
        """q1 ⊖ q0, (…, nv): the dv with integrate(q0, dv) = q1."""

    # -- dynamics ----------------------------------------------------------------------------------------------

    @quantity(rnea.inverse_dynamics, shapes.velocities)
    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, *, out: Array | None = None
    ) -> Array:
        """τ = M a + C v + G + F - Σ Jᵀ w, (…, nv) [N m or N], by RNEA; F are the `passive_forces` of the joints."""

    @quantity(forward_dynamics.forward_dynamics, shapes.velocities)
    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None, *, out: Array | None = None
    ) -> Array:
        """The a with M a + C v + G + F = τ + Σ Jᵀ w, (…, nv) [rad/s² or m/s²]; F are the `passive_forces`.

        By the articulated-body algorithm; for few joints, and with mimic joints, by factoring M.
        """

    @quantity(crba.mass_matrix, shapes.square)
    def mass_matrix(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """M(q), (…, nv, nv), by CRBA."""

    @quantity(factorization.inverse_mass_matrix, shapes.square)
    def inverse_mass_matrix(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """M(q)⁻¹, (…, nv, nv)."""

    @quantity(rnea.bias_forces, shapes.velocities)
    def bias_forces(
        self, q: ArrayLike, v: ArrayLike, wrenches: Wrenches | None = None, *, out: Array | None = None
    ) -> Array:
        """C v + G - Σ Jᵀ w, (…, nv) [N m or N]; `passive_forces` are not part of it."""

    @quantity(joint_forces.passive_forces, shapes.velocities)
    def passive_forces(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """F = damping · ẋ + friction · ẋ / √(ẋ² + w²) + stiffness · (x - rest) of all joints, (…, nv) [N m or N]: what
        motors have to overcome; zero for a model with passive=False, which leaves them out."""

    @quantity(rnea.gravity_forces, shapes.velocities)
    def gravity_forces(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """G(q), (…, nv) [N m or N]."""

    @quantity(derivatives.gravity_forces_derivative, shapes.square, is_large=True)
    def gravity_forces_derivative(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """∂G/∂q of gravity forces, (…, nv, nv), q moved by `integrate`."""

    @quantity(coriolis.coriolis_matrix, shapes.square)
    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """C(q, v) with C v = bias forces without gravity and Ṁ - 2C skew-symmetric, (…, nv, nv)."""

    @quantity(coriolis.mass_matrix_rate, shapes.square)
    def mass_matrix_rate(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """Ṁ = C + Cᵀ, the time derivative of the mass matrix along v, (…, nv, nv)."""

    @quantity(coriolis.christoffel_symbols, shapes.cube, is_large=True)
    def christoffel_symbols(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Γ with C_ij = Σ_k Γ_ijk v_k, (…, nv, nv, nv)."""

    @quantity(vector_recursion.joint_reactions, shapes.body_sixes)
    def joint_reactions(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, *, out: Array | None = None
    ) -> Array:
        """Force and moment of the parent on every body, in the body's axes at the joint's origin, (…, nbodies, 6)
        [N, N m], in the order of `body_names`: what a joint carries, its motor's part included."""

    @quantity(vector_recursion.static_reactions, shapes.body_sixes)
    def static_reactions(self, q: ArrayLike, wrenches: Wrenches | None = None, *, out: Array | None = None) -> Array:
        """The same at rest: what gravity and wrenches send from link to link, (…, nbodies, 6) [N, N m]."""

    @quantity(derivatives.inverse_dynamics_derivatives, shapes.square, 2, keeps_references=True, is_large=True)
    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None
    ) -> tuple[Array, Array]:
        """∂τ/∂q and ∂τ/∂v of inverse dynamics, (…, nv, nv) each, q moved by `integrate`; ∂τ/∂a is the mass matrix.

        Wrenches are held constant in their reference.
        """

    @quantity(derivatives.forward_dynamics_derivatives, shapes.square, 3, keeps_references=True, is_large=True)
    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None
    ) -> tuple[Array, Array, Array]:
        """∂a/∂q, ∂a/∂v and ∂a/∂τ of forward dynamics, (…, nv, nv) each, q moved by `integrate`.

        Wrenches are held constant in their reference.
        """

    @quantity(energy.kinetic_energy, shapes.scalar)
    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """½ vᵀ M v, (…) [J], rotors included."""

    @quantity(energy.potential_energy, shapes.scalar)
    def potential_energy(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """U = -Σ m gᵀ c + ½ Σ stiffness · (x - rest)², (…) [J]: of gravity, zero at the height of the world's origin,
        and of springs in joints, where the model has them."""

    # -- under constraints -------------------------------------------------------------------------------------

    def constrained(
        self,
        constraints: Constraint | Iterable[Constraint],
        *,
        damping: float = 1e-8,
        frequency: float = 0.0,
        damping_ratio: float = 1.0,
        actuated: Iterable[str] | None = None,
    ) -> Constrained:
        """The robot with frames held to the world (`kt.Contact`) or to each other (`kt.Loop`).

        damping         of the solve, relative to the inverse inertia that each constraint meets: what constraints
                        differ in by less counts as repeated; otherwise results do not show it
        frequency       with which errors of position and velocity decay [rad/s], with `damping_ratio`; zero for not
        actuated        names of the joints with a motor, for inverse dynamics; by default `actuated_joints`, all but
                        free ones
        """
        importing("kinetree.robot.constrained")
        from kinetree.robot.constrained import constrained  # noqa: PLC0415 - it knows robots

        return constrained(self, constraints, damping, frequency, damping_ratio, actuated)

    # -- where it can be ---------------------------------------------------------------------------------------

    def ik(
        self,
        frame: str | Sequence[str],
        target: ArrayLike,
        q0: ArrayLike | None = None,
        *,
        position_tolerance: float = 1e-6,
        rotation_tolerance: float = 1e-6,
        attempts: int = 300,
    ) -> Solution:
        """A configuration within limits that brings a frame to a pose, (…, 4, 4), or its origin to a position, (…, 3).

        .q .success .residual .iterations .reason, with the batch axes of target and q0. Several frames at once are a
        list of names with targets (…, k, 4, 4). The search begins at q0, whose solution is preferred if it leads to
        one, and goes on from `attempts` starts in all. Joints that do not move the frames stay where they are in q0.

        position_tolerance   [m]
        rotation_tolerance   [rad]
        """
        importing("kinetree.ik.inverse")
        from kinetree.ik.inverse import ik  # noqa: PLC0415 - it knows laws, which know robots

        return ik(self, frame, target, q0, position_tolerance, rotation_tolerance, attempts)

    # -- over time ---------------------------------------------------------------------------------------------

    def rollout(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        law_or_controls: Any,
        dt: float,
        steps: int,
        integrator: str = "semi-implicit-euler",
        *,
        contact: Surroundings | None = None,
        forces: Any = (),
        wrenches: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
        record: Iterable[str] = ("q", "v"),
        every: int = 1,
        tolerance: float | None = None,
        events: Any = (),
    ) -> Trajectory:
        """The motion from q0, v0 over `steps` steps of `dt` seconds: .t (steps + 1,), .q (…, steps + 1, nq), .v.

        law_or_controls   efforts for every step, (…, steps, nv), held during it, or for all of them, (nv,), or of each
                          state, (…, 1, nv): the last axis but one, if there is one, is always that of steps; or a
                          compiled function of (robot, q, v) or (robot, q, v, t) that gives them, or a dict with them as
                          "tau"; or None, for none. A plain function of (q, v, t) is asked from Python before every
                          step, with all states at once, which takes microseconds; its efforts are held
        integrator        "semi-implicit-euler" (order 1), "midpoint" or "heun" (2), "rk4" (4), "implicit" (2) for what
                          is stiff, "variational" (2) for energy and momentum over long times, or
                          "dormand-prince" (5), with steps of its own and states of every `dt` interpolated
        contact           what the robot meets, if anything
        forces            kt.Spring, kt.LimitStops, or several; what joints have of damping, friction and springs acts
                          anyway
        wrenches          by frame name, (…, steps, 6), (6,) or (…, 1, 6), read as controls are, as arrays or kt.Wrench,
                          or compiled functions that give them
        parameters        arrays for further arguments of the compiled functions, for each state or the same for all
        record            "q", "v", "tau", what else a law returns in its dict, and what contact tells of every step
        every             steps from one record to the next, a divisor of `steps`; with every=steps only the first and
                          the last state are kept
        tolerance         of "dormand-prince": error of a step [rad, m, rad/s, m/s], and relative to velocities;
                          1e-8 if not given
        events            kt.Event, or several, which "dormand-prince" finds; .events lists where

        A state that diverges stays where it was last well, and .diverged says so; the others go on.
        """
        importing("kinetree.simulation.rollout")
        from kinetree.simulation.rollout import rollout  # noqa: PLC0415 - it knows laws, which know robots

        return rollout(
            self,
            q0,
            v0,
            law_or_controls,
            dt,
            steps,
            integrator,
            contact=contact,
            forces=forces,
            wrenches=wrenches,
            parameters=parameters,
            record=record,
            every=every,
            tolerance=tolerance,
            events=events,
        )

    # -- to look at --------------------------------------------------------------------------------------------

    def view(self, motion: Any = None, **options: Any) -> Viewer:
        """The robot in the browser, at `.url` of the viewer, until `.close()`; returns at once
        (`pip install 'kinetree[viewer]'`).

        motion    to play: a rollout or whatever has .t and .q, (t, q), or a trajectory of joints
        options   q=, contacts=, show=, host=, port=, open=, title=, light=: see `kinetree.viewer.Viewer`
        """
        importing("kinetree.viewer.viewer")
        from kinetree.viewer.viewer import view  # noqa: PLC0415 - it knows robots, and needs an extra

        return view(self, motion, **options)

    # -- explicit ----------------------------------------------------------------------------------------------

    def equations(self, symbolic: bool | str | Iterable[str] = (), factored: bool | None = None) -> Equations:
        """The equations of motion as SymPy expressions, .M .C .V .G .F .tau in q1, v1, a1, …, to print, in LaTeX, and
        as functions in Python and C (`pip install 'kinetree[sympy]'`).

        symbolic   numbers of the robot to keep as symbols: some of "mass", "length", "inertia", "gravity"; True for all
        factored   False for every expression written out in textbook form, True for a list of common factors, as code
                   wants it, whose cost grows with the joints and not with their powers; None chooses by their number
        """
        kinds = as_kinds(symbolic)
        try:
            importing("kinetree.interop.sympy")
            from kinetree.interop.sympy import equations  # noqa: PLC0415 - an extra
        except ModuleNotFoundError:
            raise KinetreeError("equations are written by the package sympy: pip install 'kinetree[sympy]'") from None
        return equations(self.model, kinds, factored)

    # -- ahead of time -----------------------------------------------------------------------------------------

    def prepare(
        self,
        *quantities: str,
        wrenches: Iterable[str | Place] = (),
        reference: Reference = "world-aligned",
        kind: AccelerationKind = "classical",
        point: Point = "origin",
        batch: bool = False,
    ) -> None:
        """Compile quantities before they are first asked for, for one state or for batches, and for these options where
        they have them.

        `wrenches` names the frames where wrenches may act, or (frame, reference) pairs; calls with wrenches at some of
        them then run the same code with zeros in the other places.
        """
        prepare(self, quantities, wrenches, {"reference": reference, "kind": kind, "point": point}, batch)


def selection(nv: int, entries: Iterable[int]) -> Array:
    """The rows of the identity that belong to some entries of v, (len(entries), nv)."""
    return np.eye(nv)[list(entries)]


def as_robot(robot: Any) -> Robot:
    """A robot, or one sentence."""
    if not isinstance(robot, Robot):
        raise ArgumentTypeError(f"robot is {short(robot)}; expected a robot, such as kt.load gives")
    return robot
