"""Functions of the loop language as C99: the same statements, one by one.

Integers are int, booleans are int, numbers are double. A matrix is an address and the distance of its rows. As in
machine code, sums may be reassociated, where the compiler can be told so.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from kinetree.compiler.codegen.c.elementary import REALS
from kinetree.compiler.codegen.loop_body import parsed
from kinetree.compiler.codegen.loop_types import BOOL, FLOAT, INT, MATRIX, VECTOR, name_of, signature

MACROS = """/* Loops may be vectorized, sums reassociated for that; none becomes a call of memset or memcpy. */
#if defined(__clang__)
#define LOOPS __attribute__((no_builtin("memset", "memcpy", "memmove")))
#define REASSOCIATE _Pragma("clang fp reassociate(on)")
#elif defined(__GNUC__)
#define LOOPS VECTORIZE __attribute__((optimize("no-tree-loop-distribute-patterns", "associative-math", \\
                                                "no-signed-zeros", "no-trapping-math", "no-math-errno", \\
                                                "vect-cost-model=dynamic")))
#define REASSOCIATE
#else
#define LOOPS
#define REASSOCIATE
#endif"""

_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "/", ast.Mod: "%"}
_COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_C = {INT: "int", FLOAT: "double", BOOL: "int", None: "void"}


class Text(NamedTuple):
    """An expression: its type, its text, and for a matrix the distance of its rows."""

    type: Any
    text: str
    stride: str = ""


def zero(prefix: str, real: str) -> str:
    """A function that clears numbers, without memset."""
    return _for_numbers(f"{prefix}_zero({real} *restrict x", "x[i] = 0")


def copy(prefix: str, real: str) -> str:
    """A function that copies numbers, without memcpy."""
    return _for_numbers(f"{prefix}_copy({real} *restrict to, const {real} *restrict from", "to[i] = from[i]")


def _for_numbers(head: str, body: str) -> str:
    loop = f"    int i;\n    for (i = 0; i < n; i++)\n        {body};"
    return f"LOOPS static void {head}, const int n)\n{{\n{loop}\n}}"


def needed(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    """A function and all that it calls, those that are called first."""
    found: dict[Callable[..., Any], None] = {}

    def visit(one: Callable[..., Any]) -> None:
        for callee in filter(None, (_callee(one, node) for node in ast.walk(parsed(one)))):
            visit(callee)
        found.setdefault(one)

    visit(function)
    return list(found)


def definition(prefix: str, function: Callable[..., Any]) -> str:
    """A static function in C; those that it calls must be defined before."""
    kinds, returns = signature(function)
    body = _Body(prefix, function, kinds, returns)
    body.statements(parsed(function).body, 1)
    parameters = []
    for name, kind in kinds.items():
        if kind in (VECTOR, MATRIX):
            const = "" if name in written(function) else "const "
            parameters.append(f"{const}double *restrict {name}")
            parameters += [f"const int {name}_stride"] * (kind is MATRIX)
        else:
            parameters.append(f"{'const ' * (name not in body.assigned)}{_C[kind]} {name}")
    head = f"LOOPS static {_C[returns]} {symbol(prefix, function)}({', '.join(parameters)})"
    declared = [f"    {_C[kind]} {name};" for name, kind in body.variables.items() if name not in kinds]
    used = {node.id for node in ast.walk(parsed(function)) if isinstance(node, ast.Name)}
    unused = [f"    (void){name};" for name in kinds if name not in used]
    unused += [
        f"    (void){name}_stride;"
        for name, kind in kinds.items()
        if kind is MATRIX and f"{name}_stride" not in "\n".join(body.lines)
    ]
    return "\n".join([head, "{", "    REASSOCIATE", *declared, *unused, *body.lines, "}"])


def symbol(prefix: str, function: Callable[..., Any]) -> str:
    """The name of a function in C."""
    return f"{prefix}_{function.__module__.rpartition('.')[2]}_{function.__name__}"


@cache
def written(function: Callable[..., Any]) -> frozenset[str]:
    """The parameters whose numbers a function changes, itself or by what it calls."""
    found = set()
    for node in ast.walk(parsed(function)):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        )
        found |= {_base(target) for target in targets if isinstance(target, ast.Subscript)}
        callee = _callee(function, node)
        if callee is not None:
            pairs = zip(signature(callee)[0], node.args, strict=True)  # type: ignore[attr-defined]
            found |= {_base(given) for name, given in pairs if name in written(callee)}
    return frozenset(found)


