"""The base of all controllers: a formula with settings, compiled, as one native call per step."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.base.unpickled_once import reduced_once
from kinetree.compiler import made_once, tracing
from kinetree.errors import ArgumentError, ArgumentTypeError, unknown
from kinetree.functions.binding import native as native_method
from kinetree.functions.bound_law import BoundLaw, law_of_method
from kinetree.functions.identity import identity
from kinetree.functions.parameters import Parameters
from kinetree.ops import Array
from kinetree.robot import Robot

Shape = tuple[int | str, ...]


class Controller(ABC):
    """A controller without state: the same arguments give the same results.

    `arguments` are its arrays in their order, and the shape of each for one state; `presets` are the values of those
    that need not be given: zeros of a reference, and at the end settings such as gains. All of them may be given in a
    call, by name, and may have leading batch axes there. What a reference has, after the first `tuple_after` arguments
    and before the settings, may come as one tuple.
    """

    __slots__ = ("__call__", "__dict__", "__weakref__")  # so that a call of the object is a call of what is kept there

    robot: Robot | None
    arguments: Mapping[str, Shape]
    presets: Mapping[str, Array]
    structure: tuple[Any, ...]
    """What the formula depends on besides its arguments: controllers with the same structure share their code."""
    _given: tuple[tuple[Any, ...], dict[str, Any]]

    if TYPE_CHECKING:

        def __call__(self, *given: Any, out: Array | None = None, **named: Any) -> Any:
            """`step`."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """A controller that keeps its arguments, for pickles and `changed`."""
        self = super().__new__(cls)
        self._given = tuple(map(_kept, args)), {name: _kept(value) for name, value in kwargs.items()}
        return self

    def _prepare(
        self,
        robot: Robot | None,
        arguments: Mapping[str, Shape],
        still: Mapping[str, Any],
        settings: Mapping[str, Any],
        structure: tuple[Any, ...] = (),
    ) -> None:
        """Finish `__init__`: `still` are presets of references, `settings` those of gains and the like, which come last
        and have shapes of their own where `arguments` does not say otherwise."""
        own = {name: np.shape(value) for name, value in settings.items() if name not in arguments}
        self.robot, self.arguments, self.structure = robot, {**arguments, **own}, structure
        self.presets = {name: np.array(value, dtype=np.float64) for name, value in {**still, **settings}.items()}
        self._to_reference = len(self.arguments) - len(settings)
        for value in self.presets.values():
            value.setflags(write=False)
        self.__call__ = self._first_call  # type: ignore[method-assign]
        self.__signature__ = self._signature  # for `help` and editors: that of what is called is not found
        self._is_made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if "_is_made" in self.__dict__:
            raise AttributeError(f"{type(self).__name__} cannot be changed; changed({name}=…) makes another one")
        object.__setattr__(self, name, value)

    @abstractmethod
    def formula(self, robot: Any, *values: Any) -> Any:
        """Its equations, for one state; of the object itself only the `structure` may be used."""

    tuple_after: int = 2
    """After how many arguments the others may come as one tuple."""

    def __reduce__(self) -> tuple[Any, ...]:
        return reduced_once(self, _again, type(self), *self._given)

    def __repr__(self) -> str:
        of = "" if self.robot is None else f" of {self.robot.name!r}"
        return f"<{type(self).__name__}{of}: {', '.join(self.arguments)}>"

    def changed(self, **changes: Any) -> Any:
        """The same controller with other arguments of its constructor; code is shared where only numbers differ."""
        args, kwargs = self._given
        bound = inspect.signature(type(self).__init__).bind(None, *args, **kwargs).arguments
        del bound["self"]
        for name in changes:
            if name not in inspect.signature(type(self)).parameters:
                raise unknown(f"argument of {type(self).__name__}", name, inspect.signature(type(self)).parameters)
        return type(self)(**{**bound, **changes})

    @native_method
    def step(self, *given: Any, out: Array | None = None, **named: Any) -> Any:
        """The controller's result; leading axes of its arguments are batch axes, and broadcast."""
        parameters = None if "parameters" in self.arguments else named.pop("parameters", None)
        values = list(self._values(given, named).values())
        return self._function.evaluate(self._function.with_parameters(values, parameters), out=out)

    def prepare(self, batch: bool = False) -> None:
        """Compile ahead, for one state or also for batches."""
        self._function.prepare()
        if batch:
            self._function.prepare(batch=True)

    def _first_call(self, *given: Any, **named: Any) -> Any:
        if tracing():  # nothing else is compiled meanwhile
            return type(self).step(self, *given, **named)
        object.__setattr__(self, "__call__", self.step)
        return self.step(*given, **named)

    def _values(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        if len(given) == self.tuple_after + 1 and isinstance(given[-1], tuple):
            given = (*given[:-1], *given[-1])
            if len(given) > self._to_reference:
                names = list(self.arguments)[self.tuple_after : self._to_reference]
                raise ArgumentError(
                    f"{type(self).__name__} got a reference of {len(given) - self.tuple_after} parts; expected "
                    f"{', '.join(names) or 'none'}"
                )
        if any(isinstance(value, tuple) and np.ndim(value[:1]) > 1 for value in given):
            raise ArgumentTypeError(
                f"{type(self).__name__} got a tuple of arrays among others; expected the parts of a reference one by "
                f"one, or all in one tuple after {' and '.join(list(self.arguments)[: self.tuple_after])}"
            )
        return self._reader.bound(given, named)

    @lazy
    def _reader(self) -> Parameters:
        return Parameters(type(self).__name__, self._signature)

    @lazy
    def _signature(self) -> inspect.Signature:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        defaults = {name: self.presets.get(name, inspect.Parameter.empty) for name in self.arguments}
        return inspect.Signature([inspect.Parameter(name, kind, default=value) for name, value in defaults.items()])

    # -- compiled ----------------------------------------------------------------------------------------------

    @property
    def law(self) -> BoundLaw:
        """The formula as a law, shared by all controllers of the robot with the same structure."""
        law: BoundLaw | None = self.__dict__.get("_law")
        if law is None:
            key = (type(self), self.structure, tuple(self.arguments.items()))
            known = _robotless() if self.robot is None else self.robot._functions
            law = self.__dict__["_law"] = made_once(known, key, self._new_law)
        return law

    def _new_law(self) -> BoundLaw:
        own = None if "formula" in vars(self) else identity(type(self), self.structure)
        return law_of_method(type(self).__name__, self.formula, self.arguments, self.robot, own)

    @lazy
    def _function(self) -> BoundLaw:
        """The law with these presets; a reference may come as one tuple."""
        return self.law.with_presets(self.presets, (self.tuple_after, self._to_reference))

    @property
    def _compiled_function(self) -> BoundLaw:
        """What exporters take."""
        return self._function

    def _native_call(self, method: FunctionType) -> Callable[..., Any] | None:
        words = [name if name not in self.presets else f"{name}=..." for name in self.arguments]
        named = ["out=None"] if self._function.parameters is None else ["parameters=None", "out=None"]
        text = f"step({', '.join(['$self', *words, '*', *named])})\n--\n\n{inspect.getdoc(type(self))}"
        return self._function.native_call(self, "step", text, method, type(self).__module__)


@cache
def _robotless() -> dict[Any, BoundLaw]:
    """Laws of controllers that know no robot."""
    return {}


def _kept(value: Any) -> Any:
    """An array that nobody changes any more; anything else as it is."""
    return value.copy() if isinstance(value, np.ndarray) else value


def _again(kind: type[Controller], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Controller:
    """From a pickle."""
    return kind(*args, **kwargs)
