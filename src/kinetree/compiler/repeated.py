"""A program that consists of copies of others: each is compiled once and runs for all its copies."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.base.lazy import lazy
from kinetree.base.progress import announced
from kinetree.compiler.codegen.batch import BLOCK, emit_batch
from kinetree.compiler.codegen.copies import emit_batch_copies, emit_copies, joined_kernels, status_space
from kinetree.compiler.codegen.kernel import elementary_functions, emit_block, emit_single
from kinetree.compiler.program import SECONDS_PER_OPERATION, Program
from kinetree.compiler.runtime.code import SINGLE, Code, Kind, Layout
from kinetree.compiler.runtime.jit import compile_object
from kinetree.compiler.runtime.target import Target
from kinetree.compiler.runtime.threads import get_num_threads

Places = tuple[tuple[int, ...], ...]
"""Of each copy, the distances of its inputs and of its outputs but the status, from those of the whole [numbers]."""


@dataclass(frozen=True, eq=False)
class RepeatedProgram:
    """Programs whose last output is their status, and the places of their copies in the arrays of the whole."""

    programs: Sequence[Program]
    places: Sequence[Places]
    layout: Layout
    target: Target
    name: str

    @lazy
    def digest(self) -> str:
        """A hash of all that the code depends on."""
        parts = [(program.digest, places) for program, places in zip(self.programs, self.places, strict=True)]
        return hashlib.sha256(repr((self.layout, parts)).encode()).hexdigest()

    @property
    def operations(self) -> int:
        return sum(program.operations * len(each) for program, each in zip(self.programs, self.places, strict=True))

    def code(self, kind: Kind) -> Code:
        """Compile the module for one state or for a batch."""
        wide = self.target.width
        parts = [part for program in self.programs for part in program.parts]
        if kind == "single":
            kernels = [emit_single(SINGLE, p.parts, p.outputs, p.layout, wide, p.rows) for p in self.programs]
            texts = [elementary_functions(parts, (wide.one, wide)), emit_copies(self.layout, self.places, wide)]
            workspace = max(program.single_workspace() for program in self.programs)
        else:
            kernels = [
                f"{emit_block(BLOCK, p.parts, p.space, prefetches=True)}\n\n{emit_batch(p.space, len(p.parts))}"
                for p in (program.of_blocks for program in self.programs)
            ]
            texts = [elementary_functions(parts, (wide,)), emit_batch_copies(self.layout, self.places, wide)]
            workspace = status_space() + max(program.batch_workspace() for program in self.programs)
        module = joined_kernels(texts, kernels)
        operations = sum(program.operations for program in self.programs)
        with announced(f"compiling {self.name}, {operations:,} operations", SECONDS_PER_OPERATION * operations):
            return Code(compile_object(f"{module}\n", self.target, get_num_threads()), self.operations, workspace)
