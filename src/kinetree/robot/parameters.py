"""The dynamics as linear functions of the inertial parameters φ: what is identified, and what control adapts."""

from __future__ import annotations

from numpy.typing import ArrayLike

from kinetree.algorithms import regressor
from kinetree.algorithms import regressor as regressors
from kinetree.ops import Array
from kinetree.robot.quantity import HasQuantities, quantity


class ParameterQuantities(HasQuantities):
    """What a `Robot` knows of its inertial parameters. Atkeson, An and Hollerbach 1986."""

    @property
    def parameters(self) -> Array:
        """φ, the inertial parameters of all bodies and, where there are any, of joints; named by `parameter_names`."""
        return regressor.parameters(self.model)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Of every entry of φ, such as 'forearm_link.mass' or 'elbow.damping'."""
        return regressor.parameter_names(self.model)

    @quantity(regressors.regressor, lambda model: (model.nv, regressors.size(model)))
    def regressor(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Array | None = None) -> Array:
        """Y with inverse dynamics τ = Y φ, springs apart, (…, nv, len(φ))."""

    @quantity(regressors.kinetic_energy_regressor, lambda model: (regressors.size(model),))
    def kinetic_energy_regressor(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """y with kinetic energy T = yᵀ φ, (…, len(φ))."""

    @quantity(regressors.potential_energy_regressor, lambda model: (regressors.size(model),))
    def potential_energy_regressor(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """y with potential energy U = yᵀ φ, springs apart, (…, len(φ))."""
