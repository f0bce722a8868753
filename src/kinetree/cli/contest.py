"""One robot, several libraries: the same quantities computed, compared and timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import kinetree as kt
from kinetree.cli.measure import Call, Effort, best_loops
from kinetree.cli.peers import State, find_peers

STATES = 4096
AGREE = 1e-6
"""How far, relatively, a peer's result may be off; loose, because a mass matrix may be close to singular."""
ARGUMENTS = {
    "pose": "q",
    "poses": "q",
    "jacobian": "q",
    "inverse_dynamics": "q, v, a",
    "mass_matrix": "q",
    "forward_dynamics": "q, v, tau",
}
OF_FRAME = ("pose", "jacobian")
OURS = "kinetree"

Cell = tuple[str, int | None, str]
"""Quantity, threads (None for one state from Python) and library."""
Advance = Callable[[str], None]


@dataclass(frozen=True)
class Row:
    """Microseconds of one quantity by library, per state, and how many times as long as kinetree each peer takes."""

    quantity: str
    threads: int | None
    """None for one state, called from Python."""
    microseconds: dict[str, float]
    ratios: dict[str, float]


@dataclass(frozen=True)
class Report:
    """Everything `kinetree bench` shows; the keys of its JSON are these fields."""

    name: str
    base: str
    nq: int
    nv: int
    frame: str
    """Whose pose and Jacobian were measured."""
    versions: dict[str, str]
    states: int
    """In a batch."""
    single: list[Row]
    batch: list[Row]
    notes: list[str]


def steps(effort: Effort) -> int:
    """How often `contest` will report progress."""
    return len(ARGUMENTS) + 1 + effort.repeats


def contest(robot: kt.Robot, text: str, effort: Effort, advance: Advance, frame: str | None = None) -> Report:
    """Compile, compare the results, then time everybody in turn; `text` is the robot's URDF, for the peers."""
    if robot.nv == 0:
        raise kt.ArgumentError(f"{robot.name!r} has no joint that moves, so there is nothing to measure")
    model = robot.model
    tip = max(range(1, len(model.names)), key=lambda i: len(model.support(i)))
    frame = model.names[tip] if frame is None else robot.frame(frame).name
    rng = np.random.default_rng(0)
    v, a, tau = rng.normal(size=(3, STATES, robot.nv))
    many: State = {"q": robot.random(rng, STATES), "v": v, "a": a, "tau": tau}
    one = {kind: x[0].copy() for kind, x in many.items()}
    single, batch, notes = _ours(robot, frame, one, many, advance)
    advance("looking for peers")
    peers, absent = find_peers(robot, text, frame, one, many)
    notes += absent
    threads = kt.get_num_threads()
    loops: dict[Cell, Callable[[int], float]] = {}
    for quantity, call in single.items():
        loops[quantity, None, OURS] = call.seconds
        for name, peer in peers.items():
            if _agrees(call, peer.calls[quantity]):
                loops[quantity, None, name] = peer.calls[quantity].seconds
            else:
                notes.append(f"{quantity} of {name} has another result, so it is left out.")
    for quantity, call in batch.items():
        for count in sorted({1, threads}):
            loops[quantity, count, OURS] = _on_threads(call, count)
            for name, peer in peers.items():
                if quantity in peer.batches and (quantity, None, name) in loops:
                    loops[quantity, count, name] = Call("f()", {"f": peer.batches[quantity](count)}).seconds
    try:
        times = best_loops(loops, effort, lambda: advance("measuring"))
    finally:
        kt.set_num_threads(threads)
    single_rows, batch_rows = (_rows(times, batched) for batched in (False, True))
    return Report(
        name=robot.name, base="fixed" if robot.model.floating_base is None else "floating", nq=robot.nq, nv=robot.nv,
        frame=frame, versions={OURS: kt.__version__} | {name: peer.version for name, peer in peers.items()},
        states=STATES, single=single_rows, batch=batch_rows, notes=notes,
    )  # fmt: skip


def _ours(
    robot: kt.Robot, frame: str, one: State, many: State, advance: Advance
) -> tuple[dict[str, Call], dict[str, Call], list[str]]:
    """Our calls for one state and for a batch, each compiled; with a note for what this robot does not have."""
    single, batch, notes = dict[str, Call](), dict[str, Call](), list[str]()
    for quantity, arguments in ARGUMENTS.items():
        advance(f"compiling {quantity}")
        function = getattr(robot.frame(frame) if quantity in OF_FRAME else robot, quantity)
        for state, calls in ((one, single), (many, batch)):
            call = Call(f"f({arguments})", {"f": function} | {str(kind): x for kind, x in state.items()})
            try:
                call.result()
            except kt.KinetreeError as problem:
                notes.append(f"{quantity}: {problem}")
            else:
                calls[quantity] = call
    return single, batch, notes


def _agrees(ours: Call, theirs: Call) -> bool:
    mine, other = ours.result(), theirs.result()
    return mine.shape == other.shape and bool(np.abs(mine - other).max() <= AGREE * max(1.0, np.abs(mine).max()))


def _on_threads(call: Call, count: int) -> Callable[[int], float]:
    def seconds(turns: int) -> float:
        kt.set_num_threads(count)
        return call.seconds(turns)

    return seconds


def _rows(times: dict[Cell, float], batched: bool) -> list[Row]:
    found: dict[tuple[str, int | None], dict[str, float]] = {}
    for (quantity, threads, name), seconds in times.items():
        if batched == (threads is not None):
            found.setdefault((quantity, threads), {})[name] = 1e6 * seconds / (STATES if batched else 1)
    return [
        Row(quantity, threads, us, {name: us[name] / us[OURS] for name in us if name != OURS})
        for (quantity, threads), us in found.items()
    ]
