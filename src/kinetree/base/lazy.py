"""Properties that are computed when they are first asked for, and kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):
    """A property that an instance computes once and keeps in its `__dict__`.

    `functools.cached_property` of Python 3.11 and before holds a lock while it computes, one for the property of all
    instances: two threads that take it and another lock in different orders wait for each other for ever, and a forked
    child may find it taken. This one holds none. Threads that ask at the same time may compute it twice; all of them
    get the value that was kept first, so that nobody is left with one of his own. What must be computed once, because
    it compiles, is a `compiler.jit.lazy_code`.
    """

    lock: ClassVar[AbstractContextManager[Any]] = nullcontext()
    """Held while it is computed."""

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
        kept: dict[str, T] = instance.__dict__
        with self.lock:
            return kept[self.name] if self.name in kept else kept.setdefault(self.name, self.make(instance))
