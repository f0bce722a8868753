"""Kernels as CasADi calls functions of a shared library, in LLVM assembly:

int NAME(const double **arg, double **res, long long *iw, double *w, int mem)

and beside it NAME_n_in, NAME_name_in, NAME_sparsity_in, the same for outputs, and NAME_work, which CasADi asks first. A
null argument counts as zeros, a null result is not wanted; a kernel whose results are all unwanted does not run. What
is returned is 0, or 1 where a kernel refuses the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.compiler.codegen.elementary import linked_library
from kinetree.compiler.codegen.ir import ONE, Lines
from kinetree.compiler.runtime.code import SINGLE

ALIGNMENT = 64


class Pattern(NamedTuple):
    """The places of the numbers of a matrix, in columns; of all if there are no rows."""

    size: tuple[int, int]
    rows: tuple[tuple[int, ...], ...] | None = None
    """For each column, the rows that have a number."""

    @property
    def numbers(self) -> int:
        """How many numbers there are."""
        return self.size[0] * self.size[1] if self.rows is None else sum(map(len, self.rows))

    @property
    def compressed(self) -> list[int]:
        """As CasADi has it: the size, where each column begins, and the rows of all numbers."""
        if self.rows is None:
            return [*self.size, 1]
        starts = [sum(map(len, self.rows[:k])) for k in range(self.size[1] + 1)]
        return [*self.size, *starts, *(row for column in self.rows for row in column)]

    @staticmethod
    def empty(size: tuple[int, int]) -> Pattern:
        """A matrix without numbers."""
        return Pattern(size, ((),) * size[1])


class CasadiKernel(NamedTuple):
    """A module with a kernel for one state, and what it reads and writes."""

    assembly: str
    workspace: int
    """Bytes."""
    inputs: Sequence[int]
    outputs: Sequence[int]
    """Positions among those of the function. Behind the outputs the kernel has that for refused states."""


class CasadiFunction(NamedTuple):
    """A function of matrices."""

    name: str
    inputs: Sequence[tuple[str, Pattern]]
    outputs: Sequence[tuple[str, Pattern]]
    kernels: Sequence[CasadiKernel]

    @property
    def symbols(self) -> list[str]:
        """The names of its functions."""
        return [self.name, *(f"{self.name}_{part}" for part in ("n_in", "n_out", "work", *TABLES))]

    def modules(self) -> list[str]:
        """LLVM assembly: what CasADi calls, and its kernels."""
        texts = [
            linked_library(kernel.assembly).replace(SINGLE, f"{self.name}.kernel{k}")
            for k, kernel in enumerate(self.kernels)
        ]
        return ["\n".join([self._entry(), *self._answers()]), *texts]

    def _entry(self) -> str:
        name, b, place = self.name, Lines(ONE), -(-max((kernel.workspace for kernel in self.kernels), default=0) // 8)
        refused = b.let("alloca double")
        b.store("double", "0.0", refused)
        given, unwanted, outputs = {}, [], []
        for k in sorted({k for kernel in self.kernels for k in kernel.inputs}):
            pointer = b.word("%arg", k, "ptr")
            null = b.let(f"icmp eq ptr {pointer}, null")
            given[k] = b.let(f"select i1 {null}, ptr @{name}.zeros, ptr {pointer}")
        above = b.i64("add", b.let("ptrtoint ptr %w to i64"), ALIGNMENT - 1)
        work = b.let(f"inttoptr i64 {b.i64('and', above, -ALIGNMENT)} to ptr")
        for k, (_, pattern) in enumerate(self.outputs):
            pointer = b.word("%res", k, "ptr")
            unwanted.append(b.let(f"icmp eq ptr {pointer}, null"))
            spare = b.at(work, place, "double")
            outputs.append(b.let(f"select i1 {unwanted[k]}, ptr {spare}, ptr {pointer}"))
            place += pattern.numbers
        tables = []
        for kernel in self.kernels:
            operands = [given[k] for k in kernel.inputs], [*(outputs[k] for k in kernel.outputs), refused]
            tables.append([b.let(f"alloca [{max(1, len(pointers))} x ptr]") for pointers in operands])
            for table, pointers in zip(tables[-1], operands, strict=True):
                for k, pointer in enumerate(pointers):
                    b.store("ptr", pointer, b.at(table, k, "ptr"))
        for j, kernel in enumerate(self.kernels):
            none = "true"
            for k in kernel.outputs:
                none = b.let(f"and i1 {none}, {unwanted[k]}")
            b.add(f"br i1 {none}, label %after{j}, label %run{j}")
            b.label(f"run{j}")
            b.add(f"call void @{name}.kernel{j}(ptr {tables[j][0]}, ptr {tables[j][1]}, ptr {work})")
            b.add(f"br i1 {b.compare('une', b.load('double', refused), '0.0')}, label %end, label %after{j}")
            b.label(f"after{j}")
        declared = [f"declare void @{name}.kernel{j}(ptr, ptr, ptr)" for j in range(len(self.kernels))]
        most = max((pattern.numbers for _, pattern in self.inputs), default=0)
        zeros = f"@{name}.zeros = internal constant [{max(1, most)} x double] zeroinitializer, align 8"
        head = f"define i32 @{name}(ptr %arg, ptr %res, ptr %iw, ptr %w, i32 %mem) nounwind {{\nentry:"
        return "\n".join([zeros, *declared, head, *b.text, "  ret i32 0\nend:\n  ret i32 1\n}"])

    def _answers(self) -> list[str]:
        """What CasADi asks before it calls."""
        numbers = max((kernel.workspace for kernel in self.kernels), default=0) // 8 + 1 + ALIGNMENT // 8
        numbers += sum(pattern.numbers for _, pattern in self.outputs)
        sizes = (len(self.inputs), len(self.outputs), 0, numbers)
        stores = "\n".join(f"  store i64 {size}, ptr %p{k}" for k, size in enumerate(sizes))
        texts = [
            f"define i64 @{self.name}_n_in() nounwind {{\n  ret i64 {len(self.inputs)}\n}}",
            f"define i64 @{self.name}_n_out() nounwind {{\n  ret i64 {len(self.outputs)}\n}}",
            f"define i32 @{self.name}_work(ptr %p0, ptr %p1, ptr %p2, ptr %p3) nounwind {{\n{stores}\n  ret i32 0\n}}",
        ]
        for side, operands in (("in", self.inputs), ("out", self.outputs)):
            names = [[*name.encode(), 0] for name, _ in operands]
            texts.append(_table(f"{self.name}_name_{side}", names, "i8"))
            texts.append(sparsities(f"{self.name}_sparsity_{side}", [pattern for _, pattern in operands]))
        return texts


TABLES = ("name_in", "name_out", "sparsity_in", "sparsity_out")


def sparsities(name: str, patterns: Sequence[Pattern]) -> str:
    """const long long *NAME(long long k): the k-th of these patterns."""
    return _table(name, [pattern.compressed for pattern in patterns], "i64")


def _table(name: str, rows: Sequence[Sequence[int]], kind: str) -> str:
    """A function that returns the address of the k-th row."""
    entries = [entry for row in rows for entry in row] or [0]
    starts = [sum(map(len, rows[:k])) for k in range(len(rows))] or [0]
    return f"""
@{name}.entries = internal constant [{len(entries)} x {kind}] [{", ".join(f"{kind} {x}" for x in entries)}], align 8
@{name}.starts = internal constant [{len(starts)} x i64] [{", ".join(f"i64 {x}" for x in starts)}], align 8
define ptr @{name}(i64 %k) nounwind {{
  %inside = icmp ult i64 %k, {len(rows)}
  %row = select i1 %inside, i64 %k, i64 0
  %place = getelementptr i64, ptr @{name}.starts, i64 %row
  %start = load i64, ptr %place
  %found = getelementptr {kind}, ptr @{name}.entries, i64 %start
  %result = select i1 %inside, ptr %found, ptr null
  ret ptr %result
}}
"""
