"""A whole aircraft as one part: forces and moments by angle of attack, sideslip, rates and control surfaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, final, runtime_checkable

import numpy as np

from kinetree import ops
from kinetree.flight.fields import Finite, Positive, ReadsFields, Text, kind_of, numbers
from kinetree.flight.part import Airflow, Part
from kinetree.flight.polar import flat_plate, stalled
from kinetree.linalg import norm
from kinetree.ops import Array
from kinetree.spatial import Force

LEAST_SPEED = 1e-6
"""[m/s], below which angles are zero, and rates as at this speed: at rest forces have no slope, and no NaN."""


class AirData(NamedTuple):
    """Airspeed, angles and rates of an aircraft; axes are x forward, y right, z down."""

    speed: Any
    """V [m/s]"""
    alpha: Any
    """Angle of attack [rad]: atan2(w, u)."""
    beta: Any
    """Sideslip [rad]: atan2(v, √(u² + w²))."""
    rates: Any
    """p b/2V, q c/2V, r b/2V."""


class BodyCoefficients(NamedTuple):
    """Of the force along x, y, z by q̄ S, and of the moments about them by q̄ S b, q̄ S c, q̄ S b."""

    x: Any
    y: Any
    z: Any
    roll: Any
    pitch: Any
    yaw: Any


@runtime_checkable
class Coefficients(Protocol):
    """The interface of the coefficients of an aircraft. Implementations must be hashable."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of its control surfaces."""
        ...

    def at(self, data: AirData, u: Array) -> BodyCoefficients: ...


@final
@dataclass(frozen=True)
class Airframe(ReadsFields, Part):
    """The force of the air on an aircraft, at a frame with x forward, y to the right and z down:

    f = q̄ S (C_X, C_Y, C_Z),   n = q̄ S (b C_l, c C_m, b C_n),   q̄ = ½ρV²
    """

    frame: Text
    area: Positive
    """S [m²]"""
    span: Positive
    """b [m]"""
    chord: Positive
    """c [m]"""
    coefficients: Annotated[Coefficients, kind_of(Coefficients, "StabilityDerivatives(…)")]

    @property
    def inputs(self) -> tuple[str, ...]:  # type: ignore[override]
        """Deflections of the control surfaces [rad]."""
        return self.coefficients.inputs

    def data(self, flow: Airflow) -> AirData:
        """Airspeed, angles and rates."""
        speed = norm(flow.velocity)
        u, v, w = ops.where(ops.less(speed, LEAST_SPEED), np.array([LEAST_SPEED, 0.0, 0.0]), flow.velocity)
        across = norm(np.array([u, w]))
        half = 0.5 / ops.maximum(speed, LEAST_SPEED)
        lengths = np.array([self.span, self.chord, self.span])
        return AirData(speed, ops.atan2(w, u), ops.atan2(v, across), flow.rate * lengths * half)

    def force(self, flow: Airflow, u: Array) -> Force:
        """q̄ S times coefficients and lengths."""
        data = self.data(flow)
        c = self.coefficients.at(data, u)
        qS = 0.5 * flow.density * (flow.velocity @ flow.velocity) * self.area
        moment = qS * np.array([self.span * c.roll, self.chord * c.pitch, self.span * c.yaw])
        return Force(qS * np.array([c.x, c.y, c.z]), moment)


@final
@dataclass(frozen=True)
class StabilityDerivatives(ReadsFields):
    """Coefficients that are linear in angles, rates and deflections, with induced drag and stall (Beard, McLain 2012,
    chapter 4):

        C_L = (1 - σ)(C_L0 + C_Lα α) + σ 2 sign(α) sin²α cosα + C_Lq q̂ + C_Lδe δe
        C_D = C_Dp + (C_L0 + C_Lα α)²/(π e Λ) + C_Dq q̂ + C_Dδe δe
        C_X = -C_D cosα + C_L sinα,   C_Z = -C_D sinα - C_L cosα
        C_m = C_m0 + C_mα α + C_mq q̂ + C_mδe δe
        C_Y = C_Y0 + C_Yβ β + C_Yp p̂ + C_Yr r̂ + C_Yδa δa + C_Yδr δr,   C_l and C_n likewise

    with q̂ = q c/2V, p̂ = p b/2V, r̂ = r b/2V. Inputs are the deflections of elevator, aileron and rudder [rad].
    """

    lift: Annotated[Any, numbers(4)]
    """C_L0, C_Lα, C_Lq, C_Lδe."""
    drag: Annotated[Any, numbers(3)]
    """C_Dp, C_Dq, C_Dδe."""
    pitch: Annotated[Any, numbers(4)]
    """C_m0, C_mα, C_mq, C_mδe."""
    side: Annotated[Any, numbers(6)]
    """C_Y0, C_Yβ, C_Yp, C_Yr, C_Yδa, C_Yδr."""
    roll: Annotated[Any, numbers(6)]
    """C_l0, C_lβ, C_lp, C_lr, C_lδa, C_lδr."""
    yaw: Annotated[Any, numbers(6)]
    """C_n0, C_nβ, C_np, C_nr, C_nδa, C_nδr."""
    aspect_ratio: Positive
    """Λ = b²/S"""
    oswald: Positive = 0.9
    """e"""
    stall: Finite = 0.47
    """α₀ [rad]"""
    sharpness: Positive = 50.0
    """M [1/rad]"""
    inputs: ClassVar[tuple[str, ...]] = ("elevator", "aileron", "rudder")

    def at(self, data: AirData, u: Array) -> BodyCoefficients:
        """In body axes."""
        alpha, (p, q, r) = data.alpha, data.rates
        elevator, aileron, rudder = u
        sigma = stalled(alpha, self.stall, self.sharpness)
        line = self.lift[0] + self.lift[1] * alpha
        C_L = (1.0 - sigma) * line + sigma * flat_plate(alpha) + self.lift[2] * q + self.lift[3] * elevator
        C_D = self.drag[0] + line * line / (np.pi * self.oswald * self.aspect_ratio)
        C_D = C_D + self.drag[1] * q + self.drag[2] * elevator
        C_m = self.pitch[0] + self.pitch[1] * alpha + self.pitch[2] * q + self.pitch[3] * elevator
        states = (1.0, data.beta, p, r, aileron, rudder)
        C_Y, C_l, C_n = (
            sum((k * state for k, state in zip(row, states, strict=True) if k), start=0.0)
            for row in (self.side, self.roll, self.yaw)
        )
        c, s = ops.cos(alpha), ops.sin(alpha)
        return BodyCoefficients(C_L * s - C_D * c, C_Y, -C_L * c - C_D * s, C_l, C_m, C_n)
