"""LLVM assembly, written line by line: types of a given width, literals, fresh names."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Width:
    """The width of a value: a scalar (1 lane), or a vector with one state per lane."""

    lanes: int
    older: bool = False
    """Whether LLVM is older than 22: its masked loads and stores take their alignment as an argument."""
    element: str = "double"
    """The type of a number: double or float."""
    fuses: bool = True
    """Whether the CPU has fused multiply-add."""

    @property
    def one(self) -> Width:
        """The width of one number of the same type."""
        return replace(self, lanes=1)

    @property
    def size(self) -> int:
        """Bytes of one number."""
        return 8 if self.element == "double" else 4

    @property
    def whole(self) -> str:
        """The type of integers of the same size."""
        return self.vector(f"i{8 * self.size}")

    def vector(self, element: str) -> str:
        return element if self.lanes == 1 else f"<{self.lanes} x {element}>"

    @property
    def real(self) -> str:
        return self.vector(self.element)

    @property
    def suffix(self) -> str:
        """The suffix of intrinsics of this width, as in llvm.fma.v8f64."""
        return f"{'' if self.lanes == 1 else f'v{self.lanes}'}f{8 * self.size}"

    @property
    def bytes(self) -> int:
        return self.size * self.lanes

    def number(self, value: float) -> str:
        """A literal with the bits of the value, rounded to the type of numbers, in all lanes."""
        if self.element == "float":
            value = ctypes.c_float(value).value
        bits = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        return bits if self.lanes == 1 else f"splat ({self.element} {bits})"

    def numbers(self, values: Sequence[float]) -> str:
        """A literal with one value for each lane."""
        return f"<{', '.join(f'{self.element} {self.one.number(value)}' for value in values)}>"

    def integer(self, value: int) -> str:
        return str(value) if self.lanes == 1 else f"splat (i{8 * self.size} {value})"


ONE = Width(1)
"""The width of one state."""


class Lines:
    """A builder of the body of one function."""

    def __init__(self, width: Width) -> None:
        self.width = width
        self.text: list[str] = []
        self._names = 0

    def name(self) -> str:
        self._names += 1
        return f"%t{self._names}"

    def add(self, line: str) -> None:
        self.text.append(f"  {line}")

    def let(self, expression: str) -> str:
        """A fresh name for the value of an instruction."""
        name = self.name()
        self.add(f"{name} = {expression}")
        return name

    def label(self, name: str) -> None:
        self.text.append(f"{name}:")

    def real(self, instruction: str, *operands: str) -> str:
        """An instruction on reals of this width: real("fadd", a, b)."""
        return self.let(f"{instruction} {self.width.real} {', '.join(operands)}")

    def intrinsic(self, name: str, *operands: str) -> str:
        """A call of an LLVM intrinsic on reals of this width: intrinsic("copysign", a, b)."""
        real = self.width.real
        listed = ", ".join(f"{real} {operand}" for operand in operands)
        return self.let(f"call {real} @llvm.{name}.{self.width.suffix}({listed})")

    def multiply_add(self, x: str, y: str, z: str) -> str:
        """x·y + z, rounded once if the CPU has fused multiply-add, else twice: LLVM would call fma of the C library."""
        if self.width.fuses:
            return self.intrinsic("fma", x, y, z)
        return self.real("fadd", self.real("fmul", x, y), z)

    def compare(self, condition: str, a: str, b: str) -> str:
        return self.let(f"fcmp {condition} {self.width.real} {a}, {b}")

    def select(self, condition: str, a: str, b: str) -> str:
        truth, real = self.width.vector("i1"), self.width.real
        return self.let(f"select {truth} {condition}, {real} {a}, {real} {b}")


def imported(names: Sequence[str], connect: str) -> str:
    """Pointers to what lies outside of the module, and void connect(table of addresses), which sets them in order."""
    lines = [f"@{name} = internal global ptr null, align 8" for name in names]
    lines.append(f"define void @{connect}(ptr %table) nounwind {{")
    for k, name in enumerate(names):
        lines += [
            f"  %at{k} = getelementptr ptr, ptr %table, i64 {k}",
            f"  %address{k} = load ptr, ptr %at{k}, align 8",
            f"  store ptr %address{k}, ptr @{name}, align 8",
        ]
    return "\n".join([*lines, "  ret void", "}"])
