"""A fixed-wing aircraft climbs along a line and circles a point in turbulence; its modes and its loops.

Total energy holds height and airspeed; the course comes from vector fields, or from the guidance of Park, Deyst and How
("L1"); the autopilot moves the surfaces. Thirty aircraft fly at once, each in gusts from another side.

    python 53_fixed_wing_mission.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree import flight

DT, SECONDS, COUNT = 0.01, 80.0, 30
CENTER, RADIUS, HEIGHT, SPEED = np.array([600.0, 130.0]), 130.0, 140.0, 26.0
plane, calm = kt.load("fixed_wing", base="floating"), flight.aircraft("fixed_wing")
level = flight.trim(plane, calm, 25.0)
model = flight.linearize(plane, calm, level)
modes = flight.modes(model)
for mode in modes.values():
    print(mode)
gusts = flight.Dryden.low_altitude(100.0, wind=8.0, airspeed=25.0).gusts(np.random.default_rng(0), 10)
craft = flight.aircraft("fixed_wing", flight.Air(1.2682, gusts))
autopilot, tecs = flight.Autopilot(plane, level), flight.TotalEnergyControl(plane, level)


def mission(bank_for):
    """All loops closed around a law that says how to bank."""

    @kt.compile(shapes={"inner": (2,), "outer": (2,), "steady": (3,)})
    def fly(robot, q, v, t, inner, outer, steady):
        world = robot.frame("base_link").velocity(q, v)[:3]
        R = robot.frame("base_link").pose(q)[:3, :3]
        in_air = np.concatenate([v[:3] - R.T @ steady, v[3:]])  # air that moves as a whole
        energy = tecs(q, in_air, outer, DT, HEIGHT, SPEED)
        found = autopilot(q, in_air, inner, DT, bank_for(q[:2], world), energy["pitch"], SPEED)
        u = np.array([found["u"][0], found["u"][1], found["u"][2], energy["throttle"]])
        tau = craft.efforts(robot, q, in_air, t, u)
        speed = kt.sqrt(in_air[:3] @ in_air[:3])
        return {"tau": tau, "inner": found["memory"], "outer": energy["memory"], "airspeed": speed}

    q = level.q.copy()
    q[:3] = [0.0, 60.0, 100.0]
    side = np.linspace(0, 2 * np.pi, COUNT, endpoint=False)
    steady = 4.0 * np.stack([np.cos(side), np.sin(side), 0 * side], axis=1)
    first = {"inner": np.zeros(2), "outer": np.zeros(2)}
    options = {"states": first, "parameters": {"steady": steady}, "record": ("q", "v", "airspeed")}
    return plane.rollout(q, level.v, fly, DT, int(SECONDS / DT), "heun", every=10, **options)


def by_fields(place, world):
    """Courses of vector fields, and the bank for them."""
    course, speed = kt.atan2(world[1], world[0]), kt.sqrt(world[:2] @ world[:2])
    line, orbit = flight.line_course(place, (0.0, 0.0), 0.0), flight.orbit_course(place, CENTER, RADIUS)
    before = place[0] < 430.0
    turning = kt.where(before, 0.0, speed / RADIUS)
    return flight.bank_for_course(course, kt.where(before, line, orbit), speed, path_rate=turning)


def by_guidance(place, world):
    """The bank towards a point of the path ahead."""
    line = flight.target_on_line(place, (0.0, 0.0), 0.0, 60.0)
    orbit = flight.target_on_orbit(place, CENTER, RADIUS, 50.0)
    target = kt.where(place[0] < 430.0, line, orbit)
    return flight.bank_for_acceleration(flight.guidance_acceleration(place, world, target))


flights = {"vector fields": mission(by_fields), "guidance to a point ahead": mission(by_guidance)}
for name, run in flights.items():
    late = run.t > 50.0
    distance = np.linalg.norm(run.q[:, late, :2] - CENTER, axis=-1)
    print(
        f"{name}: {np.abs(distance - RADIUS).mean():.1f} m off the circle, "
        f"{np.abs(run.q[:, late, 2] - HEIGHT).mean():.1f} m off the height, in gusts and 4 m/s of wind"
    )
    assert np.abs(distance - RADIUS).mean() < 20.0 and np.abs(run.q[:, late, 2] - HEIGHT).mean() < 4.0
    assert not run.diverged.any()

figure = Figure(figsize=(10, 7.5), layout="constrained")
axes = figure.subplot_mosaic([["above", "above"], ["heights", "modes"]])
above, heights, plane_of_modes = axes["above"], axes["heights"], axes["modes"]
for k, (name, run) in enumerate(flights.items()):
    above.plot(run.q[::3, :, 0].T, run.q[::3, :, 1].T, color=f"C{k}", linewidth=0.5, alpha=0.6)
    above.plot([], [], color=f"C{k}", label=name)
    heights.plot(run.t, run.q[0, :, 2], color=f"C{k}")
    heights.plot(run.t[1:], 4 * run["airspeed"][0], color=f"C{k}", linestyle=":")
above.set(xlabel="x [m]", ylabel="y [m]", title="ten of the aircraft, from above")
above.set_aspect("equal")
above.legend(fontsize=8, loc="upper left")
heights.set(xlabel="t [s]", title="height [m]; airspeed dotted [m/s, × 4]")
for mode in modes.values():
    plane_of_modes.plot(mode.eigenvalue.real, mode.eigenvalue.imag, "o")
    plane_of_modes.annotate(mode.name, (mode.eigenvalue.real, mode.eigenvalue.imag), (4, 6), textcoords="offset points")
plane_of_modes.axvline(0.0, color="0.7", linewidth=0.8, zorder=0)
plane_of_modes.set(xlabel="Re λ [1/s]", ylabel="Im λ [1/s]", title="modes at 25 m/s", xlim=(-26, 6), ylim=(-1, 12))
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / f"{Path(__file__).stem}.png", dpi=120)
print("saved", folder / f"{Path(__file__).stem}.png")
