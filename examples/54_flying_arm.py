"""A quadrotor with an arm reaches for a point while it hovers; the tool goes there, the centre of mass stays.

The controller's equation is that of the whole robot: what the swinging arm does to the base is in it. A controller that
takes the robot for one rigid body is pushed around by its own arm. The motion becomes a page for the browser.

    python 54_flying_arm.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree import flight
from kinetree.trajectories import Line

DT, STEPS = 2e-3, 2500
robot, craft = kt.load("quadrotor_arm", base="floating"), flight.aircraft("quadrotor_arm")
allocation = flight.Allocation(robot, [part for part in craft.parts if isinstance(part, flight.Rotor)])
swing = Line([0.0, 0.0], [1.2, -1.6], duration=1.0)
PLACE = np.array([0.0, 0.0, 1.0])
whole = flight.GeometricControl(robot, joint_stiffness=150.0, joint_damping=25.0)
stiff = kt.edit.lock(robot, {name: 0.0 for name in robot.joint_names})
rigid = flight.GeometricControl(stiff)


def flown(efforts):
    """The flight under a law of all efforts, through the rotors."""

    @kt.compile
    def fly(robot, q, v, t):
        tau = efforts(q, v, t)
        u = allocation.speeds(tau[2:6])
        air = craft.efforts(robot, q, v, t, u)
        return {"tau": np.concatenate([air[:6], air[6:] + tau[6:]]), "u": u}

    q = robot.neutral()
    q[2] = 1.0 - robot.center_of_mass(q)[2]
    return robot.rollout(q, np.zeros(8), fly, DT, STEPS, "heun", record=("q", "v", "u"))


def as_a_whole(q, v, t):
    """Base and arm in one equation."""
    return whole(q, v, PLACE, joints=swing(t).position)


def as_one_body(q, v, t):
    """The base as if the arm were fixed to it, and springs for the arm."""
    base = rigid(q[:7], v[:6], PLACE)
    return np.concatenate([base, 8.0 * (swing(t).position - q[7:]) - 0.5 * v[6:]])


flights = {"the whole robot in the equation": flown(as_a_whole), "as one rigid body": flown(as_one_body)}
figure = Figure(figsize=(10, 4), layout="constrained")
base, tool = figure.subplots(1, 2)
worst = {}
for k, (name, run) in enumerate(flights.items()):
    com = robot.center_of_mass(run.q)
    tilt = np.degrees(np.arccos(np.clip(robot.frame("base_link").pose(run.q)[:, 2, 2], -1, 1)))
    worst[name] = np.linalg.norm(com - com[0], axis=1).max(), tilt.max()
    print(f"{name:32} centre of mass moves {1e3 * worst[name][0]:6.1f} mm, base tilts {tilt.max():5.1f}°")
    base.plot(run.t, tilt, color=f"C{k}", label=name)
    reached = robot.frame("tool0").pose(run.q)[:, :3, 3]
    tool.plot(reached[:, 0], reached[:, 2], color=f"C{k}")
(moved, _), (pushed, tilted) = worst.values()
assert moved < 0.02 and pushed > 3 * moved and tilted < 45.0
base.set(xlabel="t [s]", ylabel="tilt of the base [°]")
base.legend(fontsize=8)
tool.set(xlabel="x [m]", ylabel="z [m]", title="the tool")
tool.set_aspect("equal")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / f"{Path(__file__).stem}.png", dpi=120)
print("saved", folder / f"{Path(__file__).stem}.png")
try:
    import viser  # noqa: F401 - pip install 'kinetree[viewer]'
except ModuleNotFoundError:
    print("the animation needs the viewer")
else:
    run = flights["the whole robot in the equation"]
    with robot.view(show=["visual", "forces"]) as viewer:
        viewer.play(run, wrenches=craft.wrenches_along(robot, run, run["u"]))
        print("animation", viewer.export(folder / f"{Path(__file__).stem}.html"))
