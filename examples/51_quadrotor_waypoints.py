"""A quadrotor flies through waypoints on a minimum-snap path, with rotors, drag, motors that lag, and gusts.

Three controllers fly the same path: geometric on SE(3), cascaded with integrals, and geometric without the feed-forward
of jerk and snap. Rotor speeds and integrals are states of their laws, so that each flight is one compiled loop.

    python 51_quadrotor_waypoints.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree import flight

DT = 2e-3
POINTS = np.array([[0, 0, 1], [2.5, 1.5, 2], [4, -1, 1.2], [1.5, -2, 2.4], [0, 0, 1]])
robot, motor = kt.load("quadrotor", base="floating"), flight.QUADROTOR_MOTOR
gusts = flight.Dryden((50.0, 50.0, 20.0), (0.8, 0.8, 0.4), 5.0).gusts(np.random.default_rng(0), 10)
craft = flight.aircraft("quadrotor", flight.Air(wind=flight.Winds((flight.UniformWind((1.5, 0, 0)), gusts))))
allocation = flight.Allocation(robot, [part for part in craft.parts if isinstance(part, flight.Rotor)])
path = flight.minimum_snap(POINTS, flight.instants_for(POINTS, speed=2.2), yaw=[0, 0.6, 1.4, 0.8, 0])
steps = int((path.duration + 1.0) / DT)
geometric = flight.GeometricControl(robot, position_gain=16.0, velocity_gain=8.0)
cascaded = flight.CascadedControl(robot, position=2.0, velocity=8.0, velocity_integral=6.0)


def flown(wrench_of):
    """The flight under a law of the wrench, which may carry an integral."""

    @kt.compile(shapes={"speeds": (4,), "integral": (6,)})
    def fly(robot, q, v, t, speeds, integral):
        wrench, after = wrench_of(q, v, t, integral)
        command = allocation.speeds(wrench)
        tau = craft.efforts(robot, q, v, t, motor.mean(speeds, command, DT))
        return {"tau": tau, "speeds": motor.after(speeds, command, DT), "integral": after}

    start = flight.flat_motion(robot, path(0.0))
    first = {"speeds": allocation.speeds_of(allocation.hover), "integral": np.zeros(6)}
    return robot.rollout(start.q, start.v, fly, DT, steps, states=first, record=("q", "v", "speeds"))


def on_se3(q, v, t, integral):
    """All of the path is fed forward."""
    return geometric(q, v, tuple(path(t)))[2:6], integral


def without_feed_forward(q, v, t, integral):
    """The attitude follows, and so it lags."""
    state = path(t)
    return geometric(q, v, state.position, state.velocity, state.acceleration, yaw=state.yaw)[2:6], integral


def in_loops(q, v, t, integral):
    """Integrals find the wind."""
    found = cascaded(q, v, integral, DT, tuple(path(t)))
    return found["tau"][2:6], found["integral"]


flights = {
    "geometric on SE(3)": flown(on_se3),
    "without jerk and snap": flown(without_feed_forward),
    "cascaded, with integrals": flown(in_loops),
}
misses = {}
for name, run in flights.items():
    wanted = path(run.t).position
    misses[name] = np.linalg.norm(run.q[:, :3] - wanted, axis=1)
    tilt = np.degrees(np.arccos(robot.frame("base_link").pose(run.q)[:, 2, 2].min()))
    print(f"{name:26} at most {100 * misses[name].max():5.1f} cm off, {tilt:.0f}° of tilt")
    assert misses[name].max() < 1.0 and not run.diverged

figure = Figure(figsize=(11, 4.6), layout="constrained")
axes = figure.subplot_mosaic([["above", "off"], ["above", "speeds"]])
ax, off, rotors = axes["above"], axes["off"], axes["speeds"]
fine = path(np.linspace(0, path.duration, 400)).position
ax.plot(fine[:, 0], fine[:, 1], color="0.6", linewidth=4, label="path")
ax.plot(POINTS[:, 0], POINTS[:, 1], "o", color="0.3", label="waypoints")
for k, (name, run) in enumerate(flights.items()):
    ax.plot(run.q[:, 0], run.q[:, 1], color=f"C{k}", linewidth=1.2, label=name)
    off.plot(run.t, 100 * misses[name], color=f"C{k}")
ax.set(xlabel="x [m]", ylabel="y [m]", title="from above; wind along x, with gusts")
ax.set_aspect("equal")
ax.legend(fontsize=8)
off.set(ylabel="off the path [cm]", xlim=(0, steps * DT))
rotors.plot(flights["geometric on SE(3)"].t[1:], flights["geometric on SE(3)"]["speeds"], linewidth=0.8)
rotors.set(xlabel="t [s]", ylabel="rotors [rad/s]", xlim=(0, steps * DT))
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / f"{Path(__file__).stem}.png", dpi=120)
print("saved", folder / f"{Path(__file__).stem}.png")
