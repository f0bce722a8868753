"""Machine code of functions in the loop language: optimized by LLVM's own passes, and kept on disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree.base.lazy_imports import importing
from kinetree.compiler.runtime.call import Loaded
from kinetree.compiler.runtime.code import Code
from kinetree.compiler.runtime.jit import LoadedCode, host, optimized_object, simplified_object
from kinetree.compiler.runtime.stored import stored_object


def loop_function(
    name: str, function: Callable[..., Any], signature: Any, vectorize: bool = True
) -> tuple[LoadedCode, Any]:
    """A function of the loop language as ctypes calls it, under this name, and its code, which must live as long.

    Without `vectorize`, numbers are copied one at a time: a CPU waits to load several that were just stored one by one.
    """

    def assembly() -> str:
        importing("kinetree.compiler.codegen.loops")
        from kinetree.compiler.codegen.loops import exported, loops_assembly  # noqa: PLC0415 - not with a warm cache

        return f"{loops_assembly(function, apart=None if vectorize else (function,))}\n\n{exported(name, function)}"

    compiled = optimized_object if vectorize else simplified_object
    code = LoadedCode(stored_object(name, assembly, host(), compiled), host(), library=False)
    return code, signature(code.address(name))


def loop_stage(name: str, assembly: Callable[[], str], operations: int) -> Loaded:
    """A stage of a chain, which takes this many operations."""
    return Loaded("single", Code(stored_object(name, assembly, host(), optimized_object), operations, 0), host())
