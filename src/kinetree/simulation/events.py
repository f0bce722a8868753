"""Zero crossings that a simulation looks for, and what happens there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.base.arguments import as_flag, check_quaternions, read_fields
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.functions.law import Law, compile
from kinetree.ops import Array
from kinetree.robot import Robot

DIRECTIONS = (-1, 0, 1)


@final
@dataclass(frozen=True, eq=False)
class Event:
    """The instant at which a function of (robot, q, v) or (robot, q, v, t) becomes zero.

    function    gives one number; compiled if it is not yet
    direction   1 for where it rises through zero, -1 for where it falls, 0 for both; of a motion that begins at zero,
                the beginning counts where it leaves in the direction that is given
    terminal    whether the state stops there
    effect      q and v after it, from (robot, q, v) or (robot, q, v, t), such as the rebound of a ball
    name        in `trajectory.events`; that of the function if not given
    """

    function: Any
    direction: int = 0
    terminal: bool = False
    effect: Any = None
    name: str = ""

    def __post_init__(self) -> None:
        if not np.isscalar(self.direction) or self.direction not in DIRECTIONS:
            raise ArgumentError(f"direction is {short(self.direction)}; expected -1, 0 or 1")
        read_fields(self, terminal=as_flag)
        if not isinstance(self.name, str):
            raise ArgumentTypeError(f"name is {short(self.name)}; expected a word")
        for field in ("function", "effect"):
            given = getattr(self, field)
            if not isinstance(given, Law) and not (field == "effect" and given is None):
                if not callable(given):
                    raise ArgumentTypeError(f"{field} is {short(given)}; expected a function")
                object.__setattr__(self, field, compile(given, shapes=_of_time(given)))
        if not self.name:
            object.__setattr__(self, "name", self.function.__name__)

    def values(self, robot: Robot, q: Array, v: Array, t: Array) -> Array:
        """The function at many states, (…)."""
        found: Array = _called(self.function, robot, q, v, t)
        if found.shape != t.shape:
            raise ArgumentError(f"event {self.name!r} gives shape {found.shape[t.ndim :]}; expected one number")
        return found

    def after(self, robot: Robot, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """q and v after the event."""
        if self.effect is None:
            return q, v
        pair = _called(self.effect, robot, q, v, np.asarray(t))
        if not isinstance(pair, tuple) or len(pair) != 2 or pair[0].shape != q.shape or pair[1].shape != v.shape:
            raise ArgumentError(f"the effect of event {self.name!r} gives {short(pair)}; expected (q, v)")
        check_quaternions(f"q after event {self.name!r}", pair[0], robot.model.quaternions)
        return pair


def _of_time(function: Any) -> dict[str, Any]:
    code = getattr(function, "__code__", None)
    return {"t": ()} if code is not None and "t" in code.co_varnames[: code.co_argcount] else {}


def _called(law: Law, robot: Robot, q: Array, v: Array, t: Array) -> Any:
    known = {"robot": robot, "q": q, "v": v, "t": t}
    unknown = [name for name in law.definition.names if name not in known]
    if unknown:
        raise ArgumentError(f"{law.__name__} has an argument {unknown[0]!r}; that of an event takes robot, q, v and t")
    return law(**{name: known[name] for name in law.definition.names})


def as_events(events: Any) -> tuple[Event, ...]:
    """One event or several, as a tuple."""
    listed = (events,) if isinstance(events, Event) else tuple(events) if isinstance(events, Iterable) else (events,)
    for event in listed:
        if not isinstance(event, Event):
            raise ArgumentTypeError(f"events has {short(event)}; expected a kt.Event")
    return listed
