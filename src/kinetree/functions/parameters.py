"""Arguments of a call by name, bound as Python does it, with one sentence for arguments that do not fit."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from kinetree.errors import ArgumentTypeError, unknown


class Parameters:
    """The parameters of a function with this name and signature."""

    def __init__(self, name: str, signature: inspect.Signature) -> None:
        self.name, self.signature = name, signature
        parameters = signature.parameters.values()
        self._positional = tuple(each.name for each in parameters if each.kind is not each.KEYWORD_ONLY)
        self._named = {each.name for each in parameters if each.kind is not each.POSITIONAL_ONLY}
        self._defaults = {each.name: each.default for each in parameters}
        self._required = tuple(each.name for each in parameters if each.default is each.empty)

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments by name, in the order of the signature, defaults included."""
        given = dict(zip(self._positional, args, strict=False))
        if len(args) <= len(self._positional) and self._named.difference(given).issuperset(kwargs):
            given = {**self._defaults, **given, **kwargs}
            for name in self._required:
                if given[name] is inspect.Parameter.empty:
                    break
            else:
                return given
        raise self._error(args, kwargs)

    def _error(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> ArgumentTypeError:
        for word in kwargs:
            if word not in self.signature.parameters:
                return ArgumentTypeError(str(unknown(f"argument of {self.name}", word, self.signature.parameters)))
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            return ArgumentTypeError(f"{self.name}: {error}")
        return ArgumentTypeError(f"{self.name} got inspect.Parameter.empty for an argument; expected a value")
