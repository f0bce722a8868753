"""How a robot comes by a quantity: found by name, and compiled for the robot's model when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias

from numpy.typing import ArrayLike

from kinetree.algorithms.references import REFERENCES
from kinetree.base.lazy import lazy
from kinetree.errors import ArgumentError, ArgumentTypeError, one_of, short, unknown
from kinetree.ops import Array
from kinetree.robot.engine import Engine, Place, Request
from kinetree.robot.quantities import OF_FLOATING_BASE, OF_ROBOT, OPTIONS, Quantity
from kinetree.robot.wrench import Wrench

if TYPE_CHECKING:
    from kinetree.model.tree import Model

Wrenches: TypeAlias = Mapping[str, "ArrayLike | Wrench"]
"""By the name of the frame where they act."""

_ASKED_FOR = OF_ROBOT | OF_FLOATING_BASE


class CompiledQuantities:
    """A `Robot` as far as its quantities know it: a model, and an engine that compiles for it."""

    model: Model
    textbook: bool

    @lazy
    def _engine(self) -> Engine:
        return Engine(self.model, eager=self.textbook)

    @lazy
    def _laws(self) -> dict[Any, Any]:
        """Compiled functions of the user's, by what they were compiled from."""
        return {}

    def _requests(
        self, quantities: Iterable[str], wrenches: Iterable[str | Place] = (), options: Mapping[str, str] = OPTIONS
    ) -> list[Request]:
        """Quantities by name; raises before anything is done if one of them cannot be asked for."""
        listed = [wrenches] if isinstance(wrenches, str) else list(wrenches)
        places = tuple(sorted({self._place(item) for item in listed}))
        requests = []
        for name in quantities:
            quantity = _ASKED_FOR.get(name) if isinstance(name, str) else None
            if quantity is None:
                raise unknown("quantity", name, _ASKED_FOR)
            if places and not quantity.takes_wrenches:
                raise ArgumentError(f"{name} takes no wrenches")
            self._check_has(quantity)
            chosen = tuple(options[option] for option in quantity.options)
            requests.append(Request(quantity, options=chosen, places=places))
        return requests

    def _native_call(self, method: FunctionType) -> Callable[..., Any] | None:
        name = method.__name__.removeprefix("_")  # a private one has the arrays of which another makes a result
        return self._engine.native_call(self, _ASKED_FOR[name], None, method)

    def _place(self, item: str | Place) -> Place:
        if isinstance(item, str):
            item = (item, "world-aligned")
        if not isinstance(item, tuple) or len(item) != 2:
            raise ArgumentTypeError(f"wrenches has {short(item)}; expected a frame name or (frame name, reference)")
        name, reference = item
        return self.model.frame(name).name, one_of("reference", reference, REFERENCES)

    def _call(
        self,
        name: str,
        values: tuple[Any, ...],
        out: Array | None,
        wrenches: Wrenches | None = None,
        options: tuple[str, ...] = (),
    ) -> Array:
        self._check_has(_ASKED_FOR[name])
        result: Array = self._engine.evaluate(_ASKED_FOR[name], values, out, wrenches=wrenches, options=options)
        return result

    def _several(self, name: str, values: tuple[Any, ...], wrenches: Wrenches | None = None) -> Any:
        self._check_has(_ASKED_FOR[name])
        return self._engine.evaluate(_ASKED_FOR[name], values, wrenches=wrenches)

    def _check_has(self, quantity: Quantity) -> None:
        refusal = quantity.refusal(self.model)
        if refusal is not None:
            raise ArgumentError(refusal)
