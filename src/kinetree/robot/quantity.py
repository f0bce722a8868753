"""Quantities of robots, frames and constraints: declared by a typed method, computed by an algorithm.

@quantity(rnea.gravity_forces, shapes.velocities)
def gravity_forces(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
    \"\"\"G(q), (…, nv) [N m or N].\"\"\"

The signature declares the arguments of a call: arrays named q, v, a, tau, …, of one state or of a batch; options, which
are words; `wrenches` by frame; and what most quantities take by name, `parameters` and `out`, which are declared once,
below. On an instance the method is a built-in function that runs machine code, which is compiled on the first call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial, update_wrapper
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms.arguments.one_state import CHOICES
from kinetree.algorithms.arguments.references import REFERENCES, Reference
from kinetree.algorithms.arguments.wrenches import external_forces
from kinetree.algorithms.passes.task_inverse import FullRank
from kinetree.base.arguments import UNIT_TOLERANCE, as_output
from kinetree.base.lazy import lazy
from kinetree.base.originals import is_own
from kinetree.base.precision import FLOAT64
from kinetree.compiler import native
from kinetree.errors import ArgumentError, ArgumentTypeError, KinetreeError, known, one_of, short
from kinetree.functions.binding import text_of
from kinetree.functions.compiled_function import PLAIN, Arguments, CompiledFunction, Key, Options, Place
from kinetree.functions.law import Found
from kinetree.functions.parameters import Parameters
from kinetree.functions.repeated import RepeatedSpecialization, Repetition
from kinetree.functions.specialization import Specialization
from kinetree.model.constraints import ConstraintSet
from kinetree.model.forest import Copies
from kinetree.model.joints import Free
from kinetree.model.parametric import applied
from kinetree.model.tree import Model
from kinetree.ops import Array, absolute, less, logical_not, require
from kinetree.robot import trees
from kinetree.robot.quantity_laws import law_of_all, law_of_one
from kinetree.robot.wrench import Wrench

if TYPE_CHECKING:
    from kinetree.robot import Robot

Algorithm: TypeAlias = Callable[..., Any]
Shape: TypeAlias = tuple[int, ...]
Subject: TypeAlias = str | ConstraintSet | None
"""The subject of a quantity: a frame, constraints, or None for the whole robot."""
F = TypeVar("F", bound=Callable[..., Any])


class Named(TypedDict, total=False):
    """What a quantity with several results takes by name."""

    parameters: ArrayLike | None
    """The numbers of a parametric robot, (…, n); its own unless given."""


class NamedOut(Named, total=False):
    """What a quantity with one result takes by name."""

    out: Array | None
    """An array for the result."""


@dataclass(eq=False)
class Quantity:
    """A decorator that declares a method as a quantity, and the descriptor that gives instances the call that computes
    it."""

    algorithm: Algorithm
    shape: Callable[..., Any]
    """A function of the model, of the number of equations of constraints, and of the selected values: the shape of a
    result for one state, or the shapes of several results."""
    results: int = 1
    """The number of results; several are returned as a tuple."""
    _: KW_ONLY
    select: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    """Parameters that determine shapes, and functions that check their values."""
    keeps_references: bool = False
    """The algorithm takes wrenches in their references, not as forces on bodies."""
    lacks_rank: Callable[..., bool] | None = None
    """Whether a subject never has full rank, for an algorithm with a cheaper form (`by=FullRank`)."""
    is_large: bool = False
    """The code is large, and compiled only on request."""
    needs_mass: bool = False
    """The quantity depends on the centre of mass, which a robot without moving mass does not have."""
    needs_floating_base: bool = False
    any_frames: bool = False
    """Nothing is in the coordinates of a body or belongs to one: code may be that of other body frames and inertias."""
    by_trees: bool | trees.Put = False
    """Each tree on the world has its own entries, which depend on its own entries of the arguments alone: code may be
    that of one of several copies. True: (nv,), and not dependent on where the tree stands; otherwise the function that
    puts entries of copies where they belong."""

    def __call__(self, method: F) -> F:
        self.method = declared = cast(FunctionType, method)
        self.name = declared.__name__.removeprefix("_")  # a public method wraps the results of a private quantity
        update_wrapper(self, declared)
        signature = _spelled_out(inspect.signature(declared))
        declared.__signature__ = signature  # type: ignore[attr-defined]  # for `help`, and for the native entry
        parameters = [parameter for name, parameter in signature.parameters.items() if name != "self"]
        self._parameters = Parameters(self.name, signature.replace(parameters=parameters))
        words = [parameter for parameter in parameters if parameter.name in {*CHOICES, *self.select}]
        self.options = {parameter.name: parameter.default for parameter in words}
        others = {*self.options, "wrenches", "parameters", "out"}
        self.inputs = tuple(parameter.name for parameter in parameters if parameter.name not in others)
        self.takes_wrenches = "wrenches" in signature.parameters
        self.takes_parameters = "parameters" in signature.parameters

        def by_python(instance: Any, *args: Any, **kwargs: Any) -> Any:
            return self.call(instance, args, kwargs)

        self._by_python = update_wrapper(by_python, declared)
        return cast(F, self)

    def __set_name__(self, owner: type, name: str) -> None:
        of_robots = "robot" not in owner.__annotations__  # frames and constraints have a robot
        self._by_python.__dict__["_as_law"] = lambda: law_of_all(name, of_robots)

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self._by_python
        robot, subject = instance._subject
        function = self.function(robot, subject)
        module = self.method.__module__
        call = function.native_call(instance, self.method.__name__, text_of(self.method), self._by_python, module)
        if call is None:
            return MethodType(self._by_python, instance)
        return instance.__dict__.setdefault(self.method.__name__, call)

    def refusal(self, model: Model) -> str | None:
        """The reason why this model does not have the quantity, or None."""
        weighs = model.parametric is not None and bool(model.parametric.inertial)
        if self.needs_mass and not weighs and model.mass == 0.0:
            return f"{model.name!r} has no moving mass, so it has no centre of mass"
        if self.needs_floating_base and not isinstance(model.floating_base, Free):
            return f"{model.name!r} has a fixed base, so it has no {self.name.replace('_', ' ')}"
        return None

    def check(self, model: Model) -> None:
        """Raise if this model does not have the quantity."""
        refusal = self.refusal(model)
        if refusal is not None:
            raise ArgumentError(refusal)

    def shapes(self, model: Model, subject: Subject, options: Options) -> tuple[Shape, ...]:
        """The shape of every result for one state."""
        sizes = (subject.size,) if isinstance(subject, ConstraintSet) else ()
        shape = self.shape(model, *sizes, **self.selected(options))
        return shape if shape and isinstance(shape[0], tuple) else (shape,) * self.results

    def call(self, instance: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The quantity for these arguments, on the path through Python."""
        robot, subject = instance._subject
        given = self._parameters.bound(args, kwargs)
        self.check(robot.model)
        function, options = self.function(robot, subject), self._checked(given)
        values = function.with_parameters([given[name] for name in self.inputs], given.get("parameters"))
        return function.evaluate(values, options, given.get("wrenches"), given.get("out"))

    def _checked(self, given: Mapping[str, Any]) -> Options:
        """The values of options: words, or what the functions of `select` make of other values."""
        options = []
        for name in self.options:
            value, check = given[name], self.select.get(name)
            if check is None:
                options.append(one_of(name, value, CHOICES[name]))
            else:
                checked = check(value)
                options.append(value if type(value) is str else checked)
        return tuple(options)

    def selected(self, options: Options) -> dict[str, Any]:
        """The values that determine shapes, as the algorithm takes them."""
        given = dict(zip(self.options, options, strict=True))
        return {name: check(given[name]) for name, check in self.select.items()}

    def function(self, robot: Robot, subject: Subject) -> QuantityFunction:
        """The function that computes the quantity for a robot, cached in the robot."""
        made: dict[Any, Any] = robot._functions
        function: QuantityFunction | None = made.get((self, subject))
        if function is None:
            function = made.setdefault((self, subject), QuantityFunction(self, robot, subject))
        return function

    def key(self, options: Mapping[str, Any] | None = None, places: tuple[Place, ...] = ()) -> Key:
        """The key of a call with these options, or with defaults."""
        return Key(self._checked({**self.options, **(options or {})}), places)


