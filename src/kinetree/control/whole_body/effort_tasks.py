"""Tasks of what drives and carries the robot: contact forces and joint torques."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from kinetree.base.arguments import as_flag
from kinetree.control.whole_body.dynamics import Dynamics
from kinetree.control.whole_body.task import Shape, WholeBodyTask
from kinetree.errors import one_of, unknown
from kinetree.ops import Array, zeros


@final
@dataclass(frozen=True)
class ForceTask(WholeBodyTask):
    """The force of a contact on the robot as given, in the contact's axes; a robot that pushes with p wants f = -p.

    part   "all" of it, or its "normal" part alone, (1,): what is left of a contact that slides

    Residuals are divided by the robot's mass. While the contact is off, its force is zero, and the task should be too.
    """

    contact: str
    part: Literal["all", "normal"] = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "part", one_of("part", self.part, ("all", "normal")))

    @property
    def default_name(self) -> str:
        return f"force of {self.contact}"

    def size(self, dynamics: Dynamics) -> int:
        return len(self.entries(dynamics))

    def entries(self, dynamics: Dynamics) -> list[int]:
        if not isinstance(self.contact, str) or self.contact not in dynamics.forces:
            raise unknown("contact", self.contact, dynamics.forces)
        at = dynamics.forces[self.contact]
        if self.part == "normal":
            (contact,) = (each for each in dynamics.contacts if each.name == self.contact)
            return [at.start + contact.normal_row]
        return list(range(at.start, at.stop))

    def references(self, dynamics: Dynamics) -> dict[str, Shape]:
        return {"target": (self.size(dynamics),)}

    def rows(self, dynamics: Dynamics, state: Any, given: list[Array]) -> tuple[Array, Array]:
        return np.eye(dynamics.n)[self.entries(dynamics)], given[0] * (1.0 / dynamics.scale)


@final
@dataclass(frozen=True)
class TorqueTask(WholeBodyTask):
    """Torques of all motors as small as can be; or, `as_given`, near those of a reference, (nv,). Residuals are divided
    by the robot's mass."""

    as_given: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "as_given", as_flag("as_given", self.as_given))

    @property
    def default_name(self) -> str:
        return "torques"

    def size(self, dynamics: Dynamics) -> int:
        return len(dynamics.motors)

    def references(self, dynamics: Dynamics) -> dict[str, Shape]:
        return {"target": (dynamics.robot.nv,)} if self.as_given else {}

    def rows(self, dynamics: Dynamics, state: Any, given: list[Array]) -> tuple[Array, Array]:
        motors = list(dynamics.motors)
        wanted = given[0][motors] * (1.0 / dynamics.scale) if self.as_given else zeros(len(motors), state.q)
        return state.T[motors], wanted - state.h[motors]
