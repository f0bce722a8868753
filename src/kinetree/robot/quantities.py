"""The table of quantities: which algorithm computes each, from which inputs, of which shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeAlias

from kinetree.algorithms import (
    aba,
    analytic_jacobian,
    center_of_mass,
    center_of_mass_derivatives,
    centroidal,
    centroidal_coordinates,
    centroidal_derivatives,
    configuration,
    constraint_derivatives,
    constraints,
    coriolis,
    crba,
    derivatives,
    energy,
    factorization,
    jacobian,
    joint_forces,
    kinematic_derivatives,
    kinematics,
    locked,
    newton_euler,
    one_body,
    operational_space,
    projected,
    regressor,
    rnea,
    support_consistent,
)
from kinetree.algorithms.directions import DIRECTIONS, task_directions
from kinetree.algorithms.task_inverse import FullRank
from kinetree.model.constraints import ConstraintSet
from kinetree.model.joints import Free
from kinetree.model.tree import Model

Algorithm: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Quantity:
    """One quantity of a robot or of a frame."""

    name: str
    compute: Algorithm
    inputs: tuple[str, ...]
    shape: Callable[..., Any]
    """Of the result for one state, of each of several, or a shape for each; of constraints also by their number."""
    results: int = 1
    """How many results there are; more than one come as a tuple."""
    takes_wrenches: bool = False
    options: tuple[str, ...] = ()
    """Names of its options, of those in `OPTIONS`; those of frames have what their methods say."""
    keeps_references: bool = False
    """The algorithm takes wrenches as they are given, not as forces on bodies."""
    divides_by_mass: bool = False
    """The algorithm also returns the pivots of the mass matrix, which must not vanish."""
    alternative: Algorithm | None = None
    """Another algorithm for the same, for models where `prefers` says so."""
    prefers: Callable[[Model], bool] = lambda model: False
    is_large: bool = False
    """Whether its code is large, and made only for those who ask for it by name."""
    singularity: str | None = None
    """Why a state may be refused. The algorithm then also returns whether it is to be."""
    at_any_rank: Quantity | None = None
    """The same where a matrix may lose rank. The algorithm then also returns whether it does, or nearly; such states
    are computed anew, and so is all that is part of a larger graph."""
    lacks_rank: Callable[[Model, Any], bool] | None = None
    """Whether a subject never has full rank, so that only `at_any_rank` serves it."""

    needs_mass: bool = False
    """Whether it is of the centre of mass, which a robot without moving mass does not have."""
    needs_floating_base: bool = False

    def refusal(self, model: Model) -> str | None:
        """Why this model does not have the quantity, if it does not."""
        if self.needs_mass and model.mass == 0.0:
            return f"{model.name!r} has no moving mass, so it has no centre of mass"
        if self.needs_floating_base and not isinstance(model.floating_base, Free):
            return f"{model.name!r} has a fixed base, so it has no {self.name.replace('_', ' ')}"
        return None

    def algorithm(self, model: Model) -> Algorithm:
        """The algorithm that serves this model best."""
        return self.alternative if self.alternative is not None and self.prefers(model) else self.compute

    def shapes(self, model: Model, subject: object = None) -> tuple[tuple[int, ...], ...]:
        """Of every result."""
        if isinstance(subject, ConstraintSet):
            shapes: tuple[tuple[int, ...], ...] = self.shape(model, subject.size)
            return shapes
        shape = self.shape(model)
        return shape if shape and isinstance(shape[0], tuple) else (shape,) * self.results

    @staticmethod
    def size(name: str, model: Model) -> int:
        """How many numbers an input has: positions are called q, q0 or q1, others are velocities or forces but for
        coefficients of restitution."""
        if name == "restitution":
            return 1
        return model.nq if name.startswith("q") else model.nv


OPTIONS = {"reference": "world-aligned", "kind": "classical", "point": "origin"}
"""What options of a robot's quantities are where nothing is said."""


def _scalar(model: Model) -> tuple[int, ...]:
    return ()


def _positions(model: Model) -> tuple[int, ...]:
    return (model.nq,)


def _velocities(model: Model) -> tuple[int, ...]:
    return (model.nv,)


def _square(model: Model) -> tuple[int, ...]:
    return (model.nv, model.nv)


def _point(model: Model) -> tuple[int, ...]:
    return (3,)


def _three_by_three(model: Model) -> tuple[int, ...]:
    return (3, 3)


