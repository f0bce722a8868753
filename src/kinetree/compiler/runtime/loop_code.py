"""Machine code of functions in the loop language: optimized by LLVM's own passes, and kept on disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree.compiler.runtime.call import Loaded
from kinetree.compiler.runtime.code import Code
from kinetree.compiler.runtime.jit import LoadedCode, host, optimized_object
from kinetree.compiler.runtime.stored import stored_object


def loop_function(name: str, symbol: str, assembly: Callable[[], str], signature: Any) -> tuple[LoadedCode, Any]:
    """The function of this symbol as ctypes calls it, and its code, which must live as long."""
    code = LoadedCode(stored_object(name, assembly, host(), optimized_object), host(), library=False)
    return code, signature(code.address(symbol))


def loop_stage(name: str, assembly: Callable[[], str], operations: int) -> Loaded:
    """A stage of a chain, which takes this many operations."""
    return Loaded("single", Code(stored_object(name, assembly, host(), optimized_object), operations, 0), host())
