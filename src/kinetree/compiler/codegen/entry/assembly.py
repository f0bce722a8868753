"""The entry as one module of LLVM assembly."""

from __future__ import annotations

from kinetree.compiler.codegen.entry import interpreter, records
from kinetree.compiler.codegen.entry.batch import run_batch
from kinetree.compiler.codegen.entry.conversion import converted, gather, items
from kinetree.compiler.codegen.entry.enter import choose, enter, fill
from kinetree.compiler.codegen.entry.references import release
from kinetree.compiler.codegen.entry.single import call, call_into, run, run_into
from kinetree.compiler.codegen.ir import imported
from kinetree.compiler.codegen.loops import call_text, loops_assembly

APART = (enter, run, call, choose, fill, run_into, call_into, run_batch, converted, items, gather, release)
"""Functions that are not inlined: recursive ones, those with several callers, and what the plain call leaves out."""


def entry_assembly() -> str:
    """The module: CONNECT, RECORDS, and the ENTRIES."""
    names = [f"{interpreter.__name__}.{name}" for name in interpreter.symbols()]
    size = records.ENTRIES * records.FIELDS
    return "\n\n".join(
        [
            f"@records = internal global [{size} x i64] zeroinitializer, align 64",
            f"define ptr @{records.RECORDS}() nounwind {{\n  ret ptr @records\n}}",
            imported(names, records.CONNECT),
            loops_assembly(enter, apart=APART),
            *map(_entry, range(records.ENTRIES)),
        ]
    )


def _entry(k: int) -> str:
    """The k-th entry, which has the k-th record."""
    given = {"entry": "%record", "instance": "%self", "args": "%args", "nargs": "%nargs", "names": "%names"}
    call = call_text(enter, given)
    return f"""define ptr @{records.entry_name(k)}(ptr %self, ptr %args, i64 %nargs, ptr %names) nounwind {{
  %record = getelementptr i64, ptr @records, i64 {k * records.FIELDS}
  %result = tail {call}
  ret ptr %result
}}"""
