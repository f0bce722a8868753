"""One step of differential inverse kinematics from Python, beside Pink, Mink and PlaCo.

A pose task with limits on UR5; two hands and a posture with limits on the humanoid G1. Targets are near, so that all
solve the same problem: where errors are large, each has its own definition of them. Four priorities in strict order
have no peer.

    python benchmarks/differential_ik.py        # needs pin-pink, mink, placo, quadprog, daqp, proxsuite
"""

from __future__ import annotations

import time

import numpy as np
from measure import best_loops, save
from peers_ik import Setup, of_kinetree, of_mink, of_pink, of_placo
from robots import find, standing, without_geometry
from table import show

import kinetree as kt
from kinetree.cli.measure import Call

DT = 0.005
HANDS = ("left_rubber_hand", "right_rubber_hand")


def arm() -> Setup:
    """UR5 away from its singularities."""
    urdf = without_geometry(find("ur5_robot.urdf"))
    robot = kt.load(urdf)
    q = np.array([0.3, -1.0, 1.2, 0.2, 0.5, 0.1])
    target = robot.frame("wrist_3_link").pose(robot.integrate(q, 1e-4 * np.arange(1.0, 7.0)))
    return Setup(robot, urdf, q, {"wrist_3_link": target}, None, DT)


def humanoid() -> Setup:
    """G1 with bent arms and legs, the hands asked to move a little."""
    urdf = without_geometry(find("g1_29dof_rev_1_0.urdf"))
    robot = kt.load(urdf, "floating")
    q = standing(robot)
    moved = robot.integrate(q, 1e-4 * np.random.default_rng(0).normal(size=robot.nv))
    return Setup(robot, urdf, q, {hand: robot.frame(hand).pose(moved) for hand in HANDS}, 0.1, DT)


def rows(title: str, setup: Setup, calls: dict[str, Call]) -> list[dict[str, object]]:
    """Times of all, after a look at their results."""
    ours = calls["kinetree"].result()
    best = best_loops({name: call.seconds for name, call in calls.items()})
    table: list[dict[str, object]] = []
    for name, call in calls.items():
        apart = np.abs(call.result() - ours).max() / np.abs(ours).max()
        assert apart < 1e-3, f"{name} disagrees on {title}"
        table.append(
            {
                "problem": title,
                "by": name,
                "µs": 1e6 * best[name],
                "times kinetree": best[name] / best["kinetree"],
                "apart": f"{apart:.0e}",
            }
        )
    return table


def priorities(setup: Setup) -> list[dict[str, object]]:
    """Strict priorities with limits: hands, head, posture; and feet held, centre of mass, a hand, posture."""
    robot, q = setup.robot, setup.q
    left, right = setup.targets.values()
    feet = ("left_ankle_roll_link", "right_ankle_roll_link")
    ik = kt.ik
    of_hands = [ik.Pose(HANDS[0]), ik.Pose(HANDS[1], priority=1), ik.Orientation("torso_link", priority=2)]
    turned = robot.frame("torso_link").pose(q)[:3, :3].copy()
    on_feet = [ik.CenterOfMass(), ik.Pose(HANDS[1], priority=1), ik.Orientation("torso_link", priority=2)]
    com = robot.center_of_mass(q) + np.array([0.001, 0.0, 0.0])
    cases = {
        "hand, hand, torso, posture": ((), of_hands, (left, right, turned, q), 1.0),
        "the same, velocities limited to 0.05 %": ((), of_hands, (left, right, turned, q), 0.0005),
        "feet held; centre of mass, hand, torso, posture": (feet, on_feet, (com, right, turned, q), 1.0),
    }
    table: list[dict[str, object]] = []
    for title, (held, tasks, given, slower) in cases.items():
        posture = given[-1].copy()
        posture[-7:] += 0.05
        step = ik.DifferentialIK(
            robot,
            [*tasks, ik.Posture(priority=3)],
            ik.Limits(slower=slower),
            dt=DT,
            contacts=[kt.Contact(foot, "surface") for foot in held],
        )
        names = {"velocity": step.velocity, "q": q, "a": given[0], "b": given[1], "c": given[2], "d": posture}
        call = Call("velocity(q, a, b, c, d)", names)
        at_limit = int(np.count_nonzero(step.step(q, *given[:-1], posture).at_limit))
        (seconds,) = best_loops({"kinetree": call.seconds}).values()
        table.append({"four priorities on G1": title, "µs": 1e6 * seconds, "joints at limits": at_limit})
    return table


def preparation(setup: Setup) -> dict[str, object]:
    """Seconds to the first result of a new object, code on disk or not."""
    start = time.perf_counter()
    call = of_kinetree(setup)["kinetree"]
    call.result()
    return {"robot": setup.robot.name, "first result [s]": time.perf_counter() - start}


def main() -> None:
    """Measure, print, save."""
    one, three = arm(), humanoid()
    first = [preparation(one), preparation(three)]
    table = rows("UR5: pose, limits", one, of_kinetree(one) | of_placo(one) | of_pink(one) | of_mink(one))
    table += rows(
        "G1: two poses, posture, limits", three, of_kinetree(three) | of_pink(three) | of_mink(three) | of_placo(three)
    )
    show("Differential inverse kinematics, one step from Python", table)
    strict = priorities(three)
    show("Strict priorities with limits, one step from Python", strict)
    show("The first result, compiled or from the disk", first)
    save("differential_ik", {"steps": table, "priorities": strict, "first": first})


if __name__ == "__main__":
    main()
