"""A kernel called again and again, each time further along in memory.

The kernel reads and writes through tables of addresses. After every turn each address grows by its step.
"""

from __future__ import annotations

TURNS = "kinetree_turns"


def turns_assembly() -> str:
    """void turns(kernel, turns, outputs, words, steps, count, workspace), for kernels of one state."""
    return f"""
define void @{TURNS}(ptr %kernel, i64 %turns, ptr %outputs, ptr %words, ptr %steps, i64 %count, ptr %workspace)
    nounwind {{
entry:
  %any = icmp sgt i64 %turns, 0
  br i1 %any, label %turn, label %end
turn:
  %t = phi i64 [ 0, %entry ], [ %later, %moved ]
  call void %kernel(ptr %words, ptr %outputs, ptr %workspace)
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
