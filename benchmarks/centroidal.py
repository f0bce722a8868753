"""Centroidal momentum, its matrix, bias and derivatives, beside Pinocchio: one state, and batches of 4096.

Pinocchio has no batch functions for these, so a batch is compared with its time for one state. Its Ȧ_G v is the product
of the matrix that `dccrba` computes, or the rate of momentum at a = 0 by `computeCentroidalMomentumTimeVariation`,
which is faster and taken here. Diagonalized coordinates it does not have: they are made of its matrices with NumPy, the
rate of the locked inertia left out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
from measure import best_times, geometric_mean, save
from robots import Contender, load
from table import show

import kinetree as kt


def diagonalized(model: pin.Model, data: pin.Data, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """M and C in [ċ, ω̄, v_j]."""
    pin.dccrba(model, data, q, v)
    M, C = pin.crba(model, data, q), pin.computeCoriolisMatrix(model, data, q, v)
    L, mass = data.Ig.inertia, data.Ig.mass
    T, T_rate = np.eye(model.nv), np.zeros((model.nv, model.nv))
    T[:3], T[3:6] = data.Ag[:3] / mass, np.linalg.solve(L, data.Ag[3:])
    T_rate[:3], T_rate[3:6] = data.dAg[:3] / mass, np.linalg.solve(L, data.dAg[3:])
    back = np.linalg.inv(T)
    return back.T @ M @ back, back.T @ (C - M @ back @ T_rate) @ back


STATES = 4096
SINGLE, BATCH = 2.0, 15.0
LEGGED = ("ANYmal", "iCub", "G1")
QUANTITIES: dict[str, tuple[str, Callable[..., object], str]] = {
    "momentum": ("centroidal_momentum", pin.computeCentroidalMomentum, "qv"),
    "A_G": ("centroidal_momentum_matrix", pin.ccrba, "qv"),
    "rate of momentum": ("centroidal_momentum_rate", pin.computeCentroidalMomentumTimeVariation, "qva"),
    "bias": ("centroidal_momentum_bias", pin.computeCentroidalMomentumTimeVariation, "qva"),
    "rate of A_G": ("centroidal_momentum_matrix_rate", pin.dccrba, "qv"),
    "diagonalized coordinates": ("diagonalized_coordinates", diagonalized, "qv"),
    "derivatives": ("centroidal_dynamics_derivatives", pin.computeCentroidalDynamicsDerivatives, "qva"),
}
OURS = {"A_G": "q", "bias": "qv"}
"""What our call takes, where that is less."""


def measured(contender: Contender, title: str) -> dict[str, object]:
    """One row of the table."""
    name, theirs, letters = QUANTITIES[title]
    ours, model, data = getattr(contender.robot, name), contender.model, contender.model.createData()
    batch = dict(zip("qva", contender.states(STATES), strict=True))
    columns = contender.to_pinocchio(*(batch[letter][:1] for letter in "qva"))
    arguments = [np.ascontiguousarray(columns["qva".index(letter)][:, 0]) for letter in letters]
    rows = [batch[letter] for letter in OURS.get(title, letters)]
    state = [row[0] for row in rows]
    times = best_times(
        {
            "kinetree": lambda: ours(*state),
            "pin": lambda: theirs(model, data, *arguments),
            "batch": lambda: ours(*rows),
        },
        repeats=7,
    )
    per_state = times["batch"] / STATES
    return {
        "robot": contender.name,
        "quantity": title,
        "kinetree [µs]": 1e6 * times["kinetree"],
        "pin [µs]": 1e6 * times["pin"],
        "ratio": times["pin"] / times["kinetree"],
        "batch [µs/state]": 1e6 * per_state,
        "batch ratio": times["pin"] / per_state,
    }


def main() -> None:
    """Measure, print, save."""
    kt.set_num_threads(1)
    rows = []
    for name in LEGGED:
        contender = load(name)
        rows += [measured(contender, title) for title in QUANTITIES]
    show("One state (want 2 times and more), and batches of 4096 on one core (want 15 times and more)", rows)
    print(f"geometric mean of the ratios: {geometric_mean([float(str(row['ratio'])) for row in rows]):.2f}")
    print("saved", save("centroidal", {"rows": rows, "budget": SINGLE, "batch budget": BATCH}))


if __name__ == "__main__":
    main()
