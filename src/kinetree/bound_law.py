"""A law for given robots: what a compiled function becomes once its robots and options are known."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from numbers import Real
from types import FunctionType
from typing import Any, final

import numpy as np

from kinetree import ops
from kinetree.arguments import as_floats, as_output, batch_shape, check_quaternions
from kinetree.binding import native as native_method
from kinetree.compiler import native
from kinetree.compiler.call import Kernel, Shape
from kinetree.compiler.code import Layout
from kinetree.compiler.doubts import collected_doubts
from kinetree.compiler.expr import Node, is_traced, tracing
from kinetree.compiler.jit import assembly_of, host, lazy_code, lock
from kinetree.compiler.memory import empty
from kinetree.compiler.stored import Stored, recalled, remember
from kinetree.definition import Definition, bound_arguments
from kinetree.engine import one_state
from kinetree.errors import ArgumentError, KinetreeError, SingularMassMatrixError
from kinetree.identity import identity
from kinetree.later import importing
from kinetree.lazy import lazy
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.structure import Rebuild, flatten, places


@final
class BoundLaw:
    """A law for given robots and options: a function of arrays."""

    def __init__(self, definition: Definition, robots: Mapping[str, Robot], options: Mapping[str, Any]) -> None:
        self.definition = definition
        self.robots = dict(robots)
        self.options = dict(options)
        names = [name for name in definition.names if name not in robots and name not in options]
        self.cores = {name: definition.shape_of(name, robots) for name in names}
        self.eager = any(robot._engine.eager for robot in robots.values())
        self._door: native.Door | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return BoundLaw, (self.definition, self.robots, self.options)

    def __repr__(self) -> str:
        given = [*(robot.name for robot in self.robots.values()), *(f"{k}={v!r}" for k, v in self.options.items())]
        return f"<{self.definition.name}{self._signature} for {', '.join(given)}>"

    def __getattr__(self, name: str) -> Any:
        """A built-in function is pickled as that of its owner which has its name."""
        if "definition" in self.__dict__ and name == self._name:
            return self.call
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @native_method
    def call(self, *args: Any, out: Array | None = None, **kwargs: Any) -> Any:
        """The law's result for these arrays."""
        given = bound_arguments(self.definition.name, self._signature, args, kwargs)
        if tracing() and any(map(is_traced, given.values())):
            return self.inside(given)
        arguments = {name: (as_floats(name, given[name], core), core) for name, core in self.cores.items()}
        batch = batch_shape(arguments)
        if self.eager:
            return self._by_textbook(arguments, batch, out)
        traced = self.traced
        results = [empty(batch + shape) for shape in traced.shapes]
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
        return self.definition.apply({**self.robots, **self.options, **arrays})

    @lazy
    def identity(self) -> str | None:
        """Its name in every process, of one that has a name."""
        own = self.definition.identity or identity(self.definition.function)
        parts = (self.robots, self.options, self.cores)
        return None if own is None else identity(own, *(tuple(part.items()) for part in parts))

    @lazy
    def _parameters(self) -> list[inspect.Parameter]:
        given = self.definition.signature.parameters
        parameters = [parameter for name, parameter in given.items() if name in self.cores]
        kinds = [max(parameter.kind, parameter.POSITIONAL_OR_KEYWORD) for parameter in parameters]
        return [parameter.replace(kind=kind) for parameter, kind in zip(parameters, kinds, strict=True)]

    @lazy
    def _signature(self) -> inspect.Signature:
        return inspect.Signature(self._parameters)

    def _on_floats(self, *values: Array) -> tuple[list[Array], Rebuild]:
        named = {name: _unpacked(np.array(value)) for name, value in zip(self.cores, values, strict=True)}
        robots = {name: robot.eager for name, robot in self.robots.items()}
        with np.errstate(all="ignore"):
            leaves, rebuild = flatten(self.definition.apply({**robots, **self.options, **named}), is_result)
        return [np.asarray(leaf, dtype=np.float64) for leaf in leaves], rebuild

    def _by_textbook(self, arguments: Any, batch: Shape, out: Array | None) -> Any:
        rows = [self._state(arguments, batch, index) for index in np.ndindex(*batch)]
        if not rows:
            raise ArgumentError(
                f"{self.definition.name} by the textbook got an empty batch, and cannot know its results"
            )
        columns = zip(*(leaves for leaves, _ in rows), strict=True)
        results = [np.array(column).reshape(batch + column[0].shape) for column in columns]
        return self._give(results, rows[0][1], out)

    def _look_at(self, arguments: Any, batch: Shape, flags: Array) -> None:
        """Runs the doubtful states by the textbook, which raises for those that are to be refused."""
        for index in np.argwhere(flags != 0.0):
            self._state(arguments, batch, tuple(map(int, index)))

    def _state(self, arguments: Any, batch: Shape, index: Shape) -> tuple[list[Array], Rebuild]:
        """One state of a batch by the textbook; if it is refused, the error says which, and by its name in the law."""
        states = {name: np.broadcast_to(array, batch + core)[index] for name, (array, core) in arguments.items()}
        try:
            return self._on_floats(*states.values())
        except KinetreeError as error:
            robot = next(iter(self.robots.values()), None)
            for name, (array, core) in arguments.items():
                if robot is not None and self.definition.is_configuration(name):
                    leading = array.shape[: array.ndim - len(core)]
                    ends = zip(leading, index[len(index) - len(leading) :], strict=True)
                    own = tuple(0 if n == 1 else i for n, i in ends)
                    check_quaternions(f"{name}{_index(own)}", states[name], robot.model.quaternions)
            if not index or type(error) not in (ArgumentError, SingularMassMatrixError):
                raise
            raise type(error)(f"{error}, in state {_index(index)} of the batch") from error

    def _give(self, results: Sequence[Array], rebuild: Rebuild, out: Array | None) -> Any:
        if out is not None:
            if len(results) != 1:
                raise ArgumentError(f"{self.definition.name} returns {len(results)} arrays; out takes one")
            as_output(out, results[0].shape)[...] = results[0]
            return rebuild([out])
        return rebuild([result if result.shape else result[()] for result in results])

    # -- compiled ----------------------------------------------------------------------------------------------

    @property
    def graph(self) -> Any:
        """Its operations: `.operations()`, `.listing()`, `.dot()`, `.svg()`."""
        return self.traced.graph

    @property
    def llvm(self) -> str:
        """LLVM assembly of the kernel for one state."""
        return str(self.traced.program.single_assembly())

    @property
    def assembly(self) -> str:
        """The same as machine instructions."""
        return assembly_of(self.llvm, host())

    @lazy_code
    def traced(self) -> _Traced:
        return _Traced(self)

    @lazy
    def _name(self) -> str:
        """Of the built-in function: the law's, unless that is the name of something else here."""
        name = self.definition.name
        return "call" if name in dir(self) else name

    def _native_call(self, method: FunctionType) -> Callable[..., Any] | None:
        if self.eager or not native.available():
            return None
        traced = self.traced
        if not traced.is_flat or len(traced.shapes) >= native.MOST_RESULTS or len(self.cores) > native.MOST_ARRAYS:
            return None
        if any(parameter.kind is not parameter.POSITIONAL_OR_KEYWORD for parameter in self._parameters):
            return None
        doc = inspect.getdoc(self.definition.function) or ""
        parameters = ", ".join(["$self", *map(_as_text, self._parameters), "*", "out=None"])
        interface = native.Interface(
            name=self._name,
            text=f"{self._name}({parameters})\n--\n\n{doc}",
            arrays=tuple(self.cores.items()),
            results=tuple(traced.shapes),
            bare=not traced.is_tuple,
            fallback=method,
            home=getattr(self.definition.function, "__module__", None) or __name__,
        )
        traced.kernel.load("single")
        with lock:
            if self._door is None:
                self._door = native.Door(interface)
            self._open()
        return self._door.bind(self)

    def _open(self) -> None:
        """Let native calls reach the kernels that are there."""
        kernel = self.traced.kernel
        with lock:
            if self._door is not None:
                single, batch = kernel.loaded("single"), kernel.loaded("batch")
                self._door.lead_to([native.Variant(single, has_status=True, batch=batch)])