quantity = Quantity


def _spelled_out(signature: inspect.Signature) -> inspect.Signature:
    """The signature with the names of `NamedOut` or `Named` in place of **named."""
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.kind is not parameter.VAR_KEYWORD:
            parameters.append(parameter)
            continue
        (kind,) = (k for k in (Named, NamedOut) if parameter.annotation == f"Unpack[{k.__name__}]")
        for name, annotation in kind.__annotations__.items():
            text = annotation.__forward_arg__
            parameters.append(inspect.Parameter(name, parameter.KEYWORD_ONLY, default=None, annotation=text))
    return signature.replace(parameters=parameters)


def quantities_of(owner: type) -> dict[str, Quantity]:
    """The quantities of a class by name, in the order of their declaration."""
    found: dict[str, Quantity] = {}
    for base in reversed(owner.__mro__):
        found |= {each.name: each for each in vars(base).values() if isinstance(each, Quantity)}
    return found


class HasQuantities:
    """A class with quantities."""

    model: Model

    @property
    def _subject(self) -> tuple[Robot, Any]:
        """The robot, and the subject of the quantities."""
        raise NotImplementedError

    @property
    def _robot(self) -> Robot:
        return self._subject[0]

    def _as_law(self, name: str) -> Found:
        """The quantity of this name as a law, bound to this robot."""
        return law_of_one(self, name, name in quantities_of(type(self)))


