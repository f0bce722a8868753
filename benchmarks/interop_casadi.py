"""kinetree in CasADi, beside adam: one evaluation, by machine code and by CasADi itself, which evaluates SX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi
import numpy as np
from adam import Representations
from adam.casadi import KinDynComputations
from interop_cells import BUDGET, GRAVITY, ROBOTS, agree, floating, merged, row
from peers_casadi import INPUTS, graphs
from robots import Contender, load

import kinetree as kt


def rows() -> list[dict[str, Any]]:
    """All cells."""
    return [found for name in ROBOTS for found in (*_adam(load(name)), *_tuned(load(name)))]


def _adam(contender: Contender) -> list[dict[str, Any]]:
    """Beside the functions that adam offers."""
    robot, H, state = floating(contender)
    q, v = state["q"][0], state["v"][0]
    tau = np.concatenate([np.zeros(6), v[6:]])
    gravity = np.array(GRAVITY)
    adam = KinDynComputations(merged(contender, robot), list(robot.joint_names), gravity=gravity)
    adam.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)
    base, joints = [H[0], q[7:]], [H[0], q[7:], v[:6], v[6:]]
    cells = {
        "mass matrix": ((robot.mass_matrix, [q]), (adam.mass_matrix_fun(), base)),
        "bias forces": ((robot.bias_forces, [q, v]), (adam.bias_force_fun(), joints)),
        "forward dynamics": ((robot.forward_dynamics, [q, v, tau]), (adam.aba_fun(), [*joints, v[6:]])),
    }
    rows = []
    for quantity, ((ours, given), (theirs, taken)) in cells.items():
        for how, compiled in (("", True), (", SX", False)):
            budget = BUDGET if compiled else None  # CasADi takes as long for an operation of ours as for another
            pair = {"kinetree": (kt.to_casadi(ours, compiled=compiled), given), "adam": (theirs, taken)}
            agree(*(f(*x).full() for f, x in pair.values()))
            calls = {peer: _evaluated(*found) for peer, found in pair.items()}
            rows.append(row(contender.name, f"{quantity}{how}", calls, 1, 30, budget))
            if quantity == "bias forces":
                slopes = {"kinetree": (_jacobian(pair["kinetree"][0], 0), given), "adam": (_jacobian(theirs, 1), taken)}
                agree(*(f(*x).full()[:, -(robot.nv - 6) :] for f, x in slopes.values()))
                calls = {peer: _evaluated(*found) for peer, found in slopes.items()}
                rows.append(row(contender.name, f"bias forces, Jacobian{how}", calls, 1, 30, budget))
    return rows


def _tuned(contender: Contender) -> list[dict[str, Any]]:
    """Beside adam's algorithms with what `peers_casadi` does for them: links merged, a fixed base folded away, common
    terms shared. Nobody gets these from the package, so they have no budget."""
    robot, rows = contender.robot, []
    q, v, a = (x[0] for x in contender.states(1))
    tau = a.copy()
    tau[: robot.nv - len(robot.joint_names)] = 0.0  # adam's ABA has torques of joints only
    state = {"q": q, "v": v, "a": a, "tau": tau}
    adam = graphs(contender)
    for quantity, ours in {
        "RNEA": robot.inverse_dynamics,
        "CRBA": robot.mass_matrix,
        "ABA": robot.forward_dynamics,
    }.items():
        given = [state[kind] for kind in INPUTS[quantity]]
        pair = {"kinetree": kt.to_casadi(ours), "adam, tuned": adam[quantity]}
        agree(*(f(*given).full() for f in pair.values()))
        calls = {peer: _evaluated(f, given) for peer, f in pair.items()}
        rows.append(row(contender.name, f"{quantity}, beside a tuned graph", calls, 1, 30, None))
    return rows


def _jacobian(f: Any, which: int) -> Any:
    x = f.mx_in() if f.class_name() == "External" else f.sx_in()
    return casadi.Function("J", x, [casadi.densify(casadi.jacobian(f(*x), x[which]))])


def _evaluated(f: Any, given: list[np.ndarray]) -> Callable[[], Any]:
    """One evaluation through CasADi's buffers."""
    buffer, evaluate = f.buffer()
    arrays = [np.array(x.T, order="C") for x in given]  # CasADi has columns one after the other
    result = np.zeros(f.size_out(0)[::-1])
    for k, x in enumerate(arrays):
        buffer.set_arg(k, memoryview(x))
    buffer.set_res(0, memoryview(result))

    def run(keep: object = (buffer, arrays, result)) -> None:
        evaluate()

    return run
