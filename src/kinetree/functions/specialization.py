"""A formula for fixed options: its graph, the structure of its results, and its machine code.

A record on disk, under the identity of a formula, holds the digest of its graph and the shapes of its results. With a
record, the formula is traced only if its graph is needed, or if its machine code is not on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from numbers import Real
from typing import Any

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.base.precision import FLOAT64, computing_in
from kinetree.compiler import (
    CachedCode,
    Kernel,
    Layout,
    LoopCarry,
    Node,
    Shape,
    any_broken,
    assembly_of,
    collected_requirements,
    host,
    lock,
    record_or_lock,
    save_record,
)
from kinetree.functions.result_tree import Rebuild, flatten, paths
from kinetree.ops import Array


class Specialization:
    """A formula `run` for arrays of these shapes; its results may be any tree of arrays."""

    def __init__(
        self, name: str, arrays: Mapping[str, Shape], run: Callable[..., Any], identity: str | None,
        always_reports: bool = False, carry: LoopCarry | None = None, dtype: np.dtype[Any] = FLOAT64, cpu: str = "",
    ) -> None:  # fmt: skip
        """With `always_reports`, the code has the output for refused states even if there can be none. With `carry`, it
        runs in a step loop: its first results are the first arrays of the next step. `cpu` names another CPU."""
        self.name, self._arrays, self._formula = name, arrays, run
        self._always_reports, self._carry = always_reports, carry
        self._target = host(cpu).computing_in(dtype)
        self._program: Any = None
        self.reasons: tuple[str, ...]
        self.rebuild: Rebuild
        self.is_flat, self.is_tuple, self.refuses, self.reasons = False, False, False, ()
        """Whether the result is one array or a plain tuple of arrays; whether it is a tuple; whether states may be
        refused: the last output of the code is then their status, not zero for a refused one; and for which reasons."""
        self.shapes: tuple[Shape, ...]
        with record_or_lock(identity, self._target) as record:
            if record is None:
                self._trace(identity)
        if record is not None:
            self._digest, self.is_flat = record["digest"], True
            self.is_tuple, self.refuses = record["is_tuple"], record["refuses"]
            self.reasons = tuple(record["reasons"])
            self.shapes = tuple(map(tuple, record["shapes"]))
            self.rebuild = tuple if self.is_tuple else lambda leaves: leaves[0]
            self.paths = [f"result[{k}]" for k in range(len(self.shapes))] if self.is_tuple else ["result"]
        outputs = (*map(prod, self.shapes), *(1,) * self.refuses)
        layout = Layout(tuple(map(prod, arrays.values())), outputs)
        self.kernel = Kernel(CachedCode(self._digest, layout, self._target, self._checked))

    def _trace(self, identity: str | None) -> None:
        """Trace the formula, and store its record."""
        self._digest = self.program.digest
        shapes = list(self.program.output_shapes)
        self.shapes = tuple(shapes[:-1] if self.refuses else shapes)
        if identity is not None and self.is_flat:
            self._save(identity)

    def _save(self, identity: str) -> None:
        facts = {"digest": self._digest, "shapes": self.shapes, "is_tuple": self.is_tuple}
        save_record(identity, self._target, {**facts, "refuses": self.refuses, "reasons": self.reasons})

    def _checked(self) -> Any:
        """The program, after a check that it agrees with the record."""
        if self.program.digest != self._digest:
            raise RuntimeError(f"{self.name} was another function when its record was written to disk")
        return self.program

    @property
    def program(self) -> Any:
        """The traced and simplified formula, made under the compiler's lock."""
        if self._program is None:
            from kinetree.compiler import build  # noqa: PLC0415 - not needed if the code is on disk

            with lock:
                if self._program is None:
                    program = build(self._run, list(self._arrays.values()), self._target, self.name)
                    self._program = program if self._carry is None else replace(program, carry=self._carry)
                    self._formula = _traced_already  # the formula may refer to robots and laws
        return self._program

    def _run(self, *arrays: Array) -> tuple[Any, ...]:
        with collected_requirements() as conditions, computing_in(self._target.dtype):
            result = self._formula(*arrays)
        leaves, self.rebuild = flatten(result, is_result)
        self.paths = paths(result, is_result)
        self.is_tuple = type(result) is tuple
        self.is_flat = is_result(result) or (self.is_tuple and all(map(is_result, result)))
        self.refuses, self.reasons = self._always_reports or bool(conditions), tuple(conditions.by_sentence())
        return (*leaves, any_broken(conditions)) if self.refuses else tuple(leaves)

    @property
    def digest(self) -> str:
        """A hash of its graph and its target, the same in every process."""
        return self._digest

    @lazy
    def graph(self) -> Any:
        """The graph, without the output for refused states: `.operations()`, `.listing()`, `.dot()`, `.svg()`."""
        whole = self.program.graph
        names = [f"{name}{index_text(i)}" for name, core in self._arrays.items() for i in np.ndindex(*core)]
        results = zip(self.paths, self.shapes, strict=True)
        called = [f"{path}{index_text(i)}" for path, shape in results for i in np.ndindex(*shape)]
        outputs = whole.outputs[:-1] if self.refuses else whole.outputs
        return replace(whole, outputs=outputs, names=tuple(names), results=tuple(called))

    @property
    def llvm(self) -> str:
        """LLVM assembly of the kernel for one state."""
        return str(self.program.single_assembly())

    @property
    def assembly(self) -> str:
        """Machine instructions of the kernel for one state."""
        return assembly_of(self.llvm, self._target)


def _traced_already(*arrays: Array) -> Any:
    raise RuntimeError("this formula was already traced")


def is_result(value: Any) -> bool:
    """Whether a value is an array or a number, traced or not."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiub" or (value.dtype == object and all(map(_is_number, value.flat)))
    return _is_number(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (Node, Real, np.bool_))


def index_text(index: Sequence[int]) -> str:
    """An index as text, such as [2, 3]; empty for a number."""
    return f"[{', '.join(map(str, index))}]" if index else ""
