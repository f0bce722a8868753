"""Compiled functions of the user, which are traced together with the algorithms they call.

@kt.compile(shapes={"target": (3,)})
def law(robot, q, v, target): ...

tau = law(robot, q, v, target)
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper
from typing import Any, NamedTuple, final, overload

import numpy as np

from kinetree.base.arguments import as_shape
from kinetree.base.unpickled_once import reduced_once
from kinetree.compiler import constant, is_traced, made_once, tracing
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.functions.bindable import Bindable
from kinetree.functions.bound_law import BoundLaw, Inspectable
from kinetree.functions.definition import MAIN, Definition, found_by_name
from kinetree.functions.specialization import Specialization
from kinetree.ops import Array


@overload
def compile(function: Callable[..., Any], *, shapes: Mapping[str, Any] | None = None) -> Law: ...
@overload
def compile(*, shapes: Mapping[str, Any] | None = None) -> Callable[[Callable[..., Any]], Law]: ...
def compile(function: Any = None, *, shapes: Mapping[str, Any] | None = None) -> Any:
    """Compile a function of a robot and of arrays. It is written for one state; the result takes one state or a batch.

    `shapes` gives the shape of every array for one state, () for a number. The arrays q, v, a, tau (and q0, q1, dv)
    take their shapes from the robot; so do those declared like them: `shapes={"posture": "q", "gain": ("v", "v")}`.

    The function is traced at its first call with a robot. It may use NumPy's arithmetic and indexing, the functions
    `kt.sin`, `kt.where`, …, `kt.linalg`, and every quantity of the robot and its frames. Python's `if` and loops run
    while tracing, and captured values are frozen then. The result may be an array or a number, or a tuple, list or dict
    of them. An argument whose default is a string, True, False, None or a member of an enum is an option: the function
    is compiled for every value of it.
    """
    if function is None:
        return lambda inner: compile(inner, shapes=shapes)
    return law_of(function, shapes).bound()


def zeros(shape: int | Sequence[int]) -> Array:
    """An array of zeros that can be written to: in a compiled function it holds traced values, unlike `np.zeros`."""
    size = as_shape("shape", shape)
    return np.full(size, constant(0.0), dtype=object) if tracing() else np.zeros(size)


@final
class Law(Inspectable):
    """A function that is compiled for each robot that it is called with."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.function = definition.function
        self.signature = definition.signature
        self.shapes = definition.shapes
        self.__name__ = definition.name
        update_wrapper(self, definition.function)
        self._derivatives: dict[Any, Law] = {}
        """Derivatives of this law, by kind and argument."""
        self._key = object()
        """The key of this law in the caches of robots, which must not refer to the law itself."""
        self._robots: list[weakref.ref[Bindable]] = []
        self._robotless: dict[Any, Any] = {}
        self._latest: Callable[[], BoundLaw | None] = lambda: None
        definition.law = weakref.ref(self)
        weakref.finalize(self, _clear_caches, self._key, self._robots).atexit = False

    __name__: str
    __qualname__: str

    def __repr__(self) -> str:
        return f"<compiled function {self.__name__}{self.signature}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        if found_by_name(self) is self and self.__module__ != MAIN:
            return self.__qualname__  # as functions are
        return reduced_once(self, _law_with, self.definition)

    def __copy__(self) -> Law:
        return self

    def __deepcopy__(self, memo: Any) -> Law:
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the function; arrays may have leading batch axes, which broadcast."""
        call = args[0]._functions.get(self._key) if args and isinstance(args[0], Bindable) else None
        return self._first_call(args, kwargs) if call is None else call(*args[1:], **kwargs)

    def _first_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        named = ("out",) if "parameters" in self.definition.names else ("out", "parameters")
        other = {name: kwargs.pop(name, None) for name in named}
        robots, options, values = self.definition.sorted(self.definition.arguments(args, kwargs))
        is_symbolic = any(robot.is_symbolic for robot in robots.values())
        if is_symbolic or (tracing() and any(map(is_traced, [*values.values(), other.get("parameters")]))):
            bound = BoundLaw(self.definition, robots, options)
            return bound.evaluate(bound.with_parameters(list(values.values()), other.get("parameters")))
        return self.bound(robots, options).call(**values, **other)

    def bind(self, *robots: Bindable, **options: Any) -> Callable[..., Any]:
        """A function of the remaining arguments, for these robots and options: the call with the least overhead."""
        return self.inspect(*robots, **options).call

    def inspect(self, *robots: Bindable, **options: Any) -> BoundLaw:
        """The compiled function for these robots and options, with `.graph`, `.llvm` and `.assembly`."""
        try:
            given = self.signature.bind_partial(*robots, **options).arguments
        except TypeError as error:
            raise ArgumentTypeError(f"{self.__name__}: {error}") from None
        for name, value in given.items():
            if name not in self.definition.defaults and not isinstance(value, Bindable):
                raise ArgumentTypeError(
                    f"bind got {short(value)} for {name!r}; expected the robots and options of {self.__name__}"
                )
        bound, chosen, _ = self.definition.sorted({**self.definition.defaults, **given})
        return self.bound(bound, chosen)

    def bound(self, robots: dict[str, Bindable], options: dict[str, Any]) -> BoundLaw:
        """The law bound to these robots and options."""
        is_plain = not options and list(robots) == list(self.definition.names[:1])
        chosen = tuple((name, type(value), value) for name, value in options.items())  # a StrEnum equals its string
        key = () if is_plain else (tuple(robots.items()), chosen)
        first = next(iter(robots.values()), None)
        bound: BoundLaw = self.kept(first, key, lambda: BoundLaw(self.definition, robots, options).call).__self__
        if not bound.eager:
            self._latest = weakref.ref(bound)
        return bound

    def kept(self, robot: Bindable | None, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """The object made for this key, of a robot or of none, cached while both the robot and the law exist."""
        known = self._robotless if robot is None else robot._functions
        cache_key = (self._key, *key) if key else self._key

        def make_and_note() -> Any:
            made = make()
            if robot is not None:
                self._robots[:] = [*(each for each in self._robots if each() is not None), weakref.ref(robot)]
            return made

        return made_once(known, cache_key, make_and_note)

    def apply(self, named: Mapping[str, Any]) -> Any:
        """The result of the uncompiled function for arguments by name."""
        return self.definition.apply(named)

    def _inspected(self) -> Specialization:
        bound = self._latest()
        if bound is None:
            raise ArgumentError(f"{self.__name__} has not been compiled yet; call it, or bind it to a robot, first")
        return bound.specialization()


def _law_with(definition: Definition) -> Law:
    """The law of a definition, from a pickle."""
    return definition.law() or Law(definition)


def _clear_caches(key: object, robots: Sequence[weakref.ref[Bindable]]) -> None:
    """Remove the code of a deallocated law from the caches of robots."""
    for reference in robots:
        robot = reference()
        if robot is not None:
            for known in list(robot._functions):
                if known is key or (type(known) is tuple and known[0] is key):
                    robot._functions.pop(known, None)


# -- laws of other callables -------------------------------------------------------------------------------------------


class Found(NamedTuple):
    """The law of a callable, and the robots and options that the callable is bound to, if any."""

    law: Law
    robots: dict[str, Bindable] | None = None
    options: dict[str, Any] | None = None

    def bound(self, other: Law | None = None) -> Any:
        """The law, or another one with the same arguments, bound to these robots and options."""
        law = self.law if other is None else other
        return law if self.robots is None else law.bound(self.robots, self.options or {}).call


def law_of(function: Any, shapes: Mapping[str, Any] | None = None) -> Found:
    """The law of a callable: a law, a bound law, an object with `_as_law`, or any function."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    found = None
    if isinstance(function, Law):
        found = Found(function)
    elif isinstance(owner, BoundLaw):
        found = Found(owner.definition.law() or Law(owner.definition), owner.robots, owner.chosen)
    elif owner is not None and hasattr(owner, "_as_law"):
        found = owner._as_law(name)
    elif hasattr(function, "_as_law"):
        found = function._as_law()
    if found is None:
        return Found(Law(Definition(function, shapes or {})))
    if shapes:
        raise ArgumentError(f"{found.law.__name__} already knows its shapes; shapes cannot be given again")
    return found