def _six(model: Model) -> tuple[int, ...]:
    return (6,)


def _three_rows(model: Model) -> tuple[int, ...]:
    return (3, model.nv)


def _six_rows(model: Model) -> tuple[int, ...]:
    return (6, model.nv)


def _body_vectors(model: Model) -> tuple[int, ...]:
    return (model.n_bodies, 3)


def _body_sixes(model: Model) -> tuple[int, ...]:
    return (model.n_bodies, 6)


def _body_rows(model: Model) -> tuple[int, ...]:
    return (model.n_bodies, 6, model.nv)


def _equation(model: Model) -> tuple[tuple[int, ...], ...]:
    """Five matrices and a vector."""
    return (*[(model.nv, model.nv)] * 5, (model.nv,))


def _table(*quantities: Quantity) -> dict[str, Quantity]:
    return {quantity.name: quantity for quantity in quantities}


FEW_JOINTS = 18
"""Up to so many velocities, factoring the mass matrix takes fewer operations than the articulated-body recursion."""

OF_ROBOT = _table(
    Quantity("integrate", configuration.integrate, ("q", "dv"), _positions),
    Quantity("difference", configuration.difference, ("q0", "q1"), _velocities),
    Quantity("inverse_dynamics", rnea.inverse_dynamics, ("q", "v", "a"), _velocities, takes_wrenches=True),
    Quantity(
        "forward_dynamics",
        aba.forward_dynamics,
        ("q", "v", "tau"),
        _velocities,
        takes_wrenches=True,
        divides_by_mass=True,
        alternative=factorization.forward_dynamics,
        prefers=lambda model: model.has_mimics or model.nv <= FEW_JOINTS,
    ),
    Quantity("mass_matrix", crba.mass_matrix, ("q",), _square),
    Quantity("inverse_mass_matrix", factorization.inverse_mass_matrix, ("q",), _square, divides_by_mass=True),
    Quantity("bias_forces", rnea.bias_forces, ("q", "v"), _velocities, takes_wrenches=True),
    Quantity("gravity_forces", rnea.gravity_forces, ("q",), _velocities),
    Quantity("gravity_forces_derivative", derivatives.gravity_forces_derivative, ("q",), _square, is_large=True),
    Quantity("coriolis_matrix", coriolis.coriolis_matrix, ("q", "v"), _square),
    Quantity("mass_matrix_rate", coriolis.mass_matrix_rate, ("q", "v"), _square),
    Quantity(
        "christoffel_symbols",
        coriolis.christoffel_symbols,
        ("q",),
        lambda model: (model.nv, model.nv, model.nv),
        is_large=True,
    ),
    Quantity(
        "inverse_dynamics_derivatives",
        derivatives.inverse_dynamics_derivatives,
        ("q", "v", "a"),
        _square,
        results=2,
        takes_wrenches=True,
        keeps_references=True,
        is_large=True,
    ),
    Quantity(
        "forward_dynamics_derivatives",
        derivatives.forward_dynamics_derivatives,
        ("q", "v", "tau"),
        _square,
        results=3,
        takes_wrenches=True,
        keeps_references=True,
        divides_by_mass=True,
        is_large=True,
    ),
    Quantity("regressor", regressor.regressor, ("q", "v", "a"), lambda model: (model.nv, regressor.size(model))),
    Quantity(
        "kinetic_energy_regressor",
        regressor.kinetic_energy_regressor,
        ("q", "v"),
        lambda model: (regressor.size(model),),
    ),
    Quantity(
        "potential_energy_regressor",
        regressor.potential_energy_regressor,
        ("q",),
        lambda model: (regressor.size(model),),
    ),
    Quantity(
        "joint_reactions",
        newton_euler.joint_reactions,
        ("q", "v", "a"),
        _body_sixes,
        takes_wrenches=True,
    ),
    Quantity(
        "static_reactions",
        newton_euler.static_reactions,
        ("q",),
        _body_sixes,
        takes_wrenches=True,
    ),
    Quantity("newton_euler", newton_euler.link_motions, ("q", "v", "a"), _body_vectors, results=6, is_large=True),
    Quantity("passive_forces", joint_forces.passive_forces, ("q", "v"), _velocities),
    Quantity("mass_matrix_by_rnea", rnea.mass_matrix, ("q",), _square, is_large=True),
    Quantity("mass_matrix_by_jacobians", projected.mass_matrix, ("q",), _square, is_large=True),
    Quantity(
        "bias_forces_by_jacobians",
        projected.bias_forces,
        ("q", "v"),
        _velocities,
        takes_wrenches=True,
        is_large=True,
    ),
    Quantity(
        "bias_forces_by_newton_euler",
        newton_euler.bias_forces,
        ("q", "v"),
        _velocities,
        takes_wrenches=True,
        is_large=True,
    ),
    Quantity("coriolis_matrix_by_jacobians", projected.coriolis_matrix, ("q", "v"), _square, is_large=True),
    Quantity("kinetic_energy", energy.kinetic_energy, ("q", "v"), _scalar),
    Quantity("potential_energy", energy.potential_energy, ("q",), _scalar),
    Quantity("poses", kinematics.poses, ("q",), lambda model: (model.n_bodies, 4, 4)),
    Quantity("body_velocities", kinematics.body_velocities, ("q", "v"), _body_sixes, options=("reference",)),
    Quantity(
        "body_accelerations",
        kinematics.body_accelerations,
        ("q", "v", "a"),
        _body_sixes,
        options=("reference", "kind"),
    ),
    Quantity(
        "body_jacobians",
        jacobian.body_jacobians,
        ("q",),
        _body_rows,
        options=("reference", "point"),
        is_large=True,
    ),
    Quantity(
        "body_jacobian_rates",
        jacobian.body_jacobian_rates,
        ("q", "v"),
        _body_rows,
        options=("reference", "point"),
        is_large=True,
    ),
    Quantity("joint_axes", kinematics.joint_axes, ("q",), lambda model: (model.nv, 3)),
    Quantity(
        "composite_inertias",
        crba.composite_inertias,
        ("q",),
        lambda model: (model.n_bodies, 6, 6),
        is_large=True,
    ),
    Quantity("center_of_mass", center_of_mass.center_of_mass, ("q",), _point, needs_mass=True),
    Quantity("center_of_mass_velocity", center_of_mass.center_of_mass_velocity, ("q", "v"), _point, needs_mass=True),
    Quantity(
        "center_of_mass_acceleration",
        center_of_mass.center_of_mass_acceleration,
        ("q", "v", "a"),
        _point,
        needs_mass=True,
    ),
    Quantity(
        "center_of_mass_jacobian",
        center_of_mass.center_of_mass_jacobian,
        ("q",),
        _three_rows,
        needs_mass=True,
    ),
    Quantity(
        "center_of_mass_velocity_derivatives",
        center_of_mass_derivatives.center_of_mass_velocity_derivatives,
        ("q", "v"),
        _three_rows,
        results=2,
        needs_mass=True,
        is_large=True,
    ),
    Quantity(
        "center_of_mass_acceleration_derivatives",
        center_of_mass_derivatives.center_of_mass_acceleration_derivatives,
        ("q", "v", "a"),
        _three_rows,
        results=3,
        needs_mass=True,
        is_large=True,
    ),
    Quantity("centroidal_momentum", centroidal.centroidal_momentum, ("q", "v"), _six, needs_mass=True),
    Quantity("centroidal_momentum_matrix", centroidal.centroidal_momentum_matrix, ("q",), _six_rows, needs_mass=True),
    Quantity("centroidal_momentum_bias", centroidal.centroidal_momentum_bias, ("q", "v"), _six, needs_mass=True),
    Quantity("centroidal_momentum_rate", centroidal.centroidal_momentum_rate, ("q", "v", "a"), _six, needs_mass=True),
    Quantity(
        "centroidal_momentum_matrix_rate",
        centroidal_derivatives.centroidal_momentum_matrix_rate,
        ("q", "v"),
        _six_rows,
        needs_mass=True,
    ),
    Quantity(
        "centroidal_dynamics_derivatives",
        centroidal_derivatives.centroidal_dynamics_derivatives,
        ("q", "v", "a"),
        _six_rows,
        results=4,
        needs_mass=True,
        is_large=True,
    ),
    Quantity("locked_inertia", locked.locked_inertia, ("q",), _three_by_three, needs_mass=True),
    Quantity("locked_inertia_rate", locked.locked_inertia_rate, ("q", "v"), _three_by_three, needs_mass=True),
    Quantity("average_velocity", locked.average_velocity, ("q", "v"), _six, needs_mass=True),
    Quantity("gesticulation", locked.gesticulation, ("q", "v"), _point, needs_mass=True),
    Quantity("average_acceleration", locked.average_acceleration, ("q", "v", "a"), _six, needs_mass=True),
    Quantity("centroidal_wrench", one_body.centroidal_wrench, ("q",), _six, takes_wrenches=True, needs_mass=True),
)

