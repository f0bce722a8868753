"""A fluid around a robot, and the shapes by which it acts on links: drag, lift and the inertia of what they displace.

These are the two models of MuJoCo. With velocity u and angular velocity ω relative to the fluid, in the axes of a
shape, density ρ and viscosity μ, a box of sides b with the mean side d has

    f_x = -3 π d μ u_x - ½ ρ b_y b_z |u_x| u_x,        n_x = -π d³ μ ω_x - ρ b_x (b_y⁴ + b_z⁴) |ω_x| ω_x / 64

and likewise along y and z. An ellipsoid of half axes s has, with c_x = s_y² s_z² and so on,

    f = -(6 π r μ + ρ |u| (k_b A + k_s (A_max - A))) u + k_K ρ A cos α (ν × u) × u + k_M ρ V ω × u + ρ (m u) × ω
    n = -(8 π r³ μ + ρ |D ω|) ω + ρ (m u) × u + ρ (J ω) × ω

of the mean half axis r, volume V, area A = π √(Σ c² u² / Σ c u²) seen along u, normal ν = c u and
cos α = Σ c u² / (|u| Σ c² u²). D has k_a I + k_s (I_max - I) on its diagonal with I_x = 8/15 π s_x max(s_y, s_z)⁴;
m and J are the added mass and inertia of unit density (Lamb 1932, articles 114 and 115).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from kinetree.base.arguments import as_finite, as_nonnegative, as_triple, read_fields
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.linalg import norm, outer
from kinetree.model.geometry import Triple
from kinetree.ops import Array, Scalar, absolute, cross, divide, less, skew, sqrt, where, zeros
from kinetree.spatial import Force, Inertia, Motion, Transform

if TYPE_CHECKING:
    from kinetree.model.description import LinkDescription

SMALLEST = 1e-15
"""What is divided by is not smaller; a link with less mass has no box."""
QUADRATURE = 200
"""Nodes of the integrals of added masses."""


def _sizes(name: str, value: object) -> tuple[float, ...]:
    sizes = as_triple(name, value)
    if min(sizes) < 0.0:
        raise ArgumentError(f"{name} is {short(value)}; expected three numbers of zero or more")
    return sizes


def _placement(name: str, value: object) -> Transform:
    if not isinstance(value, Transform):
        raise ArgumentTypeError(f"{name} is {short(value)}; expected a kinetree.spatial.Transform")
    return value


@final
@dataclass(frozen=True)
class Fluid:
    """What surrounds a robot: air, water. It is part of the passive forces of the model."""

    density: float = 0.0
    """ρ [kg/m³]"""
    viscosity: float = 0.0
    """μ [Pa s]"""
    wind: Triple = (0.0, 0.0, 0.0)
    """The velocity of the fluid in the world [m/s]."""

    def __post_init__(self) -> None:
        read_fields(self, density=as_nonnegative, viscosity=as_nonnegative, wind=as_triple)

    @property
    def is_present(self) -> bool:
        """Whether it has any effect."""
        return bool(self.density or self.viscosity)


NO_FLUID = Fluid()


@final
@dataclass(frozen=True, eq=False)
class DragBox:
    """A box that a fluid acts on, by the equations of `kinetree.model.fluid`."""

    size: Triple
    """Full side lengths [m]."""
    placement: Transform = field(default_factory=Transform.identity)
    """^shape X_link, of the axes through the centre of the box."""

    def __post_init__(self) -> None:
        read_fields(self, size=_sizes, placement=_placement)

    @staticmethod
    def of(inertia: Inertia, axes: Array | None = None) -> DragBox:
        """The box whose mass, uniformly distributed, has this inertia; `axes` are principal axes, as columns."""
        R = inertia.principal_axes if axes is None else axes
        moments = np.diag(R.T @ inertia.about_com @ R)
        sides = (sum(moments) - 2.0 * moments).clip(SMALLEST) / inertia.mass * 6.0
        x, y, z = np.sqrt(sides).tolist()
        return DragBox((x, y, z), Transform(R.T, inertia.com))

    def fits(self, inertia: Inertia) -> bool:
        """Whether it is that box."""
        if inertia.mass < SMALLEST:
            return False
        about, R = inertia.about_com, self.placement.R
        turned = R @ about @ R.T
        is_principal = np.abs(turned - np.diag(np.diag(turned))).max() <= 1e-9 * np.abs(about).max()
        other = DragBox.of(inertia, R.T)
        near = np.allclose(self.size, other.size, rtol=1e-9, atol=1e-6)
        return bool(is_principal and near and np.allclose(self.placement.p, other.placement.p, rtol=1e-9, atol=1e-12))

    def scaled(self, length: float) -> DragBox:
        """With all lengths times a factor."""
        x, y, z = self.size
        return replace(self, size=(length * x, length * y, length * z), placement=_longer(self.placement, length))

    def force(self, fluid: Fluid, V: Motion) -> Force:
        """Of the fluid on the shape, which moves with V relative to it, both in the axes of the shape."""
        (linear, quadratic), (turning, whirling) = self._coefficients(fluid)
        u, w = V.linear, V.angular
        return Force(-(linear + quadratic * absolute(u)) * u, -(turning + whirling * absolute(w)) * w)

    def slope(self, fluid: Fluid, V: Motion) -> Array:
        """∂(f, n)/∂(u, ω), (6, 6)."""
        (linear, quadratic), (turning, whirling) = self._coefficients(fluid)
        by_u, by_w = linear + 2.0 * quadratic * absolute(V.linear), turning + 2.0 * whirling * absolute(V.angular)
        slope = zeros((6, 6), V.linear, V.angular)
        for k in range(3):
            slope[k, k], slope[3 + k, 3 + k] = -by_u[k], -by_w[k]
        return slope

    def _coefficients(self, fluid: Fluid) -> tuple[tuple[float, Array], tuple[float, Array]]:
        """Of u and |u| u, then of ω and |ω| ω."""
        sides = np.array(self.size)
        d, fourth = float(sides.mean()), sides**4
        b, c = np.roll(sides, -1), np.roll(sides, -2)
        areas, moments = 0.5 * fluid.density * b * c, fluid.density / 64.0 * sides * (sum(fourth) - fourth)
        return (3.0 * math.pi * d * fluid.viscosity, areas), (math.pi * d**3 * fluid.viscosity, moments)


@final
@dataclass(frozen=True, eq=False)
class DragEllipsoid:
    """An ellipsoid that a fluid acts on, by the equations of `kinetree.model.fluid`."""

    semiaxes: Triple
    """s [m]"""
    placement: Transform = field(default_factory=Transform.identity)
    """^shape X_link, of the axes through the centre of the ellipsoid."""
    blunt: float = 0.5
    """k_b"""
    slender: float = 0.25
    """k_s"""
    angular: float = 1.5
    """k_a"""
    kutta: float = 1.0
    """k_K"""
    magnus: float = 1.0
    """k_M"""
    added_mass: Triple | None = None
    """The diagonal of m [m³]; by default that of a potential flow."""
    added_inertia: Triple | None = None
    """The diagonal of J [m⁵]; by default that of a potential flow."""

    def __post_init__(self) -> None:
        coefficients = dict.fromkeys(("blunt", "slender", "angular", "kutta", "magnus"), as_finite)
        read_fields(self, semiaxes=_sizes, placement=_placement, **coefficients)
        mass, inertia = _added(self.semiaxes)
        for name, value in (("added_mass", mass), ("added_inertia", inertia)):
            given = getattr(self, name)
            object.__setattr__(self, name, value if given is None else as_triple(name, given))

    def scaled(self, length: float) -> DragEllipsoid:
        """With all lengths times a factor."""
        powers = {"semiaxes": 1, "added_mass": 3, "added_inertia": 5}
        longer: dict[str, Any] = {n: tuple(length**k * x for x in getattr(self, n)) for n, k in powers.items()}
        return replace(self, placement=_longer(self.placement, length), **longer)

    @property
    def is_potential_flow(self) -> bool:
        """Whether the added mass and inertia are those by default."""
        mass, inertia = _added(self.semiaxes)
        volume = math.prod(self.semiaxes)
        assert self.added_mass is not None and self.added_inertia is not None
        near = np.allclose(self.added_mass, mass, rtol=1e-3, atol=1e-3 * volume)
        return bool(near and np.allclose(self.added_inertia, inertia, rtol=1e-3, atol=1e-3 * volume ** (5 / 3)))

    def force(self, fluid: Fluid, V: Motion) -> Force:
        """Of the fluid on the shape, which moves with V relative to it, both in the axes of the shape."""
        rho, u, w = fluid.density, V.linear, V.angular
        own, flow = self._constants(fluid), self._flow(u)
        m, J = rho * np.array(self.added_mass), rho * np.array(self.added_inertia)
        drag = own.linear + rho * flow.speed * (own.slender + own.blunt * flow.area)
        lift = (own.kutta * flow.lift) * (u * flow.square_n - flow.normal * flow.square_u)
        swirl = own.turning + rho * norm(own.whirl * w)
        return Force(
            lift - drag * u + own.magnus * cross(w, u) + cross(m * u, w), cross(m * u, u) + cross(J * w, w) - swirl * w
        )

    def slope(self, fluid: Fluid, V: Motion) -> Array:
        """∂(f, n)/∂(u, ω), (6, 6)."""
        rho, u, w = fluid.density, V.linear, V.angular
        own, flow = self._constants(fluid), self._flow(u)
        m, J = rho * np.array(self.added_mass), rho * np.array(self.added_inertia)
        drag = own.linear + rho * flow.speed * (own.slender + own.blunt * flow.area)
        drag_by_u = rho * (flow.speed_by_u * (own.slender + own.blunt * flow.area))
        drag_by_u = drag_by_u + rho * flow.speed * own.blunt * flow.area_by_u
        lifted = u * flow.square_n - flow.normal * flow.square_u
        lifted_by_u = outer(u, 2.0 * flow.normal) + flow.square_n * np.eye(3)
        lifted_by_u = lifted_by_u - outer(flow.normal, 2.0 * u) - flow.square_u * np.diag(self._areas)
        lift_by_u = own.kutta * (flow.lift * lifted_by_u + outer(lifted, flow.lift_by_u))
        whirl = own.whirl * w
        size = norm(whirl)
        swirl_by_w = rho * _inverse(size) * own.whirl * whirl
        slope = zeros((6, 6), u, w)
        slope[:3, :3] = lift_by_u - drag * np.eye(3) - outer(u, drag_by_u) + own.magnus * skew(w) - skew(w) * m
        slope[:3, 3:] = -own.magnus * skew(u) + skew(m * u)
        slope[3:, :3] = skew(m * u) - skew(u) * m
        turning = skew(J * w) - skew(w) * J
        slope[3:, 3:] = turning - (own.turning + rho * size) * np.eye(3) - outer(w, swirl_by_w)
        return slope

    @property
    def _areas(self) -> Array:
        """c."""
        squares = np.array(self.semiaxes) ** 2
        return np.roll(squares, -1) * np.roll(squares, -2)

    def _constants(self, fluid: Fluid) -> _Constants:
        s, rho, mu = np.array(self.semiaxes), fluid.density, fluid.viscosity
        r, (low, middle, high) = float(s.mean()), sorted(self.semiaxes)
        inertias = 8.0 / 15.0 * math.pi * s * np.maximum(np.roll(s, -1), np.roll(s, -2)) ** 4
        largest = 8.0 / 15.0 * math.pi * middle * high**4
        return _Constants(
            linear=6.0 * math.pi * r * mu,
            turning=8.0 * math.pi * r**3 * mu,
            blunt=self.blunt - self.slender,
            slender=self.slender * math.pi * high * middle,
            kutta=self.kutta * rho,
            magnus=self.magnus * rho * 4.0 / 3.0 * math.pi * low * middle * high,
            whirl=self.angular * inertias + self.slender * (largest - inertias),
        )

    def _flow(self, u: Array) -> _Flow:
        c, speed, square = self._areas, norm(u), u @ u
        normal = c * u
        across, size = normal @ u, norm(normal)
        by_across, by_size, by_speed = _inverse(across), _inverse(size), _inverse(speed)
        root = norm(sqrt(c) * u)
        area, lift = math.pi * size * _inverse(root), math.pi * root * by_size * by_speed
        bent = c * normal * (by_size * by_size) - normal * by_across
        return _Flow(
            speed=speed,
            square_u=square,
            normal=normal,
            square_n=across,
            area=area,
            lift=lift,
            speed_by_u=u * by_speed,
            area_by_u=area * bent,
            lift_by_u=-lift * (bent + u * (by_speed * by_speed)),
        )


@dataclass(frozen=True)
class _Constants:
    """Of an ellipsoid in a fluid, by which velocities count."""

    linear: float
    turning: float
    blunt: float
    slender: float
    kutta: float
    magnus: float
    whirl: Array


@dataclass(frozen=True)
class _Flow:
    """|u|, |u|², ν, ν · u, A, A cos α = π √(ν · u) / (|ν| |u|), and the derivatives of |u|, A and A cos α by u."""

    speed: Scalar
    square_u: Scalar
    normal: Array
    square_n: Scalar
    area: Scalar
    lift: Scalar
    speed_by_u: Array
    area_by_u: Array
    lift_by_u: Array


DragShape: TypeAlias = DragBox | DragEllipsoid


def drag_shapes(link: LinkDescription) -> tuple[DragShape, ...]:
    """The shapes of a link; without any, the box of its inertia, if it has mass."""
    return link.drag or (() if link.inertia.mass < SMALLEST else (DragBox.of(link.inertia),))


def _inverse(x: Scalar) -> Scalar:
    """1 / x; zero of zero."""
    is_zero = less(x, 1e-300)
    return where(is_zero, 0.0, divide(1.0, where(is_zero, 1.0, x)))


def _longer(X: Transform, length: float) -> Transform:
    return Transform(X.R, length * X.p)


def _added(semiaxes: Triple) -> tuple[Triple, Triple]:
    """The diagonals of m and J of a potential flow. With λ = t²/(1 - t)² the integrals

        κ_x = s_x s_y s_z ∫ dλ / ((s_x² + λ) √((s_x² + λ) (s_y² + λ) (s_z² + λ))),        λ from 0 to ∞

    are over t from 0 to 1; m_x = V κ_x / (2 - κ_x)."""
    s = np.array(semiaxes)
    volume = 4.0 / 3.0 * math.pi * float(s.prod())
    if not volume:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE)
    t = 0.5 * (nodes + 1.0)
    s, unit = s / s.max(), float(s.max())
    x = (t / (1.0 - t)) ** 2
    below = s[:, None] ** 2 + x
    kappa = s.prod() * (0.5 * weights * 2.0 * t / (1.0 - t) ** 3 / (below * np.sqrt(below.prod(axis=0)))).sum(axis=1)
    mass = volume * kappa / np.maximum(SMALLEST, 2.0 - kappa)
    (y2, z2), (ky, kz) = ((np.roll(of, -1), np.roll(of, -2)) for of in (s**2, kappa))
    below = np.abs(2.0 * (y2 - z2) + (y2 + z2) * (ky - kz))
    inertia = volume * unit**2 / 5.0 * (y2 - z2) ** 2 * np.abs(kz - ky) / np.maximum(SMALLEST, below)
    (a, b, c), (d, e, f) = mass.tolist(), inertia.tolist()
    return (a, b, c), (d, e, f)
