"""LLVM assembly, written line by line: types of a given width, literals, fresh names."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
        self._block = "entry"

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
        self._block = name

    # -- memory and integers -----------------------------------------------------------------------------------

    def at(self, base: str, offset: str | int, kind: str = "i8") -> str:
        """The address so many items of a type behind another one."""
        return self.let(f"getelementptr {kind}, ptr {base}, i64 {offset}")

    def load(self, kind: str, pointer: str, align: int = 8) -> str:
        return self.let(f"load {kind}, ptr {pointer}, align {align}")

    def store(self, kind: str, value: str, pointer: str, align: int = 8) -> None:
        self.add(f"store {kind} {value}, ptr {pointer}, align {align}")

    def word(self, table: str, k: str | int, kind: str = "i64") -> str:
        """The k-th word of a table: an integer, an address, or a double."""
        return self.load(kind, self.at(table, k, kind))

    def i64(self, instruction: str, a: str | int, b: str | int) -> str:
        """An instruction on integers: i64("add", a, 1)."""
        return self.let(f"{instruction} i64 {a}, {b}")

    # -- control -----------------------------------------------------------------------------------------------

    @contextmanager
    def loop(self, start: str | int, step: int, limit: str | int) -> Iterator[str]:
        """The loop for (k = start; k < limit; k += step), whose body is written in this context, which gives k."""
        k, before = self.name(), self._block
        head, body, end = (f"{stem}{k[2:]}" for stem in ("head", "body", "end"))
        self.add(f"br label %{head}")
        self.label(head)
        place = len(self.text)
        more = self.i64("icmp slt", k, limit)
        self.add(f"br i1 {more}, label %{body}, label %{end}")
        self.label(body)
        yield k
        following = self.i64("add", k, step)
        self.text.insert(place, f"  {k} = phi i64 [{start}, %{before}], [{following}, %{self._block}]")
        self.add(f"br label %{head}")
        self.label(end)

    def fold(
        self, start: int, step: int, limit: int, initial: Sequence[str], body: Callable[[str, list[str]], Sequence[str]]
    ) -> list[str]:
        """The same loop, in which body(k, values) writes the next values, reals of this width; gives the last ones."""
        values, before = [self.name() for _ in initial], self._block
        with self.loop(start, step, limit) as k:
            following, after = body(k, values), self._block
        place = next(i for i, line in enumerate(self.text) if line.startswith(f"  {k} = phi"))
        self.text[place:place] = [
            f"  {value} = phi {self.width.real} [{first}, %{before}], [{next_value}, %{after}]"
            for value, first, next_value in zip(values, initial, following, strict=True)
        ]
        return values

    def either(
        self, condition: str, then: Callable[[], Sequence[str]], other: Callable[[], Sequence[str]]
    ) -> list[str]:
        """The values, reals of this width, of one of two branches."""
        ends: list[tuple[Sequence[str], str]] = []

        def write(branch: Callable[[], Sequence[str]]) -> None:
            values = branch()
            ends.append((values, self._block))

        self.choose(condition, lambda: write(then), lambda: write(other))
        (these, here), (those, there) = ends
        return [
            self.let(f"phi {self.width.real} [{a}, %{here}], [{b}, %{there}]")
            for a, b in zip(these, those, strict=True)
        ]

    def choose(self, condition: str, then: Callable[[], object], other: Callable[[], object] | None = None) -> None:
        """Branches, which `then` and `other` write."""
        number = self.name()[1:]
        self.add(f"br i1 {condition}, label %then.{number}, label %{'else' if other else 'end'}.{number}")
        for label, write in (("then", then), ("else", other)):
            if write:
                self.label(f"{label}.{number}")
                write()
                self.add(f"br label %end.{number}")
        self.label(f"end.{number}")

    # -- numbers -----------------------------------------------------------------------------------------------

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

    def shuffle(self, a: str, b: str, lanes: Sequence[int], count: int) -> str:
        """A vector of these lanes of two vectors of `count` numbers."""
        real, listed = f"<{count} x {self.width.element}>", ", ".join(f"i32 {lane}" for lane in lanes)
        return self.let(f"shufflevector {real} {a}, {real} {b}, <{len(lanes)} x i32> <{listed}>")

    def spread(self, value: str) -> str:
        """A vector with this number in every lane."""
        real, lanes = self.width.real, self.width.lanes
        inside = self.let(f"insertelement {real} poison, {self.width.element} {value}, i64 0")
        return self.let(f"shufflevector {real} {inside}, {real} poison, <{lanes} x i32> zeroinitializer")

    # -- functions ---------------------------------------------------------------------------------------------

    def function(self, name: str, parameters: str) -> str:
        """The definition of a function with this body, for other modules."""
        return self._definition(f"define void @{name}({parameters}) nounwind {{")

    def internal(self, name: str, parameters: str, result: str = "void") -> str:
        """The definition of a function with this body and result, for this module."""
        kind = result.split(maxsplit=1)[0]
        return self._definition(f"define internal fastcc {kind} @{name}({parameters}) nounwind noinline {{", result)

    def _definition(self, head: str, result: str = "void") -> str:
        return "\n".join([head, "entry:", *self.text, f"  ret {result}", "}"])


def imported(names: Sequence[str], connect: str) -> str:
    """Pointers to what lies outside of the module, and void connect(table of addresses), which sets them in order."""
    b = Lines(ONE)
    for k, name in enumerate(names):
        b.store("ptr", b.word("%table", k, "ptr"), f"@{name}")
    pointers = [f"@{name} = internal global ptr null, align 8" for name in names]
    return "\n".join([*pointers, b.function(connect, "ptr %table")])