OF_FLOATING_BASE = _table(
    Quantity(
        "centroidal_coordinates",
        centroidal_coordinates.centroidal_coordinates,
        ("q", "v"),
        _equation,
        results=6,
        needs_mass=True,
        needs_floating_base=True,
        is_large=True,
    ),
    Quantity(
        "diagonalized_coordinates",
        centroidal_coordinates.diagonalized_coordinates,
        ("q", "v"),
        _equation,
        results=6,
        needs_mass=True,
        needs_floating_base=True,
        is_large=True,
    ),
    Quantity(
        "average_rotation_by_joints",
        one_body.average_rotation_by_joints,
        ("q",),
        lambda model: (3, max(0, model.nv - 6)),
        needs_mass=True,
        needs_floating_base=True,
    ),
)
"""What only robots with a floating base have; the calls that ask for it make more of it than arrays."""

OF_TASK: dict[str, tuple[Algorithm, tuple[str, ...], Callable[[Model, int], tuple[int, ...]]]] = {
    "operational_space_inertia": (operational_space.inertia, ("q",), lambda model, k: (k, k)),
    "operational_space_bias": (operational_space.bias, ("q", "v"), lambda model, k: (k,)),
    "operational_space_gravity": (operational_space.gravity, ("q",), lambda model, k: (k,)),
    "consistent_inverse": (operational_space.consistent_inverse, ("q",), lambda model, k: (model.nv, k)),
    "null_space_projector": (operational_space.null_space, ("q",), lambda model, k: (model.nv, model.nv)),
    "pseudo_inverse": (operational_space.pseudo_inverse, ("q",), lambda model, k: (model.nv, k)),
    "euclidean_projector": (operational_space.euclidean_null_space, ("q",), lambda model, k: (model.nv, model.nv)),
}
"""Quantities of frames whose size depends on how many directions a task has: algorithm, inputs, shape."""
WITHOUT_INERTIA = ("pseudo_inverse", "euclidean_projector")


