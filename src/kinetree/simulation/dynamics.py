"""What decides how a robot moves: its own dynamics, those under constraints, or contact with its environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.robot.constrained import Constrained
from kinetree.simulation.labels import Labels

Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Dynamics:
    """The accelerations of a robot by q, v and efforts, and what is done after every step; or steps of its own.

    All functions are of one state and are traced into the kernel of a step.
    """

    acceleration: Callable[[Any, Any, Any], Array]
    """v̇ from q, v and the efforts on all coordinates."""
    settled: Callable[[Any, Any], tuple[Array, Array]] | None = None
    """q and v from those at the end of a step, such as the nearest that constraints allow."""
    key: tuple[Any, ...] = ()
    """Equal for equal dynamics of one robot; hashable."""
    step: Callable[..., tuple[Array, Array, Mapping[str, Array]]] | None = None
    """(q, v, tau, dt) to (q_next, v_next, extras), in place of an integrator: a rule that solves for a whole step. What
    is `carried` from the step before is given to it by name, as in (q, v, tau, dt, impulses)."""
    extras: Mapping[str, Shape] = field(default_factory=dict)
    """Arrays that `step` gives beside q and v, by name, and their shapes; rollouts record them on request."""
    carried: tuple[str, ...] = ()
    """Those of the extras that the next step is given; zeros at the first."""
    observed: Callable[[Any, Any], Mapping[str, Array]] | None = None
    """What else there is to record, by name, from q and v at the beginning of a step."""
    labels: Mapping[str, Labels] = field(default_factory=dict)
    """Names and units of the entries of what can be recorded."""
    of: Callable[[Robot], Dynamics] | None = None
    """The same dynamics of the robot with other parameters."""


@runtime_checkable
class ContactEnvironment(Protocol):
    """What a robot meets: anything that knows the dynamics of a robot in it."""

    def dynamics(self, robot: Robot) -> Dynamics: ...


def own_dynamics(robot: Robot) -> Dynamics:
    """The dynamics of the robot alone, M v̇ + C v + G = τ, with its loops closed."""
    return constrained_dynamics(robot.constrained()) if robot.loops else Dynamics(robot.forward_dynamics)


def constrained_dynamics(constrained: Constrained) -> Dynamics:
    """The dynamics of a robot under constraints; without a frequency, every step ends nearer to them."""
    settled = None if constrained.equations.frequency else constrained.projected
    return Dynamics(lambda q, v, tau: constrained.forward_dynamics(q, v, tau)[0], settled, (constrained.equations,))
