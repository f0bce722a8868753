"""Coordinates of a point: Cartesian (x, y, z), cylindrical (ρ, θ, z) and spherical (r, θ, φ) [m, rad].

θ is the angle about z from the x-axis, φ that from the z-axis: r = (ρ cos θ, ρ sin θ, z), ρ = r sin φ, z = r cos φ.
The velocity of the point is E_P times the rates of its coordinates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.ops import Array, absolute, array, atan2, cos, minimum, sin, sqrt


def cartesian_from_cylindrical(chi: Array) -> Array:
    """(x, y, z) of (ρ, θ, z)."""
    rho, theta, z = chi
    return array([rho * cos(theta), rho * sin(theta), z])


def cylindrical_from_cartesian(xyz: Array) -> Array:
    """(ρ, θ, z) with ρ ≥ 0 and θ between -π and π; on the z-axis θ = 0."""
    x, y, z = xyz
    return array([sqrt(x * x + y * y), atan2(y, x), z])


def cartesian_from_spherical(chi: Array) -> Array:
    """(x, y, z) of (r, θ, φ)."""
    r, theta, phi = chi
    rho = r * sin(phi)
    return array([rho * cos(theta), rho * sin(theta), r * cos(phi)])


def spherical_from_cartesian(xyz: Array) -> Array:
    """(r, θ, φ) with r ≥ 0, θ between -π and π, φ between 0 and π; on the z-axis θ = 0, at the origin φ = 0 too."""
    x, y, z = xyz
    rho2 = x * x + y * y
    return array([sqrt(rho2 + z * z), atan2(y, x), atan2(sqrt(rho2), z)])


def cylindrical_rates(chi: Array) -> Array:
    """E_P, (3, 3)."""
    rho, c, s = chi[0], cos(chi[1]), sin(chi[1])
    return array([[c, -rho * s, 0.0], [s, rho * c, 0.0], [0.0, 0.0, 1.0]])


def cylindrical_rates_rate(chi: Array, rates: Array) -> Array:
    """Ė_P, (3, 3)."""
    rho, c, s = chi[0], cos(chi[1]), sin(chi[1])
    d_rho, turn = rates[0], rates[1]
    first, second = [-s * turn, c * turn, 0.0], [-d_rho * s - rho * c * turn, d_rho * c - rho * s * turn, 0.0]
    return np.stack([first, second, [0.0, 0.0, 0.0]], axis=1)


def cylindrical_rates_inverse(chi: Array) -> Array:
    """E_P⁻¹, (3, 3); none at ρ = 0."""
    rho, c, s = chi[0], cos(chi[1]), sin(chi[1])
    return array([[c, s, 0.0], [-s / rho, c / rho, 0.0], [0.0, 0.0, 1.0]])


def spherical_rates(chi: Array) -> Array:
    """E_P, (3, 3)."""
    r, (along_r, along_theta, along_phi) = chi[0], _spherical_axes(chi)
    return np.stack([along_r, along_theta * (r * sin(chi[2])), along_phi * r], axis=1)


def spherical_rates_rate(chi: Array, rates: Array) -> Array:
    """Ė_P, (3, 3): the axes turn, and the arms r and r sin φ change."""
    r, c, s = chi[0], cos(chi[2]), sin(chi[2])
    d_r, turn, tilt = rates
    along_r, along_theta, along_phi = _spherical_axes(chi)
    r_rate = along_theta * (s * turn) + along_phi * tilt
    theta_rate = (along_r * s + along_phi * c) * -turn
    phi_rate = along_theta * (c * turn) - along_r * tilt
    of_theta = theta_rate * (r * s) + along_theta * (d_r * s + r * c * tilt)
    return np.stack([r_rate, of_theta, phi_rate * r + along_phi * d_r], axis=1)


def spherical_rates_inverse(chi: Array) -> Array:
    """E_P⁻¹, (3, 3); none on the z-axis."""
    r, (along_r, along_theta, along_phi) = chi[0], _spherical_axes(chi)
    return array([along_r, along_theta / (r * sin(chi[2])), along_phi / r])


def distance_from_origin_axis(chi: Array) -> Any:
    """ρ [m] of cylindrical coordinates."""
    return absolute(chi[0])


def distance_from_polar_axis(chi: Array) -> Any:
    """The smaller of r and r sin φ [m], of spherical coordinates."""
    return minimum(absolute(chi[0]), absolute(chi[0] * sin(chi[2])))


def _spherical_axes(chi: Array) -> tuple[Array, Array, Array]:
    """Unit vectors along growing r, θ, φ."""
    ct, st, cp, sp = cos(chi[1]), sin(chi[1]), cos(chi[2]), sin(chi[2])
    return array([ct * sp, st * sp, cp]), array([-st, ct, 0.0]), array([ct * cp, st * cp, -sp])