def _of_frame_task(name: str, task: operational_space.Task) -> Quantity:
    """The quantity of this name for a task, "pose" or the directions that it has."""
    algorithm, inputs, shape = OF_TASK[name]
    k = len(task_directions(task))
    weighs = name not in WITHOUT_INERTIA

    def at_any_rank(model: Model, frame: Any, *given: Any) -> Any:
        result = algorithm(model, frame, *given[: len(inputs) + 1], task)
        return result if weighs else result[0]

    def at_full_rank(model: Model, frame: Any, *given: Any) -> Any:
        result, pivots, doubtful = algorithm(model, frame, *given[: len(inputs) + 1], task, FullRank)
        return (result, pivots, doubtful) if weighs else (result, doubtful)

    called = name if task == "pose" else f"{name} ({', '.join(task)})"
    careful = Quantity(
        f"{called} of any rank", at_any_rank, inputs, lambda model: shape(model, k), divides_by_mass=weighs
    )
    return Quantity(
        called,
        at_full_rank,
        inputs,
        lambda model: shape(model, k),
        divides_by_mass=weighs,
        at_any_rank=careful,
        lacks_rank=lambda model, frame: operational_space.lacks_rank(model, frame, task),
    )


@cache
def of_task(name: str, task: tuple[str, ...]) -> Quantity:
    """The quantity of this name for some directions of a frame, on which its shape depends."""
    return OF_FRAME[name] if task == DIRECTIONS and name in OF_FRAME else _of_frame_task(name, task)


OF_FRAME = _table(
    Quantity("pose", kinematics.frame_pose, ("q",), lambda model: (4, 4)),
    Quantity("velocity", kinematics.frame_velocity, ("q", "v"), _six),
    Quantity("acceleration", kinematics.frame_acceleration, ("q", "v", "a"), _six),
    Quantity("bias_acceleration", kinematics.frame_bias_acceleration, ("q", "v"), _six),
    Quantity("jacobian", jacobian.frame_jacobian, ("q",), _six_rows),
    Quantity("jacobian_rate", jacobian.frame_jacobian_rate, ("q", "v"), _six_rows),
    *(
        _of_frame_task(name, "pose") for name in OF_TASK if name != "euclidean_projector"
    ),  # which has no name of its own
    Quantity("body_regressor", regressor.frame_body_regressor, ("q", "v", "a"), lambda model: (6, 10)),
    Quantity(
        "velocity_derivatives",
        kinematic_derivatives.frame_velocity_derivatives,
        ("q", "v"),
        _six_rows,
        results=2,
        is_large=True,
    ),
    Quantity(
        "acceleration_derivatives",
        kinematic_derivatives.frame_acceleration_derivatives,
        ("q", "v", "a"),
        _six_rows,
        results=3,
        is_large=True,
    ),
)

