"""What is computed for every state: calls, the columns they take, and the arrays they return."""

from __future__ import annotations

import inspect
import marshal
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import partial
from hashlib import sha256
from numbers import Number
from typing import Any, Literal

import numpy as np

from kinetree.control.controller import Controller
from kinetree.errors import ArgumentError, ArgumentTypeError, short, unknown
from kinetree.functions.bound_law import BoundLaw
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.robot.frame import Frame
from kinetree.robot.quantity import HasQuantities, quantities_of
from kinetree.scale.formats.table import Column, Field
from kinetree.simulation.labels import labels_of

POSITIONS, VELOCITIES = ("q",), ("v", "a", "tau")
_UNIT = re.compile(r"\[([^\[\]]+)\]")


@dataclass(frozen=True)
class Computed:
    """A call and the name of its result. Its arguments are columns of these names."""

    name: str
    call: Callable[..., Any]
    inputs: tuple[str, ...]
    unit: str = ""
    identity: str = ""
    """What tells that another run computes something else under the same name."""

    def results(self, arrays: Mapping[str, Array], rows: int) -> dict[str, Array]:
        """The arrays of so many states by name; those of a tuple or a dict as "name_0", "name_key"."""
        returned = self.call(*(arrays[name] for name in self.inputs))
        if isinstance(returned, Mapping):
            parts = {f"{self.name}_{key}": value for key, value in returned.items()}
        elif isinstance(returned, tuple):
            parts = {f"{self.name}_{k}": value for k, value in enumerate(returned)}
        else:
            parts = {self.name: returned}
        found = {name: np.asarray(value) for name, value in parts.items()}
        for name, array in found.items():
            if array.dtype.kind not in "fiub" or array.shape[:1] != (rows,):
                raise ArgumentError(
                    f"{name} is an array of {array.dtype} of shape {array.shape} for {rows} states; expected real "
                    f"numbers of shape ({rows}, …)"
                )
        return found


def as_computed(robot: Robot, quantities: Any) -> tuple[Computed, ...]:
    """What `quantities` asks for: names, "name@frame", or a dict from names to these or to calls."""
    if isinstance(quantities, str):
        quantities = [quantities]
    if isinstance(quantities, Mapping):
        pairs = list(quantities.items())
    elif isinstance(quantities, Iterable):
        pairs = [(_label(each), each) for each in quantities]
    else:
        raise ArgumentTypeError(f"quantities is {short(quantities)}; expected names such as 'inverse_dynamics'")
    if not pairs:
        raise ArgumentError("quantities is empty; expected names such as 'inverse_dynamics'")
    found = tuple(_computed(robot, name, each) for name, each in pairs)
    repeated = {one.name for k, one in enumerate(found) if one.name in [other.name for other in found[:k]]}
    if repeated:
        raise ArgumentError(f"quantities has {repeated.pop()!r} twice; expected a dict that names them apart")
    return found


def _label(each: Any) -> str:
    if isinstance(each, str):
        return each.replace("@", ".")
    owner = getattr(each, "__self__", None)
    name = getattr(each, "__name__", "")
    if not callable(each) or not name:
        raise ArgumentTypeError(f"quantities has {short(each)}; expected a name, or a dict from names to calls")
    return f"{name}.{owner.name}" if isinstance(owner, Frame) else str(name)


def _computed(robot: Robot, name: Any, each: Any) -> Computed:
    if not isinstance(name, str) or not name:
        raise ArgumentTypeError(f"quantities has the name {short(name)}; expected a string")
    call = _named(robot, each) if isinstance(each, str) else each
    if not callable(call):
        raise ArgumentTypeError(f"quantities[{name!r}] is {short(each)}; expected a name or a call")
    owner, of = getattr(call, "__self__", None), getattr(call, "__name__", "")
    known = quantities_of(type(owner)).get(of) if isinstance(owner, HasQuantities) else None
    if known is not None and owner is not None:
        whose, subject = owner._subject
        known.check(whose.model)
        unit = _UNIT.findall(known.method.__doc__ or "")
        identity = f"{of} of {subject!r} of {whose.model.digest} in {whose.dtype}"
        return Computed(name, call, known.inputs, unit[-1] if unit else "", identity)
    return Computed(name, call, _arguments(name, call), "", code_of(call))


