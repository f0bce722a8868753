"""The torques of all motors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from kinetree.base.arguments import as_flag
from kinetree.tasks.task import Task


@final
@dataclass(frozen=True)
class Torque(Task):
    """Minimum torques of all motors; or, with `as_given`, torques near those of a reference, (nv,). Residuals are
    divided by the robot's mass. In whole-body control only."""

    as_given: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "as_given", as_flag("as_given", self.as_given))

    @property
    def default_name(self) -> str:
        return "torques"
