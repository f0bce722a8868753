"""Drag of a body: linear and quadratic in its velocity through the air."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.flight.atmosphere import SEA_LEVEL_DENSITY
from kinetree.flight.fields import Positive, ReadsFields, Text, Three
from kinetree.flight.part import Airflow, Part
from kinetree.linalg import norm
from kinetree.ops import Array
from kinetree.spatial import Force


@final
@dataclass(frozen=True)
class BodyDrag(ReadsFields, Part):
    """f = -(ρ/ρ₀) (D₁ V + |V| D₂ V) at a frame's origin, with diagonal D₁ and D₂ in the frame's axes.

    A plate of area A and drag coefficient c_D across the flow has D₂ = ½ ρ₀ A c_D.
    """

    frame: Text
    quadratic: Three = (0.0, 0.0, 0.0)
    """D₂ along x, y, z, (3,) [N s²/m²]."""
    linear: Three = (0.0, 0.0, 0.0)
    """D₁ along x, y, z, (3,) [N s/m]."""
    density: Positive = SEA_LEVEL_DENSITY
    """ρ₀ [kg/m³] at which the coefficients were found."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(*self.quadratic, *self.linear) < 0.0:
            raise ArgumentError(
                f"quadratic is {self.quadratic} and linear {self.linear}; expected zero or more: drag never pushes"
            )

    def force(self, flow: Airflow, u: Array) -> Force:
        """-(D₁ + |V| D₂) V."""
        V = flow.velocity
        speed = norm(V)
        drag = (np.array(self.linear) + speed * np.array(self.quadratic)) * V
        return Force(-drag * (flow.density / self.density), np.zeros(3))
