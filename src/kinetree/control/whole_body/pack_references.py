"""References by name, and which contacts and tasks are on, as the vectors that a step takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant, as_floats, as_number, batch_shape
from kinetree.control.whole_body.problem import Problem
from kinetree.errors import ArgumentError, ArgumentTypeError, short, unknown
from kinetree.ops import Array


def packed(problem: Problem, reference: Any) -> Array:
    """A vector of references, (…, r): from a dict with a target, or (target, velocity, acceleration), for every task
    that needs one; or such a vector as it is."""
    (size,) = problem.arguments["reference"]
    if not isinstance(reference, Mapping):
        if reference is None and size == 0:
            return np.zeros(0)
        if np.ndim(reference) == 0:
            wanted = ", ".join(repr(task) for task, own in problem.references.items() if own) or "no task"
            raise ArgumentError(
                f"reference is {short(reference)}; expected a dict with a target for {wanted}, or a vector of {size} "
                "numbers (in a rollout, give a function of (q, v, t) that calls the controller with its reference)"
            )
        return as_floats("reference", reference, (size,))
    for name in reference:
        if name not in problem.references:
            raise unknown("task", name, problem.references)
    parts: dict[str, tuple[Array, tuple[int, ...]]] = {}
    for task, own in problem.references.items():
        if not own:
            continue
        if task not in reference:
            raise ArgumentError(f"reference has nothing for task {task!r}; expected {_words(own)}")
        value = reference[task]
        given = value if isinstance(value, tuple) and len(own) > 1 else (value,)
        if not 0 < len(given) <= len(own):
            raise ArgumentError(f"reference of task {task!r} has {len(given)} parts; expected {_words(own)}")
        if len(own) == 1 and _has_parts(value, own["target"][1]):
            raise ArgumentError(
                f"reference of task {task!r} is a tuple of parts; expected {_words(own)} alone, since the task has no "
                "feedforward=True"
            )
        for k, (name, (_, shape)) in enumerate(own.items()):
            label = f"{name} of task {task!r}"
            parts[label] = (as_floats(label, given[k], shape) if k < len(given) else np.zeros(shape), shape)
    batch = batch_shape(parts)
    if parts and not batch:  # most calls
        return np.concatenate([array.ravel() for array, _ in parts.values()])
    columns = [np.broadcast_to(array, batch + shape).reshape(*batch, -1) for array, shape in parts.values()]
    return np.concatenate(columns, axis=-1) if columns else np.zeros(0)


def _has_parts(value: Any, shape: tuple[int, ...]) -> bool:
    """Whether it is a tuple of arrays each like a target, as trajectories give, and not a target or a batch."""
    return isinstance(value, tuple) and len(value) > 0 and np.ndim(value[0]) >= len(shape)


def _words(own: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {shape}" for name, (_, shape) in own.items())


def switched(problem: Problem, contacts: Any, weights: Any) -> Array:
    """Of contacts whether they are on, then of tasks a factor of their weight; what is not named is on."""
    names = [str(contact.name) for contact in problem.dynamics.contacts]
    tasks = [str(task.name) for task in problem.tasks]
    return np.concatenate([_numbers("contact", contacts, names, True), _numbers("task", weights, tasks, False)])


def _numbers(kind: str, given: Any, names: list[str], on_or_off: bool) -> Array:
    argument, word = ("contacts", "contact") if on_or_off else ("weights", "weight of task")
    if given is None:
        return np.ones(len(names))
    if isinstance(given, Mapping):
        values = np.ones(len(names))
        for name, value in given.items():
            if name not in names:
                raise unknown(kind, name, names)
            is_flag = on_or_off and isinstance(value, (bool, np.bool_))
            values[names.index(name)] = value if is_flag else as_number(f"{word} {name!r}", value)
    elif isinstance(given, (str, bytes)):
        raise ArgumentTypeError(f"{argument} is {short(given)}; expected a dict, or a number for each of {names}")
    else:
        values = as_constant(argument, _as_list(given), (len(names),))
    if not np.isfinite(values).all():
        raise ArgumentError(f"{argument} has {short(given)}; expected finite numbers")
    if not on_or_off and not (values >= 0.0).all():
        raise ArgumentError(f"weights has {short(given)}; expected factors of zero or more")
    return values


def _as_list(given: ArrayLike) -> Any:
    array = np.asarray(given)
    return array.astype(float) if array.dtype == bool else given
