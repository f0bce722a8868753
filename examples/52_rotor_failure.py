"""A rotor of a quadrotor stops in flight, and it comes down in one piece: without yaw, spinning, but where it was told.

With three rotors a quadrotor has thrust, roll and pitch, but no yaw (Mueller, D'Andrea 2014): it turns ever faster
until drag holds the balance. Its thrust axis can still be pointed, and so it can be flown. The controller steers the
axis alone, through an allocation without yaw. Hexarotors can keep yaw, if their rotors turn in the right order: the
margins of the allocation tell which failures they survive.

    python 52_rotor_failure.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree import flight

DT, SECONDS, FAILS = 2e-3, 12.0, 2.0
robot, craft, motor = kt.load("quadrotor", base="floating"), flight.aircraft("quadrotor"), flight.QUADROTOR_MOTOR
rotors = [part for part in craft.parts if isinstance(part, flight.Rotor)]
whole = flight.Allocation(robot, rotors)
lame = whole.without(2, axes=("z", "roll", "pitch"))
hover_weight = robot.mass * 9.81
print(
    f"margin of hovering: whole {whole.margin([hover_weight, 0, 0, 0]):.3f}, "
    f"with yaw and without rotor 3 {whole.without(2).margin([hover_weight, 0, 0, 0]):.3f}"
)
hexarotor = kt.load("hexarotor", base="floating")
six = flight.Allocation(hexarotor, [p for p in flight.aircraft("hexarotor").parts if isinstance(p, flight.Rotor)])
left = [six.without(k).margin([1.5 * 9.81, 0, 0, 0]) for k in range(6)]
print("a hexarotor whose rotors turn alternately, without one of them:", np.round(left, 3))
control = flight.GeometricControl(robot, 2.0, 2.4, 120.0, 14.0)
GOAL, DAMPING = np.array([0.0, 0.0, 2.0]), 2.5e-3


@kt.compile(shapes={"speeds": (4,)})
def fly(robot, q, v, t, speeds):
    """Before the failure all four; after it the axis alone: acceleration of the tilt, with the spin as it is."""
    R = robot.frame("base_link").pose(q)[:3, :3]
    world = R @ v[:3]
    A = np.array([0, 0, 9.81]) - 1.5 * (q[:3] - GOAL) - 2.2 * world
    axis = R.T @ (A / kt.sqrt(A @ A))  # where the thrust should point, in the body
    J = robot.mass_matrix(q)[3:, 3:]
    wanted = 14.0 * np.array([-axis[1], axis[0]])
    tilt = 22.0 * (wanted - v[3:5])
    gyro = np.cross(v[3:], J @ v[3:])
    thrust = robot.mass * kt.maximum(A @ R[:, 2], 3.0)
    with_three = lame.speeds(np.array([thrust, J[0, 0] * tilt[0] + gyro[0], J[1, 1] * tilt[1] + gyro[1]]))
    with_four = whole.speeds(control(q, v, GOAL)[2:6])
    command = kt.where(t < FAILS, with_four, with_three)
    held = motor.mean(speeds, command, DT)
    air = np.concatenate([np.zeros(3), -DAMPING * v[3:] * kt.absolute(v[3:])])  # of blades and body that spin
    return {"tau": craft.efforts(robot, q, v, t, held) + air, "speeds": motor.after(speeds, command, DT)}


first = {"speeds": whole.speeds_of(whole.hover)}
q0 = robot.neutral()
q0[:3] = [1.0, -0.5, 1.5]
path = robot.rollout(q0, np.zeros(6), fly, DT, int(SECONDS / DT), "rk4", states=first, record=("q", "v", "speeds"))
assert not path.diverged
off = np.linalg.norm(path.q[:, :3] - GOAL, axis=1)
spin = np.abs(path.v[-500:, 5]).mean()
print(
    f"{off[int(FAILS / DT)]:.2f} m from its place when rotor 3 stops, {off[-1]:.2f} m after {SECONDS:g} s, "
    f"turning {spin / (2 * np.pi):.1f} times a second"
)
assert off[-1] < 1.5 and path["speeds"][-1, 2] < 1.0 and spin > 5.0

figure = Figure(figsize=(11, 4), layout="constrained")
place, turning, speeds = figure.subplots(1, 3)
for k, name in enumerate("xyz"):
    place.plot(path.t, path.q[:, k], label=name)
place.set(xlabel="t [s]", title="position [m]")
place.legend()
turning.plot(path.t, path.v[:, 5], color="C3")
turning.set(xlabel="t [s]", title="yaw rate [rad/s]")
speeds.plot(path.t[1:], path["speeds"], linewidth=0.8)
speeds.set(xlabel="t [s]", title="rotor speeds [rad/s]")
for ax in (place, turning, speeds):
    ax.axvline(FAILS, color="0.7", linewidth=0.8, zorder=0)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / f"{Path(__file__).stem}.png", dpi=120)
print("saved", folder / f"{Path(__file__).stem}.png")
