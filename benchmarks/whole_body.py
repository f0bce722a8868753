"""One step of whole-body control from Python, beside TSID and PlaCo: two soles, centre of mass, posture and momentum.

On G1 and Talos, formulation included, over states about standing; whether TSID finds the same; how the time divides
between formula and solver; variables eliminated or kept; four priorities in strict order; and the worst of 1e5 steps,
with memory before and after.

    python benchmarks/whole_body.py [steps]       # TSID and PlaCo where they can be imported; writes results/
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from pathlib import Path

import numpy as np
from measure import save
from peers_whole_body import DAMPING, FORCE, FRICTION, RATE, STIFFNESS, WEIGHTS, Stand, of_placo, of_tsid
from robots import find, standing, without_geometry
from table import show

import kinetree as kt
from kinetree.compiler.runtime.chain import Chain, Result, Stage
from kinetree.compiler.runtime.code import Layout
from kinetree.control import CenterOfMass, Force, Momentum, Orientation, Posture, SurfaceContact, WholeBody
from kinetree.solvers import qp
from kinetree.solvers.active_set import ITERATIONS

ROBOTS = {
    "G1": ("g1_29dof_rev_1_0.urdf", ("left_ankle_roll_link", "right_ankle_roll_link"), (0.02, 0.0, -0.035)),
    "Talos": ("talos_reduced.urdf", ("left_sole_link", "right_sole_link"), (0.0, 0.0, 0.0)),
}
COUNT = 50
"""States."""
WRENCHES = 10.0
"""The weight of small contact wrenches, which makes them unique: torques can then be compared."""


def stand(name: str) -> Stand:
    """A robot with bent knees, asked to move its centre of mass."""
    ending, feet, at = ROBOTS[name]
    urdf = without_geometry(find(ending))
    robot = kt.load(urdf, "floating")
    q = standing(robot)
    for joint in robot.model.owners:
        for part, angle in (("leg_left_3", -0.3), ("leg_left_4", 0.6), ("leg_left_5", -0.3)):
            if part.replace("left", "right") in joint.name or part in joint.name:
                q[joint.iq] = angle
    com = robot.center_of_mass(q) + np.array([0.01, 0.01, 0.0])
    return Stand(robot, urdf, feet, at, 0.16, 0.08, q, com)


def states(s: Stand) -> list[tuple[np.ndarray, np.ndarray]]:
    """Small motions about where it stands, one after the other, in which the feet do not move."""
    rng = np.random.default_rng(0)
    found, away = [], rng.normal(size=s.robot.nv)
    for k in range(COUNT):
        t = 2 * np.pi * k / COUNT
        q, v = s.robot.integrate(s.posture, 0.005 * np.sin(t) * away), 0.02 * np.cos(t) * away
        J = np.concatenate([s.robot.frame(foot).jacobian(q) for foot in s.feet])
        found.append((q, v - np.linalg.pinv(J) @ (J @ v)))
    return found


def control(s: Stand, strict: bool = False, forces: float = 0.0) -> WholeBody:
    """Ours; a pyramid of slope μ is one within the cone of √2 μ."""
    gains = {"stiffness": STIFFNESS, "damping": DAMPING}
    tasks = [
        CenterOfMass(weight=WEIGHTS["com"], **gains),
        Momentum(part="angular", weight=WEIGHTS["momentum"], gain=RATE, priority=1 if strict else 0),
        Posture(weight=WEIGHTS["posture"], priority=3 if strict else 0, **gains),
    ]
    if forces:
        tasks += [Force(foot, weight=forces) for foot in s.feet]
    if strict:
        tasks.insert(2, Orientation(s.robot.frame_names[0], priority=2, name="trunk"))
    sole = {"friction": FRICTION * np.sqrt(2.0), "length": s.length, "width": s.width, "at": s.at}
    contacts = [SurfaceContact(foot, **sole) for foot in s.feet]
    return WholeBody(s.robot, tasks, contacts, regularization=FORCE)


def given(controller: WholeBody, s: Stand) -> np.ndarray:
    """What is asked for."""
    wishes: dict[str, np.ndarray] = {f"force of {foot}": np.zeros(6) for foot in s.feet}
    wishes |= {"center_of_mass": s.com, "momentum": np.zeros(3), "posture": s.posture, "trunk": np.eye(3)}
    return controller.pack({name: wishes[name] for name in controller.problem.references})


def median(seconds: list[float]) -> float:
    """In microseconds."""
    return 1e6 * float(np.median(seconds))


def best_of(run: object, sequence: list[tuple[np.ndarray, np.ndarray]], repeats: int = 15) -> list[float]:
    """The best time of every state of the sequence, of several passes."""
    best = [np.inf] * len(sequence)
    for _ in range(repeats):
        for k, (q, v) in enumerate(sequence):
            start = time.perf_counter()
            run(q, v)  # type: ignore[operator]
            best[k] = min(best[k], time.perf_counter() - start)
    return best


def beside_peers(name: str) -> list[dict[str, object]]:
    """Times of all."""
    s = stand(name)
    sequence, controller = states(s), control(s)
    r, on, cold = given(controller, s), controller.switches(), np.zeros(controller._compiled.state_size)
    solve, kept = controller.solve, [cold]

    def warm(q: np.ndarray, v: np.ndarray) -> None:
        kept[0] = solve(q, v, r, on, kept[0])[3]

    runs: dict[str, object] = {
        "kinetree, warm": warm,
        "kinetree, cold": lambda q, v: solve(q, v, r, on, cold),
        "kinetree, step() with names": lambda q, v: controller.step(q, v, r),
    }
    accelerations = of_tsid(s)
    if accelerations is not None:
        runs["TSID"] = accelerations
    placo = of_placo(s)
    if placo is not None:
        runs["PlaCo"] = placo
    sequences = dict.fromkeys(runs, sequence)
    if accelerations is not None:
        sequences["TSID"] = [(q[accelerations.of_q], v[accelerations.of_v]) for q, v in sequence]
    times = {who: best_of(run, sequences[who]) for who, run in runs.items()}
    ours = median(times["kinetree, warm"])
    return [
        {
            "robot": name,
            "by": who,
            "µs": median(seconds),
            "worst µs": 1e6 * max(seconds),
            "times kinetree": median(seconds) / ours,
        }
        for who, seconds in times.items()
    ]


def agreement(name: str) -> list[dict[str, object]]:
    """The largest difference from what TSID finds, over all states, as a share of the largest: on the problem that is
    timed, of accelerations, as next to nothing decides how hard feet press against each other; and with a weight on
    wrenches, of torques too. These are about the frame's origin in TSID, so soles are put there."""
    s = stand(name)
    if of_tsid(s) is None:
        return []
    return apart_from_tsid(name, s, 0.0) + apart_from_tsid(name, replace(s, at=(0.0, 0.0, 0.0)), WRENCHES)


