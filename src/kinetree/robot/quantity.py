"""Quantities of robots, frames and constraints: declared by a typed method, computed by an algorithm.

@quantity(rnea.gravity_forces, shapes.velocities)
def gravity_forces(self, q: ArrayLike, *, out: Array | None = None) -> Array:
    \"\"\"G(q), (…, nv) [N m or N].\"\"\"

The signature says what a call takes: arrays named q, v, a, tau, …, of one state or of a batch; options, which are
words; `wrenches` by frame; `out`. On an instance the method is a built-in function that runs machine code, made when
it is first called.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import update_wrapper
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from kinetree.algorithms.arguments.one_state import CHOICES
from kinetree.algorithms.arguments.references import REFERENCES, Reference
from kinetree.algorithms.arguments.wrenches import external_forces
from kinetree.algorithms.passes.task_inverse import FullRank
from kinetree.base.arguments import UNIT_TOLERANCE
from kinetree.base.originals import is_own
from kinetree.compiler.runtime import native
from kinetree.errors import ArgumentError, ArgumentTypeError, one_of, short, unknown
from kinetree.functions.binding import text_of
from kinetree.functions.compiled_function import CompiledFunction, Key, Place
from kinetree.functions.law import Found
from kinetree.functions.parameters import Parameters
from kinetree.model.constraints import ConstraintSet
from kinetree.model.joints import Free
from kinetree.model.tree import Model
from kinetree.ops import Array, absolute, less, logical_not, require
from kinetree.robot.quantity_laws import law_of_all, law_of_one
from kinetree.robot.wrench import Wrench

if TYPE_CHECKING:
    from kinetree.robot import Robot

Algorithm: TypeAlias = Callable[..., Any]
Shape: TypeAlias = tuple[int, ...]
Subject: TypeAlias = str | ConstraintSet | None
"""What of a robot a quantity is of: a frame, constraints, or the whole."""
Selected: TypeAlias = tuple[tuple[str, Any], ...]
"""Values of parameters on which the shape of a result depends."""
F = TypeVar("F", bound=Callable[..., Any])


def quantity(
    algorithm: Algorithm,
    shape: Callable[..., Any],
    results: int = 1,
    *,
    select: Mapping[str, Callable[[Any], Any]] | None = None,
    keeps_references: bool = False,
    lacks_rank: Callable[..., bool] | None = None,
    is_large: bool = False,
    needs_mass: bool = False,
    needs_floating_base: bool = False,
) -> Callable[[F], F]:
    """Declares a method as a quantity.

    shape              of a result for one state, as a function of the model, of the number of constraints, and of what
                       is selected; or the shapes of several
    results            how many there are; more than one come as a tuple
    select             parameters on which shapes depend, and how their values are read
    keeps_references   the algorithm takes wrenches as they are given, not as forces on bodies
    lacks_rank         of an algorithm that is cheaper at full rank, `by=FullRank`: whether a subject never has it
    is_large           its code is large, and made only for those who ask for it by name
    needs_mass         it is of the centre of mass, which a robot without moving mass does not have
    """

    def declare(method: F) -> F:
        declared = Quantity(cast(FunctionType, method), algorithm, shape, results, select or {})
        declared.keeps_references, declared.lacks_rank, declared.is_large = keeps_references, lacks_rank, is_large
        declared.needs_mass, declared.needs_floating_base = needs_mass, needs_floating_base
        return cast(F, declared)

    return declare


class Quantity:
    """A declared quantity; as an attribute of an instance, the call that computes it."""

    keeps_references: bool
    lacks_rank: Callable[..., bool] | None
    is_large: bool
    needs_mass: bool
    needs_floating_base: bool

    def __init__(
        self,
        method: FunctionType,
        algorithm: Algorithm,
        shape: Callable[..., Any],
        results: int,
        select: Mapping[str, Callable[[Any], Any]],
    ) -> None:
        self.method, self.algorithm, self.results, self.select = method, algorithm, results, dict(select)
        self._shape = shape
        self.name = method.__name__.removeprefix("_")  # a private one has the arrays of which another makes a result
        update_wrapper(self, method)  # type: ignore[arg-type]  # this is found on the class, not called
        signature = inspect.signature(method)
        parameters = [parameter for name, parameter in signature.parameters.items() if name != "self"]
        self._parameters = Parameters(self.name, signature.replace(parameters=parameters))
        others = {*CHOICES, *self.select, "wrenches", "out"}
        self.inputs = tuple(parameter.name for parameter in parameters if parameter.name not in others)
        self.options = {parameter.name: parameter.default for parameter in parameters if parameter.name in CHOICES}
        self.defaults = {name: signature.parameters[name].default for name in self.select}
        self.takes_wrenches = "wrenches" in signature.parameters

        def by_python(instance: Any, *args: Any, **kwargs: Any) -> Any:
            return self.call(instance, args, kwargs)

        self._by_python = update_wrapper(by_python, method)

    def __set_name__(self, owner: type, name: str) -> None:
        of_robots = "robot" not in owner.__annotations__  # frames and constraints have one
        self._by_python.__dict__["_as_law"] = lambda: law_of_all(name, of_robots)

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self._by_python
        robot, subject = instance._subject
        function = self.function(robot, subject)
        home = self.method.__module__
        call = function.native_call(instance, self.method.__name__, text_of(self.method), self._by_python, home)
        if call is None:
            return MethodType(self._by_python, instance)
        return instance.__dict__.setdefault(self.method.__name__, call)

    def refusal(self, model: Model) -> str | None:
        """Why this model does not have the quantity, if it does not."""
        if self.needs_mass and model.mass == 0.0:
            return f"{model.name!r} has no moving mass, so it has no centre of mass"
        if self.needs_floating_base and not isinstance(model.floating_base, Free):
            return f"{model.name!r} has a fixed base, so it has no {self.name.replace('_', ' ')}"
        return None

    def check(self, model: Model) -> None:
        """Raises if this model does not have the quantity."""
        refusal = self.refusal(model)
        if refusal is not None:
            raise ArgumentError(refusal)

    def shapes(self, model: Model, subject: Subject, selected: Selected) -> tuple[Shape, ...]:
        """Of every result."""
        sizes = (subject.size,) if isinstance(subject, ConstraintSet) else ()
        shape = self._shape(model, *sizes, **dict(selected))
        return shape if shape and isinstance(shape[0], tuple) else (shape,) * self.results

    def call(self, instance: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The quantity for these arguments, read by Python."""
        robot, subject = instance._subject
        given = self._parameters.bound(args, kwargs)
        self.check(robot.model)
        values = [given[name] for name in self.inputs]
        options = tuple(one_of(name, given[name], CHOICES[name]) for name in self.options)
        selected = self._selected(given)
        function, out = self.function(robot, subject, selected), given.get("out")
        if function.fixed == self.defaults or function.eager:
            return function.evaluate(values, options, given.get("wrenches"), out)
        kept = f"{self.name} {selected}"
        call = instance.__dict__.get(kept) or instance.__dict__.setdefault(kept, self._member(instance, function))
        return call(*values, *options, out=out)

    def _member(self, instance: Any, function: QuantityFunction) -> Callable[..., Any]:
        """The call for what is selected, of arrays and options, native where that is possible."""
        count = len(self.inputs)

        def by_python(instance: Any, *args: Any, out: Array | None = None) -> Any:
            return function.evaluate(args[:count], args[count:], out=out)

        words = ", ".join(["$self", *self.inputs, *self.options, "*", "out=None"])
        text = f"{self.name}({words})\n--\n\n{inspect.getdoc(self.method)}"
        call = function.native_call(instance, self.name, text, by_python, self.method.__module__)
        return MethodType(by_python, instance) if call is None else call

    def _selected(self, given: Mapping[str, Any]) -> Selected:
        return tuple((name, read(given[name])) for name, read in self.select.items())

    def function(self, robot: Robot, subject: Subject, selected: Selected | None = None) -> QuantityFunction:
        """What computes it for a robot, made once."""
        chosen = self._selected(self.defaults) if selected is None else selected
        known: dict[Any, Any] = robot._functions
        key = (self, subject, chosen)
        function: QuantityFunction | None = known.get(key)
        if function is None:
            function = known.setdefault(key, QuantityFunction(self, robot, subject, chosen))
        return function

    def key(self, options: Mapping[str, Any] | None = None, places: tuple[Place, ...] = ()) -> Key:
        """That of a call with these options, by default its own."""
        given = {**self.options, **(options or {})}
        return Key(tuple(one_of(name, given[name], CHOICES[name]) for name in self.options), places)


