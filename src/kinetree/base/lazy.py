"""Properties that are computed on first access and cached."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):
    """A property that an instance computes once and keeps in its `__dict__`.

    `functools.cached_property` of Python 3.11 and before holds one lock for all instances while it computes: two
    threads that take it and another lock in different orders deadlock, and a forked child may find it taken. `lazy`
    holds no lock. Concurrent threads may compute the value twice; all of them get the one that was stored first.
    Properties that compile must be computed once: these are `compiler.runtime.jit.lazy_code`.
    """

    lock: ClassVar[AbstractContextManager[Any]] = nullcontext()
    """Held during the computation."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self.make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> lazy[T] | T:
        if instance is None:
            return self
        values: dict[str, T] = instance.__dict__
        with self.lock:
            return values[self.name] if self.name in values else values.setdefault(self.name, self.make(instance))