def apart_from_tsid(name: str, s: Stand, weight: float) -> list[dict[str, object]]:
    """Of states at rest and in motion."""
    theirs, controller = of_tsid(s, weight or FORCE), control(s, forces=weight)
    r, rows = given(controller, s), []
    for what, sequence in (("at rest", [(q, 0.0 * v) for q, v in states(s)]), ("moving", states(s))):
        ours = [controller.step(q, v, r) for q, v in sequence]
        a, tau = zip(*(theirs.in_our_order(q, v) for q, v in sequence), strict=True)
        apart = {"accelerations": share([x.a for x in ours], a)}
        if weight:
            apart["torques"] = share([x.tau for x in ours], tau)
        assert max(apart.values()) < 1e-4, f"TSID disagrees on {name}, {what}: {apart}"
        words = {"robot": name, "wrenches": "have a weight" if weight else "as timed", "states": f"{COUNT}, {what}"}
        rows.append(words | {"accelerations": None, "torques": None} | {k: f"{x:.0e}" for k, x in apart.items()})
    return rows


def share(ours: list[np.ndarray], theirs: Sequence[np.ndarray]) -> float:
    """The largest difference in any state, over the largest entry of that state."""
    return max(float(np.abs(x - y).max() / np.abs(x).max()) for x, y in zip(ours, theirs, strict=True))


