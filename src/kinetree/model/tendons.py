"""Tendons over several joints, or along a path of points, pulleys and surfaces; with springs, dampers and friction."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, final

from kinetree.base.arguments import as_nonnegative, as_number, as_numbers, positive, read_fields
from kinetree.errors import ArgumentError, ArgumentTypeError, one_of, short
from kinetree.ops import clip

UNLIMITED = (-math.inf, math.inf)


@final
@dataclass(frozen=True)
class Wrap:
    """A surface that a tendon is pulled tight over, between the points before and after it in a path: a sphere about
    the origin of a frame, or an endless cylinder about its z. Where the straight line misses it, the tendon does too.

    `side` is a frame: the tendon passes there, the longer way round, if that is opposite of both points. A side within
    the radius of the surface's frame means that the tendon passes through: it bends at the surface where the straight
    line would miss it.
    """

    frame: str
    radius: float
    """[m]"""
    shape: Literal["sphere", "cylinder"] = "sphere"
    side: str | None = None

    def __post_init__(self) -> None:
        read_fields(self, radius=positive("a length above zero"))
        one_of("shape", self.shape, ("sphere", "cylinder"))


@final
@dataclass(frozen=True)
class Pulley:
    """Where a path ends, and another one begins whose length counts divided by `divisor`."""

    divisor: float

    def __post_init__(self) -> None:
        read_fields(self, divisor=positive("a number above zero"))


Strand: TypeAlias = tuple[str, str, Wrap | None, float]
"""From one frame to another, over a surface or straight, and what its length is divided by."""


def as_geared(what: str, named: Any) -> tuple[tuple[str, float], ...]:
    """Names, and a number for each."""
    try:
        return tuple((str(name), as_number("gear", gear)) for name, gear in named)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{what} is {short(named)}; expected pairs of a name and a gear") from None


@final
@dataclass(frozen=True)
class Tendon:
    """Of the length ℓ = Σ gear · x over the positions x of its joints, and that of its path. It takes the force

        f = stiffness · s + damping · ℓ̇ + friction · ℓ̇ / √(ℓ̇² + w²)

    to be moved, and every coordinate the effort ∂ℓ/∂q · f, with s by how much ℓ is outside of `rest`, and w the width
    of friction of the model.
    """

    name: str
    joints: tuple[tuple[str, float], ...] = ()
    """Joints with one coordinate, and the gear of each."""
    stiffness: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    rest: tuple[float, float] = (0.0, 0.0)
    """Lengths between which the spring is slack."""
    path: tuple[str | Wrap | Pulley, ...] = ()
    """Frames by name, in order, with surfaces between two of them, and pulleys where a new path begins."""
    length_range: tuple[float, float] = UNLIMITED
    """Limits of ℓ; stops of a rollout hold them, where these are asked for, as they do limits of joints."""

    def __post_init__(self) -> None:
        read_fields(self, stiffness=as_nonnegative, damping=as_nonnegative, friction=as_nonnegative)
        for name in ("rest", "length_range"):
            given = as_numbers(name, getattr(self, name))
            if not isinstance(given, tuple) or len(given) != 2 or not given[0] <= given[1]:
                what = short(getattr(self, name))
                raise ArgumentError(f"{name} is {what}; expected two lengths, the lower one first")
            object.__setattr__(self, name, given)
        read_fields(self, joints=as_geared)
        if isinstance(self.path, str):
            raise ArgumentTypeError(f"path is {short(self.path)}; expected names of frames, surfaces and pulleys")
        object.__setattr__(self, "path", tuple(self.path))
        if not self.joints and not self.path:
            raise ArgumentError(f"joints of tendon {self.name!r} is empty, and so is its path; expected one of them")
        self._check_path()

    def _check_path(self) -> None:
        before: object = None
        for item in self.path:
            if not isinstance(item, (str, Wrap, Pulley)):
                raise ArgumentTypeError(f"path has {short(item)}; expected the name of a frame, a Wrap or a Pulley")
            if Wrap in (type(item), type(before)) and str not in (type(item), type(before)):
                odd = item if isinstance(item, Wrap) else before
                raise ArgumentError(f"path of tendon {self.name!r} has {odd}; expected a frame before and after it")
            before = item
        if isinstance(before, Wrap):
            raise ArgumentError(f"path of tendon {self.name!r} has {before}; expected a frame before and after it")

    @property
    def pulls(self) -> bool:
        """Whether it has a spring, damping or friction."""
        return bool(self.stiffness or self.damping or self.friction)

    @property
    def strands(self) -> list[Strand]:
        """The parts of its path, between two frames each."""
        found: list[Strand] = []
        start: str | None = None
        over: Wrap | None = None
        divisor = 1.0
        for item in self.path:
            if isinstance(item, Pulley):
                start, divisor = None, item.divisor
            elif isinstance(item, Wrap):
                over = item
            else:
                if start is not None:
                    found.append((start, item, over, divisor))
                start, over = item, None
        return found

    @property
    def frames(self) -> tuple[str, ...]:
        """All frames that its path knows."""
        of_wraps = [each for item in self.path if isinstance(item, Wrap) for each in (item.frame, item.side)]
        return tuple(each for each in (*self.path, *of_wraps) if isinstance(each, str))

    def stretch(self, length: Any) -> Any:
        """The distance of a length from the interval `rest`."""
        lower, upper = self.rest
        return length - (lower if lower == upper else clip(length, lower, upper))

    def scaled(self, length: float) -> Tendon:
        """With its path in a robot whose lengths are times a factor; a tendon over joints alone stays as it is."""
        if not self.path:
            return self
        path = (replace(item, radius=length * item.radius) if isinstance(item, Wrap) else item for item in self.path)
        rest, limits = ((length * lower, length * upper) for lower, upper in (self.rest, self.length_range))
        return replace(self, path=tuple(path), rest=rest, length_range=limits)

    def renamed(self, joint: Callable[[str], str], frame: Callable[[str], str]) -> Tendon:
        """With other names of joints and frames."""

        def other(item: str | Wrap | Pulley) -> str | Wrap | Pulley:
            if isinstance(item, Wrap):
                return replace(item, frame=frame(item.frame), side=None if item.side is None else frame(item.side))
            return frame(item) if isinstance(item, str) else item

        joints = tuple((joint(name), gear) for name, gear in self.joints)
        return replace(self, joints=joints, path=tuple(map(other, self.path)))
