"""Arguments of algorithms, read once for all of them: a model, arrays of one state, a frame, forces on bodies.

The equations then see arrays of the right size and forces by body, in body coordinates. Sizes follow from the names of
parameters: q, q0 and q1 have nq entries, velocities, accelerations and efforts nv.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np

from kinetree.algorithms.arguments.directions import task_directions
from kinetree.algorithms.arguments.references import ACCELERATION_KINDS, POINTS, REFERENCES, Reference
from kinetree.base.arguments import as_real
from kinetree.errors import ArgumentError, ArgumentTypeError, known, one_of, short, unknown
from kinetree.model.tree import FramePlacement, Model
from kinetree.ops import Array, is_registered
from kinetree.spatial import Force, parameterization

ExternalForces: TypeAlias = Mapping[Any, Any]
"""By number of body, a `Force` on it in its own coordinates; or by name of frame, a wrench as robots take it: six
numbers, world-aligned at the frame's origin, or a `kt.Wrench`."""
NO_FORCES: ExternalForces = {}
Push: TypeAlias = tuple[FramePlacement, Reference, Array]
"""A wrench: the frame it acts at, the reference it is given in, and its six numbers."""

POSITIONS = frozenset(("q", "q0", "q1"))
VELOCITIES = frozenset(("v", "a", "tau", "dv", "theta"))
OTHERS = frozenset(("frame", "f_ext", "pushes", "reference", "kind", "point", "position", "rotation", "task"))
"""Names of parameters that are read besides arrays."""
CHOICES: dict[str, tuple[str, ...]] = {"reference": REFERENCES, "kind": ACCELERATION_KINDS, "point": POINTS}
PARAMETERIZATIONS = {"position": parameterization.POSITIONS, "rotation": parameterization.ROTATIONS}
P = ParamSpec("P")
T = TypeVar("T")


def of_one_state(algorithm: Callable[P, T]) -> Callable[P, T]:
    """Refuses arguments of an algorithm that are not of one state of its model, in one sentence; converts lists, names
    of frames, and wrenches by name of frame."""
    signature = inspect.signature(algorithm)
    names = tuple(signature.parameters)
    sized = tuple((place, name in POSITIONS) for place, name in enumerate(names) if name in POSITIONS | VELOCITIES)
    has_others = not OTHERS.isdisjoint(names)

    @wraps(algorithm)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if kwargs or has_others or not _are_arrays(args, sized):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            _read(bound.arguments)
            args, kwargs = bound.args, bound.kwargs  # type: ignore[assignment]  # the same parameters
        return algorithm(*args, **kwargs)

    return call


def _are_arrays(args: tuple[Any, ...], sized: tuple[tuple[int, bool], ...]) -> bool:
    """Whether there is nothing to read, as in most calls of one algorithm by another."""
    if not args or not isinstance(args[0], Model) or len(args) <= sized[-1][0]:
        return False
    nq, nv = (args[0].nq,), (args[0].nv,)
    for place, is_position in sized:
        x = args[place]
        if type(x) is not np.ndarray or x.shape != (nq if is_position else nv) or x.dtype.kind not in "fcO":
            return False
    return True


def _read(arguments: dict[str, Any]) -> None:
    """Replaces arguments, by name, by what the equations are written for."""
    model = arguments["model"]
    if not isinstance(model, Model):
        hint = ", such as robot.model" if isinstance(getattr(model, "model", None), Model) else ""
        raise ArgumentTypeError(f"model is {short(model)}; expected a kinetree.Model{hint}")
    for name, value in arguments.items():
        if name in POSITIONS:
            arguments[name] = _array(name, value, model.nq)
        elif name in VELOCITIES:
            arguments[name] = _array(name, value, model.nv)
        elif name == "frame":
            arguments[name] = value if isinstance(value, FramePlacement) else model.frame(value)
        elif name in CHOICES:
            one_of(name, value, CHOICES[name])
        elif name == "task":
            arguments[name] = task_directions(value)
        elif name in PARAMETERIZATIONS:
            known(name, value, PARAMETERIZATIONS[name])
        elif name == "f_ext":
            arguments[name] = _forces(model, arguments["q"], value)
        elif name == "pushes" and isinstance(value, Mapping):
            arguments[name] = _pushes(model, value)


def _array(name: str, value: Any, size: int) -> Array:
    """`value` as an array of one state, of numbers or of traced scalars."""
    if isinstance(value, (list, tuple)) and any(map(is_registered, value)):
        value = np.array(value)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fcO":
        value = as_real(name, value, f"an array of shape ({size},)")
    if value.shape != (size,):
        hint = ": algorithms take one state, a robot's own calls take batches" if value.ndim > 1 else ""
        raise ArgumentError(f"{name} has shape {value.shape}; expected ({size},){hint}")
    array: Array = value
    return array


def _forces(model: Model, q: Array, f_ext: Any) -> ExternalForces:
    """Forces by body, in body coordinates."""
    if not isinstance(f_ext, Mapping):
        expected = "a dict from bodies to forces, or from frame names to wrenches"
        raise ArgumentTypeError(f"f_ext is {short(f_ext)}; expected {expected}")
    by_name = {key: value for key, value in f_ext.items() if isinstance(key, str)}
    for body, force in f_ext.items():
        if body in by_name:
            continue
        if isinstance(body, bool) or not isinstance(body, (int, np.integer)) or not 0 <= body <= model.n_bodies:
            raise ArgumentError(f"f_ext has the key {short(body)}; expected a body, 1 to {model.n_bodies}, or a frame")
        if not isinstance(force, Force):
            raise ArgumentTypeError(f"f_ext[{body}] is {short(force)}; expected a Force in coordinates of the body")
        if force.force.shape != (3,):
            raise ArgumentError(f"f_ext[{body}] is forces of shape {force.force.shape[:-1]}; expected one")
    if not by_name:
        return f_ext
    from kinetree.algorithms.arguments.wrenches import external_forces  # noqa: PLC0415 - it is written with what is checked here

    summed = external_forces(model, q, _pushes(model, by_name))
    for body, force in f_ext.items():
        if body not in by_name:
            summed[body] = summed.get(body, Force.zero()) + force
    return summed


def _pushes(model: Model, wrenches: Mapping[Any, Any]) -> list[Push]:
    """Wrenches by name of frame, read as robots read them."""
    pushes = []
    for name, wrench in wrenches.items():
        if not isinstance(name, str):
            raise unknown("frame", name, [frame.name for frame in model.frames])
        reference = one_of("reference", getattr(wrench, "reference", "world-aligned"), REFERENCES)
        six = getattr(wrench, "value", wrench)
        if isinstance(six, Force):
            raise ArgumentTypeError(f"the wrench at {name!r} is a Force; expected a 6-vector, as from force.vector()")
        pushes.append((model.frame(name), reference, _array(f"f_ext[{name!r}]", six, 6)))
    return pushes