def _named(robot: Robot, text: str) -> Callable[..., Any]:
    """The call of "quantity" of the robot, or of "quantity@frame"."""
    name, mark, frame = text.partition("@")
    owner: Any = robot.frame(frame) if mark else robot
    known = quantities_of(type(owner))
    if name not in known or not isinstance(getattr(type(owner), name, None), Callable):  # type: ignore[arg-type]
        if not mark and name in quantities_of(Frame):
            raise ArgumentError(
                f"{name} is a quantity of a frame; expected the frame's name after it, as in '{name}@tool0'"
            )
        raise unknown("quantity", name, [each for each in known if not each.startswith("_")])
    return getattr(owner, name)


def _arguments(name: str, call: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments that a call needs."""
    owner = getattr(call, "__self__", None)
    try:
        signature = owner.signature if isinstance(owner, BoundLaw) else inspect.signature(call)
        parameters = signature.parameters.values()
    except (TypeError, ValueError):
        raise ArgumentError(f"quantities[{name!r}] does not tell its arguments; expected a function of q, v") from None
    needed = [each for each in parameters if each.default is each.empty]
    return tuple(each.name for each in needed if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD))


def code_of(function: Any) -> str:
    """The name of a function and a digest of its code, or those of a dict of functions: by it a change is noticed, but
    not a change of what a function captures. Numbers have a digest, a bound law that of its graph, a controller one of
    its settings, a frozen object its repr."""
    law = function if isinstance(function, BoundLaw) else getattr(function, "__self__", None)
    if isinstance(law, BoundLaw):
        return f"law {law.specialization().digest}"
    if isinstance(function, Mapping):
        return ", ".join(f"{name}: {code_of(each)}" for name, each in function.items())
    if isinstance(function, partial):
        return f"{code_of(function.func)} of {code_of(function.args)}, {code_of(function.keywords)}"
    if isinstance(function, Controller):
        whose = "" if function.robot is None else function.robot.model.digest
        return f"{type(function).__qualname__} {function.structure!r} of {whose}, {code_of(function.presets)}"
    if isinstance(function, (Number, np.ndarray, list, tuple)) and (array := np.asarray(function)).dtype.kind in "biuf":
        return f"{array.dtype} {array.shape} {sha256(array.tobytes()).hexdigest()[:16]}"
    inner = getattr(function, "function", function)
    code = getattr(inner, "__code__", None)
    if code is not None:
        return f"{inner.__qualname__} {sha256(marshal.dumps(code)).hexdigest()[:16]}"
    return repr(function) if is_dataclass(function) else type(function).__qualname__


def columns_of(robot: Robot, computed: Sequence[Computed]) -> tuple[Column, ...]:
    """The columns that calls take, each once."""
    names = dict.fromkeys(name for each in computed for name in each.inputs)
    return tuple(_column(robot, name) for name in names)


def _column(robot: Robot, name: str) -> Column:
    if name not in (*POSITIONS, *VELOCITIES):
        return Column(name)
    like: Literal["q", "v", "tau"] = "q" if name == "q" else "tau" if name == "tau" else "v"
    entries = tuple(label for label, _ in labels_of(robot, like))
    return Column(name, len(entries), entries)


def fields_of(robot: Robot, computed: Sequence[Computed], first: Mapping[str, Array]) -> tuple[Field, ...]:
    """Names, shapes and units of all results. `first` has one state of the columns that are no coordinates."""
    state = {name: robot.neutral() if name == "q" else np.zeros(robot.nv) for name in (*POSITIONS, *VELOCITIES)}
    arrays = {name: np.asarray(array)[None] for name, array in state.items()} | dict(first)
    return tuple(
        Field(name, array.shape[1:], each.unit) for each in computed for name, array in each.results(arrays, 1).items()
    )
