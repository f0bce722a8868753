"""The dynamics as linear functions of the inertial parameters φ, for identification and adaptive control."""

from __future__ import annotations

from typing import Unpack

from numpy.typing import ArrayLike

from kinetree.algorithms import regressor
from kinetree.algorithms import regressor as regressors
from kinetree.model import parametric
from kinetree.ops import Array
from kinetree.robot.quantity import HasQuantities, NamedOut, quantity


class ParameterQuantities(HasQuantities):
    """Quantities of a `Robot` that are linear in its inertial parameters. Atkeson, An and Hollerbach 1986."""

    @property
    def parameters(self) -> Array:
        """φ, the inertial parameters of all bodies and the parameters of joints, if any; named by `parameter_names`.

        Those of a parametric robot are the inputs of its calls, as they are taken if `parameters` is not given.
        """
        inputs = self.model.parametric
        return regressor.parameters(self.model) if inputs is None else inputs.values.copy()

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The name of every entry of φ, such as 'forearm_link.mass' or 'elbow.damping'."""
        inputs = self.model.parametric
        return regressor.parameter_names(self.model) if inputs is None else parametric.parameter_names(self.model)

    @quantity(regressors.regressor, lambda model: (model.nv, regressors.size(model)))
    def regressor(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The regressor Y of inverse dynamics, τ = Y φ without springs, (…, nv, len(φ))."""

    @quantity(regressors.kinetic_energy_regressor, lambda model: (regressors.size(model),))
    def kinetic_energy_regressor(self, q: ArrayLike, v: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The regressor y of kinetic energy, T = yᵀ φ, (…, len(φ))."""

    @quantity(regressors.potential_energy_regressor, lambda model: (regressors.size(model),))
    def potential_energy_regressor(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The regressor y of potential energy, U = yᵀ φ without springs, (…, len(φ))."""
