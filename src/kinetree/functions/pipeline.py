"""A formula followed by solver stages in one call: whole-body control, differential IK, quadratic programs.

Stages share memory and run one after the other in machine code. A stage that ends with a status other than zero ends
the call: the state is refused, and `refuse` handles it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from kinetree.base.arguments import as_floats
from kinetree.compiler import Argument, Buffer, Chain, Layout, Operand, Shape, Stage, lazy_code
from kinetree.errors import ArgumentError
from kinetree.functions.bindable import Bindable
from kinetree.functions.bound_law import BoundLaw
from kinetree.functions.compiled_function import PLAIN, Arguments, CompiledFunction, Key, Options
from kinetree.functions.specialization import index_text
from kinetree.ops import Array


class Pipeline(CompiledFunction):
    """Stages of machine code behind one call. `arrays` and `results` have names and shapes for one state; parameters of
    a parametric robot are one more array, the last."""

    def __init__(
        self, name: str, arrays: Mapping[str, Shape], results: Mapping[str, Shape], robot: Bindable | None = None
    ) -> None:
        super().__init__()
        self.name, self.arrays, self._shapes = name, dict(arrays), tuple(results.values())
        self.result_names = tuple(results)
        if robot is not None:
            self.eager = robot.is_eager
            if robot.model.parametric is not None:
                self.parameters, self.is_symbolic = robot.own_parameters, robot.is_symbolic
                self.arrays["parameters"] = np.shape(self.parameters)

    first: BoundLaw | None = None
    """The formula that runs first, of some of the arrays, if there is one."""
    between: tuple[str, ...] = ()
    """Names of the results of the formula."""

    parts: Mapping[str, Mapping[str, tuple[slice, Shape]]] = {}
    """Of arrays and results that consist of several, the name, place and shape of each."""

    @abstractmethod
    def stages(self, operands: Mapping[str, Operand]) -> list[Stage]:
        """All stages after the formula, given the operands of its results and of the arrays."""

    @abstractmethod
    def refuse(self, status: int, given: list[Array], results: list[Array]) -> None:
        """Raise for a state that ended with this status, or write other results."""

    def formula(self, key: Key) -> Callable[..., Any]:
        raise NotImplementedError  # solver stages have no formula

    # -- machine code ------------------------------------------------------------------------------------------

    @lazy_code
    def _code(self) -> _Code:
        sizes = {name: prod(shape) for name, shape in self.arrays.items()}
        operands: dict[str, Operand] = {name: Argument(k) for k, name in enumerate(sizes)}
        stages: list[Stage] = []
        if self.first is not None:
            made = self.first.specialization()
            inputs = tuple(operands[name] for name in self.first.arrays)
            buffers = {name: Buffer(name, prod(s)) for name, s in zip(self.between, made.shapes, strict=True)}
            code = made.kernel.load("single")
            stages = [Stage(code, code.workspace, inputs, tuple(buffers.values()), self.first)]
            operands |= buffers
        return _Code(Chain([*stages, *self.stages(operands)], self._layout(tuple(sizes.values()))), self._shapes)

    def result_shapes(self, options: Options) -> tuple[Shape, ...]:
        return self._shapes

    def _layout(self, inputs: tuple[int, ...]) -> Layout:
        return Layout(inputs, (*map(prod, self._shapes), 1))

    def specialization(self, key: Key = PLAIN) -> Any:
        self._specializations[PLAIN] = self._code  # type: ignore[assignment]  # it has all that calls need
        return self._code

    def prepare(self, key: Key = PLAIN, batch: bool = False) -> None:
        """Compile ahead of the first call; the same code serves one state and batches."""
        super().prepare(key)

    def _handle_refused(
        self, key: Key, arguments: Arguments, batch: Shape, status: Array, results: list[Array]
    ) -> None:
        for where in np.argwhere(status != 0.0):
            index = tuple(map(int, where))
            given = [np.broadcast_to(array, batch + core)[index] for array, core in arguments.values()]
            try:
                self.refuse(int(status[index]), given, [result[index] for result in results])
            except Exception as error:
                if index:
                    error.args = (f"{error}, in state {index_text(index)} of the batch", *error.args[1:])
                raise

    def _inline(self, values: Sequence[Any], options: tuple[str, ...], wrenches: Any, out: Array | None) -> Any:
        for (name, core), value in zip(self.arrays.items(), values, strict=True):
            as_floats(name, value, core)  # raises for traced values, with a hint
        raise ArgumentError(f"{self.name} cannot be part of a compiled function; call it outside")

    # -- on numbers --------------------------------------------------------------------------------------------

    def formula_at(self, given: Sequence[Array]) -> tuple[Array, ...]:
        """The results of the formula that runs first, for the arrays of one state."""
        assert self.first is not None
        arrays = dict(zip(self.arrays, given, strict=True))
        return self.first.evaluate([arrays[name] for name in self.first.arrays])

    def on_numbers(self, key: Key) -> Callable[..., Any]:
        return self._run_on_numbers

    def _run_on_numbers(self, *given: Array) -> Any:
        """The results of the formula as it is written, then of the stages."""
        arrays = dict(zip(self.arrays, given, strict=True))
        if self.first is not None:
            arrays |= dict(zip(self.between, self.formula_at(given), strict=True))
        flat = [np.ascontiguousarray(array, dtype=float).reshape(-1) for array in arrays.values()]
        operands: dict[str, Operand] = {name: Argument(k) for k, name in enumerate(arrays)}
        results, status = [np.empty(shape) for shape in self._shapes], np.empty(1)
        chain = Chain(self.stages(operands), self._layout(tuple(map(len, flat))))
        chain.single(flat, [*(result.reshape(-1) for result in results), status])
        if status[0] != 0.0:
            self.refuse(int(status[0]), [np.array(array) for array in given], results)
        return tuple(results) if len(results) > 1 else results[0]


class _Code:
    """The attributes of a `Specialization`, for stages."""

    refuses = is_flat = True
    reasons = ("a stage refuses the state",)

    def __init__(self, kernel: Chain, shapes: tuple[Shape, ...]) -> None:
        self.kernel, self.shapes, self.is_tuple = kernel, shapes, len(shapes) > 1

    def rebuild(self, leaves: Any) -> Any:
        """The only array, or a tuple of several."""
        return tuple(leaves) if self.is_tuple else leaves[0]