def split(name: str) -> dict[str, object]:
    """Formula alone, and all of it."""
    s = stand(name)
    controller, (q, v) = control(s), states(s)[3]
    r, on = given(controller, s), controller.switches()
    state = controller.step(q, v, r).state
    first = controller._compiled.chain.stages[0]
    sizes = [place.size for place in first.outputs]  # type: ignore[union-attr]
    outputs = tuple(Result(k) for k in range(len(sizes)))
    alone = Chain(
        [Stage(first.code, first.workspace, first.inputs, outputs)], Layout(tuple(map(len, (q, v, r, on))), (*sizes, 1))
    )
    many = 2000
    inputs = [np.tile(array, (many, 1)) for array in (q, v, r, on, state)]
    results = [np.empty((many, size)) for size in (*sizes, 1)]
    whole = [np.empty((many, prod(shape))) for shape in (*controller._compiled.results, (1,))]
    kt.set_num_threads(1)
    formula = min(best_of(lambda *_: alone.states(inputs[:-1], results), [(q, v)])) / many
    everything = min(best_of(lambda *_: controller._compiled.chain.states(inputs, whole), [(q, v)])) / many
    p = controller.problem
    return {
        "robot": name,
        "variables": p.dynamics.n,
        "equations": len(p.equation_names),
        "inequalities": len(p.row_names),
        "formula µs": 1e6 * formula,
        "all µs": 1e6 * everything,
        "solver µs": 1e6 * (everything - formula),
    }


def eliminated(name: str) -> list[dict[str, object]]:
    """The solver alone on the same programs, with variables kept and eliminated."""
    s = stand(name)
    controller = control(s)
    r, on = given(controller, s), controller.switches()
    d, rows = controller.problem.dynamics, {"(a, f, τ)": [], "(a, f)": [], "null space of equations": []}
    for q, v in states(s)[::5]:
        J, e, squares, slopes, C, lower, upper, _ = controller._compiled.formula.call(q, v, r, on)
        n, k, m = d.n, len(controller.problem.equation_names), len(d.motors)
        H, g = J.T @ J + np.diag(squares), -J.T @ e - slopes
        rows["(a, f)"].append((H, g, C, lower, upper))
        full = np.zeros((n + m, n + m))
        full[:n, :n], full[n:, n:] = H, 1e-9 * np.eye(m)
        motion = np.concatenate([C[k : k + m], -np.eye(m)], axis=1)
        others = np.concatenate([C[:k], C[k + m :]])
        A = np.concatenate([motion, np.concatenate([others, np.zeros((len(others), m))], axis=1)])
        low = np.concatenate([lower[:n], lower[n + k : n + k + m], np.zeros(m), lower[n : n + k], lower[n + k + m :]])
        high = np.concatenate([upper[:n], upper[n + k : n + k + m], np.zeros(m), upper[n : n + k], upper[n + k + m :]])
        rows["(a, f, τ)"].append((full, np.concatenate([g, np.zeros(m)]), A, low, high))
        x0 = np.linalg.lstsq(C[:k], lower[n : n + k], rcond=None)[0]
        N = np.linalg.svd(C[:k])[2][k:].T
        free = np.full(N.shape[1], np.inf)
        left = C[k:] @ x0
        rows["null space of equations"].append(
            (
                N.T @ H @ N,
                N.T @ (g + H @ x0),
                C[k:] @ N,
                np.concatenate([-free, lower[n + k :] - left]),
                np.concatenate([free, upper[n + k :] - left]),
            )
        )
    table: list[dict[str, object]] = []
    for title, programs in rows.items():
        ready = [tuple(np.ascontiguousarray(part) for part in program) for program in programs]
        solver = qp.program(len(ready[0][1]), len(ready[0][2]))
        best = []
        for program in ready:
            active = solver.run(*program, np.zeros(len(program[3])))[2]
            best.append(min(best_of(lambda *_, run=solver.run, p=program, a=active: run(*p, a), [(None, None)], 100)))  # type: ignore[list-item]
        table.append({"robot": name, "variables": title, "n": len(ready[0][1]), "solver µs, warm": median(best)})
    return table


