"""100,000 quadrotors with rotors, drag, motors and geometric control in one batch: steps a second of one core, by the
time that its thread was running; and RotorPy's simulators on the same parameters, where they are installed
(`pip install rotorpy`, for batches also torch, torchdiffeq and roma).

    python flight.py [--short]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from measure import save
from table import show

import kinetree as kt
from kinetree import flight

SHORT = "--short" in sys.argv
COUNT, STEPS, DT = 100_000, 20 if SHORT else 100, 1e-3
REPEATS = 3 if SHORT else 8


def running_time(call: Callable[[], object]) -> float:
    """Seconds for which this thread ran: the best of several calls."""
    call()
    best = np.inf
    for _ in range(REPEATS):
        start = time.thread_time()
        call()
        best = min(best, time.thread_time() - start)
    return float(best)


@dataclass(frozen=True)
class Turning:
    """An aircraft whose rotors keep their speeds, as one of the forces of a rollout: felt in every stage of a step."""

    craft: flight.Aircraft
    speeds: tuple[float, ...]

    def efforts(self, robot, q, v, t):
        return self.craft.efforts(robot, q, v, t, np.array(self.speeds))


def ours() -> list[dict[str, object]]:
    """What a step costs: falling, with rotors and drag, and with all of it."""
    robot, craft, motor = kt.load("quadrotor", base="floating"), flight.aircraft("quadrotor"), flight.QUADROTOR_MOTOR
    allocation = flight.Allocation(robot, [part for part in craft.parts if isinstance(part, flight.Rotor)])
    control = flight.GeometricControl(robot)
    hover = allocation.speeds_of(allocation.hover)
    rng = np.random.default_rng(0)
    q = np.tile(robot.neutral(), (COUNT, 1))
    q[:, :3] = rng.normal(size=(COUNT, 3))
    v = 0.3 * rng.normal(size=(COUNT, 6))

    @kt.compile(shapes={"speeds": (4,)})
    def rotors(robot, q, v, speeds):
        return craft.efforts(robot, q, v, 0.0, speeds)

    @kt.compile(shapes={"speeds": (4,), "goal": (3,)})
    def controlled(robot, q, v, speeds, goal):
        command = allocation.speeds(control(q, v, goal)[2:6])
        return {"tau": craft.efforts(robot, q, v, 0.0, speeds), "speeds": motor.after(speeds, command, DT)}

    kt.set_num_threads(1)
    cases = {
        "falling": (None, {}),
        "rotors and drag": (rotors, {"parameters": {"speeds": hover}}),
        "and motors, allocation, control on SE(3)": (
            controlled,
            {"states": {"speeds": hover}, "parameters": {"goal": np.zeros(3)}},
        ),
        "rotors and drag in every stage": (None, {"forces": Turning(craft, tuple(hover)), "integrator": "rk4"}),
    }
    rows = []
    for name, (law, options) in cases.items():
        seconds = running_time(
            lambda law=law, options=options: robot.rollout(q, v, law, DT, STEPS, every=STEPS, **options)
        )
        integrator = options.get("integrator", "semi-implicit-euler")
        row = {"simulator": "kinetree", "what": name, "integrator": integrator}
        rows.append({**row, "million steps/s": COUNT * STEPS / seconds / 1e6})
    return rows


def theirs() -> list[dict[str, object]]:
    """RotorPy's single simulator, and its batched one where torch is installed, by Runge-Kutta; rotor speeds are
    given."""
    try:
        from rotorpy.vehicles.hummingbird_params import quad_params  # noqa: PLC0415 - an extra
        from rotorpy.vehicles.multirotor import Multirotor  # noqa: PLC0415
    except ImportError:
        return []
    what: dict[str, object] = {"what": "rotors and drag in every stage", "integrator": "rk4"}
    model = Multirotor(quad_params, control_abstraction="cmd_motor_speeds", aero=True)
    state = {
        **{name: np.zeros(3) for name in ("x", "v", "w", "wind")},
        "q": np.array([0, 0, 0, 1.0]),
        "rotor_speeds": np.full(4, 470.0),
    }
    command = {"cmd_motor_speeds": np.full(4, 470.0)}

    def steps() -> None:
        moved = state
        for _ in range(STEPS):
            moved = model.step(moved, command, DT)

    rows: list[dict[str, object]] = [
        {"simulator": "rotorpy", **what, "million steps/s": STEPS / running_time(steps) / 1e6}
    ]
    try:
        import torch  # noqa: PLC0415
        from rotorpy.vehicles.multirotor import BatchedMultirotor, BatchedMultirotorParams  # noqa: PLC0415
    except ImportError:
        return rows
    torch.set_num_threads(1)
    count = 10_000
    parameters = BatchedMultirotorParams([quad_params] * count, count, torch.device("cpu"))
    batch = {name: torch.zeros((count, 3)).double() for name in ("x", "v", "w", "wind")}
    batch |= {"q": torch.tile(torch.tensor([0, 0, 0, 1.0]), (count, 1)).double()}
    batch |= {"rotor_speeds": torch.full((count, 4), 470.0).double()}
    many = BatchedMultirotor(
        parameters, count, batch, torch.device("cpu"), control_abstraction="cmd_motor_speeds", integrator="rk4"
    )
    held = {"cmd_motor_speeds": torch.full((count, 4), 470.0).double()}
    seconds = running_time(lambda: many.step(batch, held, DT))
    rows.append({"simulator": "rotorpy, batched", **what, "million steps/s": count / seconds / 1e6})
    return rows


def main() -> None:
    """All of it, shown and kept."""
    rows = [*ours(), *theirs()]
    show(f"{COUNT} quadrotors, one core", rows)
    if not SHORT:
        print("saved", save("flight", {"dt": DT, "steps": STEPS, "states": COUNT, "one core": rows}))


if __name__ == "__main__":
    main()
