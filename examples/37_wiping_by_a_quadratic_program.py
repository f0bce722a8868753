"""Hybrid control of motion and force as a quadratic program: an arm wipes a tilted table, against friction.

    min ‖w (A x - b)‖²,  x = (a, F_c)     with M a + b + g = Sᵀ τ + J_cᵀ F_c  and  |τ| ≤ limits

A motion task has the tool draw a circle on the table, a force task has it push with ten newtons; the table is a contact
that slides. In the simulation the tool stays on the table by a `kt.Contact` of that kind, with kinetic friction as a
wrench. Beside it the same controller without friction in its contact: it is pulled off its circle, and its push varies.

    python 37_wiping_by_a_quadratic_program.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.control import Force, Pose, Posture, SlidingContact, WholeBody
from kinetree.trajectories import Arc

TILT, FRICTION, WIDTH, PUSH = np.radians(10.0), 0.4, 0.01, 10.0  # [rad], -, [m/s], [N]
DT, DURATION = 1e-3, 3.0

robot = kt.load("arm7")
tool = robot.frame("tool0")
q0 = np.array([0.4, 0.5, -0.3, 1.2, 0.2, 0.7, 0.1])
start = tool.pose(q0)
along, normal = np.array([np.cos(TILT), 0.0, -np.sin(TILT)]), np.array([np.sin(TILT), 0.0, np.cos(TILT)])
circle = Arc(start[:3, 3], start[:3, 3] - 0.06 * along, normal, 2.0 * np.pi, DURATION)
table = robot.constrained(kt.Contact("tool0", "sliding", at=start[:3, 3], normal=normal), frequency=50.0)

tasks = [
    Pose("tool0", weight=10.0, stiffness=200.0, feedforward=True),
    Force("tool0", part="normal", weight=10.0, name="push"),
    Posture(weight=0.1, stiffness=20.0),
]


def wipe(friction):
    """Pushes [N] and places of the tool, for a controller that knows this much of friction."""
    contact = SlidingContact("tool0", friction=friction, normal=normal, width=WIDTH)
    controller = WholeBody(robot, tasks, contact)
    q, v, press, state = q0, np.zeros(7), PUSH, None
    pushes, places, efforts = [], [], []
    for t in np.arange(0.0, DURATION, DT):
        point = circle(t)
        pose = start.copy()
        pose[:3, 3] = point.position
        twist = [np.concatenate([part, np.zeros(3)]) for part in (point.velocity, point.acceleration)]
        step = controller.step(q, v, {"tool0": (pose, *twist), "push": [PUSH], "posture": q0}, state=state)
        state = step.state
        slip = tool.velocity(q, v)[:3]
        rub = -FRICTION * press * slip / np.sqrt(slip @ slip + WIDTH**2)
        a, (press,) = table.forward_dynamics(q, v, step.tau, {"tool0": [*rub, 0.0, 0.0, 0.0]})
        v = v + DT * a
        q = robot.integrate(q, DT * v)
        pushes.append(press)
        places.append(tool.pose(q)[:3, 3])
        efforts.append(step.tau)
    return np.array(pushes), np.array(places), np.array(efforts)


t = np.arange(DT, DURATION + 0.5 * DT, DT)
wanted = np.array([circle(each).position for each in t])
figure = Figure(figsize=(9, 4), layout="constrained")
left, right = figure.subplots(1, 2)
for friction, name in ((FRICTION, "friction is known"), (0.0, "it is not")):
    push, places, tau = wipe(friction)
    apart = 1e3 * np.linalg.norm(places - wanted, axis=1)
    print(f"{name:18s} push {push.min():7.3f} to {push.max():7.3f} N, off the circle by at most {apart.max():.3f} mm")
    left.plot(t, push, label=name)
    right.plot(t, apart, label=name)
    assert (np.abs(tau) <= robot.limits.effort + 1e-9).all() and np.abs(normal @ (places - start[:3, 3]).T).max() < 1e-4
    if friction:
        assert np.abs(push - PUSH).max() < 0.5 and apart.max() < 1.0
    else:
        assert apart.max() > 2.0
left.set(xlabel="time [s]", ylabel="push [N]")
right.set(xlabel="time [s]", ylabel="off the circle [mm]")
left.legend()
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "37_wiping_by_a_quadratic_program.png", dpi=120)
print("drawn in", folder / "37_wiping_by_a_quadratic_program.png")
