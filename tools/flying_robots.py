"""Bundled robots that fly. Rotors are frames whose z is along the thrust; what they do lies in `kinetree.flight`."""

from __future__ import annotations

import math

import numpy as np
from urdf_writer import Limits, Writer, box, cylinder, sphere

TURNED_OVER = (math.pi, 0.0, 0.0)
"""From x forward, y left, z up to x forward, y right, z down."""


def _circle(count: int, arm: float, first: float, height: float) -> list[tuple[float, float, float]]:
    """Points on a circle, counter-clockwise from an angle."""
    angles = [first + 2.0 * math.pi * k / count for k in range(count)]
    return [(round(arm * math.cos(angle), 9), round(arm * math.sin(angle), 9), height) for angle in angles]


def _rotors(robot: Writer, count: int, arm: float, first: float, height: float = 0.0) -> None:
    """Frames on a circle, counter-clockwise from an angle."""
    for k, at in enumerate(_circle(count, arm, first, height)):
        robot.frame(f"rotor_{k + 1}", "base_link", at)


def _discs(count: int, arm: float, first: float, radius: float, height: float) -> list:
    """What is drawn of rotors and their arms."""
    drawn = []
    for k, at in enumerate(_circle(count, arm, first, height)):
        drawn.append(
            cylinder(radius, 0.004, at=at, colour="accent" if k in (0, count - 1) else "dark", drawn_only=True)
        )
        drawn.append(cylinder(0.1 * radius, 0.03, at=(at[0], at[1], height - 0.015), drawn_only=True))
    return drawn


def quadrotor() -> Writer:
    """AscTec's Hummingbird."""
    robot = Writer(
        "quadrotor",
        "A quadrotor of 0.5 kg with the measured inertia of AscTec's Hummingbird. Rotors 1 to 4 are front left, rear "
        "left, rear right and front right, 0.17 m from the middle, and blow along -z.",
    )
    arm, first = 0.17, math.pi / 4
    robot.link(
        "base_link",
        0.5,
        box(0.09, 0.09, 0.06),
        box(0.24, 0.016, 0.01, colour="dark", drawn_only=True),
        box(0.016, 0.24, 0.01, colour="dark", drawn_only=True),
        *_discs(4, arm, first, 0.1, 0.02),
        inertia=np.diag([3.65e-3, 3.68e-3, 7.03e-3]),
    )
    _rotors(robot, 4, arm, first)
    return robot


def hexarotor() -> Writer:
    """As large as AscTec's Firefly, whose published inertia no body can have: 0.035 + 0.046 < 0.098 kg m²."""
    robot = Writer(
        "hexarotor",
        "A hexarotor of 1.5 kg, as large as AscTec's Firefly: a hub and motors. Rotors 1 to 6 go counter-clockwise "
        "from the front left, 0.215 m from the middle, and blow along -z.",
    )
    arm, first = 0.215, math.pi / 6
    robot.link(
        "base_link",
        1.5,
        cylinder(0.07, 0.08),
        *(cylinder(0.022, 0.05, at=end, colour="dark") for end in _circle(6, arm, first, 0.01)),
        *_discs(6, arm, first, 0.1, 0.037),
    )
    _rotors(robot, 6, arm, first, 0.037)
    return robot


def quadrotor_arm() -> Writer:
    """A quadrotor that can reach for things."""
    robot = Writer(
        "quadrotor_arm",
        "A quadrotor of 2 kg with an arm of two joints below it, 0.45 kg and 0.4 m long. At q = 0 the arm hangs "
        "straight down; positive angles swing it forward. Rotors 1 to 4 go counter-clockwise from the front left.",
    )
    arm, first = 0.25, math.pi / 4
    robot.link("base_link", 2.0, box(0.3, 0.3, 0.08), *_discs(4, arm, first, 0.14, 0.06))
    _rotors(robot, 4, arm, first, 0.05)
    robot.joint("shoulder", "revolute", "base_link", "upper_arm_link", "-y", Limits(5, 8, -1.7, 1.7), at=(0, 0, -0.06))
    robot.link("upper_arm_link", 0.2, cylinder(0.015, 0.2, at=(0, 0, -0.1)))
    robot.joint("elbow", "revolute", "upper_arm_link", "forearm_link", "-y", Limits(3, 8, -2.4, 2.4), at=(0, 0, -0.2))
    robot.link(
        "forearm_link", 0.25, cylinder(0.012, 0.18, at=(0, 0, -0.09)), sphere(0.02, at=(0, 0, -0.2), colour="accent")
    )
    robot.frame("tool0", "forearm_link", at=(0, 0, -0.2))
    return robot


def fixed_wing() -> Writer:
    """Aerosonde, as Beard and McLain have it."""
    robot = Writer(
        "fixed_wing",
        "An unmanned aircraft of 11 kg and 2.9 m span with the inertia of Aerosonde, of Beard and McLain, Small "
        "Unmanned Aircraft. Frame aero has x forward, y right, z down at the centre of mass; the propeller pushes "
        "along its x.",
    )
    span, chord = 2.8956, 0.18994
    robot.link(
        "base_link",
        11.0,
        box(0.9, 0.16, 0.16),
        box(chord, span, 0.02, at=(0.0, 0.0, 0.08), colour="accent", drawn_only=True),
        box(0.9, 0.02, 0.02, at=(-0.6, 0.35, 0.05), colour="dark", drawn_only=True),
        box(0.9, 0.02, 0.02, at=(-0.6, -0.35, 0.05), colour="dark", drawn_only=True),
        box(0.12, 0.74, 0.01, at=(-1.05, 0.0, 0.2), colour="accent", drawn_only=True),
        box(0.12, 0.01, 0.16, at=(-1.05, 0.35, 0.12), drawn_only=True),
        box(0.12, 0.01, 0.16, at=(-1.05, -0.35, 0.12), drawn_only=True),
        cylinder(0.254, 0.01, at=(-0.47, 0.0, 0.0), along="x", colour="dark", drawn_only=True),
        inertia=np.array([[0.8244, 0.0, 0.1204], [0.0, 1.135, 0.0], [0.1204, 0.0, 1.759]]),
    )
    robot.frame("aero", "base_link", (0, 0, 0), TURNED_OVER)
    robot.frame("propeller", "base_link", (-0.47, 0, 0), TURNED_OVER)
    return robot
