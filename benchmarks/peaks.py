"""What one core can do: multiply-adds that wait for nothing but each other, and a copy of memory."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kinetree.compiler.runtime.jit import LoadedCode, Target, compile_object

SUMS = 12
"""Independent sums: more than a multiply-add takes cycles times the pipes for them, and few enough for 16 registers."""
TURNS = 20_000


@dataclass(frozen=True)
class Peak:
    """The most that one core does with vectors of this CPU."""

    lanes: int
    loop: Callable[[int], float]
    flops: float = 0.0
    """Per second; a multiply-add counts two."""
    instructions: float = 0.0
    """Vector multiply-adds per second."""

    def measured(self, seconds: float) -> Peak:
        """With the time of one turn of the loop."""
        rate = SUMS * TURNS / seconds
        return replace(self, flops=2.0 * self.lanes * rate, instructions=rate)


def fma_peak(target: Target) -> Peak:
    """A loop of nothing but multiply-adds, in registers."""
    width = target.width
    real, lines = width.real, []
    for k in range(SUMS):
        lines.append(f"  %s{k} = phi {real} [%start, %entry], [%n{k}, %head]")
    lines += ["  %k = phi i64 [0, %entry], [%next, %head]"]
    for k in range(SUMS):
        lines.append(f"  %n{k} = call {real} @llvm.fma.{width.suffix}({real} %s{k}, {real} %x, {real} %start)")
    total = "%n0"
    sums = []
    for k in range(1, SUMS):
        sums.append(f"  %t{k} = fadd {real} {total}, %n{k}")
        total = f"%t{k}"
    body = "\n".join(lines)
    text = f"""
define void @peak(ptr %from, ptr %to) nounwind {{
entry:
  %start = load {real}, ptr %from, align 8
  %x.at = getelementptr {real}, ptr %from, i64 1
  %x = load {real}, ptr %x.at, align 8
  br label %head
head:
{body}
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, {TURNS}
  br i1 %more, label %head, label %end
end:
{chr(10).join(sums)}
  store {real} {total}, ptr %to, align 8
  ret void
}}
"""
    code = LoadedCode(compile_object(text, target), target, library=False)
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code.address("peak"))
    given, result = np.full(2 * width.lanes, 0.5, target.dtype), np.empty(width.lanes, target.dtype)

    def loop(count: int, keep: object = (code, given, result)) -> float:
        start = time.perf_counter()
        for _ in range(count):
            function(given.ctypes.data, result.ctypes.data)
        return time.perf_counter() - start

    return Peak(width.lanes, loop)


def copy_loop(size: int) -> Callable[[int], float]:
    """Copies so many bytes, as memcpy does."""
    source, target = np.zeros(size, np.uint8), np.ones(size, np.uint8)

    def loop(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            np.copyto(target, source)
        return time.perf_counter() - start

    return loop
