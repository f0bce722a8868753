"""Robot = Model + quantities. Every quantity takes one state or a batch: leading axes broadcast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms import (
    aba,
    center_of_mass,
    configuration,
    crba,
    energy,
    factorization,
    jacobian,
    kinematics,
    rnea,
)
from kinetree.algorithms.references import (
    ACCELERATION_KINDS,
    REFERENCES,
    AccelerationKind,
    Reference,
)
from kinetree.algorithms.wrenches import external_forces
from kinetree.arguments import as_floats, as_output, as_shape, batch_shape, check_quaternions, map_rows
from kinetree.errors import ArgumentError, ArgumentTypeError, SingularMassMatrixError, one_of, short
from kinetree.model.tree import Finding, FramePlacement, Limits, Model
from kinetree.ops import Array
from kinetree.wrench import Wrench

Wrenches = Mapping[str, "ArrayLike | Wrench"]

SINGULAR_PIVOT = 1e-10
"""A pivot of the mass matrix this small, relative to its diagonal, means that the matrix is singular."""


@final
@dataclass(frozen=True)
class Robot:
    """A robot's kinematics and dynamics. Immutable, hashable, picklable."""

    model: Model

    # -- what it is --------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return self.model.nv

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
    def body_names(self) -> tuple[str, ...]:
        """The moving bodies, in the order of `poses`."""
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
        return Frame(self, self.model.frame(name).name)

    def check(self) -> tuple[Finding, ...]:
        """What is suspicious in the model: odd inertias, massless moving links, tags that were ignored."""
        return self.model.findings

    def __repr__(self) -> str:
        return f"<Robot {self.name!r}: {self.nq} positions, {self.nv} velocities, {len(self.body_names)} bodies>"

    # -- configurations ----------------------------------------------------------------------------------------

    def neutral(self) -> Array:
        """All joints at zero, a floating base at the origin without rotation, (nq,)."""
        return configuration.neutral(self.model)

    def random(self, rng: np.random.Generator | int, size: int | tuple[int, ...] = ()) -> Array:
        """Configurations drawn uniformly between the limits, (*size, nq); unlimited angles over a full turn."""
        if not isinstance(rng, (np.random.Generator, int, np.integer)):
            raise ArgumentTypeError(f"rng is {short(rng)}; expected a numpy Generator or a seed")
        generator = np.random.default_rng(rng)
        batch = as_shape("size", size)
        draws = [configuration.random(self.model, generator) for _ in range(int(np.prod(batch)))]
        return np.array(draws).reshape((*batch, self.nq))

    def integrate(self, q: ArrayLike, dv: ArrayLike, *, out: Array | None = None) -> Array:
        """q ⊕ dv, (…, nq): the configuration reached with constant velocity dv in unit time."""
        return self._call(configuration.integrate, {"q": q, "dv": dv}, (self.nq,), out)

    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Array | None = None) -> Array:
        """q1 ⊖ q0, (…, nv): the dv with integrate(q0, dv) = q1."""
        return self._call(configuration.difference, {"q0": q0, "q1": q1}, (self.nv,), out)

    # -- dynamics ----------------------------------------------------------------------------------------------

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, *, out: Array | None = None
    ) -> Array:
        """τ = M q̈ + C q̇ + G - Σ Jᵀ w, (…, nv) [N m or N], by RNEA."""
        return self._call(rnea.inverse_dynamics, {"q": q, "v": v, "a": a}, (self.nv,), out, wrenches)

    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None, *, out: Array | None = None
    ) -> Array:
        """q̈ with M q̈ + C q̇ + G = τ + Σ Jᵀ w, (…, nv) [rad/s² or m/s²], by the articulated-body algorithm."""
        algorithm = factorization.forward_dynamics if self.model.has_mimics else aba.forward_dynamics
        return self._call(self._regular(algorithm), {"q": q, "v": v, "tau": tau}, (self.nv,), out, wrenches)

    def mass_matrix(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """M(q), (…, nv, nv), by CRBA."""
        return self._call(crba.mass_matrix, {"q": q}, (self.nv, self.nv), out)

    def inverse_mass_matrix(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """M(q)⁻¹, (…, nv, nv)."""
        return self._call(self._regular(factorization.inverse_mass_matrix), {"q": q}, (self.nv, self.nv), out)

    def bias_forces(
        self, q: ArrayLike, v: ArrayLike, wrenches: Wrenches | None = None, *, out: Array | None = None
    ) -> Array:
        """C q̇ + G - Σ Jᵀ w, (…, nv) [N m or N]."""
        return self._call(rnea.bias_forces, {"q": q, "v": v}, (self.nv,), out, wrenches)

    def gravity_forces(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """G(q), (…, nv) [N m or N]."""
        return self._call(rnea.gravity_forces, {"q": q}, (self.nv,), out)

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """½ q̇ᵀ M q̇, (…) [J]."""
        return self._call(energy.kinetic_energy, {"q": q, "v": v}, (), out)

    def potential_energy(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """-Σ m gᵀ c, (…) [J], zero at the height of the world's origin."""
        return self._call(energy.potential_energy, {"q": q}, (), out)

    # -- kinematics of the whole -------------------------------------------------------------------------------

    def poses(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Pose of every body in the world, (…, nbodies, 4, 4), in the order of `body_names`."""
        return self._call(kinematics.poses, {"q": q}, (len(self.body_names), 4, 4), out)

    def center_of_mass(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Centre of mass of all that moves, in the world, (…, 3) [m]."""
        self._require_mass()
        return self._call(center_of_mass.center_of_mass, {"q": q}, (3,), out)

    def center_of_mass_velocity(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """(…, 3) [m/s]."""
        self._require_mass()
        return self._call(center_of_mass.center_of_mass_velocity, {"q": q, "v": v}, (3,), out)

    def center_of_mass_acceleration(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Array | None = None
    ) -> Array:
        """(…, 3) [m/s²], gravity not included."""
        self._require_mass()
        return self._call(center_of_mass.center_of_mass_acceleration, {"q": q, "v": v, "a": a}, (3,), out)

    def center_of_mass_jacobian(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """J with ċ = J q̇, (…, 3, nv)."""
        self._require_mass()
        return self._call(center_of_mass.center_of_mass_jacobian, {"q": q}, (3, self.nv), out)

    # -- from arguments to algorithms --------------------------------------------------------------------------

    def _call(
        self,
        algorithm: Callable[..., Any],
        arguments: Mapping[str, ArrayLike],
        shape: tuple[int, ...],
        out: Array | None,
        wrenches: Wrenches | None = None,
    ) -> Array:
        """`algorithm(model, *state)` for every state of the batch, as an array (*batch, *shape)."""
        model = self.model
        inputs: dict[str, tuple[Array, tuple[int, ...]]] = {}
        for name, value in arguments.items():
            is_position = name.startswith("q")
            core = (model.nq if is_position else model.nv,)
            array = as_floats(name, value, core)
            if is_position:
                check_quaternions(name, array, model.quaternions)
            inputs[name] = (array, core)
        function: Callable[..., Any] = partial(algorithm, model)
        if wrenches:
            function = self._with_wrenches(function, wrenches, inputs)
        batch = batch_shape(inputs)
        target = np.empty(batch + shape) if out is None else as_output(out, batch + shape)
        with np.errstate(all="ignore"):  # NaN and infinity are results, not accidents
            rows = map_rows(function, inputs)
        target[...] = np.array(rows, dtype=np.float64).reshape(batch + shape)
        return target if batch + shape or out is not None else target[()]

    def _with_wrenches(
        self, function: Callable[..., Any], wrenches: Wrenches, inputs: dict[str, tuple[Array, tuple[int, ...]]]
    ) -> Callable[..., Any]:
        """The function with one more argument per wrench, which are added to `inputs`."""
        if not isinstance(wrenches, Mapping):
            raise ArgumentTypeError(f"wrenches is {short(wrenches)}; expected a dict from frame names to wrenches")
        n_state = len(inputs)
        places: list[tuple[FramePlacement, Reference]] = []
        for name, wrench in wrenches.items():
            wrench = wrench if isinstance(wrench, Wrench) else Wrench(wrench)
            places.append((self.model.frame(name), wrench.reference))
            inputs[f"wrenches[{name!r}]"] = (as_floats(f"wrenches[{name!r}]", wrench.value, (6,)), (6,))

        def with_forces(*values: Array) -> Any:
            state, sixes = values[:n_state], values[n_state:]
            at_frames = [(frame, reference, six) for (frame, reference), six in zip(places, sixes, strict=True)]
            return function(*state, external_forces(self.model, state[0], at_frames))

        return with_forces

    def _regular(self, algorithm: Callable[..., tuple[Array, Array]]) -> Callable[..., Array]:
        """The algorithm's first result, after its second, the pivots of M(q), showed that M is not singular."""

        def checked(model: Model, q: Array, *others: Any) -> Array:
            result, pivots = algorithm(model, q, *others)
            diagonal = crba.mass_matrix(model, q).diagonal()
            singular = np.flatnonzero(pivots <= SINGULAR_PIVOT * diagonal)
            if len(singular):
                index = singular[-1]  # elimination runs from the tips: the last is the cause, the others follow
                joint = next(owner for owner in model.owners if index < owner.iv + owner.nv)
                raise SingularMassMatrixError(
                    f"the mass matrix of {model.name!r} is singular at this q: "
                    f"joint {joint.name!r} can move without moving any mass"
                )
            return result

        return checked

    def _require_mass(self) -> None:
        if self.mass == 0.0:
            raise ArgumentError(f"{self.name!r} has no moving mass, so it has no centre of mass")


@final
@dataclass(frozen=True)
class Frame:
    """The kinematics of one frame of a robot; ``reference`` is 'world-aligned', 'local' or 'world'."""

    robot: Robot
    name: str

    @property
    def body(self) -> str:
        """The body it is fixed to ('world' if it does not move)."""
        return self.robot.model.names[self.robot.model.frame(self.name).body]

    def __repr__(self) -> str:
        return f"<Frame {self.name!r} of {self.robot.name!r}>"

    def pose(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Pose in the world, (…, 4, 4)."""
        return self._call(kinematics.frame_pose, {"q": q}, (4, 4), out)

    def velocity(
        self, q: ArrayLike, v: ArrayLike, reference: Reference = "world-aligned", *, out: Array | None = None
    ) -> Array:
        """Linear and angular velocity, (…, 6) [m/s, rad/s]."""
        one_of("reference", reference, REFERENCES)
        return self._call(kinematics.frame_velocity, {"q": q, "v": v}, (6,), out, reference)

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
        one_of("reference", reference, REFERENCES)
        one_of("kind", kind, ACCELERATION_KINDS)
        return self._call(kinematics.frame_acceleration, {"q": q, "v": v, "a": a}, (6,), out, reference, kind)

    def bias_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        reference: Reference = "world-aligned",
        kind: AccelerationKind = "classical",
        *,
        out: Array | None = None,
    ) -> Array:
        """The acceleration at q̈ = 0, (…, 6); J̇ q̇ for world-aligned classical, and for local or world spatial."""
        one_of("reference", reference, REFERENCES)
        one_of("kind", kind, ACCELERATION_KINDS)
        return self._call(kinematics.frame_bias_acceleration, {"q": q, "v": v}, (6,), out, reference, kind)

    def jacobian(self, q: ArrayLike, reference: Reference = "world-aligned", *, out: Array | None = None) -> Array:
        """J with velocity = J q̇ in the same reference, (…, 6, nv)."""
        one_of("reference", reference, REFERENCES)
        return self._call(jacobian.frame_jacobian, {"q": q}, (6, self.robot.nv), out, reference)

    def jacobian_rate(
        self, q: ArrayLike, v: ArrayLike, reference: Reference = "world-aligned", *, out: Array | None = None
    ) -> Array:
        """J̇, the time derivative of the Jacobian along q̇, (…, 6, nv)."""
        one_of("reference", reference, REFERENCES)
        return self._call(jacobian.frame_jacobian_rate, {"q": q, "v": v}, (6, self.robot.nv), out, reference)

    def _call(
        self,
        algorithm: Callable[..., Any],
        arguments: Mapping[str, ArrayLike],
        shape: tuple[int, ...],
        out: Array | None,
        *options: Any,
    ) -> Array:
        """The algorithm with this frame before the state and the options after it; motions come out as 6-vectors."""
        placement = self.robot.model.frame(self.name)

        def of_frame(model: Model, *state: Array) -> Array:
            result = algorithm(model, placement, *state, *options)
            return result if isinstance(result, np.ndarray) else result.vector(model.spatial_order)

        return self.robot._call(of_frame, arguments, shape, out)
