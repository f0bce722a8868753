"""A law for given robots: what a compiled function becomes once its robots and options are known."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from numbers import Real
from types import FunctionType
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinetree import ops
from kinetree.arguments import as_floats, as_output, batch_shape, map_rows
from kinetree.binding import native as native_method
from kinetree.compiler import native
from kinetree.compiler.call import Kernel, Shape
from kinetree.compiler.doubts import collected_doubts
from kinetree.compiler.expr import Node, is_traced, tracing
from kinetree.compiler.jit import host, lock
from kinetree.compiler.stored import Stored
from kinetree.engine import one_state
from kinetree.errors import ArgumentError
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.structure import Rebuild, flatten

if TYPE_CHECKING:
    from kinetree.law import Law


@final
class BoundLaw:
    """A law for given robots: a function of arrays."""

    def __init__(self, law: Law, robots: Mapping[str, Robot], options: Mapping[str, Any]) -> None:
        self.law = law
        self.robots = dict(robots)
        self.options = dict(options)
        names = [name for name in law._names if name not in robots and name not in options]
        self.cores = {name: law.shape_of(name, robots) for name in names}
        self.eager = any(robot._engine.eager for robot in robots.values())
        self._door: native.Door | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return BoundLaw, (self.law, self.robots, self.options)

    @native_method
    def call(self, *args: Any, out: Array | None = None, **kwargs: Any) -> Any:
        """The law's result for these arrays."""
        given = self._signature.bind(*args, **kwargs)
        given.apply_defaults()
        if tracing() and any(map(is_traced, given.arguments.values())):
            return self.inside(given.arguments)
        arguments = {name: (as_floats(name, given.arguments[name], core), core) for name, core in self.cores.items()}
        batch = batch_shape(arguments)
        if self.eager:
            return self._by_textbook(arguments, batch, out)
        traced = self.traced
        results = [np.empty(batch + shape) for shape in traced.shapes]
        flags = np.empty(batch)
        if flags.size:
            is_first = batch != () and traced.kernel.loaded("batch") is None
            traced.kernel.run(list(arguments.values()), batch, [*results, flags])
            if is_first:
                self._open()
            if flags.any():  # by the textbook, which says what is wrong
                self._look_at(arguments, batch, flags)
        return self._give(results, traced.rebuild, out)

    def inside(self, arguments: Mapping[str, Any]) -> Any:
        """The law as part of a larger one."""
        arrays = {name: _unpacked(one_state(name, arguments[name], core)) for name, core in self.cores.items()}
        return self.law.apply({**self.robots, **self.options, **arrays})

    @cached_property
    def _parameters(self) -> list[inspect.Parameter]:
        parameters = [parameter for name, parameter in self.law.signature.parameters.items() if name in self.cores]
        kinds = [max(parameter.kind, parameter.POSITIONAL_OR_KEYWORD) for parameter in parameters]
        return [parameter.replace(kind=kind) for parameter, kind in zip(parameters, kinds, strict=True)]

    @cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.Signature(self._parameters)

    def _on_floats(self, *values: Array) -> tuple[list[Array], Rebuild]:
        named = {name: _unpacked(np.array(value)) for name, value in zip(self.cores, values, strict=True)}
        robots = {name: robot.eager for name, robot in self.robots.items()}
        with np.errstate(all="ignore"):
            leaves, rebuild = flatten(self.law.apply({**robots, **self.options, **named}), is_result)
        return [np.asarray(leaf, dtype=np.float64) for leaf in leaves], rebuild

    def _by_textbook(self, arguments: Any, batch: Shape, out: Array | None) -> Any:
        rows = map_rows(self._on_floats, arguments)
        if not rows:
            raise ArgumentError(f"{self.law.__name__} by the textbook got an empty batch, and cannot know its results")
        columns = zip(*(leaves for leaves, _ in rows), strict=True)
        results = [np.array(column).reshape(batch + column[0].shape) for column in columns]
        return self._give(results, rows[0][1], out)

    def _look_at(self, arguments: Any, batch: Shape, flags: Array) -> None:
        """Runs the doubtful states by the textbook, which raises for those that are to be refused."""
        states = [np.broadcast_to(array, batch + core) for array, core in arguments.values()]
        for index in np.argwhere(flags != 0.0):
            self._on_floats(*(state[tuple(index)] for state in states))

    def _give(self, results: Sequence[Array], rebuild: Rebuild, out: Array | None) -> Any:
        if out is not None:
            if len(results) != 1:
                raise ArgumentError(f"{self.law.__name__} returns {len(results)} arrays; out takes one")
            as_output(out, results[0].shape)[...] = results[0]
            return rebuild([out])
        return rebuild([result if result.shape else result[()] for result in results])

    # -- compiled ----------------------------------------------------------------------------------------------

    @cached_property
    def traced(self) -> _Traced:
        with lock:
            return _Traced(self)

    def _native_call(self, method: FunctionType) -> Callable[..., Any] | None:
        if self.eager or not native.available():
            return None
        traced = self.traced
        if not traced.is_flat or len(traced.shapes) >= native.MOST_RESULTS or len(self.cores) > native.MOST_ARRAYS:
            return None
        if any(parameter.kind is not parameter.POSITIONAL_OR_KEYWORD for parameter in self._parameters):
            return None
        doc = inspect.getdoc(self.law.function) or ""
        interface = native.Interface(
            name=method.__name__,
            text=f"{method.__name__}($self, {', '.join(self.cores)}, *, out=None)\n--\n\n{doc}",
            arrays=tuple(self.cores.items()),
            options=(),
            defaults=(),
            mapping=None,
            results=tuple(traced.shapes),
            bare=not traced.is_tuple,
            fallback=method,
            home=self.law.__module__,
        )
        self._door = native.Door(interface)
        traced.kernel.load("single")
        self._open()
        return self._door.bind(self)

    def _open(self) -> None:
        """Let native calls reach the kernels that are there."""
        kernel = self.traced.kernel
        if self._door is not None:
            self._door.lead_to([native.Variant(kernel.loaded("single"), has_status=True, batch=kernel.loaded("batch"))])


