"""The standard atmosphere (ISO 2533): temperature, pressure and density by height, up to 20 km."""

from __future__ import annotations

from typing import Any, NamedTuple

from kinetree import ops

SEA_LEVEL_TEMPERATURE = 288.15
"""[K]"""
SEA_LEVEL_PRESSURE = 101325.0
"""[Pa]"""
SEA_LEVEL_DENSITY = 1.225
"""[kg/m³]"""
LAPSE_RATE = 0.0065
"""How fast it gets colder below the tropopause [K/m]."""
TROPOPAUSE = 11000.0
"""[m]"""
GAS_CONSTANT = 287.05287
"""Of dry air [J/(kg K)]."""
GRAVITY = 9.80665
"""[m/s²]"""
HEAT_RATIO = 1.4
VISCOSITY_CONSTANT, SUTHERLAND_TEMPERATURE = 1.458e-6, 110.4
"""Of Sutherland's law, [kg/(m s √K)] and [K]."""


class AirState(NamedTuple):
    """Temperature, pressure, density and speed of sound of still air."""

    temperature: Any
    """[K]"""
    pressure: Any
    """[Pa]"""
    density: Any
    """[kg/m³]"""
    speed_of_sound: Any
    """[m/s]"""
    viscosity: Any
    """[Pa s]"""


def standard_atmosphere(height: Any) -> AirState:
    """The state of the air at a geopotential height above the sea [m], one or many:

    T = T₀ - L h,   p = p₀ (T/T₀)^(g/(R L))          below the tropopause at 11 km
    T constant,     p = p₁₁ exp(-g (h - h₁₁)/(R T))  above it, to 20 km
    ρ = p/(R T),    a = √(γ R T),   μ = β T^1.5/(T + S)
    """
    below = ops.minimum(height, TROPOPAUSE)
    T = SEA_LEVEL_TEMPERATURE - LAPSE_RATE * below
    exponent = GRAVITY / (GAS_CONSTANT * LAPSE_RATE)
    p = SEA_LEVEL_PRESSURE * ops.exp(exponent * ops.log(T / SEA_LEVEL_TEMPERATURE))
    p = p * ops.exp(-GRAVITY * (height - below) / (GAS_CONSTANT * T))
    sound = ops.sqrt(HEAT_RATIO * GAS_CONSTANT * T)
    viscosity = VISCOSITY_CONSTANT * T * ops.sqrt(T) / (T + SUTHERLAND_TEMPERATURE)
    return AirState(T, p, p / (GAS_CONSTANT * T), sound, viscosity)
