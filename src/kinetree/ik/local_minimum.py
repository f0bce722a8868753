"""`descent` as machine code: a kernel that evaluates rows, and `descent.advance` between its calls."""

from __future__ import annotations

import ctypes
import math
import threading
from functools import partial
from typing import Any

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.compiler import Loaded, LoadedCode, Rows, address_of, lazy_code, loop_function, once
from kinetree.functions.bound_law import BoundLaw
from kinetree.functions.definition import Definition
from kinetree.functions.identity import identity
from kinetree.ik.coordinates import in_own_axes, in_parent_axes, limited, translations, within_limits
from kinetree.ik.descent import COORDINATE, HIGH, LENGTHS, LOW, PLACE, SLIDES, STATE, TURN, advance
from kinetree.ik.lanes import parts_of_rows
from kinetree.ik.step import LevenbergMarquardtStep
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.spatial.rotation_vector import rotation_error


class Descent(ctypes.Structure):
    """The memory of a descent, by the names of `advance`, and the kernel that evaluates its rows."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("kernel", "descriptor", "work")),
        *((name, ctypes.c_int64) for name in ("rows", "nq", "nv")),
        *((name, ctypes.c_void_p) for name in ("state", "q", "squares")),
        *((name, Rows) for name in ("C", "Q", "M", "N", "F", "gradients", "E", "H", "V")),
    )


def descend(r: Descent) -> None:
    """Evaluate rows until `advance` asks for no more."""
    while advance(r.nq, r.nv, r.state, r.q, r.squares, r.C, r.Q, r.M, r.N, r.F, r.gradients, r.E, r.H, r.V):
        r.kernel(0, r.rows, r.descriptor, r.work)


@once
def _driver() -> tuple[LoadedCode, Any]:
    return loop_function("kinetree_descend", descend, ctypes.CFUNCTYPE(None, ctypes.c_void_p))


class _Room:
    """The memory that one thread works in."""

    def __init__(self, robot: Robot, given: tuple[int, ...], code: Loaded) -> None:
        nq, nv, rows = robot.nq, robot.nv, max(robot.nv + 1, LENGTHS)
        self.state, self.q, self.squares = np.zeros(STATE), np.zeros(nq), np.zeros(2)
        shapes = {"C": (nv, COORDINATE), "Q": (rows, nq), "M": (rows, nv), "N": (rows, nq), "F": (rows, 1)}
        shapes |= {"gradients": (rows, nv), "E": (rows, 2), "H": (nv, nv), "V": (nv, nv)}
        self.matrices = {name: np.zeros(shape) for name, shape in shapes.items()}
        self.targets, self.flags = np.zeros((rows, sum(given))), np.zeros(rows)
        C = self.matrices["C"]
        C[:, LOW], C[:, HIGH], C[:, SLIDES] = -np.inf, np.inf, translations(robot)
        for iq, iv, low, high in limited(robot):
            C[iv, [LOW, HIGH, PLACE]] = low, high, iq
        self.work = np.empty(code.workspace + 64, dtype=np.uint8)
        places = {name: address_of(matrix) for name, matrix in self.matrices.items()}
        words = [places["Q"], nq, 1, places["M"], nv, 1, *parts_of_rows(address_of(self.targets), given)]
        words += [places["N"], nq]
        words += [places["F"], 1, places["gradients"], nv, places["E"], 2, address_of(self.flags), 1]
        self.descriptor = (ctypes.c_int64 * len(words))(*words)
        self.descent = Descent(
            code.address,
            ctypes.addressof(self.descriptor),
            -(-address_of(self.work) // 64) * 64,
            *(rows, nq, nv),
            *map(address_of, (self.state, self.q, self.squares)),
            *(Rows(places[name], shape[1]) for name, shape in shapes.items()),
        )
        self.code, drive = _driver()  # the function does not keep its code
        self.run = partial(drive, ctypes.addressof(self.descent))


class LocalMinimum:
    """Configurations with the least errors of a step's frames that descent from a given one leads to."""

    def __init__(self, step: LevenbergMarquardtStep) -> None:
        self.robot, self.step = step.robot, step
        self._local = threading.local()

    @lazy
    def law(self) -> BoundLaw:
        """q moved by a displacement, cut off at limits; there f = ½ Σ ‖e‖², its gradient, and the greatest squared
        errors of position and rotation."""
        step = self.step

        def move(robot: Robot, q: Array, dv: Array, target: Array) -> tuple[Array, Array, Array, Array]:
            moved = within_limits(robot, robot.integrate(q, in_own_axes(robot, q, dv)))
            e, J, squares = step.error(robot, moved, target, rotation_error)
            return moved, 0.5 * (e @ e), -(in_parent_axes(robot, moved, J).T @ e), squares

        shapes, own = {"dv": (self.robot.nv,), "target": (step.target_size,)}, identity("descent of IK", step)
        return BoundLaw(Definition(move, shapes, identity=own), {"robot": self.robot}, {})

    @lazy_code
    def _code(self) -> Loaded:
        return self.law.specialization().kernel.load("batch")

    @lazy
    def _given(self) -> tuple[int, ...]:
        """How many numbers of a row are the target, and how many the parameters of a parametric robot."""
        return tuple(int(np.prod(shape)) for name, shape in self.law.arrays.items() if name not in ("q", "dv"))

    def run(self, q: Array, target: Array) -> tuple[Array, float, float, int]:
        """The configuration that descent from q, (nq,), for a row of targets and parameters ends at, the greatest
        errors of position [m] and of rotation [rad] there, and how many steps it took."""
        room = getattr(self._local, "room", None)
        if room is None:
            room = self._local.room = _Room(self.robot, self._given, self._code)
        room.state[...] = 0.0
        room.q[...], room.targets[...] = q, target
        room.run()
        gap, angle = map(math.sqrt, room.squares.tolist())
        return room.q.copy(), gap, angle, int(room.state[TURN])