class _Traced:
    """A law run on symbols: its graph, the shapes and the structure of its results."""

    def __init__(self, bound: BoundLaw) -> None:
        from kinetree.compiler.program import build  # noqa: PLC0415

        self.rebuild: Rebuild

        def run(*arrays: Array) -> tuple[Any, ...]:
            named = {name: _unpacked(array) for name, array in zip(bound.cores, arrays, strict=True)}
            with collected_doubts() as doubts:
                result = bound.law.apply({**bound.robots, **bound.options, **named})
            leaves, self.rebuild = flatten(result, is_result)
            self.is_tuple = type(result) is tuple
            self.is_flat = is_result(result) or (self.is_tuple and all(map(is_result, result)))
            status: Any = False
            for condition in doubts:
                status = ops.logical_or(status, condition)
            return (*leaves, status)

        self.program = build(run, list(bound.cores.values()), host(), bound.law.__name__)
        self.shapes: list[Shape] = list(self.program.output_shapes[:-1])
        names = [f"{name}{_index(i)}" for name, core in bound.cores.items() for i in np.ndindex(*core)]
        whole: Any = self.program.graph
        self.graph = replace(whole, outputs=whole.outputs[:-1], names=tuple(names))  # the last is the status
        self.kernel = Kernel(Stored(self.program.digest, self.program.layout, host(), lambda: self.program))


def is_result(value: Any) -> bool:
    """An array or a number, traced or not."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiub" or (value.dtype == object and all(map(_is_number, value.flat)))
    return _is_number(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (Node, Real, np.bool_))


def _index(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""


def _unpacked(array: Array) -> Any:
    """A number for an array without axes."""
    return array if array.shape else array[()]
