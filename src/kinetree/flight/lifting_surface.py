"""A wing, tail or fin: lift, drag and moment of one surface by the flow at its own place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from kinetree import ops
from kinetree.flight.fields import Finite, Positive, ReadsFields, Text, kind_of
from kinetree.flight.part import Airflow, Part
from kinetree.flight.polar import Polar
from kinetree.ops import Array
from kinetree.spatial import Force


@final
@dataclass(frozen=True)
class LiftingSurface(ReadsFields, Part):
    """A surface whose quarter chord is at a frame's origin; x of the frame points forward along the chord, y along the
    span to the right, z down. A fin has y down.

        α = atan2(w, u),   V² = u² + w²        of the velocity (u, v, w) of this place through the air
        L = ½ρV² S (C_L + C_Lδ δ),   D = ½ρV² S (C_D + C_Dδ δ²),   m = ½ρV² S c (C_m + C_mδ δ)

    Turning of the aircraft changes the flow at the surface, so that damping in roll, pitch and yaw needs no
    coefficients. With a `flap` it has an input: the deflection δ [rad], trailing edge down.
    """

    frame: Text
    area: Positive
    """S [m²]"""
    chord: Positive
    """c [m]"""
    polar: Annotated[Polar, kind_of(Polar, "LinearPolar(5.0)")]
    flap: bool = False
    flap_lift: Finite = 0.0
    """C_Lδ [1/rad]"""
    flap_drag: Finite = 0.0
    """C_Dδ [1/rad²]"""
    flap_moment: Finite = 0.0
    """C_mδ [1/rad]"""

    @property
    def inputs(self) -> tuple[str, ...]:  # type: ignore[override]
        """The flap, if it has one."""
        return ("flap",) if self.flap else ()

    def force(self, flow: Airflow, u: Array) -> Force:
        """Lift across the flow and drag along it."""
        forward, _, down = flow.velocity
        squared = forward * forward + down * down
        rests = ops.equal(squared, 0.0)  # where there is no angle
        alpha = ops.atan2(down, ops.where(rests, 1.0, forward))
        pressure = 0.5 * flow.density * squared * self.area
        C_L, C_D, C_m = self.polar.at(alpha)
        if self.flap:
            C_L, C_D = C_L + self.flap_lift * u[0], C_D + self.flap_drag * u[0] * u[0]
            C_m = C_m + self.flap_moment * u[0]
        c, s = ops.cos(alpha), ops.sin(alpha)
        x, z = pressure * (C_L * s - C_D * c), -pressure * (C_L * c + C_D * s)
        m = pressure * self.chord * C_m
        return Force(np.array([x, 0.0 * x, z]), np.array([0.0 * x, m, 0.0 * x]))
