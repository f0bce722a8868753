"""A formula that is the same for several parts of its arrays: it is traced for one of them, and runs on all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.compiler import Layout, Shape
from kinetree.functions.specialization import Specialization

if TYPE_CHECKING:
    from kinetree.compiler import RepeatedProgram


class Repetition(NamedTuple):
    """The formula of one part, the shapes of its arrays, and for each copy where its arrays and its result begin."""

    arrays: Mapping[str, Shape]
    run: Callable[..., Any]
    places: tuple[tuple[int, ...], ...]


class RepeatedSpecialization(Specialization):
    """A formula with one result, whose code is that of its parts. Whoever asks for its graph gets that of the whole."""

    def __init__(
        self,
        name: str,
        arrays: Mapping[str, Shape],
        run: Callable[..., Any],
        identity: str | None,
        shape: Shape,
        repetitions: Callable[[], Sequence[Repetition]],
        dtype: np.dtype[Any],
        cpu: str = "",
    ) -> None:
        self._shape, self._repetitions, self._cpu = shape, repetitions, cpu
        super().__init__(name, arrays, run, identity, always_reports=True, dtype=dtype, cpu=cpu)

    def _trace(self, identity: str | None) -> None:
        self._digest, self.shapes = self._repeated.digest, (self._shape,)
        self.is_flat, self.is_tuple, self.refuses = True, False, True
        self.reasons = ("a tree is refused",)
        self.rebuild = lambda leaves: leaves[0]
        if identity is not None:
            self._save(identity)

    def _checked(self) -> Any:
        if self._repeated.digest != self._digest:
            raise RuntimeError(f"{self.name} was another function when its record was written to disk")
        return self._repeated

    @lazy
    def _repeated(self) -> RepeatedProgram:
        from kinetree.compiler import RepeatedProgram  # noqa: PLC0415 - not needed if the code is on disk

        dtype, listed = self._target.dtype, self._repetitions()
        made = [
            Specialization(self.name, each.arrays, each.run, None, always_reports=True, dtype=dtype, cpu=self._cpu)
            for each in listed
        ]
        layout = Layout(tuple(map(prod, self._arrays.values())), (prod(self._shape), 1))
        places = [each.places for each in listed]
        return RepeatedProgram([each.program for each in made], places, layout, self._target, self.name)