NOT_OF_UNIT_LENGTH = "{} has a quaternion that is not of unit length"


class QuantityFunction(CompiledFunction):
    """A quantity of one robot, frame or set of constraints."""

    mapping = native.Mapping("wrenches", (6,), Wrench, "value", "reference", "world-aligned")

    def __init__(self, declared: Quantity, robot: Robot, subject: Subject, at_any_rank: bool = False) -> None:
        super().__init__()
        model = robot.model
        self.name, self.title = declared.name, f"{declared.name} of {model.name!r}"
        self.declared, self.model, self.subject = declared, model, subject
        self.eager = robot.is_eager
        self.dtype = FLOAT64 if at_any_rank else robot.dtype  # ranks are decided in float64
        self.arrays = {name: (_size(name, model),) for name in declared.inputs}
        if model.parametric is not None and declared.takes_parameters:
            self.parameters, self.is_symbolic = robot.own_parameters, robot.is_symbolic
            self.arrays["parameters"] = (model.parametric.size,)
        self.options, self.takes_wrenches = declared.options, declared.takes_wrenches
        if model.quaternions:
            self.quaternions = {name: model.quaternions for name in self.arrays if name.startswith("q")}
            self.refusals_by_quaternions = frozenset(map(NOT_OF_UNIT_LENGTH.format, self.quaternions))
        if declared.lacks_rank is not None and not at_any_rank:
            self._at_any_rank = QuantityFunction(declared, robot, subject, at_any_rank=True)

    _at_any_rank: QuantityFunction | None = None

    def careful(self, options: Options) -> QuantityFunction | None:
        """The same for all ranks, if this one takes full rank for granted."""
        lacks_rank = self.declared.lacks_rank
        if self._at_any_rank is None or lacks_rank is None:
            return None
        return None if lacks_rank(self.model, self.subject, **self.declared.selected(options)) else self._at_any_rank

    @property
    def configurations(self) -> Mapping[str, Model]:
        return {name: self.model for name in self.arrays if name.startswith("q")}

    def _twin(self, dtype: np.dtype[Any]) -> CompiledFunction | None:
        decides_ranks = self._at_any_rank is None and self.declared.lacks_rank is not None
        needs_float64 = decides_ranks or isinstance(self.subject, ConstraintSet)
        return None if needs_float64 and dtype != FLOAT64 else self._copied(dtype)

    def result_shapes(self, options: Options) -> tuple[Shape, ...]:
        return self.declared.shapes(self.model, self.subject, options)

    def identity(self, key: Key) -> str | None:
        if not all(map(is_own, self.model.kinds)):  # classes of joints whose source is unknown
            return None
        rank = "any rank" if self.careful(key.options) is None else "full rank"
        known = (self.model.structure, self.name, self.subject, key, self.declared.selected(key.options), rank)
        return ", ".join(map(repr, known))

    def formula(self, key: Key) -> Callable[..., Any]:
        return self._formula(key, self.declared.any_frames)

    def _specialized(self, key: Key, cpu: str = "") -> Specialization:
        if self.declared.by_trees is not True or key.places or not trees.shared(self.model):
            return super()._specialized(key, cpu)
        identity, (shape,) = self.identity(key), self.result_shapes(key.options)
        identity = None if identity is None else f"{identity}, by trees"
        arrays, run = self.arrays, self.formula(key)
        repetitions = partial(self._by_trees, key)
        return RepeatedSpecialization(self.title, arrays, run, identity, shape, repetitions, self.dtype, cpu)

    def _by_trees(self, key: Key) -> list[Repetition]:
        """The formulas of the trees, each with the places of its copies."""
        listed = []
        for tree, one in self._of_trees:
            places = [(*(iq if name.startswith("q") else iv for name in one.arrays), iv) for iq, iv in tree.places]
            listed.append(Repetition(one.arrays, one.formula(key), tuple(places)))
        return listed

    @lazy
    def _of_trees(self) -> list[tuple[Copies, QuantityFunction]]:
        """The same quantity of each tree alone."""
        from kinetree.robot import Robot  # noqa: PLC0415 - it imports this module

        alone = [(tree, Robot(tree.model, dtype=self.dtype)) for tree in trees.shared(self.model)]
        return [(tree, QuantityFunction(self.declared, robot, None)) for tree, robot in alone]

    def _is_put_together(self, key: Key) -> bool:
        """Whether the results of trees are computed one by one, and not by code for the whole."""
        known = callable(self.declared.by_trees) and not key.places and self._of_trees
        return bool(known) and sum(tree.bodies for tree, _ in self._of_trees) == self.model.n_bodies

    def _run_kernel(self, key: Key, arguments: Arguments, batch: Shape, out: Array | None) -> Any:
        if not self._is_put_together(key):
            return super()._run_kernel(key, arguments, batch, out)
        put = cast(trees.Put, self.declared.by_trees)
        results = [np.zeros((*batch, *shape), self.dtype) for shape in self.result_shapes(key.options)]
        if out is not None:
            as_output(out, self._only_shape([result.shape for result in results]), self.dtype)
        for tree, one in self._of_trees:
            values = [trees.of_copies(array, tree, name) for name, (array, _) in arguments.items()]
            try:
                found = one.evaluate(values, key.options)
            except KinetreeError:  # say it of the whole
                self._check_quaternions(arguments)
                self._run_eagerly(key, arguments, batch, None)
                raise
            for result, part in zip(results, found if isinstance(found, tuple) else (found,), strict=True):
                put(result, part, tree)
        if out is not None:
            out[...] = results[0]
        found = [out] if out is not None else [result if result.shape else result[()] for result in results]
        return tuple(found) if len(found) > 1 else found[0]

    def prepare(self, key: Key = PLAIN, batch: bool = False) -> None:
        if not self._is_put_together(key):
            super().prepare(key, batch)
        for _, one in self._of_trees if self._is_put_together(key) else ():
            one.prepare(key, batch=True)

    def on_numbers(self, key: Key) -> Callable[..., Any]:
        return self._formula(key, any_frames=False)

    def _formula(self, key: Key, any_frames: bool) -> Callable[..., Any]:
        """The quantity of the model as it is given, or with the frames and inertias that make its code short."""
        given, declared, whose = self.model, self.declared, self.subject
        words: dict[str, Any] = dict(zip(self.options, key.options, strict=True)) | declared.selected(key.options)
        if self.careful(key.options) is not None:
            words["by"] = FullRank
        quaternions, names, is_parametric = self.quaternions, declared.inputs, self.parameters is not None

        def run(*values: Array) -> Any:
            model = applied(given, values[len(names)]) if is_parametric else given
            model = model.shortened if any_frames else model
            subject = () if whose is None else (model.frame(whose) if isinstance(whose, str) else whose,)
            places = [(model.frame(name), cast(Reference, reference)) for name, reference in key.places]
            state, sixes = values[: len(names)], values[len(names) + is_parametric :]
            forces: dict[str, Any] = {}
            if places:
                pushes = [(placement, ref, six) for (placement, ref), six in zip(places, sixes, strict=True)]
                if declared.keeps_references:
                    forces["pushes"] = pushes
                else:
                    forces["f_ext"] = external_forces(model, state[0], pushes)
            result = declared.algorithm(model, *subject, *state, **words, **forces)
            for name, array in zip(names, state, strict=True):
                for part in quaternions.get(name, ()):
                    off = absolute(array[part] @ array[part] - 1.0)
                    require(logical_not(less(UNIT_TOLERANCE, off)), NOT_OF_UNIT_LENGTH.format(name))
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
    """The size of an input: nq for positions (q, q0, q1), 1 for a coefficient of restitution, nv for others."""
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
    """Compile quantities of a robot, a frame or constraints, for these options if they have them."""
    for function, key in prepared(owner, names, wrenches, options):
        function.prepare(key, batch)


