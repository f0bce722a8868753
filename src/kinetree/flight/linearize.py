"""Small motions about a steady flight: ẋ = A x + B u, longitudinal and lateral."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np

from kinetree.errors import known
from kinetree.flight.aerospace import LATERAL, LONGITUDINAL, STATES, state_rates
from kinetree.flight.flyers import without_joints
from kinetree.flight.part import Aircraft
from kinetree.flight.trim import Trim, required
from kinetree.functions.derivatives import jacobian
from kinetree.functions.law import Law, compile
from kinetree.ops import Array
from kinetree.robot import Robot


@final
@dataclass(frozen=True, eq=False)
class LinearModel:
    """δẋ = A δx + B δu, with the names of states and inputs."""

    A: Array
    B: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    airspeed: float

    def part(self, states: tuple[str, ...]) -> LinearModel:
        """The rows and columns of some of the states, as a model of its own."""
        rows = [self.states.index(known("state", name, self.states)) for name in states]
        return LinearModel(self.A[np.ix_(rows, rows)], self.B[rows], states, self.inputs, self.airspeed)

    @property
    def longitudinal(self) -> LinearModel:
        """u, w, q, θ."""
        return self.part(LONGITUDINAL)

    @property
    def lateral(self) -> LinearModel:
        """v, p, r, φ."""
        return self.part(LATERAL)

    def transfer(self, output: str, control: str, s: Any) -> Array:
        """(s 1 - A)⁻¹ B at complex frequencies s (…) [1/s], of one state and one input (by the end of its name)."""
        row = self.states.index(known("state", output, self.states))
        ends = [name.split(" ")[-1] for name in self.inputs]
        column = self.inputs.index(control) if control in self.inputs else ends.index(known("input", control, ends))
        s = np.asarray(s, dtype=complex)
        A = s[..., None, None] * np.eye(len(self.A)) - self.A
        b = np.broadcast_to(self.B[:, column, None], (*s.shape, len(self.A), 1))
        return np.asarray(np.linalg.solve(A, b))[..., row, 0]


def linearize(robot: Robot, aircraft: Aircraft, about: Trim) -> LinearModel:
    """The linear model (12 states) about a trim, by exact derivatives of the equations of motion."""
    robot = without_joints(robot, "linearize")
    required(about)
    by_x, by_u = _derivatives(aircraft.in_still_air, about.frame)(robot, about.x, about.u)
    return LinearModel(by_x, by_u, STATES, aircraft.inputs, about.airspeed)


@lru_cache(maxsize=64)
def _derivatives(aircraft: Aircraft, frame: str) -> Law:
    def rates(robot: Any, x: Any, u: Any) -> Array:
        return state_rates(robot, aircraft, frame, x, u)

    law = compile(rates, shapes={"x": (len(STATES),), "u": (len(aircraft.inputs),)})
    return jacobian(law, wrt=("x", "u"))