def long_run(name: str, steps: int) -> list[dict[str, object]]:
    """Percentiles of many steps of changing wishes, warm: weighted, and in four strict levels.

    Steps are the same each time, so the best of three runs of every step is what the algorithm needs at worst, without
    what the system did meanwhile.
    """
    s = stand(name)
    table: list[dict[str, object]] = []
    for strict in (False, True):
        controller = control(s, strict)
        run(controller, s, COUNT)  # compiles
        before = resident()
        taken, changes = zip(*(run(controller, s, steps) for _ in range(3)), strict=True)
        once, best = np.sort(1e6 * taken[0]), np.sort(1e6 * np.min(taken, axis=0))
        table.append(
            {
                "robot": name,
                "order": "four levels" if strict else "weighted",
                "steps": steps,
                "median µs": float(once[steps // 2]),
                "99 % µs": float(once[int(0.99 * steps)]),
                "99.99 % µs": float(once[int(0.9999 * steps)]),
                "worst µs": float(once[-1]),
                "worst, best of 3 µs": float(best[-1]),
                "most changes": changes[0],
                "memory grows, kB": (resident() - before - 3 * once.nbytes) / 1024,
            }
        )
    return table


def run(controller: WholeBody, s: Stand, steps: int) -> tuple[np.ndarray, int]:
    """Seconds of every step, and how often a step changed its active set at most."""
    r, on = given(controller, s), controller.switches()
    sequence, solve = states(s), controller.solve
    rng, state = np.random.default_rng(1), np.zeros(controller._compiled.state_size)
    at = controller.problem.references["center_of_mass"]["target"][0]
    seconds, changes = np.full(steps, 1.0), 0
    gc.collect()
    gc.disable()
    for k in range(steps):
        q, v = sequence[k % COUNT]
        if k % 100 == 0:
            r[at] = s.com + rng.uniform(-0.02, 0.02, 3)
        start = time.perf_counter()
        _, _, _, state, info = solve(q, v, r, on, state)
        seconds[k] = time.perf_counter() - start
        changes = max(changes, int(info[ITERATIONS]))
    gc.enable()
    return seconds, changes


def resident() -> int:
    """Bytes of memory in use, where Linux tells."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def main(steps: int = 100_000) -> None:
    """Measure and print; kept if it took all steps. TSID and PlaCo want different versions of pin, so each peer has a
    file of its own."""
    beside = [row for name in ROBOTS for row in beside_peers(name)]
    tables = {
        "One step from Python, formulation included": beside,
        "Apart from TSID, as a share of the largest": [row for name in ROBOTS for row in agreement(name)],
        "Formula and solver": [split(name) for name in ROBOTS],
        "Variables kept or eliminated": [row for name in ROBOTS for row in eliminated(name)],
        "Many steps, warm": [row for name in ROBOTS for row in long_run(name, steps)],
    }
    for title, rows in tables.items():
        if rows:
            show(title, rows)
    peers = "_".join(who.lower() for who in ("TSID", "PlaCo") if any(row["by"] == who for row in beside))
    if steps >= 100_000:
        save(f"whole_body_{peers}" if peers else "whole_body", {"tables": tables})


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
