"""Python functions with loops, translated to LLVM assembly.

Tracing unrolls every loop, which suits formulas. An iterative solver is written in a subset of Python instead, which
this file translates: integers, floats and booleans; vectors and matrices as arguments, never allocated; `for … in
range(…)`, `while`, `if`, `break`, `continue`, `return`; arithmetic, comparisons, `and`, `or`, `not`; `sqrt`, `abs`,
`int`, `float`; calls of other such functions. Python itself computes the same with it.

    def dot(x: Vector, y: Vector, n: int) -> float:
        total = 0.0
        for i in range(n):
            total += x[i] * y[i]
        return total

`A[i]` is a row, `A[k:]` are the rows from k on, `x[k:]` and `A[i, k:]` are the rest of a vector from element k on.
Vectors and matrices that are arguments of one call must not overlap. Sums may be reassociated, so that LLVM can
vectorize them.

What talks to C, as the native entry does, has more, which Python cannot run: addresses (None is the null address),
compared by `is`; structures (`loop_types`), whose fields are read and assigned, `addressof(form.count)`, a matrix as a
field (`Rows`); `cast(Array, item)` or `array: Array = item`; structures and arrays that last as long as the call,
`Held()`, `Addresses(8)`; C functions and objects, as a module declares them (`entry.interpreter`); an address that is
called, `kernel(inputs)`, is a C function without a result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from kinetree.compiler.codegen.elementary import no_library
from kinetree.compiler.codegen.loop_body import Body, Value, parsed
from kinetree.compiler.codegen.loop_types import MATRIX, VECTOR, llvm_type, signature, symbol

_ATTRIBUTES = 'nounwind "no-builtins"'


def _definition(
    function: Callable[..., Any], apart: Collection[Callable[..., Any]] | None
) -> tuple[str, list[Callable[..., Any]]]:
    """The assembly of a function, and the functions that it calls."""
    kinds, returns = signature(function)
    body = Body(function.__name__, returns, function.__globals__)
    parameters = []
    for name, kind in kinds.items():
        if kind is MATRIX:
            parameters += [f"ptr noalias %{name}", f"i64 %{name}.stride"]
            body.variables[name] = Value(kind, f"%{name}", f"%{name}.stride")
        else:
            parameters.append(f"{llvm_type(kind)}{' noalias' * (kind is VECTOR)} %{name}")
            body.assign_variable(name, Value(kind, f"%{name}"), parsed(function))
    if body.statements(parsed(function).body):
        if returns is not None:
            raise TypeError(f"{function.__name__} may end without a result")
        body.add("ret void")
    head = f"{llvm_type(returns)} @{symbol(function)}({', '.join(parameters)})"
    if apart is None:
        inlining = "noinline" if body.callees else ""  # LLVM is slow on long functions
    else:
        inlining = "noinline" if function in apart else "alwaysinline"
    text = [f"define internal {head} {inlining} {_ATTRIBUTES} {{", *body.allocas, *body.lines, "}"]
    return "\n".join(text), body.callees


def loops_assembly(*functions: Callable[..., Any], apart: Collection[Callable[..., Any]] | None = None) -> str:
    """Definitions of these functions and of all that they call, internal to their module.

    All functions that are not `apart` are inlined. Without it, LLVM may inline those that call no others.
    """
    waiting, known = list(functions), {}
    while waiting:
        function = waiting.pop()
        if function not in known:
            known[function], callees = _definition(function, apart)
            waiting += callees
    declarations = [f"declare double @llvm.{name}.f64(double)" for name in ("sqrt", "fabs")]
    return "\n\n".join(["\n".join(declarations), *known.values()])


def call_text(function: Callable[..., Any], arguments: dict[str, str]) -> str:
    """The instruction that calls a function, given the value of each parameter; that of a matrix is "name, stride"."""
    kinds, returns = signature(function)
    given = []
    for name, kind in kinds.items():
        if kind is MATRIX:
            pointer, stride = arguments[name].split(", ")
            given += [f"ptr {pointer}", f"i64 {stride}"]
        else:
            given.append(f"{llvm_type(kind)} {arguments[name]}")
    return f"call {llvm_type(returns)} @{symbol(function)}({', '.join(given)})"


def exported(name: str, function: Callable[..., Any]) -> str:
    """A definition of this name, which other modules see, that calls a function with its own arguments."""
    kinds, returns = signature(function)
    parameters = ", ".join(f"{llvm_type(kind)} %{parameter}" for parameter, kind in kinds.items())
    call, kind = call_text(function, {parameter: f"%{parameter}" for parameter in kinds}), llvm_type(returns)
    body = f"  {call}\n  ret void" if returns is None else f"  %result. = {call}\n  ret {kind} %result."
    return f"define {kind} @{name}({parameters}) nounwind {{\n{body}\n}}"


def loops_module(function: Callable[..., Any], *definitions: str) -> str:
    """A module with a function, those that it calls, and definitions in LLVM assembly that call it."""
    return "\n\n".join([loops_assembly(function), no_library(), *definitions])