OF_POSE: dict[str, Algorithm] = {
    "pose_parameters": analytic_jacobian.pose_parameters,
    "analytic_jacobian": analytic_jacobian.analytic_jacobian,
    "analytic_jacobian_rate": analytic_jacobian.analytic_jacobian_rate,
}
"""Algorithms for quantities of frames that are different for each parameterisation of a pose."""


@cache
def of_pose(name: str, position: str, rotation: str) -> Quantity:
    """The quantity of this name for a parameterisation of the pose, on which its shape depends."""
    rows = analytic_jacobian.size(position, rotation)
    has_columns = name != "pose_parameters"
    refusal = analytic_jacobian.singularity(position, rotation) if has_columns else None

    def compute(model: Model, frame: Any, *state: Any) -> Any:
        result = OF_POSE[name](model, frame, *state, position, rotation)
        return result[0] if has_columns and refusal is None else result

    return Quantity(
        f"{name} ({position}, {rotation})",
        compute,
        ("q", "v") if name.endswith("rate") else ("q",),
        lambda model: (rows, model.nv) if has_columns else (rows,),
        singularity=refusal,
    )


def _of_constraints(name: str, algorithm: Algorithm, shape: Callable[[Model, int], Any]) -> Quantity:
    """A quantity of q alone that inverts J M⁻¹ Jᵀ of constraints."""
    return Quantity(
        name,
        partial(algorithm, by=FullRank),
        ("q",),
        shape,
        divides_by_mass=True,
        at_any_rank=Quantity(f"{name} of any rank", algorithm, ("q",), shape, divides_by_mass=True),
        lacks_rank=constraints.lacks_rank,
    )


OF_CONSTRAINTS = _table(
    Quantity("jacobian", constraints.jacobian, ("q",), lambda model, k: ((k, model.nv),)),
    Quantity("bias", constraints.bias, ("q", "v"), lambda model, k: ((k,),)),
    Quantity("position_error", constraints.position_error, ("q",), lambda model, k: ((k,),)),
    Quantity(
        "forward_dynamics",
        constraints.forward_dynamics,
        ("q", "v", "tau"),
        lambda model, k: ((model.nv,), (k,)),
        results=2,
        takes_wrenches=True,
        divides_by_mass=True,
    ),
    Quantity(
        "forward_dynamics_derivatives",
        constraint_derivatives.forward_dynamics_derivatives,
        ("q", "v", "tau"),
        lambda model, k: ((model.nv, model.nv),) * 3 + ((k, model.nv),) * 3,
        results=6,
        takes_wrenches=True,
        keeps_references=True,
        divides_by_mass=True,
        is_large=True,
    ),
    Quantity(
        "impact",
        constraints.impact,
        ("q", "v", "restitution"),
        lambda model, k: ((model.nv,), (k,)),
        results=2,
        divides_by_mass=True,
    ),
    _of_constraints("projector", constraints.projector, lambda model, k: ((model.nv, model.nv),)),
    Quantity(
        "projected",
        constraints.projected,
        ("q", "v"),
        lambda model, k: ((model.nq,), (model.nv,)),
        results=2,
        divides_by_mass=True,
    ),
    _of_constraints("constraint_inertia", constraints.constraint_inertia, lambda model, k: ((k, k),)),
    Quantity(
        "nearest_torques",
        support_consistent.nearest_torques,
        ("q", "v", "a", "tau"),
        lambda model, k: ((model.nv,), (k,)),
        results=2,
        takes_wrenches=True,
        divides_by_mass=True,
    ),
    Quantity(
        "inverse_dynamics",
        support_consistent.inverse_dynamics,
        ("q", "v", "a"),
        lambda model, k: ((model.nv,), (k,)),
        results=2,
        takes_wrenches=True,
        divides_by_mass=True,
    ),
)
