"""Functions of the library without a robot: written for one state, called with one state or a batch.

They are compiled like a law at their first call, once for every choice of their options.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from typing import Any

from kinetree.errors import unknown
from kinetree.functions.law import compile
from kinetree.functions.parameters import Parameters
from kinetree.ops import Array

Shapes = Mapping[str, tuple[int, ...]]


def per_state(
    shapes: Callable[..., Shapes] | Shapes, **choices: Iterable[str]
) -> Callable[[Callable[..., Any]], Callable[..., Array]]:
    """A decorator that lets a function of arrays of one state take batches, and `out`.

    `shapes` has the shapes of its arrays, or is a function of its choices that returns them. The last arguments are
    options: `choices` has their names and allowed words.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Array]:
        words = {name: tuple(allowed) for name, allowed in choices.items()}
        count = function.__code__.co_argcount - len(words)
        defaults = tuple(inspect.signature(function).parameters[name].default for name in words)
        bound: dict[tuple[Any, ...], Callable[..., Array]] = {}

        def made(given: tuple[Any, ...]) -> Callable[..., Array]:
            for (name, allowed), word in zip(words.items(), given, strict=True):
                if not isinstance(word, str) or word not in allowed:
                    raise unknown(name, word, allowed)
            chosen = tuple(map(str, given))
            if chosen in bound:
                return bound[chosen]
            named = dict(zip(words, chosen, strict=True))

            @wraps(function)
            def of_arrays(*values: Any) -> Any:
                return function(*values, **named)

            signature = inspect.signature(function)
            arrays = [parameter for name, parameter in signature.parameters.items() if name not in words]
            of_arrays.__signature__ = signature.replace(parameters=arrays)  # type: ignore[attr-defined]
            del of_arrays.__wrapped__
            law = compile(of_arrays, shapes=shapes(**named) if callable(shapes) else shapes)
            return bound.setdefault(chosen, law.bind())

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Array:
            values, chosen = args[:count], args[count:]
            if len(values) == count and not kwargs:
                chosen += tuple(word for word in defaults[len(chosen) :] if word is not inspect.Parameter.empty)
            if len(chosen) != len(words):
                arguments = Parameters(function.__name__, _with_out(function)).bound(args, kwargs)
                chosen = tuple(arguments.pop(name) for name in words)
                values, kwargs = (), arguments
            known = bound.get(chosen) if all(type(word) is str for word in chosen) else None
            return (known or made(chosen))(*values, **kwargs)

        return call

    return decorate


@cache
def _with_out(function: Callable[..., Any]) -> inspect.Signature:
    """The signature with the additional keyword `out`."""
    given = inspect.signature(function).parameters.values()
    return inspect.Signature([*given, inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)])
