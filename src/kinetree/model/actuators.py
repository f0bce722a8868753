"""What turns controls into efforts: motors, servos, cylinders and muscles, on joints, on tendons and on frames."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, final

from kinetree.base.arguments import as_finite, as_listed, as_number, as_numbers, as_triple, positive, read_fields
from kinetree.errors import ArgumentError, one_of, short
from kinetree.model.muscles import Muscle
from kinetree.model.tendons import UNLIMITED, as_geared

Activation: TypeAlias = Literal["none", "integrator", "filter", "muscle"]
Axes: TypeAlias = Literal["frame", "reference"]
DRIVES = "kt.FrameDrive or kt.SliderCrank"
ACTIVATIONS: tuple[Activation, ...] = ("none", "integrator", "filter", "muscle")


@final
@dataclass(frozen=True)
class FrameDrive:
    """A force and a moment on a frame for each unit of an actuator's force, as of a thruster or a ball with a motor.

    With a `reference`, the opposite acts on that frame, joints that move both frames feel nothing, and the length is

        ℓ = force · p + moment · r

    for the position p and the rotation vector r of the frame in the reference. Without one, ℓ = 0.
    """

    frame: str
    force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    moment: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[m]"""
    reference: str | None = None
    axes: Axes = "frame"
    """In whose axes force, moment and p are: those of the frame, or of the reference, which is the world by default."""

    def __post_init__(self) -> None:
        read_fields(self, force=as_triple, moment=as_triple)
        one_of("axes", self.axes, ("frame", "reference"))

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.frame,) if self.reference is None else (self.frame, self.reference)

    def renamed(self, frame: Callable[[str], str]) -> FrameDrive:
        """With other names of frames."""
        return replace(
            self, frame=frame(self.frame), reference=None if self.reference is None else frame(self.reference)
        )


@final
@dataclass(frozen=True)
class SliderCrank:
    """A piston along z of the frame `slider`, with a rod from it to the origin of the frame `crank`. With that origin
    at d from the slider's, and the axis z,

        ℓ = gear · (z · d - √((z · d)² + rod² - d · d))

    or gear · (z · d), where the rod does not reach.
    """

    crank: str
    slider: str
    rod: float
    """[m]"""
    gear: float = 1.0

    def __post_init__(self) -> None:
        read_fields(self, rod=positive("a length above zero"), gear=as_finite)

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.crank, self.slider)

    def renamed(self, frame: Callable[[str], str]) -> SliderCrank:
        """With other names of frames."""
        return replace(self, crank=frame(self.crank), slider=frame(self.slider))


Drive: TypeAlias = FrameDrive | SliderCrank


@final
@dataclass(frozen=True)
class Actuator:
    """At the length ℓ = Σ gear · x over the positions x of its joints and the lengths x of its tendons, and those of
    its `drives`, it gives a force

        f = (g₀ + g₁ ℓ + g₂ ℓ̇) w + b₀ + b₁ ℓ + b₂ ℓ̇            within `force_range`

    and efforts of ∂ℓ/∂q · f, or those of its drives times f. Here w is the control u within `control_range`, or with an
    activation a state within `activation_range`: ẇ = u of an "integrator", ẇ = (u - w) / time_constant of a "filter".
    A `muscle` has its own force and activation instead. Where ℓ is the rotation of a frame in a reference and g₀ = -b₁,
    the error w - ℓ is that of the shorter way round.

    A motor has gain (1, 0, 0); a position servo gain (k, 0, 0) and bias (0, -k, -d); a velocity servo gain (d, 0, 0)
    and bias (0, 0, -d).
    """

    name: str
    joints: tuple[tuple[str, float], ...] = ()
    """Joints with one coordinate, and the gear of each."""
    gain: tuple[float, float, float] = (1.0, 0.0, 0.0)
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    control_range: tuple[float, float] = UNLIMITED
    force_range: tuple[float, float] = UNLIMITED
    activation: Activation = "none"
    time_constant: float = 0.0
    """[s]"""
    activation_range: tuple[float, float] = UNLIMITED
    tendons: tuple[tuple[str, float], ...] = ()
    """Tendons of the robot, and the gear of each."""
    muscle: Muscle | None = None
    drives: tuple[Drive, ...] = ()
    """What it does to frames."""

    def __post_init__(self) -> None:
        for name, size in (
            ("gain", 3), ("bias", 3), ("control_range", 2), ("force_range", 2), ("activation_range", 2),
        ):  # fmt: skip
            given = as_numbers(name, getattr(self, name))
            if not isinstance(given, tuple) or len(given) != size or any(map(math.isnan, given)):
                raise ArgumentError(f"{name} is {short(getattr(self, name))}; expected {size} numbers")
            if size == 2 and given[0] > given[1]:
                raise ArgumentError(f"{name} is {given[0]:g} to {given[1]:g}; expected the lower bound first")
            object.__setattr__(self, name, given)
        one_of("activation", self.activation, ACTIVATIONS)
        constant = as_number("time_constant", self.time_constant)
        if not 0.0 <= constant < math.inf or (self.activation == "filter" and not constant):
            raise ArgumentError(f"time_constant is {constant:g}; expected a time above zero")
        object.__setattr__(self, "time_constant", constant)
        if (self.activation == "muscle") != (self.muscle is not None):
            raise ArgumentError(f"activation is {self.activation!r} and muscle {self.muscle}; expected both or none")
        read_fields(self, joints=as_geared, tendons=as_geared)
        object.__setattr__(self, "drives", as_listed("drives", self.drives, (FrameDrive, SliderCrank), DRIVES))
        if not self.joints and not self.tendons and not self.drives:
            raise ArgumentError(
                f"joints of actuator {self.name!r} is empty, and so are tendons and drives; expected one of them"
            )

    @property
    def frames(self) -> tuple[str, ...]:
        """All frames that it acts on."""
        return tuple(frame for drive in self.drives for frame in drive.frames)

    @property
    def period(self) -> float | None:
        """The length of a whole turn, of a servo that turns a frame in a reference."""
        match self.drives:
            case [FrameDrive(force=(0.0, 0.0, 0.0), reference=str(), moment=moment)] if any(moment):
                is_servo = self.gain[0] == -self.bias[1] != 0.0 and not any(self.gain[1:]) and self.muscle is None
                is_alone = not self.joints and not self.tendons
                return 2.0 * math.pi * math.hypot(*moment) if is_servo and is_alone else None
        return None

    def renamed(self, joint: Callable[[str], str], frame: Callable[[str], str]) -> Actuator:
        """The actuator with other names of joints and frames."""
        joints = tuple((joint(name), gear) for name, gear in self.joints)
        return replace(self, joints=joints, drives=tuple(drive.renamed(frame) for drive in self.drives))

    def scaled(self, length: float) -> Actuator:
        """With rods times a factor."""
        rods = (replace(each, rod=length * each.rod) if isinstance(each, SliderCrank) else each for each in self.drives)
        return replace(self, drives=tuple(rods))