def prepared(
    owner: HasQuantities,
    names: Iterable[str],
    wrenches: Iterable[str | Place] = (),
    options: Mapping[str, Any] | None = None,
) -> list[tuple[QuantityFunction, Key]]:
    """The functions and keys of quantities, by name; raises for an unknown name or wrong options before compiling."""
    robot, subject = owner._subject
    quantities, given = quantities_of(type(owner)), dict(options or {})
    listed = [wrenches] if isinstance(wrenches, str) else list(wrenches)
    places = tuple(sorted({_place(robot.model, item) for item in listed}))
    found = []
    for name in names:
        declared = quantities[known("quantity", name, quantities)]
        if places and not declared.takes_wrenches:
            raise ArgumentError(f"{name} takes no wrenches")
        declared.check(robot.model)
        function = declared.function(robot, subject)
        found.append((function, declared.key({key: given[key] for key in declared.options if key in given}, places)))
    return found


def program_of(owner: HasQuantities, name: str, **options: Any) -> Any:
    """The program of a quantity, with its operations and its LLVM assembly."""
    ((function, key),) = prepared(owner, [name], (), options)
    return function.specialization(key).program


def _place(model: Model, item: Any) -> Place:
    if isinstance(item, str):
        item = (item, "world-aligned")
    if not isinstance(item, tuple) or len(item) != 2:
        raise ArgumentTypeError(f"wrenches has {short(item)}; expected a frame name or (frame name, reference)")
    name, reference = item
    return model.frame(name).name, one_of("reference", reference, REFERENCES)
