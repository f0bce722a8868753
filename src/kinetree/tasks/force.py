"""The force of a contact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from kinetree.errors import one_of
from kinetree.tasks.task import Task


@final
@dataclass(frozen=True)
class Force(Task):
    """The force of a contact on the robot, in the contact's axes; for a robot that pushes with p, f = -p.
    In whole-body control only.

    part   "all" of it, or its "normal" part alone, (1,), for example of a sliding contact

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