def quantities_of(owner: type) -> dict[str, Quantity]:
    """Those that a class declares, by name, in their order."""
    found: dict[str, Quantity] = {}
    for base in reversed(owner.__mro__):
        found |= {each.name: each for each in vars(base).values() if isinstance(each, Quantity)}
    return found


class HasQuantities:
    """A class with quantities."""

    model: Model

    @property
    def _subject(self) -> tuple[Robot, Any]:
        """The robot, and what of it they are of."""
        raise NotImplementedError

    def _as_law(self, name: str) -> Found:
        """The quantity of this name as a law for this robot."""
        return law_of_one(self, name, name in quantities_of(type(self)))


class QuantityFunction(CompiledFunction):
    """A quantity of one robot, frame or set of constraints."""

    mapping = native.Mapping("wrenches", (6,), Wrench, "value", "reference", "world-aligned")

    def __init__(
        self, declared: Quantity, robot: Robot, subject: Subject, selected: Selected, at_any_rank: bool = False
    ) -> None:
        super().__init__()
        model = robot.model
        self.name, self.title = declared.name, f"{declared.name} of {model.name!r}"
        self.declared, self.model, self.subject, self.selected = declared, model, subject, selected
        self.eager = robot.is_eager
        self.arrays = {name: (_size(name, model),) for name in declared.inputs}
        self.options, self.takes_wrenches = declared.options, declared.takes_wrenches
        if selected == declared._selected(declared.defaults):
            self.fixed = declared.defaults
        self.results = declared.shapes(model, subject, selected)
        if model.quaternions:
            self.quaternions = {name: model.quaternions for name in self.arrays if name.startswith("q")}
        never = declared.lacks_rank is None or at_any_rank or declared.lacks_rank(model, subject, **dict(selected))
        self.at_full_rank = not never
        if self.at_full_rank:
            self.careful = QuantityFunction(declared, robot, subject, selected, at_any_rank=True)

    def identity(self, key: Key) -> str | None:
        if not all(map(is_own, self.model.kinds)):  # there may be joints whose text nobody has looked at
            return None
        rank = "full rank" if self.at_full_rank else "any rank"
        return f"{self.model.digest}, {self.name}, {self.subject!r}, {self.selected}, {tuple(key)}, {rank}"

    def formula(self, key: Key) -> Callable[..., Any]:
        model, declared = self.model, self.declared
        frame = model.frame(self.subject) if isinstance(self.subject, str) else self.subject
        subject = () if frame is None else (frame,)
        words: dict[str, Any] = {**dict(zip(self.options, key.options, strict=True)), **dict(self.selected)}
        if self.at_full_rank:
            words["by"] = FullRank
        places = [(model.frame(name), cast(Reference, reference)) for name, reference in key.places]
        quaternions, names = self.quaternions, declared.inputs

        def run(*values: Array) -> Any:
            state, sixes = values[: len(names)], values[len(names) :]
            forces: dict[str, Any] = {}
            if places:
                pushes = [(placement, ref, six) for (placement, ref), six in zip(places, sixes, strict=True)]
                kept = declared.keeps_references
                forces = {"pushes": pushes} if kept else {"f_ext": external_forces(model, state[0], pushes)}
            result = declared.algorithm(model, *subject, *state, **words, **forces)
            for name, array in zip(names, state, strict=True):
                for part in quaternions.get(name, ()):
                    off = absolute(array[part] @ array[part] - 1.0)
                    require(
                        logical_not(less(UNIT_TOLERANCE, off)), f"{name} has a quaternion that is not of unit length"
                    )
            return result.vector(model.spatial_order) if hasattr(result, "vector") else result

        return run

    def read_wrenches(self, wrenches: Any, read: Callable[[str, object, Shape], Array]) -> dict[Place, Array]:
        if not isinstance(wrenches, Mapping):
            raise ArgumentTypeError(f"wrenches is {short(wrenches)}; expected a dict from frame names to wrenches")
        given: dict[Place, Array] = {}
        for name, value in wrenches.items():
            wrench = value if isinstance(value, Wrench) else Wrench(value)
            place = (self.model.frame(name).name, wrench.reference)
            given[place] = read(f"wrenches[{name!r}]", wrench.value, (6,))
        return given


