"""What flies of the bundled robots: their rotors, drag, wings and propeller, with published numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from kinetree.errors import known
from kinetree.flight.airframe import Airframe, StabilityDerivatives
from kinetree.flight.body_drag import BodyDrag
from kinetree.flight.motor import DCMotor, FirstOrderMotor
from kinetree.flight.part import Air, Aircraft, Part
from kinetree.flight.propeller import Propeller
from kinetree.flight.rotor import Rotor

QUADROTOR_MOTOR = FirstOrderMotor(0.005)
"""Of the Hummingbird."""
HEXAROTOR_MOTOR = FirstOrderMotor(0.0125)
"""Of the Firefly as it speeds up; it slows down in twice the time."""


def _rotors(count: int, first: int, **coefficients: float) -> tuple[Rotor, ...]:
    """Rotors 1 to `count`, which turn alternately; `first` is the sense of the first."""
    return tuple(Rotor(f"rotor_{k + 1}", direction=first * (-1) ** k, **coefficients) for k in range(count))


def _quadrotor() -> tuple[Part, ...]:
    """AscTec's Hummingbird, as RotorPy has it: rotors counter-clockwise from the front left, which turns clockwise."""
    induced = {"hub_force": 1.19e-4, "inflow": 2.32e-4, "translational_lift": 3.39e-3}
    rotors = _rotors(4, -1, thrust=5.57e-6, torque=1.36e-7, max_speed=1500.0, **induced)
    return (*rotors, BodyDrag("base_link", quadratic=(0.5e-2, 0.5e-2, 1e-2)))


def _hexarotor() -> tuple[Part, ...]:
    """Rotors of AscTec's Firefly, as RotorS has them: around from the front left, which turns counter-clockwise, to the
    front right."""
    return _rotors(6, 1, thrust=8.54858e-6, torque=8.54858e-6 * 0.016, hub_force=8.06428e-5, max_speed=838.0)


def _quadrotor_arm() -> tuple[Part, ...]:
    """Rotors of 24 N each."""
    rotors = _rotors(4, -1, thrust=2.4e-5, torque=4.0e-7, max_speed=1000.0)
    return (*rotors, BodyDrag("base_link", quadratic=(1e-2, 1e-2, 2e-2)))


def _fixed_wing() -> tuple[Part, ...]:
    """Aerosonde (Beard, McLain 2012, appendix E, as revised in their supplement)."""
    span, area = 2.8956, 0.55
    derivatives = StabilityDerivatives(
        lift=(0.23, 5.61, 7.95, 0.13),
        drag=(0.043, 0.0, 0.0135),
        pitch=(0.0135, -2.74, -38.21, -0.99),
        side=(0.0, -0.98, 0.0, 0.0, 0.075, 0.19),
        roll=(0.0, -0.13, -0.51, 0.25, 0.17, 0.0024),
        yaw=(0.0, 0.073, 0.069, -0.095, -0.011, -0.069),
        aspect_ratio=span**2 / area,
        oswald=0.9,
        stall=0.47,
        sharpness=50.0,
    )
    constant = 60.0 / (2.0 * np.pi * 145.0)  # 145 revolutions a minute and volt
    motor = DCMotor(float(constant), resistance=0.042, no_load_current=1.5)
    propeller = Propeller(
        "propeller",
        diameter=0.508,
        thrust=(0.09357, -0.06044, -0.1079),
        torque=(0.00523, 0.00497, -0.01664),
        direction=1,
        motor=motor,
        voltage=44.4,
    )
    return Airframe("aero", area, span, 0.18994, derivatives), propeller


PARTS: Mapping[str, Callable[[], tuple[Part, ...]]] = {
    "quadrotor": _quadrotor,
    "hexarotor": _hexarotor,
    "quadrotor_arm": _quadrotor_arm,
    "fixed_wing": _fixed_wing,
}
DENSITY = {"fixed_wing": 1.2682}
"""Of the air in which coefficients were published, where it is not that at sea level."""


def aircraft(name: str, air: Air | None = None) -> Aircraft:
    """The parts of a bundled flying robot, "quadrotor", "hexarotor", "quadrotor_arm" or "fixed_wing", in some air."""
    parts = PARTS[known("aircraft", name, PARTS)]()
    return Aircraft(parts, Air(DENSITY[name]) if air is None and name in DENSITY else air or Air())
