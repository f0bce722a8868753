"""Bundled flying robots and their parts, loaded once."""

from functools import cache

import numpy as np

import kinetree as kt
from kinetree import flight

G = 9.81


@cache
def load(name):
    return kt.load(name, base="floating"), flight.aircraft(name)


@cache
def allocation(name="quadrotor"):
    robot, craft = load(name)
    return flight.Allocation(robot, rotors(craft))


def rotors(craft):
    return [part for part in craft.parts if isinstance(part, flight.Rotor)]


def one_body(mass=2.0, inertia=(0.02, 0.03, 0.04), gravity=(0, 0, -G), frames=("part",)):
    """A rigid body on a floating base, with frames at its centre."""
    builder = kt.ModelBuilder("body")
    builder.link("body", kt.Inertia(mass, np.zeros(3), np.diag(inertia)))
    for frame in frames:
        builder.link(frame)
        builder.joint(f"{frame}_mount", "fixed", "body", frame)
    return kt.Robot(builder.build("floating", gravity=gravity))


def random_state(robot, rng, speed=3.0):
    q = robot.random(rng)
    return q, rng.normal(size=robot.nv) * speed


AEROSONDE_TRIM = {"elevator": -0.124778, "aileron": 0.001836, "rudder": -0.000303, "throttle": 0.676752}
"""Level at 25 m/s, as published with the supplement of Beard and McLain, where C_Dp is 0 and g is 9.8 m/s²."""


@cache
def aerosonde():
    """The aircraft of that trim."""
    robot, craft = kt.load("fixed_wing", base="floating", gravity=(0, 0, -9.8)), load("fixed_wing")[1]
    frame, propeller = craft.parts
    d = frame.coefficients
    slick = flight.StabilityDerivatives(
        d.lift, (0.0, *d.drag[1:]), d.pitch, d.side, d.roll, d.yaw, d.aspect_ratio, d.oswald, d.stall, d.sharpness
    )
    return robot, flight.Aircraft(
        (flight.Airframe("aero", frame.area, frame.span, frame.chord, slick), propeller), craft.air
    )


@cache
def level(speed=25.0):
    robot, craft = load("fixed_wing")
    return flight.trim(robot, craft, speed)
