"""Functions of the user's own, compiled like the library's: traced together with the algorithms they call.

@kt.compile(shapes={"target": (3,)})
def law(robot, q, v, target): ...

tau = law(robot, q, v, target)
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import update_wrapper
from typing import Any, final, overload

import numpy as np

from kinetree.arguments import as_shape
from kinetree.bound_law import BoundLaw
from kinetree.compiler.call import Shape
from kinetree.compiler.explain import explained
from kinetree.compiler.expr import constant, is_traced, tracing
from kinetree.compiler.jit import assembly_of, host, lock
from kinetree.errors import ArgumentError, ArgumentTypeError, one_of, short
from kinetree.ops import Array
from kinetree.robot import Frame, Robot

POSITIONS, VELOCITIES = ("q", "q0", "q1"), ("v", "a", "tau", "dv")
"""Arguments whose shapes the robot gives."""

Declared = tuple[int | str, ...]
"""A shape in which the name of an argument stands for its size."""


@overload
def compile(function: Callable[..., Any], *, shapes: Mapping[str, Any] | None = None) -> Law: ...
@overload
def compile(*, shapes: Mapping[str, Any] | None = None) -> Callable[[Callable[..., Any]], Law]: ...
def compile(function: Any = None, *, shapes: Mapping[str, Any] | None = None) -> Any:
    """Compile a function of a robot and of arrays, of one state; the compiled one takes one state or a batch.

    `shapes` gives the shape of every array for one state, () for a number; q, v, a, tau (and q0, q1, dv) take theirs
    from the robot, and so does what is declared like them: `shapes={"posture": "q", "gain": ("v", "v")}`.

    The function is traced when it is first called with a robot: it may use NumPy's arithmetic and indexing, the
    functions `kt.sin`, `kt.where`, …, `kt.linalg`, and every quantity of the robot and its frames. Python's own `if`
    and loops act while tracing; values it captures are frozen then. Its result may be an array or a number, or a tuple,
    list or dict of them. An argument whose default is a string, True, False, None or an enum's member is an option: the
    function is compiled anew for every value it is given.
    """
    if function is None:
        return lambda inner: Law(inner, shapes or {})
    return Law(function, shapes or {})


def zeros(shape: int | Sequence[int]) -> Array:
    """Zeros to be written into: in a compiled function they can hold traced values, which those of NumPy cannot."""
    size = as_shape("shape", shape)
    return np.full(size, constant(0.0), dtype=object) if tracing() else np.zeros(size)


@final
class Law:
    """A function that is compiled for each robot it is called with."""

    def __init__(self, function: Callable[..., Any], shapes: Mapping[str, Any]) -> None:
        if not callable(function):
            raise ArgumentTypeError(f"kt.compile got {short(function)}; expected a function")
        self.function = function
        self.signature = inspect.signature(function)
        self.__name__ = type(function).__name__  # of a partial function, which has no name
        update_wrapper(self, function)
        self._refuse_methods()
        self._names = tuple(self.signature.parameters)
        for parameter in self.signature.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise ArgumentError(f"{self.__name__} takes {parameter}; a compiled function names all its arguments")
        unknown = [name for name in shapes if name not in self._names]
        if unknown:
            raise ArgumentError(f"shapes names {unknown[0]!r}, which is not an argument of {self.__name__}")
        self.shapes = {name: _as_declared(f"shapes[{name!r}]", shape) for name, shape in shapes.items()}
        parameters = self.signature.parameters.values()
        self._defaults = {  # of options
            parameter.name: parameter.default
            for parameter in parameters
            if is_choice(parameter.default) and parameter.name not in (*self.shapes, *POSITIONS, *VELOCITIES)
        }
        self._robotless: dict[Any, Any] = {}
        self._latest: Callable[[], BoundLaw | None] = lambda: None

    def _refuse_methods(self) -> None:
        owner = getattr(self.function, "__self__", None)
        if isinstance(owner, (Robot, Frame)):
            kind = "robot" if isinstance(owner, Robot) else "frame"
            raise ArgumentError(
                f"{self.__name__} is a method of a {kind}; write a function of the robot that calls it, such as "
                f"lambda robot, q: robot.gravity_forces(q)"
            )
        if next(iter(self.signature.parameters), None) == "self":
            raise ArgumentError(
                f"{self.__name__} is a method, and self is no array: write kt.compile(self.{self.__name__}) in "
                "__init__; what it reads from self is frozen at the first call"
            )

    __name__: str
    __qualname__: str

    def __repr__(self) -> str:
        return f"<compiled function {self.__name__}{self.signature}>"

    def __reduce__(self) -> str:
        return self.__qualname__  # found by its name, as functions are

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result; arrays may have leading batch axes, which broadcast."""
        call = args[0]._laws.get(self) if args and type(args[0]) is Robot else None
        return self._first_call(args, kwargs) if call is None else call(*args[1:], **kwargs)

    def _first_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        out = kwargs.pop("out", None) if "out" not in self._names else None
        given = self.signature.bind(*args, **kwargs)
        given.apply_defaults()
        robots, options, values = self._sorted(given.arguments)
        for name, value in values.items():
            if is_choice(value) and name not in (*self.shapes, *POSITIONS, *VELOCITIES):
                hint = "a robot, such as kt.load gives" if name == "robot" else "a robot or an array"
                raise ArgumentTypeError(
                    f"{name} is {short(value)}; expected {hint}; an option needs a default value in {self.__name__}"
                )
        if tracing() and any(map(is_traced, values.values())):
            return BoundLaw(self, robots, options).inside(values)
        return self._bound(robots, options).call(**values, out=out)

    def bind(self, *robots: Robot, **options: Any) -> Callable[..., Any]:
        """The function of the other arguments, for these robots and options; calls of it have the least overhead."""
        given = {**self._defaults, **self.signature.bind_partial(*robots, **options).arguments}
        bound, chosen, values = self._sorted(given)
        if values:
            name, value = next(iter(values.items()))
            raise ArgumentTypeError(
                f"bind got {short(value)} for {name!r}; expected the robots and options of {self.__name__}"
            )
        call: Callable[..., Any] = self._bound(bound, chosen).call
        return call

    def _sorted(self, given: Mapping[str, Any]) -> tuple[dict[str, Robot], dict[str, Any], dict[str, Any]]:
        """Robots, options and arrays among the arguments."""
        robots = {name: value for name, value in given.items() if isinstance(value, Robot)}
        options = {name: value for name, value in given.items() if name in self._defaults}
        for name, value in options.items():
            if not is_choice(value):
                raise ArgumentTypeError(
                    f"{name} is {short(value)}; expected a string, True, False or None, as its default says, or the "
                    f"shape of an array in kt.compile(shapes={{{name!r}: (…)}})"
                )
        for name in robots:
            if name in self.shapes:
                raise ArgumentTypeError(f"{name} is a robot; expected an array of shape {self.shapes[name]}")
        values = {name: value for name, value in given.items() if name not in robots and name not in options}
        return robots, options, values

    def _bound(self, robots: dict[str, Robot], options: dict[str, Any]) -> BoundLaw:
        first = next(iter(robots.values()), None)
        known = self._robotless if first is None else first._laws  # it lives as long as the robot
        is_plain = not options and list(robots) == list(self._names[:1])
        key = self if is_plain else (self, tuple(robots.items()), tuple(options.items()))
        with lock:
            if key not in known:
                known[key] = BoundLaw(self, robots, options).call
        bound: BoundLaw = known[key].__self__
        if not bound.eager:
            self._latest = weakref.ref(bound)
        return bound

    def apply(self, named: Mapping[str, Any]) -> Any:
        """The function itself, of arguments by name; what NumPy says about traced values is said in other words."""
        given = inspect.BoundArguments(self.signature, dict(named))
        try:
            return self.function(*given.args, **given.kwargs)
        except (TypeError, AttributeError) as error:
            reason = explained(error) if tracing() else None
            if reason is None:
                raise
            raise TypeError(reason).with_traceback(error.__traceback__) from None

    def shape_of(self, name: str, robots: Mapping[str, Robot]) -> Shape:
        """Of an argument, for one state."""
        declared = self._declared(name)
        robot = next(iter(robots.values()), None)
        if declared is None or (robot is None and any(isinstance(n, str) for n in declared)):
            if name == "robot":
                raise ArgumentTypeError(f"{self.__name__} takes a robot, such as kt.load gives; bind takes it by name")
            known = f"only {', '.join((*POSITIONS, *VELOCITIES))} take theirs from a robot"
            raise ArgumentError(
                f"{self.__name__} has an argument {name!r} of unknown shape; give it as "
                f"kt.compile(shapes={{{name!r}: (…)}}), () for a number: {known}"
            )
        return tuple(n if isinstance(n, int) else robot.nq if n in POSITIONS else robot.nv for n in declared)  # type: ignore[union-attr]

    def is_configuration(self, name: str) -> bool:
        """Whether an argument is a q, that is declared like one or has no other shape."""
        return self._declared(name) in [(position,) for position in POSITIONS]

    def _declared(self, name: str) -> Declared | None:
        return self.shapes.get(name, (name,) if name in (*POSITIONS, *VELOCITIES) else None)

    # -- what became of it -------------------------------------------------------------------------------------

    @property
    def graph(self) -> Any:
        """The operations it was last compiled to: `.operations()`, `.listing()`, `.dot()`, `.svg()`."""
        return self._compiled().graph

    @property
    def llvm(self) -> str:
        """LLVM assembly of the kernel for one state."""
        return str(self._compiled().program.single_assembly())

    @property
    def assembly(self) -> str:
        """The same as machine instructions."""
        return assembly_of(self.llvm, host())

    def _compiled(self) -> Any:
        bound = self._latest()
        if bound is None:
            raise ArgumentError(f"{self.__name__} has not been compiled yet; call it, or bind it to a robot, first")
        return bound.traced


def is_choice(value: object) -> bool:
    """What an option may be."""
    return value is None or isinstance(value, (str, bool, Enum))


def _as_declared(name: str, shape: Any) -> Declared:
    declared = (shape,) if isinstance(shape, str) or not isinstance(shape, Iterable) else tuple(shape)
    for size in declared:
        if isinstance(size, str):
            one_of(name, size, (*POSITIONS, *VELOCITIES))
    sizes = iter(as_shape(name, [size for size in declared if not isinstance(size, str)]))
    return tuple(size if isinstance(size, str) else next(sizes) for size in declared)
