"""Performance of an aircraft with a parabolic polar, C_D = C_D0 + k C_L²: glide, sink, range, endurance, turn, ceiling.

(Anderson 1999; Beard, McLain 2012.) Power is that of level flight, P = D V; W is the weight [N], ρ the density [kg/m³].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.flight.airframe import Airframe
from kinetree.flight.atmosphere import GRAVITY, SEA_LEVEL_DENSITY, standard_atmosphere
from kinetree.flight.fields import Positive, ReadsFields, nonnegative, positive
from kinetree.flight.part import Aircraft
from kinetree.flight.propeller import Propeller
from kinetree.flight.trim import Trim, trim
from kinetree.robot import Robot

HIGHEST = 20000.0
"""[m], to which the standard atmosphere goes."""


class BestFlight(NamedTuple):
    """The optimum of a performance criterion."""

    speed: float
    """[m/s]"""
    lift: float
    """C_L"""
    glide_ratio: float
    """L/D"""


@final
@dataclass(frozen=True)
class Performance(ReadsFields):
    """The polar, the wing and the weight."""

    drag: Positive
    """C_D0"""
    induced: Positive
    """k = 1/(π e Λ)"""
    area: Positive
    """S [m²]"""
    weight: Positive
    """W [N]"""
    max_lift: Positive = 1.4
    """C_L,max"""

    @staticmethod
    def of(robot: Robot, aircraft: Aircraft, speeds: Any, frame: str = "aero", max_lift: float = 1.4) -> Performance:
        """Fitted to trimmed level flights at some airspeeds [m/s]: C_D over C_L² by least squares."""
        airframes = [part for part in aircraft.parts if isinstance(part, Airframe)]
        if len(airframes) != 1:
            raise ArgumentError(f"the aircraft has {len(airframes)} airframes; expected one, whose area is S")
        found = []
        for V in np.asarray(speeds, dtype=float):
            level = trim(robot, aircraft, float(V), frame=frame)
            if level.success:
                found.append(_coefficients(robot, aircraft, level))
        if len(found) < 3:
            raise ArgumentError(f"{len(found)} of the speeds have a level flight; expected three or more")
        lifts, drags = np.array(found).T
        fit = np.linalg.lstsq(np.column_stack([np.ones(len(lifts)), np.square(lifts)]), drags, rcond=None)[0]
        weight = robot.mass * float(np.linalg.norm(robot.gravity))
        return Performance(float(fit[0]), float(fit[1]), airframes[0].area, weight, max_lift)

    def speed(self, lift: Any, density: Any = SEA_LEVEL_DENSITY, load: Any = 1.0) -> Any:
        """V = √(2 n W/(ρ S C_L)) [m/s] at a load factor n."""
        return np.sqrt(2.0 * load * self.weight / (density * self.area * np.asarray(lift)))

    def power(self, speed: Any, density: Any = SEA_LEVEL_DENSITY, load: Any = 1.0) -> Any:
        """P = ½ρV³ S C_D0 + 2 k (n W)²/(ρ V S) [W]."""
        V = np.asarray(speed)
        return 0.5 * density * V**3 * self.area * self.drag + 2.0 * self.induced * (load * self.weight) ** 2 / (
            density * V * self.area
        )

    def best_glide(self, density: float = SEA_LEVEL_DENSITY) -> BestFlight:
        """The flattest glide, and the longest range by propeller: C_L = √(C_D0/k), L/D = 1/(2√(k C_D0))."""
        return self._flight(np.sqrt(self.drag / self.induced), density)

    def minimum_sink(self, density: float = SEA_LEVEL_DENSITY) -> BestFlight:
        """The slowest descent, and the longest endurance by propeller: C_L = √(3 C_D0/k)."""
        return self._flight(np.sqrt(3.0 * self.drag / self.induced), density)

    def fastest_range(self, density: float = SEA_LEVEL_DENSITY) -> BestFlight:
        """The longest range by jet: C_L = √(C_D0/3k), the most √C_L/C_D."""
        return self._flight(np.sqrt(self.drag / (3.0 * self.induced)), density)

    def _flight(self, lift: float, density: float) -> BestFlight:
        ratio = lift / (self.drag + self.induced * lift**2)
        return BestFlight(float(self.speed(lift, density)), float(lift), float(ratio))

    def glide_angle(self, lift: Any) -> Any:
        """γ below the horizon [rad], tan γ = C_D/C_L."""
        C_L = np.asarray(lift)
        return np.arctan((self.drag + self.induced * C_L**2) / C_L)

    def stall_speed(self, density: float = SEA_LEVEL_DENSITY, load: float = 1.0) -> float:
        """[m/s]"""
        return float(self.speed(self.max_lift, density, load))

    def electric_range(self, energy: float, efficiency: float, density: float = SEA_LEVEL_DENSITY) -> float:
        """s = η E (L/D)/W [m], of the energy E of a battery [J]."""
        used = positive("efficiency", efficiency) * positive("energy", energy)
        return used * self.best_glide(density).glide_ratio / self.weight

    def electric_endurance(self, energy: float, efficiency: float, density: float = SEA_LEVEL_DENSITY) -> float:
        """t = η E/P_min [s]."""
        least = self.power(self.minimum_sink(density).speed, density)
        return float(positive("efficiency", efficiency) * positive("energy", energy) / least)

    def breguet_range(self, fuel: float, consumption: float, efficiency: float) -> float:
        """s = (η/c) (L/D) ln(W/(W - W_fuel)) [m] of a propeller at its best glide; consumption c by weight [1/m]."""
        part = nonnegative("fuel", fuel) / self.weight
        if part >= 1.0:
            raise ArgumentError(f"fuel is {fuel:g} N of {self.weight:g} N; expected less than the whole weight")
        by_weight = positive("efficiency", efficiency) / positive("consumption", consumption)
        return float(by_weight * self.best_glide().glide_ratio * -np.log1p(-part))

    def turn(self, speed: float, bank: float) -> tuple[float, float, float]:
        """Radius [m], rate [rad/s] and load factor of a level turn: R = V²/(g tan φ), n = 1/cos φ."""
        if not 0.0 < abs(bank) < np.pi / 2:
            raise ArgumentError(f"bank is {bank:g} rad; expected an angle below 90°, and not zero")
        rate = GRAVITY * np.tan(bank) / positive("speed", speed)
        return float(speed / rate), float(rate), float(1.0 / np.cos(bank))

    def climb_rate(self, power: float, speed: Any, density: Any = SEA_LEVEL_DENSITY) -> Any:
        """(P_available - P)/W [m/s]."""
        return (power - self.power(speed, density)) / self.weight

    def ceiling(self, power: float, rate: float = 0.0) -> float:
        """The height [m] at which a power [W] that falls with the density climbs no faster than `rate` [m/s]: 0 is the
        absolute ceiling, 0.5 m/s about the service ceiling. 20 km at most."""
        heights = np.linspace(0.0, HIGHEST, 20001)
        rho = np.asarray(standard_atmosphere(heights).density)
        lift = min(np.sqrt(3.0 * self.drag / self.induced), self.max_lift)
        speeds = self.speed(lift, rho)
        spare = (positive("power", power) * rho / SEA_LEVEL_DENSITY - self.power(speeds, rho)) / self.weight - rate
        if spare[0] < 0.0:
            raise ArgumentError(f"power is {power:g} W; expected enough to fly at sea level")
        below = np.flatnonzero(spare < 0.0)
        return float(heights[below[0] - 1]) if len(below) else HIGHEST


def _coefficients(robot: Robot, aircraft: Aircraft, level: Trim) -> tuple[float, float]:
    """C_L and C_D of a level flight: of all that is not a propeller, along and across the path."""
    total, area, density, q, v = np.zeros(3), 1.0, SEA_LEVEL_DENSITY, level.q, level.v
    aircraft = aircraft.in_still_air
    R_frame = robot.frame(level.frame).pose(q)[:3, :3]
    for part, (name, force) in zip(aircraft.parts, aircraft.forces(robot, q, v, level.u), strict=True):
        if isinstance(part, Airframe):
            area = part.area
            density = float(aircraft.flow(robot, name, q, v).density)
        if not isinstance(part, Propeller):
            total += R_frame.T @ robot.frame(name).pose(q)[:3, :3] @ force.force
    along = level.x[6:9] / level.airspeed
    drag = float(-total @ along)
    lift = float(np.linalg.norm(total + drag * along))
    qS = 0.5 * density * level.airspeed**2 * area
    return lift / qS, drag / qS
