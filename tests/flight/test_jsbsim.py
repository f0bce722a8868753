"""Beside JSBSim's Cessna 172: pip install jsbsim.

JSBSim trims it and linearises its own equations of motion. Its forces and moments near that trim, by differences,
become a part here; trim and modes of our equations with them are compared with its own.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

import kinetree as kt
from f16 import FOOT, POUND, SLUG
from kinetree import flight

jsbsim = pytest.importorskip("jsbsim", reason="jsbsim is not installed")
pytestmark = pytest.mark.sweep
VELOCITY = ("ic/u-fps", "ic/v-fps", "ic/w-fps", "ic/p-rad_sec", "ic/q-rad_sec", "ic/r-rad_sec")
FORCES = (*(f"forces/fb{k}-total-lbs" for k in "xyz"), *(f"moments/{k}-total-lbsft" for k in "lmn"))
UNITS = np.repeat([POUND, POUND * FOOT], 3)


@dataclass(frozen=True)
class Sampled(flight.Part):
    """f = f₀ + S (V - V₀), linear in the six velocities."""

    frame: str
    velocity: tuple
    force_at: tuple
    slope: tuple

    def force(self, flow, u):
        away = np.concatenate([flow.velocity, flow.rate]) - np.array(self.velocity)
        return kt.Force.from_vector(np.array(self.force_at) + np.array(self.slope) @ away)


@cache
def cessna():
    """The simulator, trimmed at 95 knots and 5000 feet."""
    sim = jsbsim.FGFDMExec(jsbsim.__path__[0])
    sim.set_debug_level(0)
    sim.load_model("c172x")
    sim.disable_output()
    settings = {"ic/h-sl-ft": 5000, "ic/vc-kts": 95, "ic/gamma-deg": 0, "propulsion/set-running": -1}
    for name, value in {**settings, "fcs/mixture-cmd-norm": 0.87, "fcs/throttle-cmd-norm": 0.6}.items():
        sim[name] = value
    sim.run_ic()
    sim["propulsion/set-running"] = -1
    sim.do_trim(1)
    return sim


def aircraft(sim):
    """Our robot, its aircraft, and the airspeed [m/s]."""
    base = np.array([sim[name.replace("ic/", "velocities/")] for name in VELOCITY])
    angles = {name: sim[f"attitude/{name}-rad"] for name in ("phi", "theta", "psi")}

    def forces(velocity):
        for name, value in angles.items():
            sim[f"ic/{name}-rad"] = value
        for name, value in zip(VELOCITY, velocity, strict=True):
            sim[name] = value
        sim.run_ic()
        return np.array([sim[name] for name in FORCES])

    f0 = forces(base)
    steps = np.array([1.0, 1.0, 1.0, 0.01, 0.01, 0.01])
    moves = [h * e for h, e in zip(steps, np.eye(6), strict=True)]
    slope = np.stack([forces(base + move) - forces(base - move) for move in moves], axis=1) / (2 * steps)
    speeds = np.array([FOOT] * 3 + [1.0] * 3)
    S = slope * UNITS[:, None] / speeds
    unit = SLUG * FOOT**2
    xx, yy, zz, xz = (unit * sim[f"inertia/i{k}-slugs_ft2"] for k in ("xx", "yy", "zz", "xz"))
    R = np.diag([1.0, -1.0, -1.0])
    builder = kt.ModelBuilder("c172")
    inertia = R @ np.array([[xx, 0, -xz], [0, yy, 0], [-xz, 0, zz]]) @ R.T
    builder.link("body", kt.Inertia(SLUG * sim["inertia/mass-slugs"], np.zeros(3), inertia))
    builder.link("aero")
    builder.joint("axes", "fixed", "body", "aero", rpy=(np.pi, 0, 0))
    gravity = FOOT * sim["accelerations/gravity-ft_sec2"]
    robot = kt.Robot(builder.build("floating", gravity=(0, 0, -gravity)))
    part = Sampled("aero", tuple(base * speeds), tuple(f0 * UNITS), tuple(map(tuple, S)))
    return robot, flight.Aircraft(part), float(np.linalg.norm(base[:3]) * FOOT)


def test_trim_and_modes():
    sim = cessna()
    theirs = np.linalg.eigvals(np.array(jsbsim.FGLinearization(sim).system_matrix))
    alpha = sim["aero/alpha-rad"]
    robot, craft, V = aircraft(sim)
    level = flight.trim(robot, craft, V, tolerance=1e-2)
    assert level.success and level.alpha == pytest.approx(alpha, abs=5e-4)
    found = flight.modes(flight.linearize(robot, craft, level))
    # their propeller slows down and speeds up, which the phugoid feels
    for name, share in {"short period": 0.01, "roll": 0.005, "dutch roll": 0.01, "phugoid": 0.04}.items():
        assert np.abs(theirs - found[name].eigenvalue).min() < share * found[name].frequency, name