def _base(node: ast.expr) -> str:
    """The name of the array that an expression is a part of."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _callee(function: Callable[..., Any], node: ast.AST) -> Any:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        found = function.__globals__.get(node.func.id)
        return found if inspect.isfunction(found) else None
    return None


class _Body:
    """The statements of one function."""

    def __init__(self, prefix: str, function: Callable[..., Any], kinds: dict[str, Any], returns: Any) -> None:
        self.prefix, self.function, self.returns = prefix, function, returns
        self.variables: dict[str, Any] = dict(kinds)
        self.assigned: set[str] = set()
        self.lines: list[str] = []

    def fail(self, node: ast.AST) -> TypeError:
        return TypeError(f"{self.function.__name__}: {ast.unparse(node)} has no C")

    def add(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    # -- statements --------------------------------------------------------------------------------------------

    def statements(self, nodes: list[ast.stmt], depth: int) -> None:
        for node in nodes:
            self.statement(node, depth)

    def statement(self, node: ast.stmt, depth: int) -> None:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value=ast.Call() as call):
                self.add(depth, f"{self.value(call).text};")
            case ast.Assign(targets=[target]):
                self.assign(target, self.value(node.value), depth)
            case ast.AugAssign(op=op):
                joined = ast.BinOp(node.target, op, node.value)
                self.assign(node.target, self.value(ast.copy_location(joined, node)), depth)
            case ast.Return(value=None):
                self.add(depth, "return;")
            case ast.Return(value=ast.expr() as value):
                self.add(depth, f"return {self.bare(self.value(value), self.returns)};")
            case ast.If():
                self.add(depth, f"if ({self.bare(self.value(node.test), BOOL)}) {{")
                self.statements(node.body, depth + 1)
                if node.orelse:
                    self.add(depth, "} else {")
                    self.statements(node.orelse, depth + 1)
                self.add(depth, "}")
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=bounds), orelse=[]):
                self.counted(name, bounds, node, depth)
            case ast.While(orelse=[]):
                self.add(depth, f"while ({self.bare(self.value(node.test), BOOL)}) {{")
                self.statements(node.body, depth + 1)
                self.add(depth, "}")
            case ast.Break() | ast.Continue():
                self.add(depth, "break;" if isinstance(node, ast.Break) else "continue;")
            case _:
                raise self.fail(node)

    def assign(self, target: ast.expr, value: Text, depth: int) -> None:
        if isinstance(target, ast.Name):
            kind = self.variables.setdefault(target.id, value.type)
            self.assigned.add(target.id)
            self.add(depth, f"{target.id} = {self.bare(value, kind)};")
        elif isinstance(target, ast.Subscript):
            self.add(depth, f"{self.value(target).text} = {self.bare(value, FLOAT)};")
        else:
            raise self.fail(target)

    def counted(self, name: str, bounds: list[ast.expr], node: ast.For, depth: int) -> None:
        """A loop whose bounds are those before its first turn."""
        if len(bounds) > 2:
            raise self.fail(node)
        start, stop = ("0", bounds[0]) if len(bounds) == 1 else (self.value(bounds[0]).text, bounds[1])
        limit = self.value(stop).text
        changed = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} - {name}
        if any(
            not isinstance(n, ast.Name | ast.Constant | ast.BinOp | ast.operator | ast.expr_context)
            for n in ast.walk(stop)
        ) or (changed & {n.id for n in ast.walk(stop) if isinstance(n, ast.Name)}):
            hoisted = f"{name}_end{sum(known.startswith(f'{name}_end') for known in self.variables)}"
            self.variables[hoisted] = INT
            self.add(depth, f"{hoisted} = {limit};")
            limit = hoisted
        self.variables.setdefault(name, INT)
        self.assigned.add(name)
        self.add(depth, f"for ({name} = {start}; {name} < {limit}; {name}++) {{")
        self.statements(node.body, depth + 1)
        self.add(depth, "}")

    # -- expressions -------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Text:
        match node:
            case ast.Constant(value=bool() | int() | float() as number):
                return _literal(number)
            case ast.Name(id=name) if name in self.variables:
                kind = self.variables[name]
                return Text(kind, name, f"{name}_stride" if kind is MATRIX else "")
            case ast.Name(id=name):
                known = self.function.__globals__.get(name)
                if isinstance(known, (bool, int, float)):
                    return _literal(known)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                a, b = self.value(left), self.value(right)
                whole = a.type is b.type is INT and not isinstance(op, ast.Div)
                pair = (a.text, b.text) if whole else (self.as_type(a, FLOAT), self.as_type(b, FLOAT))
                return Text(INT if whole else FLOAT, f"({pair[0]} {_BINARY[type(op)]} {pair[1]})")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.value(operand)
                return Text(value.type, f"(-{value.text})")
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Text(BOOL, f"(!{self.truth(operand)})")
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
                a, b = self.value(left), self.value(right)
                whole = a.type is b.type is INT
                pair = (a.text, b.text) if whole else (self.as_type(a, FLOAT), self.as_type(b, FLOAT))
                return Text(BOOL, f"({pair[0]} {_COMPARE[type(op)]} {pair[1]})")
            case ast.BoolOp(op=op, values=values):
                return Text(BOOL, f"({(' && ' if isinstance(op, ast.And) else ' || ').join(map(self.truth, values))})")
            case ast.IfExp(test=test, body=body, orelse=orelse):
                a, b = self.value(body), self.value(orelse)
                return Text(a.type, f"({self.truth(test)} ? {a.text} : {self.as_type(b, a.type)})")
            case ast.Call():
                return self.call(node)
            case ast.Subscript():
                return self.subscript(node)
        raise self.fail(node)

    def truth(self, node: ast.expr) -> str:
        return self.value(node).text

    def bare(self, value: Text, wanted: Any) -> str:
        """An expression on its own, without parentheses around it."""
        text = self.as_type(value, wanted)
        depth = 0
        for k, character in enumerate(text):
            depth += (character == "(") - (character == ")")
            if depth == 0:
                return text[1:-1] if k and k == len(text) - 1 and text[0] == "(" else text
        return text

    def as_type(self, value: Text, wanted: Any) -> str:
        if value.type is wanted:
            return value.text
        if value.type is INT and wanted is FLOAT:
            return f"(double){value.text}"
        raise TypeError(f"{self.function.__name__}: {name_of(value.type)} where {name_of(wanted)} is expected")

    def subscript(self, node: ast.Subscript) -> Text:
        """An element, a row, or what follows: of a matrix or a vector."""
        base = self.value(node.value)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        is_rest = [isinstance(index, ast.Slice) for index in indices]
        offsets = []
        for index in indices:
            lower = index.lower if isinstance(index, ast.Slice) else index
            if lower is None or (isinstance(index, ast.Slice) and (index.upper or index.step)):
                raise self.fail(node)
            offsets.append(self.as_type(self.value(lower), INT))
        if base.type is MATRIX:
            row = f"{base.text} + {offsets[0]} * {base.stride}"
            if is_rest[0]:
                return Text(MATRIX, f"({row})", base.stride)
            if len(indices) == 1:
                return Text(VECTOR, f"({row})")
            if is_rest[1]:
                return Text(VECTOR, f"({row} + {offsets[1]})")
            return Text(FLOAT, f"{base.text}[{offsets[0]} * {base.stride} + {offsets[1]}]")
        if base.type is not VECTOR or len(indices) != 1:
            raise self.fail(node)
        return (
            Text(VECTOR, f"({base.text} + {offsets[0]})") if is_rest[0] else Text(FLOAT, f"{base.text}[{offsets[0]}]")
        )

    def call(self, node: ast.Call) -> Text:
        name, callee = ast.unparse(node.func), _callee(self.function, node)
        if callee is not None:
            kinds, returns = signature(callee)
            given = []
            for argument, kind in zip(node.args, kinds.values(), strict=True):
                value = self.value(argument)
                given.append(self.as_type(value, kind))
                given += [value.stride] * (kind is MATRIX)
            return Text(returns, f"{symbol(self.prefix, callee)}({', '.join(given)})")
        (value,) = (self.value(argument) for argument in node.args)
        if name in ("sqrt", "abs"):
            return Text(FLOAT, f"{'fabs' if name == 'abs' else name}({self.as_type(value, FLOAT)})")
        if name == "int":
            return Text(INT, f"(int){self.as_type(value, FLOAT)}")
        if name == "float":
            return Text(FLOAT, self.as_type(value, FLOAT))
        raise self.fail(node)


def _literal(number: float) -> Text:
    if isinstance(number, bool):
        return Text(BOOL, str(int(number)))
    if isinstance(number, int):
        return Text(INT, str(number))
    text = REALS["double"].literal(number)
    return Text(FLOAT, f"({text})" if number < 0.0 else text)
