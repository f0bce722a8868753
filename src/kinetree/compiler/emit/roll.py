"""A kernel called again and again, each time further along in memory: the loop of a simulation.

The kernel reads and writes through a list of words (addresses, and for batches strides beside them). After every turn
each word grows by its step, so that the results of one turn are the arguments of the next.
"""

from __future__ import annotations

ROLL = {"single": "roll_single", "batch": "roll_batch"}
_ARGUMENTS = {"single": "ptr %outputs", "batch": "i64 %start, i64 %stop"}
_CALLS = {
    "single": "ptr %words, ptr %outputs, ptr %workspace",
    "batch": "i64 %start, i64 %stop, ptr %words, ptr %workspace",
}


def roll_assembly() -> str:
    """void roll(kernel, turns, …, words, steps, count, workspace), for kernels of one state and of a batch."""
    return "\n".join(_roll(kind) for kind in ROLL)


def _roll(kind: str) -> str:
    return f"""
define void @{ROLL[kind]}(ptr %kernel, i64 %turns, {_ARGUMENTS[kind]}, ptr %words, ptr %steps, i64 %count,
                          ptr %workspace) nounwind {{
entry:
  %any = icmp sgt i64 %turns, 0
  br i1 %any, label %turn, label %end
turn:
  %t = phi i64 [ 0, %entry ], [ %later, %moved ]
  call void %kernel({_CALLS[kind]})
  br label %move
move:
  %k = phi i64 [ 0, %turn ], [ %next, %move ]
  %at = getelementptr i64, ptr %words, i64 %k
  %by = getelementptr i64, ptr %steps, i64 %k
  %old = load i64, ptr %at, align 8
  %step = load i64, ptr %by, align 8
  %new = add i64 %old, %step
  store i64 %new, ptr %at, align 8
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %move, label %moved
moved:
  %later = add i64 %t, 1
  %again = icmp slt i64 %later, %turns
  br i1 %again, label %turn, label %end
end:
  ret void
}}
"""
