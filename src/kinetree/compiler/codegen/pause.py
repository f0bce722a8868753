"""A spin-wait: sleeping and waking takes longer than most waits."""

from __future__ import annotations

PAUSE = "pause"


def pause_assembly(is_x86: bool) -> str:
    """void pause(i64* count, i64 tries), which returns when *count is zero, or after that many reads of it."""
    declared = "declare void @llvm.x86.sse2.pause()" if is_x86 else ""
    hint = "call void @llvm.x86.sse2.pause()" if is_x86 else "fence seq_cst"
    return f"""
{declared}
define void @{PAUSE}(ptr %count, i64 %tries) nounwind {{
entry:
  br label %look
look:
  %try = phi i64 [ 0, %entry ], [ %next, %again ]
  %left = load atomic i64, ptr %count acquire, align 8
  %done = icmp eq i64 %left, 0
  br i1 %done, label %end, label %again
again:
  {hint}
  %next = add i64 %try, 1
  %more = icmp ult i64 %next, %tries
  br i1 %more, label %look, label %end
end:
  ret void
}}
"""
