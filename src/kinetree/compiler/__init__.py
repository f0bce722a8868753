"""From a Python function of scalars to machine code. Knows nothing of robots.

A formula runs on nodes (`graph.expr`, `graph.trace`), which leaves a graph; passes simplify, fuse, order and split it
(`graph.passes`); kernels, step loops and the native entry are written in LLVM assembly (`codegen`); LLVM makes machine
code, which is kept on disk, loaded and called (`runtime`). `program` does all of this for one function.

The other parts of the library import the names below, and nothing else. What few of them need comes when it is asked
for.
"""

from typing import TYPE_CHECKING

from kinetree.base.lazy_imports import imported_later
from kinetree.compiler.codegen.elementary import LIBRARY
from kinetree.compiler.codegen.ir import ONE, Lines
from kinetree.compiler.graph import differentiate
from kinetree.compiler.graph.explain import explained
from kinetree.compiler.graph.expr import (
    Node,
    array_operations_if,
    as_node,
    constant,
    is_traced,
    new_table,
    symbols,
    tracing,
)
from kinetree.compiler.graph.graph import Graph, reachable, rebuilt, uses
from kinetree.compiler.graph.requirements import any_broken, collected_requirements, require
from kinetree.compiler.runtime import archive, cache, native
from kinetree.compiler.runtime.call import Kernel, Loaded, Shape, address_of
from kinetree.compiler.runtime.code import SINGLE, Kind, Layout, LoopCarry
from kinetree.compiler.runtime.jit import (
    LoadedCode,
    assembly_of,
    host,
    lazy_code,
    lock,
    machine_code_works,
    made_once,
    once,
)
from kinetree.compiler.runtime.memory import empty, empty_results, set_result_memory
from kinetree.compiler.runtime.pace import AT_ONCE, NANOSECONDS
from kinetree.compiler.runtime.stored import CachedCode, record_or_lock, save_record
from kinetree.compiler.runtime.target import cpu_names
from kinetree.compiler.runtime.threads import get_num_threads, run_ranges, set_num_threads

if TYPE_CHECKING:
    from kinetree.compiler.codegen.c.unit import CUnit
    from kinetree.compiler.codegen.caller import ObjectStage, function_modules
    from kinetree.compiler.codegen.casadi import CasadiFunction, CasadiKernel, Pattern, sparsities
    from kinetree.compiler.codegen.loop_types import Address, Matrix, Rows, Vector
    from kinetree.compiler.codegen.loops import call_text, loops_module
    from kinetree.compiler.graph.trace import trace
    from kinetree.compiler.program import build
    from kinetree.compiler.repeated import RepeatedProgram
    from kinetree.compiler.runtime.chain import Argument, Buffer, Chain, Numbers, Operand, Result, Stage
    from kinetree.compiler.runtime.cross import Machine, machine, object_for
    from kinetree.compiler.runtime.host_library import library_of
    from kinetree.compiler.runtime.loop_code import loop_function, loop_stage
    from kinetree.compiler.runtime.prepared_loop import PreparedLoop
    from kinetree.compiler.runtime.step_loop import StepLoop
    from kinetree.compiler.runtime.strided_view import StridedView
    from kinetree.compiler.runtime.xla import Handler
else:
    __getattr__, __dir__ = imported_later(
        __name__,
        (),
        {
            "CUnit": "codegen.c.unit",
            **dict.fromkeys(("ObjectStage", "function_modules"), "codegen.caller"),
            **dict.fromkeys(("CasadiFunction", "CasadiKernel", "Pattern", "sparsities"), "codegen.casadi"),
            **dict.fromkeys(("Address", "Matrix", "Rows", "Vector"), "codegen.loop_types"),
            **dict.fromkeys(("call_text", "loops_module"), "codegen.loops"),
            "trace": "graph.trace",
            "build": "program",
            "RepeatedProgram": "repeated",
            **dict.fromkeys(("Argument", "Buffer", "Chain", "Numbers", "Operand", "Result", "Stage"), "runtime.chain"),
            **dict.fromkeys(("Machine", "machine", "object_for"), "runtime.cross"),
            "library_of": "runtime.host_library",
            **dict.fromkeys(("loop_function", "loop_stage"), "runtime.loop_code"),
            "PreparedLoop": "runtime.prepared_loop",
            "StepLoop": "runtime.step_loop",
            "StridedView": "runtime.strided_view",
            "Handler": "runtime.xla",
        },
    )

__all__ = [
    "AT_ONCE", "LIBRARY", "NANOSECONDS", "ONE", "SINGLE", "Address", "Argument", "Buffer", "CUnit", "CachedCode",
    "CasadiFunction", "CasadiKernel", "Chain", "Graph", "Handler", "Kernel", "Kind", "Layout", "Lines", "Loaded",
    "LoadedCode", "LoopCarry", "Machine", "Matrix", "Node", "Numbers", "ObjectStage", "Operand", "Pattern",
    "PreparedLoop", "RepeatedProgram", "Result", "Rows", "Shape", "Stage", "StepLoop", "StridedView", "Vector",
    "address_of", "any_broken", "archive", "array_operations_if", "as_node", "assembly_of", "build", "cache",
    "call_text", "collected_requirements", "constant", "cpu_names", "differentiate", "empty", "empty_results",
    "explained", "function_modules", "get_num_threads", "host", "is_traced", "lazy_code", "library_of", "lock",
    "loop_function", "loop_stage", "loops_module", "machine", "machine_code_works", "made_once", "native", "new_table",
    "object_for", "once", "reachable", "rebuilt", "record_or_lock", "require", "run_ranges", "save_record",
    "set_num_threads", "set_result_memory", "sparsities", "symbols", "trace", "tracing", "uses",
]  # fmt: skip