class _Traced:
    """A law run on symbols: its graph, the shapes and the structure of its results.

    What is left of a formula of the library is remembered on disk under its name, with the digest of its graph: where
    it is known there, the formula only runs if its graph is asked for.
    """

    def __init__(self, bound: BoundLaw) -> None:
        self._definition, self._cores = bound.definition, bound.cores  # not the law itself, which has this
        self._chosen = {**bound.robots, **bound.options}
        self._program: Any = None
        self.rebuild: Rebuild
        self.is_flat, self.is_tuple = False, False
        record = None if bound.identity is None else recalled(bound.identity, host())
        if record is None:
            self._digest = self.program.digest
            self.shapes: list[Shape] = list(self.program.output_shapes[:-1])
            if bound.identity is not None and self.is_flat:
                kept = {"digest": self._digest, "shapes": self.shapes, "is_tuple": self.is_tuple}
                remember(bound.identity, host(), kept)
        else:
            self._digest, self.is_flat, self.is_tuple = record["digest"], True, record["is_tuple"]
            self.shapes = list(map(tuple, record["shapes"]))
            self.rebuild = tuple if self.is_tuple else lambda leaves: leaves[0]
        layout = Layout(tuple(map(prod, bound.cores.values())), (*map(prod, self.shapes), 1))
        self.kernel = Kernel(Stored(self._digest, layout, host(), self._checked, is_graph=True))

    def _checked(self) -> Any:
        """The program, for code that the disk does not have."""
        if self.program.digest != self._digest:
            raise RuntimeError(f"{self._definition.name} was another function when its name was kept on disk")
        return self.program

    @property
    def program(self) -> Any:
        """Made under the lock that loading code takes first, and not under one of its own."""
        if self._program is None:
            importing("kinetree.compiler.program")
            from kinetree.compiler.program import build  # noqa: PLC0415 - not needed for what the disk has

            with lock:
                if self._program is None:
                    self._program = build(self._run, list(self._cores.values()), host(), self._definition.name)
        return self._program

    def _run(self, *arrays: Array) -> tuple[Any, ...]:
        named = {name: _unpacked(array) for name, array in zip(self._cores, arrays, strict=True)}
        with collected_doubts() as doubts:
            result = self._definition.apply({**self._chosen, **named})
        leaves, self.rebuild = flatten(result, is_result)
        self.places = places(result, is_result)
        self.is_tuple = type(result) is tuple
        self.is_flat = is_result(result) or (self.is_tuple and all(map(is_result, result)))
        status: Any = False
        for condition in doubts:
            status = ops.logical_or(status, condition)
        return (*leaves, status)

    @lazy
    def graph(self) -> Any:
        """The operations, without the status."""
        whole = self.program.graph
        names = [f"{name}{_index(i)}" for name, core in self._cores.items() for i in np.ndindex(*core)]
        results = zip(self.places, self.shapes, strict=True)
        called = [f"{place}{_index(i)}" for place, shape in results for i in np.ndindex(*shape)]
        return replace(whole, outputs=whole.outputs[:-1], names=tuple(names), results=tuple(called))


def is_result(value: Any) -> bool:
    """An array or a number, traced or not."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiub" or (value.dtype == object and all(map(_is_number, value.flat)))
    return _is_number(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (Node, Real, np.bool_))


def _index(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""


def _as_text(parameter: inspect.Parameter) -> str:
    """A parameter as a built-in function shows it, which knows only plain numbers."""
    if parameter.default is parameter.empty:
        return parameter.name
    return (
        f"{parameter.name}={parameter.default!r}"
        if type(parameter.default) in (int, float)
        else f"{parameter.name}=..."
    )


def _unpacked(array: Array) -> Any:
    """A number for an array without axes."""
    return array if array.shape else array[()]