def _size(name: str, model: Model) -> int:
    """How many numbers an input has: positions are called q, q0 or q1, others are velocities or forces but for
    coefficients of restitution."""
    if name == "restitution":
        return 1
    return model.nq if name.startswith("q") else model.nv


def prepare(
    owner: HasQuantities,
    names: Iterable[str],
    wrenches: Iterable[str | Place] = (),
    options: Mapping[str, Any] | None = None,
    batch: bool = False,
) -> None:
    """Compile quantities of a robot, a frame or constraints, for these options where they have them."""
    for function, key in prepared(owner, names, wrenches, options):
        function.prepare(key, batch)


def prepared(
    owner: HasQuantities,
    names: Iterable[str],
    wrenches: Iterable[str | Place] = (),
    options: Mapping[str, Any] | None = None,
) -> list[tuple[QuantityFunction, Key]]:
    """What computes quantities, by name; raises before anything is done if one of them cannot be asked for."""
    robot, subject = owner._subject
    known, given = quantities_of(type(owner)), dict(options or {})
    listed = [wrenches] if isinstance(wrenches, str) else list(wrenches)
    places = tuple(sorted({_place(robot.model, item) for item in listed}))
    found = []
    for name in names:
        declared = known.get(name) if isinstance(name, str) else None
        if declared is None:
            raise unknown("quantity", name, known)
        if places and not declared.takes_wrenches:
            raise ArgumentError(f"{name} takes no wrenches")
        declared.check(robot.model)
        function = declared.function(robot, subject, declared._selected({**declared.defaults, **given}))
        found.append((function, declared.key({key: given[key] for key in declared.options if key in given}, places)))
    return found


def program_of(owner: HasQuantities, name: str, **options: Any) -> Any:
    """The quantity of this name, traced and simplified: its operations and its LLVM assembly."""
    ((function, key),) = prepared(owner, [name], (), options)
    return function.specialization(key).program


def _place(model: Model, item: Any) -> Place:
    if isinstance(item, str):
        item = (item, "world-aligned")
    if not isinstance(item, tuple) or len(item) != 2:
        raise ArgumentTypeError(f"wrenches has {short(item)}; expected a frame name or (frame name, reference)")
    name, reference = item
    return model.frame(name).name, one_of("reference", reference, REFERENCES)
