"""The entry as one module of LLVM assembly, in which fields and addresses have got their numbers."""

from __future__ import annotations

from string import Template

from kinetree.compiler.codegen.entry import interpreter, records
from kinetree.compiler.codegen.entry.arrays import ARRAYS
from kinetree.compiler.codegen.entry.batch import RUN_BATCH
from kinetree.compiler.codegen.entry.conversion import CONVERSION, LOOPS
from kinetree.compiler.codegen.entry.enter import ENTER
from kinetree.compiler.codegen.entry.matching import MATCHING
from kinetree.compiler.codegen.entry.references import REFERENCES
from kinetree.compiler.codegen.entry.results import RESULTS
from kinetree.compiler.codegen.entry.single import RUN_SINGLE


def entry_assembly() -> str:
    """The module: CONNECT, RECORDS, and the ENTRIES."""
    parts = (_TABLES, ARRAYS, CONVERSION, MATCHING, REFERENCES, RESULTS, RUN_SINGLE, ENTER, RUN_BATCH)
    entries = [
        f"define ptr @{records.entry_name(k)}(ptr %self, ptr %args, i64 %nargs, ptr %names) nounwind {{\n"
        f"  %record = getelementptr i64, ptr @records, i64 {k * records.FIELDS}\n"
        f"  %r = tail call fastcc ptr @enter(ptr %record, ptr %self, ptr %args, i64 %nargs, ptr %names)\n"
        f"  ret ptr %r\n}}"
        for k in range(records.ENTRIES)
    ]
    return "\n\n".join([Template(_macros("".join(parts))).substitute(_constants()), *entries])


def _constants() -> dict[str, str]:
    """What stands for ``$NAME``: limits, places of fields [bytes], flags."""
    named = {**vars(records), **vars(interpreter)}
    constants = {name: value for name, value in named.items() if name.isupper() and isinstance(value, int)}
    for group in (records.Entry, records.Form, records.Variant):
        constants |= {f"{group.__name__}_{field.name}": 8 * field for field in group}
    constants |= {f"py_{name}": 8 * k for k, name in enumerate(interpreter.PYTHON)}
    constants["N_PYTHON"] = len(interpreter.PYTHON)
    constants["IN"] = interpreter.C_CONTIGUOUS | interpreter.ALIGNED
    constants["OUT"] = constants["IN"] | interpreter.WRITEABLE
    constants["OWN"] = constants["OUT"] | interpreter.OWNED
    return {name: str(value) for name, value in constants.items()} | LOOPS


def _macros(text: str) -> str:
    """Field access in one line: ``%x = field ptr %record, Entry_FIRST`` and ``%f = python PyErr_Clear``."""
    lines = []
    for line in text.splitlines():
        words = line.replace(",", "").split()
        if len(words) >= 3 and words[1] == "=" and words[2] in ("field", "python"):
            name = words[0]
            kind, base, place = words[3:] if words[2] == "field" else ("ptr", "@python", f"py_{words[3]}")
            lines.append(f"  {name}.at = getelementptr i8, ptr {base}, i64 ${{{place}}}")
            lines.append(f"  {name} = load {kind}, ptr {name}.at")
        else:
            lines.append(line)
    return "\n".join(lines)


_TABLES = """
@python = internal global [$N_PYTHON x ptr] zeroinitializer, align 64
@records = internal global [$ENTRIES x [$FIELDS x i64]] zeroinitializer, align 64

define void @kinetree_connect(ptr %table) nounwind {
entry:
  br label %copy
copy:
  %k = phi i64 [0, %entry], [%next, %copy]
  %from = getelementptr ptr, ptr %table, i64 %k
  %to = getelementptr ptr, ptr @python, i64 %k
  %value = load ptr, ptr %from
  store ptr %value, ptr %to
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, $N_PYTHON
  br i1 %more, label %copy, label %end
end:
  ret void
}

define ptr @kinetree_records() nounwind {
  ret ptr @records
}
"""
