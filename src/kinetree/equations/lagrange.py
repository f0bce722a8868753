"""Lagrange's equations of the second kind, by differentiating the graph of the Lagrangian.

    L(q, v) = T(q, v) - U(q)                            U: gravity, springs of joints, springs between frames
    p = ∂L/∂v                                           the generalized momentum
    τ = ṗ + 2 Bᵀ p - ∂L/∂q + ∂D/∂v                      D: Rayleigh's dissipation function

For angles and displacements, q̇ = v and B = 0: τ = d/dt ∂L/∂q̇ - ∂L/∂q. Where v is not the rate of any coordinates, as
for a floating base, take coordinates θ about the present q, q(t) = q ⊕ θ(t). Their rates are θ̇ = v + B(v) θ + O(θ²)
with B(v) v = 0, so that Lagrange's equations in θ, at θ = 0, are those above, and Hamel's (1904). For a rotating body
B = -½ [ω]× and 2 Bᵀ p = ω × p, which is Euler's term. Rotors (armature) that turn have no part in it: what a joint adds
is armature · a, by definition, also where it has several coordinates. The linear armature of a free joint is a mass.
Forces of a fluid come from no D, and are added.

Nothing here knows a recursion: it is as far from RNEA as two ways to the same forces can be.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree import linalg, ops
from kinetree.algorithms.configuration import tangent_rates
from kinetree.algorithms.fluid import fluid_forces, immersed
from kinetree.algorithms.joint_forces import dissipation
from kinetree.base.arguments import as_constant, as_nonnegative, read_fields
from kinetree.base.lazy import lazy
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.functions.derivatives import gradient, jacobian
from kinetree.functions.law import Law, compile
from kinetree.model.joints import Free
from kinetree.ops import Array, Scalar
from kinetree.robot import Robot

COINCIDENT = 1e-30
"""Ends of a spring whose squared distance [m²] is below have no direction between them, and the spring no force."""


@final
@dataclass(frozen=True)
class Spring:
    """A straight spring between two points, U = ½ stiffness · (d(q) - rest_length)², d their distance [m].

    An end is the name of a frame, whose origin it is, or a point of the world as three numbers [m]. It pulls the ends
    together with stiffness · (d - rest_length) [N].
    """

    a: str | tuple[float, float, float]
    b: str | tuple[float, float, float]
    stiffness: float
    """[N/m]"""
    rest_length: float = 0.0
    """[m]"""

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            end = getattr(self, name)
            if not isinstance(end, str):
                point = as_constant(name, end, (3,))
                if not np.isfinite(point).all():
                    raise ArgumentError(f"{name} is {short(end)}; expected the name of a frame or three finite numbers")
                object.__setattr__(self, name, tuple(point.tolist()))
        read_fields(self, stiffness=as_nonnegative, rest_length=as_nonnegative)

    def energy(self, robot: Robot, q: Array) -> Scalar:
        """U of one state, also of a traced one [J]."""
        apart = _point(robot, self.b, q) - _point(robot, self.a, q)
        square = apart @ apart
        if self.rest_length == 0.0:
            return 0.5 * self.stiffness * square
        coincident = ops.less(square, COINCIDENT)
        d = ops.where(coincident, 0.0, ops.sqrt(ops.where(coincident, 1.0, square)))
        return 0.5 * self.stiffness * (d - self.rest_length) ** 2


def _point(robot: Robot, end: str | tuple[float, ...], q: Array) -> Array:
    return robot.frame(end).pose(q)[:3, 3] if isinstance(end, str) else np.array(end)


@final
@dataclass(frozen=True)
class Lagrange:
    """The dynamics of a robot with springs between frames, from its energies alone; one state or a batch."""

    robot: Robot
    springs: tuple[Spring, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.robot, Robot):
            raise ArgumentTypeError(f"robot is {short(self.robot)}; expected a kinetree.Robot")
        springs: Any = (self.springs,) if isinstance(self.springs, Spring) else self.springs
        if not isinstance(springs, Iterable):
            raise ArgumentTypeError(f"springs is {short(springs)}; expected springs, each a kinetree.Spring")
        object.__setattr__(self, "springs", tuple(springs))
        for spring in self.springs:
            if not isinstance(spring, Spring):
                raise ArgumentTypeError(f"springs has {short(spring)}; expected a kinetree.Spring")
            for end in (spring.a, spring.b):
                if isinstance(end, str):
                    self.robot.frame(end)

    def __reduce__(self) -> tuple[Any, ...]:
        return Lagrange, (self.robot, self.springs)

    # -- energies ----------------------------------------------------------------------------------------------

    def lagrangian(self, q: ArrayLike, v: ArrayLike) -> Array:
        """L = T - U, (…) [J]."""
        return self._lagrangian(self.robot, q, v)

    def potential_energy(self, q: ArrayLike) -> Array:
        """U of gravity, of springs at joints and of springs between frames, (…) [J]."""
        return self._potential(self.robot, q)

    def momentum(self, q: ArrayLike, v: ArrayLike) -> Array:
        """p = ∂L/∂v = M v, (…, nv)."""
        return self._momentum(self.robot, q, v)

    # -- equations of motion -----------------------------------------------------------------------------------

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """τ = ṗ + 2 Bᵀ p - ∂L/∂q + ∂D/∂v, (…, nv) [N m or N]."""
        return self._efforts(self.robot, q, v, a)

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Array:
        """The a with inverse_dynamics(q, v, a) = τ, (…, nv): τ is linear in a, with matrix M."""
        return self._accelerations(self.robot, q, v, tau)

    def spring_forces(self, q: ArrayLike) -> Array:
        """-∂U/∂q of the springs between frames, (…, nv) [N m or N]: what they do to the joints, as motors would."""
        return self._spring_forces(self.robot, q)

    # -- the laws ----------------------------------------------------------------------------------------------

    @lazy
    def _springs(self) -> Law:
        def spring_energy(robot: Robot, q: Array) -> Scalar:
            return sum((spring.energy(robot, q) for spring in self.springs), 0.0 * q[:1].sum())

        return compile(spring_energy)

    @lazy
    def _potential(self) -> Law:
        return compile(lambda robot, q: robot.potential_energy(q) + self._springs(robot, q))

    @lazy
    def _lagrangian(self) -> Law:
        return compile(lambda robot, q, v: robot.kinetic_energy(q, v) - self._potential(robot, q))

    @lazy
    def _momentum(self) -> Law:
        return gradient(self._lagrangian, wrt="v")

    @lazy
    def _efforts(self) -> Law:
        momentum, push = self._momentum, gradient(self._lagrangian, wrt="q")
        rates_by_theta = jacobian(
            lambda robot, theta, v: tangent_rates(robot.model, theta, v), wrt="theta", shapes={"theta": "v"}
        )
        drag = gradient(lambda robot, q, v: dissipation(robot.model, q, v), wrt="v")
        turning = self.robot.model.armature.copy()
        for joint in self.robot.model.joints:
            if isinstance(joint, Free):
                turning[joint.linear_slice] = 0.0

        def soon(robot: Robot, q: Array, v: Array, a: Array, t: Scalar) -> Array:
            return momentum(robot, robot.integrate(q, v * t), v + a * t)

        rate = jacobian(soon, wrt="t", mode="forward", shapes={"t": ()})

        def inverse_dynamics(robot: Robot, q: Array, v: Array, a: Array) -> Array:
            B = rates_by_theta(robot, np.zeros(robot.nv), v)
            carried = momentum(robot, q, v) - turning * v  # that of rotors stays with their axes
            tau = rate(robot, q, v, a, 0.0) + 2.0 * B.T @ carried - push(robot, q, v) + drag(robot, q, v)
            return tau + fluid_forces(robot.model, q, v) if immersed(robot.model) else tau

        return compile(inverse_dynamics)

    @lazy
    def _accelerations(self) -> Law:
        mass_matrix = jacobian(self._momentum, wrt="v")

        def forward_dynamics(robot: Robot, q: Array, v: Array, tau: Array) -> Array:
            bias = self._efforts(robot, q, v, np.zeros(robot.nv))
            return linalg.solve(mass_matrix(robot, q, v), tau - bias, positive_definite=True)

        return compile(forward_dynamics)

    @lazy
    def _spring_forces(self) -> Law:
        by_q = gradient(self._springs, wrt="q")
        return compile(lambda robot, q: -by_q(robot, q))
