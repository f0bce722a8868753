"""Rigid contact for rollouts: what the user says of it; `time_stepping` has the equations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

from kinetree.base.arguments import as_count, as_flag, as_share, read_fields
from kinetree.errors import ArgumentError
from kinetree.model.constraints import CONSTRAINTS, EXPECTED
from kinetree.robot import Robot
from kinetree.simulation.contact.contact_model import ContactModel, labels
from kinetree.simulation.contact.meeting import Pair, pairs
from kinetree.simulation.contact.stops import stops_of
from kinetree.simulation.contact.time_stepping import PUSHING_OUT, TimeStepping
from kinetree.simulation.contact.touch import as_listed
from kinetree.simulation.dynamics import Dynamics

MOST_SOLVED = 5000
"""Pairs times sweeps: some 600,000 operations, which take one to two minutes to compile."""


@final
@dataclass(frozen=True)
class RigidContact(ContactModel):
    """Rigid contact with friction and impacts, solved once per step: contacts stick, slip, open and close.

    restitution   e from 0, plastic, to 1, elastic, where neither touch nor obstacle says
    held          kt.Loop, kt.Contact and couplings that hold all the time, beside the robot's own loops and the
                  contacts that come and go
    stops         whether joints and tendons stop dead at their limits
    sweeps        over all contacts in every step, from the forces of the step before
    correction    β, the share of a penetration that one step takes back

    Rollouts can record "contact_forces", (…, steps, n, 3) [N], on the robot in world axes; "contact_gaps",
    (…, steps, n) [m], at the beginning of steps; "contact_residual", (…, steps) [m/s], by which the contacts' laws
    are broken when the sweeps end; and with stops "stop_efforts", (…, steps, m) [N m or N], away from limits.
    """

    restitution: float = field(default=0.0, kw_only=True)
    held: Any = field(default=(), kw_only=True)
    stops: bool = field(default=False, kw_only=True)
    sweeps: int = field(default=12, kw_only=True)
    correction: float = field(default=0.2, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        read_fields(self, restitution=as_share, correction=as_share, stops=as_flag)
        object.__setattr__(self, "held", as_listed("held", self.held, CONSTRAINTS, EXPECTED))
        if as_count("sweeps", self.sweeps) == 0:
            raise ArgumentError("sweeps is 0; expected at least one")

    def pairs(self, robot: Robot) -> tuple[Pair, ...]:
        """The pairs that may touch, in the order of gaps and forces; empty is possible with stops."""
        if self.stops and not self.touching:
            return ()
        return pairs(robot.model, self.touching, self.obstacles, self.friction, self.restitution)

    def dynamics(self, robot: Robot) -> Dynamics:
        """The dynamics of a robot with these contacts."""
        held = robot.constrained(self.held).equations if self.held or robot.loops else None
        stops = stops_of(robot.model) if self.stops else ()
        found = self.pairs(robot)
        limit = MOST_SOLVED // (self.sweeps + PUSHING_OUT)
        if len(found) > limit:
            raise ArgumentError(
                f"contact has {len(found)} pairs and {self.sweeps} sweeps, and all of it is compiled; expected at most "
                f"{limit} pairs, for example by only= of obstacles"
            )
        rule = TimeStepping(robot.model, found, stops, held, self.sweeps, self.correction)
        return Dynamics(
            robot.forward_dynamics,
            key=(self,),
            step=rule.step,
            extras=rule.extras,
            carried=rule.carried,
            labels=labels(robot, found, stops),
        )
