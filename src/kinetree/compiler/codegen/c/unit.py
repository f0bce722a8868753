"""A file of C: kernels and loops, behind the definitions that they need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kinetree.compiler.codegen.c import elementary, loops
from kinetree.compiler.codegen.c.elementary import REALS
from kinetree.compiler.codegen.c.kernel import Kernel


class CUnit:
    """Static functions of C whose names begin with a prefix, for numbers of one type, double or float."""

    def __init__(self, prefix: str, element: str = "double") -> None:
        self.prefix, self.real = prefix, REALS[element]
        self._kernels: list[Kernel] = []
        self._texts: list[str] = []
        self._loops: dict[Callable[..., Any], str] = {}

    def kernel(self, name: str, program: Any, arguments: Sequence[str], results: Sequence[str]) -> Kernel:
        """Add a program as the function `name`."""
        made = Kernel(self.prefix, name, program, arguments, results, self.real)
        self._texts.append(made.text())
        self._kernels.append(made)
        return made

    def loops(self, function: Callable[..., Any]) -> tuple[str, frozenset[str]]:
        """Add a function of the loop language and all that it calls: its name, and the parameters that it writes."""
        for one in loops.needed(function):
            if one not in self._loops:
                self._loops[one] = loops.definition(self.prefix, one)
        return loops.symbol(self.prefix, function), loops.written(function)

    def literal(self, number: float) -> str:
        """A number in C."""
        return self.real.literal(number)

    def text(self) -> str:
        """The definitions of everything that was added."""
        used = {op for kernel in self._kernels for op in kernel.used}
        texts = [
            "#include <math.h>\n#include <stdint.h>",
            elementary.fused(self.prefix, self.real),
            elementary.VECTORIZE,
        ]
        if used & {"zero", "copy"} or self._loops:
            texts.append(loops.MACROS)
        for name, define in (("zero", loops.zero), ("copy", loops.copy)):
            if name in used:
                texts.append(define(self.prefix, self.real.name))
        texts += elementary.definitions(self.prefix, self.real, used)
        return "\n\n".join([*texts, *self._loops.values(), *self._texts])
