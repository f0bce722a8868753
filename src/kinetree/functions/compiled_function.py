"""One formula as a call of arrays: everything between an algorithm and its machine code.

A quantity of a robot, a law, a controller: each is a `CompiledFunction` with its own formula. A call

    reads its arguments      arrays with any leading axes, which broadcast; options, which are words; wrenches by frame
    finds its machine code   a `Specialization` for these options and frames, traced, compiled or loaded on first use
    runs it                  for one state or for a batch, on several threads if that pays
    handles refused states   those that break an `ops.require`: they are computed again on numbers, which raises

The native entry, `native_call`, does the same for the most common calls without Python, and passes others on to Python.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from kinetree.base.arguments import as_floats, as_output, batch_shape, check_quaternions
from kinetree.base.lazy import lazy
from kinetree.base.precision import FLOAT64
from kinetree.compiler import (
    Kind,
    Shape,
    empty_results,
    is_traced,
    lock,
    machine_code_works,
    made_once,
    native,
    tracing,
)
from kinetree.errors import ArgumentError, KinetreeError, SingularMassMatrixError
from kinetree.functions.result_tree import Rebuild, flatten
from kinetree.functions.specialization import Specialization, index_text, is_result
from kinetree.ops import Array

Arguments = dict[str, tuple[Array, Shape]]
"""Arrays by name, each with its shape for one state."""
Place = tuple[str, str]
"""The place of a wrench: a frame and a reference."""


Options = tuple[Any, ...]
"""Values of options: words, or tuples for a selection that has no word."""


class Key(NamedTuple):
    """The key of a specialization: the values of its options, and the places of its wrenches."""

    options: Options = ()
    places: tuple[Place, ...] = ()


PLAIN = Key()
"""The key of a function without options and wrenches."""


class CompiledFunction(ABC):
    """A formula as a call of arrays. `arrays` has their shapes for one state."""

    name: str
    title: str = ""
    """The name in messages of the compiler, if it differs."""
    arrays: Mapping[str, Shape]
    eager: bool = False
    """Whether the formula runs on numbers, as it is written."""
    options: Mapping[str, str] = {}
    """Options and their default values."""
    takes_wrenches: bool = False
    presets: Mapping[str, Array] = {}
    """Default values of arrays."""
    parameters: Array | None = None
    """The own parameters of a parametric robot, for which other numbers may be given: the last of the arrays."""
    is_symbolic: bool = False
    """Whether it is of a robot of symbols, as a traced function has it: all calls become part of the outer graph."""
    spread: tuple[int, int] = (0, 0)
    """(n, m): after n arguments, the following ones up to the m-th may come as one tuple."""
    always_reports: bool = False
    """Whether the code has an output for refused states even if there can be none, as solvers and searches expect."""
    quaternions: Mapping[str, tuple[slice, ...]] = {}
    """The quaternions of each array that is a configuration."""
    refusals_by_quaternions: frozenset[str] = frozenset()
    """Reasons that no state is refused for whose quaternions all have unit length."""
    dtype: np.dtype[Any] = FLOAT64
    """The type of the numbers that are computed with and returned. In float32 the native entry serves batches only, and
    states that break a requirement, perhaps by rounding alone, are computed in float64."""

    def __init__(self) -> None:
        self._specializations: dict[Key, Specialization] = {}
        self._prepared: tuple[Key, ...] = ()
        self._native: frozenset[tuple[Key, Kind]] = frozenset()
        self._batches_by_python: frozenset[Key] = frozenset()
        self._entry: native.NativeEntry | None = None
        self._directional: dict[Any, Any] = {}
        """Directional derivatives of this function, by key, mode and arguments."""
        self._twins: dict[np.dtype[Any], CompiledFunction | None] = {}

    # -- defined by subclasses ---------------------------------------------------------------------------------

    @abstractmethod
    def formula(self, key: Key) -> Callable[..., Any]:
        """The results for one state as a function of its arrays, on symbols or on numbers. It must not refer to this
        object, which caches it."""

    @property
    def configurations(self) -> Mapping[str, Any]:
        """The arrays that are configurations, and the model of each."""
        return {}

    def result_shapes(self, options: Options) -> tuple[Shape, ...] | None:
        """The shapes of the results for one state, if they are known before the formula is traced."""
        return None

    def careful(self, options: Options) -> CompiledFunction | None:
        """The function that computes states that break a requirement; without it they are computed on numbers."""
        return None

    def on_numbers(self, key: Key) -> Callable[..., Any]:
        """The formula for numbers only."""
        return self.formula(key)

    def identity(self, key: Key) -> str | None:
        """A text that is the same in every process for this formula and for no other; None if there is none."""
        return None

    def read_wrenches(self, wrenches: Any, read: Callable[[str, object, Shape], Array]) -> dict[Place, Array]:
        """The 6-vectors of a call's `wrenches`, by place."""
        raise NotImplementedError

    # -- calls -------------------------------------------------------------------------------------------------

    def evaluate(
        self, values: Sequence[Any], options: Options = (), wrenches: Any = None, out: Array | None = None
    ) -> Any:
        """The results for one state or for all states of a batch; traced values become part of the outer graph."""
        if self.is_symbolic or (tracing() and _any_traced(values, wrenches)):
            return self._inline(values, options, wrenches, out)
        cores = self.arrays.items()
        pairs = zip(cores, values, strict=True)
        arguments = {name: (as_floats(name, v, core, self.dtype), core) for (name, core), v in pairs}
        key = Key(options)
        if self.takes_wrenches and (wrenches is not None or self._prepared):
            key = self._add_wrenches(options, {} if wrenches is None else wrenches, arguments)
        batch = batch_shape(arguments)
        run = self._run_kernel if self._compiles() else self._run_eagerly
        return run(key, arguments, batch, out)

    def with_parameters(self, values: Sequence[Any], parameters: Any = None) -> Sequence[Any]:
        """The values of all arrays, with the parameters of a parametric robot as the last, unless there is none."""
        if self.parameters is not None:
            return (*values, self.parameters if parameters is None else parameters)
        if parameters is not None:
            raise ArgumentError(
                f"{self.title or self.name} takes no parameters: they are for robots with inputs, as "
                "kt.load(…, parametric=('inertial',)) gives"
            )
        return values

    def _compiles(self) -> bool:
        """Whether calls run machine code; otherwise the formula runs on numbers."""
        return not self.eager and machine_code_works()

    def _add_wrenches(self, options: Options, wrenches: Any, arguments: Arguments) -> Key:
        """Add the wrenches to the arguments and return their key. If prepared code has more places than needed, the
        others get zero wrenches."""
        given = self.read_wrenches(wrenches, partial(as_floats, dtype=self.dtype))
        key = self._covering(Key(options, tuple(sorted(given))))
        for place in key.places:
            arguments[_place_name(place)] = (given.get(place, np.zeros(6, self.dtype)), (6,))
        return key

    def _covering(self, key: Key) -> Key:
        """The smallest prepared key that has all places of this one, or the key itself."""
        wanted = set(key.places)
        covering = [known for known in self._prepared if known.options == key.options and wanted <= set(known.places)]
        return min(covering, key=lambda known: len(known.places), default=key)

    def _inline(self, values: Sequence[Any], options: Options, wrenches: Any, out: Array | None) -> Any:
        if out is not None:
            raise ArgumentError("out cannot be given inside a compiled function, whose values have no memory")
        careful = self.careful(options)
        if careful is not None:
            return careful._inline(values, options, wrenches, out)
        cores = self.arrays.items()
        arrays = [one_state(name, value, core) for (name, core), value in zip(cores, values, strict=True)]
        if self.parameters is not None:  # numbers beside symbols: what is made like them must hold both
            arrays = [array.astype(object) for array in arrays]
        given = self.read_wrenches(wrenches or {}, one_state) if self.takes_wrenches else {}
        places = tuple(sorted(given))
        return self.formula(Key(options, places))(*arrays, *(given[place] for place in places))

    # -- machine code ------------------------------------------------------------------------------------------

    def specialization(self, key: Key = PLAIN) -> Specialization:
        """The specialization for this key, made on first use."""
        known = self._specializations
        return known.get(key) or made_once(known, key, lambda: self._specialized(key))

    def _specialized(self, key: Key, cpu: str = "") -> Specialization:
        """A new specialization for this key, for a named CPU or for the one that code runs on."""
        return Specialization(
            self.title or self.name,
            {**self.arrays, **{_place_name(place): (6,) for place in key.places}},
            self.formula(key),
            self.identity(key),
            self.always_reports,
            dtype=self.dtype,
            cpu=cpu,
        )

    def _run_kernel(self, key: Key, arguments: Arguments, batch: Shape, out: Array | None) -> Any:
        made = self.specialization(key)
        shapes = [batch + shape for shape in made.shapes]
        direct = False
        if out is not None:
            as_output(out, self._only_shape(shapes), self.dtype)
            direct = self.refusals_by_quaternions.issuperset(made.reasons) and _may_be_written(out, arguments)
            if direct and made.refuses:
                self._check_quaternions(arguments)  # what raises leaves `out` as it was
        results = [out] if direct and out is not None else empty_results(shapes, self.dtype)
        if prod(batch) and (made.refuses or any(result.size for result in results)):
            flags = [np.empty(batch, self.dtype)] if made.refuses else []
            made.kernel.run(list(arguments.values()), batch, [*results, *flags])
            self._enable_native(key, "batch" if batch else "single")
            if flags and flags[0].any():
                self._handle_refused(key, arguments, batch, flags[0], results)
        if out is not None:
            if not direct:
                out[...] = results[0]
            return made.rebuild([out])
        return made.rebuild([result if result.shape else result[()] for result in results])

    def _handle_refused(
        self, key: Key, arguments: Arguments, batch: Shape, status: Array, results: list[Array]
    ) -> None:
        """Compute the states again that break a requirement, whose status is not zero; raises for a refused one."""
        self._check_quaternions(arguments)
        broken = status != 0.0
        careful = self.careful(key.options)
        if careful is None and self.dtype != FLOAT64:
            careful = self._in_float64
        if careful is not None:
            self._recompute(careful, key, arguments, batch, broken, results)
            return
        for index in np.argwhere(broken):
            self._run_state(key, arguments, batch, tuple(map(int, index)))
        if batch and key not in self._batches_by_python:  # native code would compute the whole batch twice
            with lock:
                self._batches_by_python |= {key}
                self._update_entry()

    def _recompute(
        self, careful: CompiledFunction, key: Key, arguments: Arguments, batch: Shape, broken: Array,
        results: list[Array],
    ) -> None:  # fmt: skip
        """Replace the results of the states that are `broken` by those of the careful function."""
        rows = {
            name: (np.broadcast_to(array, batch + core)[broken].reshape(-1, *core).astype(careful.dtype), core)
            for name, (array, core) in arguments.items()
        }
        try:
            again = careful._run_kernel(key, rows, (int(np.count_nonzero(broken)),), None)
        except KinetreeError:
            for index in np.argwhere(broken):  # raises with the index in the whole batch
                self._run_state(key, arguments, batch, tuple(map(int, index)))
            raise
        for result, new in zip(results, flatten(again, is_result)[0], strict=True):
            result[broken] = new if batch else new[0]

    @lazy
    def _in_float64(self) -> CompiledFunction:
        """The same function in float64."""
        return self._copied(FLOAT64)

    def _copied(self, dtype: np.dtype[Any]) -> CompiledFunction:
        twin = copy(self)
        CompiledFunction.__init__(twin)
        twin.dtype = dtype
        return twin

    def astype(self, dtype: np.dtype[Any]) -> CompiledFunction | None:
        """The same function for numbers of another type, made once; None if it needs the digits of float64."""
        if dtype == self.dtype:
            return self
        if dtype not in self._twins:
            self._twins.setdefault(dtype, self._twin(dtype))
        return self._twins[dtype]

    def _twin(self, dtype: np.dtype[Any]) -> CompiledFunction | None:
        return self._copied(dtype)

    def _check_quaternions(self, arguments: Arguments) -> None:
        for name, parts in self.quaternions.items():
            check_quaternions(name, arguments[name][0], parts)

    # -- on numbers --------------------------------------------------------------------------------------------

    def _run_eagerly(self, key: Key, arguments: Arguments, batch: Shape, out: Array | None) -> Any:
        careful = self.careful(key.options)
        if careful is not None and careful.dtype == self.dtype:
            return careful._run_eagerly(key, arguments, batch, out)
        rows = [self._run_state(key, arguments, batch, index) for index in np.ndindex(*batch)]
        if rows:
            columns = zip(*(leaves for leaves, _ in rows), strict=True)
            results = [np.array(column, self.dtype).reshape(batch + column[0].shape) for column in columns]
            rebuild = rows[0][1]
        else:
            shapes = self.result_shapes(key.options)
            if shapes is None:
                raise ArgumentError(
                    f"{self.name} got an empty batch on the textbook path, where its shapes are not known"
                )
            results = [np.empty(batch + shape, self.dtype) for shape in shapes]
            rebuild = tuple if len(results) > 1 else lambda leaves: leaves[0]
        if out is None:
            return rebuild([result if result.shape else result[()] for result in results])
        as_output(out, self._only_shape([result.shape for result in results]), self.dtype)[...] = results[0]
        return rebuild([out])

    def _run_state(self, key: Key, arguments: Arguments, batch: Shape, index: Shape) -> tuple[list[Array], Rebuild]:
        """The results of one state of a batch on numbers; the error of a refused state names its index."""
        states = [np.broadcast_to(array, batch + core)[index] for array, core in arguments.values()]
        states = [state.astype(FLOAT64, copy=False) for state in states]
        try:
            with np.errstate(all="ignore"):  # NaN and infinity are valid results
                leaves, rebuild = flatten(self.on_numbers(key)(*states), is_result)
        except KinetreeError as error:
            self._check_quaternions(arguments)
            if not index or type(error) not in (ArgumentError, SingularMassMatrixError):
                raise
            raise type(error)(f"{error}, in state {index_text(index)} of the batch") from error
        return [np.asarray(leaf, dtype=np.float64) for leaf in leaves], rebuild

    def _only_shape(self, shapes: Sequence[Shape]) -> Shape:
        """The shape of the only result; raises if there are several."""
        if len(shapes) != 1:
            raise ArgumentError(f"{self.name} returns {len(shapes)} arrays; out takes one")
        return shapes[0]

    # -- ahead of time, and native -----------------------------------------------------------------------------

    def prepare(self, key: Key = PLAIN, batch: bool = False) -> None:
        """Compile the code for this key ahead of the first call."""
        if not self._compiles():
            return
        kind: Kind = "batch" if batch else "single"
        with lock:
            careful = self.careful(key.options)
            if careful is not None:
                careful.specialization(key).kernel.load(kind)
            self.specialization(key).kernel.load(kind)
            self._prepared = (*dict.fromkeys((*self._prepared, key)),)
            self._update_entry()

    def store(self, key: Key, cpu: str, batch: bool = False) -> None:
        """Keep the code for this key on disk for a named CPU, which may be one that this machine cannot run."""
        if self.eager:
            return
        for function in (self.careful(key.options), self):
            if function is not None:
                source = function._specialized(key, cpu).kernel.source
                source.code("single")
                if batch:
                    source.code("batch")

    def native_call(
        self, instance: object, name: str, text: str, fallback: Callable[..., Any], module: str
    ) -> Callable[..., Any] | None:
        """The function as a built-in function bound to the instance; None if native code cannot serve it."""
        if self.eager or self.is_symbolic or not native.available() or len(self.arrays) > native.MOST_ARRAYS:
            return None
        defaults = tuple(self.options.values())
        shapes = self.result_shapes(defaults)
        if shapes is None:
            made = self.specialization(Key(defaults))
            if not made.is_flat or len(made.shapes) >= native.MOST_RESULTS:
                return None
            shapes, bare = made.shapes, not made.is_tuple
            made.kernel.load("single")
        else:
            bare = len(shapes) == 1
        with lock:
            if self._entry is None:
                self._entry = native.NativeEntry(
                    native.Interface(
                        name=name,
                        text=text,
                        arrays=tuple(self.arrays.items()),
                        options=tuple(self.options),
                        defaults=defaults,
                        mapping=self.mapping if self.takes_wrenches else None,
                        results=shapes,
                        bare=bare,
                        fallback=fallback,
                        module=module,
                        presets=self._native_presets(),
                        by_name=int(self.parameters is not None),
                        spreads=self.spread[0] + 1 if self.spread[1] else 0,
                        spread_to=self.spread[1],
                        dtype=self.dtype,
                    )
                )
                self._update_entry()
        return self._entry.bind(instance)

    def _native_presets(self) -> tuple[Array | None, ...]:
        presets = dict(self.presets) | ({} if self.parameters is None else {"parameters": self.parameters})
        return tuple(presets.get(array) for array in self.arrays) if presets else ()

    mapping: native.Mapping | None = None
    """How native calls read wrenches."""

    def _enable_native(self, key: Key, kind: Kind) -> None:
        """Let native calls use the code for this key, which is loaded."""
        if (key, kind) not in self._native:
            with lock:
                self._native |= {(key, kind)}
                self._update_entry()

    def _update_entry(self) -> None:
        """Give the native entry the same code that Python would choose."""
        if self._entry is not None:
            ordered = dict.fromkeys((*self._prepared, *self._specializations))  # the order of Python's choice
            worded = [key for key in ordered if all(isinstance(word, str) for word in key.options)]
            self._entry.set_variants([self._variant(key) for key in worded if self._covering(key) == key])

    def _variant(self, key: Key) -> native.Variant:
        made = self._specializations[key]
        return native.Variant(
            code=made.kernel.loaded("single") if self.dtype == FLOAT64 else None,
            options=key.options,
            results=made.shapes,
            places=key.places,
            covers=key in self._prepared,
            has_status=made.refuses,
            batch=None if key in self._batches_by_python else made.kernel.loaded("batch"),
        )


def one_state(name: str, value: object, core: Shape) -> Array:
    """An argument inside a compiled function: traced values or numbers of one state."""
    array = np.array(value, dtype=object) if is_traced(value) else as_floats(name, value, core)
    if array.shape != core:
        raise ArgumentError(f"{name} has shape {array.shape}; expected {core}, since compiled functions see one state")
    return array


def _place_name(place: Place) -> str:
    return f"wrenches[{place[0]!r}], {place[1]}"


def _any_traced(values: Sequence[Any], wrenches: Any) -> bool:
    forces = wrenches.values() if isinstance(wrenches, Mapping) else ()
    return any(map(is_traced, (*values, *(getattr(force, "value", force) for force in forces))))


def _may_be_written(out: Array, arguments: Arguments) -> bool:
    """Whether code can write to the caller's array directly: it is contiguous and overlaps no argument."""
    if not (out.flags.c_contiguous and out.flags.aligned):
        return False
    return not any(np.may_share_memory(out, array) for array, _ in arguments.values())
