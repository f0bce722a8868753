"""Methods that become native calls: on an instance, such a method is a built-in function that runs the kernel."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, update_wrapper
from types import FunctionType, MethodType
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def native(method: F) -> F:
    """A decorator for a method that an instance may replace by a native call with the same arguments.

    At the first lookup, the instance's `_native_call(method)` returns the native call, which is cached in the instance,
    or None for the method itself. The method serves the calls that native code cannot.
    """
    return cast(F, _Native(method))


class _Native:
    def __init__(self, method: Any) -> None:
        self.method: FunctionType = method
        update_wrapper(self, method)  # type: ignore[arg-type]  # this is found on the class, not called

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self.method
        name = self.method.__name__
        call = instance._native_call(self.method)
        if call is None:
            return MethodType(self.method, instance)
        return instance.__dict__.setdefault(name, call)


@cache
def text_of(method: FunctionType) -> str:
    """Signature and docstring in the format of built-in functions."""
    parameters = []
    for parameter in inspect.signature(method).parameters.values():
        plain = parameter.replace(annotation=inspect.Parameter.empty)
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in parameters:
            parameters.append("*")
        parameters.append("$self" if parameter.name == "self" else str(plain))
    doc = inspect.cleandoc(method.__doc__ or "")
    return f"{method.__name__}({', '.join(parameters)})\n--\n\n{doc}"
