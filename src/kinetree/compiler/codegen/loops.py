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

`A[i]` is a row, `x[k:]` and `A[i, k:]` are the rest of a vector from element k on. Array arguments of one call must not
overlap. Sums may be reassociated, so that LLVM can vectorize them.
"""

from __future__ import annotations

import ast
import inspect
import struct
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from numpy.typing import NDArray

from kinetree.compiler.codegen.elementary import BIND

Vector = NDArray[Any]
"""A parameter that is a contiguous vector of float64."""
Matrix = NDArray[Any]
"""A parameter that is a matrix of float64 with contiguous rows."""

_LLVM = {"int": "i64", "float": "double", "bool": "i1", "Vector": "ptr"}
_ARITHMETIC = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
_COMPARE = {
    ast.Lt: ("slt", "olt"),
    ast.LtE: ("sle", "ole"),
    ast.Gt: ("sgt", "ogt"),
    ast.GtE: ("sge", "oge"),
    ast.Eq: ("eq", "oeq"),
    ast.NotEq: ("ne", "une"),
}
_FLAGS = "reassoc nsz contract"
_ATTRIBUTES = 'nounwind "no-builtins"'


class Value(NamedTuple):
    """The value of an expression: its type, its name in the assembly, and the stride between rows of a matrix."""

    type: str
    name: str
    stride: str = ""


@dataclass
class _Function:
    """A builder of the body of one function."""

    name: str
    returns: str
    known: dict[str, Any]
    callees: list[Callable[..., Any]]
    lines: list[str] = field(default_factory=list)
    allocas: list[str] = field(default_factory=list)
    variables: dict[str, Value] = field(default_factory=dict)
    exits: list[tuple[str, str]] = field(default_factory=list)
    count: int = 0

    # -- lines -------------------------------------------------------------------------------------------------

    def fresh(self, stem: str = "t") -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def let(self, text: str) -> str:
        name = "%" + self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def add(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def fail(self, node: ast.AST, what: str) -> TypeError:
        return TypeError(f"{self.name}, line {getattr(node, 'lineno', '?')}: {what} cannot be compiled")

    # -- statements --------------------------------------------------------------------------------------------

    def body(self, statements: list[ast.stmt]) -> bool:
        """Translate statements; return whether control can reach their end."""
        return all(map(self.statement, statements))

    def statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass  # such as a docstring
            case ast.Expr(value=ast.Call() as call):
                self.call(call)
            case ast.Assign(targets=[target]):
                self.assign(target, self.value(node.value))
            case ast.AugAssign():
                self.assign(node.target, self.binary(node, self.value(node.target), node.op, self.value(node.value)))
            case ast.Return():
                if node.value is None:
                    self.add("ret void")
                else:
                    result = self.as_type(self.value(node.value), self.returns, node)
                    self.add(f"ret {_LLVM[result.type]} {result.name}")
                return False
            case ast.If():
                return self.branch(node)
            case ast.For(target=ast.Name() as target, iter=ast.Call(func=ast.Name(id="range")) as bounds, orelse=[]):
                self.counted(target.id, bounds.args, node.body)
            case ast.While(orelse=[]):
                self.loop(node)
            case ast.Break() | ast.Continue():
                self.add(f"br label %{self.exits[-1][isinstance(node, ast.Continue)]}")
                return False
            case _:
                raise self.fail(node, type(node).__name__)
        return True

    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            if target.id not in self.variables:
                pointer = f"%{target.id}.{self.fresh()}"
                self.allocas.append(f"  {pointer} = alloca {_LLVM[value.type]}")
                self.variables[target.id] = Value(value.type, pointer)
            variable = self.variables[target.id]
            value = self.as_type(value, variable.type, target)
            self.add(f"store {_LLVM[variable.type]} {value.name}, ptr {variable.name}")
        elif isinstance(target, ast.Subscript):
            pointer = self.element(target)
            value = self.as_type(value, "float", target)
            self.add(f"store double {value.name}, ptr {pointer}, align 8")
        else:
            raise self.fail(target, "this assignment")

    def branch(self, node: ast.If) -> bool:
        then, other, end = self.fresh("then"), self.fresh("else"), self.fresh("end")
        condition = self.truth(node.test)
        self.add(f"br i1 {condition}, label %{then}, label %{other}")
        goes_on = False
        for label, statements in ((then, node.body), (other, node.orelse)):
            self.label(label)
            if self.body(statements):
                self.add(f"br label %{end}")
                goes_on = True
        if goes_on:
            self.label(end)
        return goes_on

    def counted(self, name: str, bounds: list[ast.expr], statements: list[ast.stmt]) -> None:
        values = [self.as_type(self.value(bound), "int", bound).name for bound in bounds]
        start, stop = ("0", values[0]) if len(values) == 1 else values[:2]
        step = values[2] if len(values) == 3 else "1"
        compare = "sgt" if step.startswith("-") else "slt"
        hidden = f"%{name}.{self.fresh()}"
        self.allocas.append(f"  {hidden} = alloca i64")
        self.add(f"store i64 {start}, ptr {hidden}")
        head, inside, following, end = (self.fresh(stem) for stem in ("head", "body", "next", "end"))
        self.add(f"br label %{head}")
        self.label(head)
        k = self.let(f"load i64, ptr {hidden}")
        more = self.let(f"icmp {compare} i64 {k}, {stop}")
        self.add(f"br i1 {more}, label %{inside}, label %{end}")
        self.label(inside)
        self.assign(ast.Name(id=name), Value("int", k))
        self.exits.append((end, following))
        if self.body(statements):
            self.add(f"br label %{following}")
        self.exits.pop()
        self.label(following)
        k = self.let(f"load i64, ptr {hidden}")
        self.add(f"store i64 {self.let(f'add nsw i64 {k}, {step}')}, ptr {hidden}")
        self.add(f"br label %{head}")
        self.label(end)

    def loop(self, node: ast.While) -> None:
        head, inside, end = (self.fresh(stem) for stem in ("head", "body", "end"))
        self.add(f"br label %{head}")
        self.label(head)
        self.add(f"br i1 {self.truth(node.test)}, label %{inside}, label %{end}")
        self.label(inside)
        self.exits.append((end, head))
        if self.body(node.body):
            self.add(f"br label %{head}")
        self.exits.pop()
        self.label(end)

    # -- expressions -------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=bool() | int() | float() as number):
                return _literal(number)
            case ast.Name(id=name):
                return self.named(node, name)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(node, self.value(left), op, self.value(right))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return _literal(-number)
            case ast.UnaryOp(op=ast.USub()):
                value = self.value(node.operand)
                text = f"fneg double {value.name}" if value.type == "float" else f"sub i64 0, {value.name}"
                return Value(value.type, self.let(text))
            case ast.UnaryOp(op=ast.Not()):
                return Value("bool", self.let(f"xor i1 {self.truth(node.operand)}, true"))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.compare(node, self.value(left), op, self.value(right))
            case ast.BoolOp():
                return self.logic(node)
            case ast.IfExp():
                a, b = self.value(node.body), self.value(node.orelse)
                condition, kind = self.truth(node.test), _LLVM[a.type]
                return Value(a.type, self.let(f"select i1 {condition}, {kind} {a.name}, {kind} {b.name}"))
            case ast.Call():
                return self.call(node)
            case ast.Subscript():
                pointer = self.element(node)
                if self.is_view(node):
                    return Value("Vector", pointer)
                return Value("float", self.let(f"load double, ptr {pointer}, align 8"))
        raise self.fail(node, type(node).__name__)

    def named(self, node: ast.AST, name: str) -> Value:
        if name in self.variables:
            variable = self.variables[name]
            if variable.type == "Matrix":
                return variable
            return Value(variable.type, self.let(f"load {_LLVM[variable.type]}, ptr {variable.name}"))
        number = self.known.get(name)
        if isinstance(number, (bool, int, float)):
            return _literal(number)
        raise self.fail(node, f"{name!r}, which is neither a variable nor a number,")

    def truth(self, node: ast.expr) -> str:
        return self.as_type(self.value(node), "bool", node).name

    def binary(self, node: ast.AST, a: Value, op: ast.operator, b: Value) -> Value:
        if isinstance(op, ast.FloorDiv | ast.Mod) and a.type == b.type == "int":  # equals Python's for a, b ≥ 0
            word = "sdiv" if isinstance(op, ast.FloorDiv) else "srem"
            return Value("int", self.let(f"{word} i64 {a.name}, {b.name}"))
        if type(op) not in _ARITHMETIC:
            raise self.fail(node, type(op).__name__)
        word = _ARITHMETIC[type(op)]
        if a.type == b.type == "int" and word != "div":
            return Value("int", self.let(f"{word} nsw i64 {a.name}, {b.name}"))
        a, b = self.as_type(a, "float", node), self.as_type(b, "float", node)
        return Value("float", self.let(f"f{word} {_FLAGS} double {a.name}, {b.name}"))

    def compare(self, node: ast.AST, a: Value, op: ast.cmpop, b: Value) -> Value:
        if type(op) not in _COMPARE:
            raise self.fail(node, type(op).__name__)
        integers, floats = _COMPARE[type(op)]
        if a.type == b.type == "int":
            return Value("bool", self.let(f"icmp {integers} i64 {a.name}, {b.name}"))
        a, b = self.as_type(a, "float", node), self.as_type(b, "float", node)
        return Value("bool", self.let(f"fcmp {floats} double {a.name}, {b.name}"))

    def logic(self, node: ast.BoolOp) -> Value:
        """`and` or `or` with short-circuit evaluation."""
        pointer = f"%logic.{self.fresh()}"
        self.allocas.append(f"  {pointer} = alloca i1")
        end = self.fresh("end")
        for operand in node.values:
            truth = self.truth(operand)
            self.add(f"store i1 {truth}, ptr {pointer}")
            following = self.fresh("next")
            pair = (following, end) if isinstance(node.op, ast.And) else (end, following)
            self.add(f"br i1 {truth}, label %{pair[0]}, label %{pair[1]}")
            self.label(following)
        self.add(f"br label %{end}")
        self.label(end)
        return Value("bool", self.let(f"load i1, ptr {pointer}"))

    def as_type(self, value: Value, wanted: str, node: ast.AST) -> Value:
        if value.type == wanted:
            return value
        if (value.type, wanted) == ("int", "float"):
            if value.name.lstrip("-").isdigit():
                return _literal(float(value.name))
            return Value("float", self.let(f"sitofp i64 {value.name} to double"))
        raise self.fail(node, f"{value.type} where {wanted} is expected")

    # -- arrays and calls --------------------------------------------------------------------------------------

    def is_view(self, node: ast.Subscript) -> bool:
        """Whether a subscript is a row or the rest of a vector, and not a number."""
        index = node.slice
        last = index.elts[-1] if isinstance(index, ast.Tuple) else index
        base = self.value(node.value) if isinstance(node.value, ast.Name) else Value("Vector", "")
        return isinstance(last, ast.Slice) or (base.type == "Matrix" and not isinstance(index, ast.Tuple))

    def element(self, node: ast.Subscript) -> str:
        """The address of an element, or of the first element of a view."""
        base = self.value(node.value)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        offsets = []
        for index in indices:
            if isinstance(index, ast.Slice):
                if index.upper is not None or index.step is not None or index.lower is None:
                    raise self.fail(node, "a slice other than [k:]")
                index = index.lower
            offsets.append(self.as_type(self.value(index), "int", node).name)
        if base.type == "Matrix":
            row = self.let(f"mul nsw i64 {offsets[0]}, {base.stride}")
            pointer = self.let(f"getelementptr inbounds double, ptr {base.name}, i64 {row}")
            offsets = offsets[1:]
        elif base.type == "Vector":
            pointer = base.name
        else:
            raise self.fail(node, f"an index of {base.type}")
        for offset in offsets:
            pointer = self.let(f"getelementptr inbounds double, ptr {pointer}, i64 {offset}")
        return pointer

    def call(self, node: ast.Call) -> Value:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise self.fail(node, "this call")
        name, values = node.func.id, [self.value(argument) for argument in node.args]
        if name in ("sqrt", "abs"):
            number = self.as_type(values[0], "float", node)
            intrinsic = {"sqrt": "sqrt", "abs": "fabs"}[name]
            return Value("float", self.let(f"call double @llvm.{intrinsic}.f64(double {number.name})"))
        if name == "float":
            return self.as_type(values[0], "float", node)
        if name == "int":
            return Value("int", self.let(f"fptosi double {self.as_type(values[0], 'float', node).name} to i64"))
        callee = self.known.get(name)
        if not inspect.isfunction(callee):
            raise self.fail(node, f"a call of {name!r}")
        if callee not in self.callees:
            self.callees.append(callee)
        kinds, returns = _signature(callee)
        if len(kinds) != len(values):
            raise self.fail(node, f"{name} of {len(values)} arguments")
        given = []
        for value, kind in zip(values, kinds.values(), strict=True):
            value = self.as_type(value, kind, node)
            given.append(f"{_LLVM.get(value.type, 'ptr')} {value.name}")
            if kind == "Matrix":
                given.append(f"i64 {value.stride}")
        text = f"call {_LLVM.get(returns, 'void')} @{_symbol(callee)}({', '.join(given)})"
        if returns == "None":
            self.add(text)
            return Value("None", "")
        return Value(returns, self.let(text))


def _literal(number: float) -> Value:
    if isinstance(number, bool):
        return Value("bool", str(number).lower())
    if isinstance(number, int):
        return Value("int", str(number))
    return Value("float", f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}")


def _symbol(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _signature(function: Callable[..., Any]) -> tuple[dict[str, str], str]:
    """Types of the parameters by name, and of the result."""
    given = dict(function.__annotations__)
    returns = str(given.pop("return"))
    return {name: str(kind) for name, kind in given.items()}, returns


def _definition(function: Callable[..., Any]) -> tuple[str, list[Callable[..., Any]]]:
    """The assembly of a function, and the functions that it calls."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    kinds, returns = _signature(function)
    built = _Function(function.__name__, returns, inspect.getmodule(function).__dict__, [])
    parameters = []
    for name, kind in kinds.items():
        if kind == "Matrix":
            parameters += [f"ptr noalias %{name}", f"i64 %{name}.stride"]
            built.variables[name] = Value(kind, f"%{name}", f"%{name}.stride")
        else:
            parameters.append(f"{_LLVM[kind]}{' noalias' * (kind == 'Vector')} %{name}")
            built.assign(ast.Name(id=name), Value(kind, f"%{name}"))
    if built.body(tree.body):
        if returns != "None":
            raise TypeError(f"{function.__name__} may end without a result")
        built.add("ret void")
    head = f"{_LLVM.get(returns, 'void')} @{_symbol(function)}({', '.join(parameters)})"
    attributes = f"noinline {_ATTRIBUTES}" if built.callees else _ATTRIBUTES  # LLVM is slow on long functions
    text = [f"define internal {head} {attributes} {{", "entry:", *built.allocas, *built.lines, "}"]
    return "\n".join(text), built.callees


def loops_assembly(*functions: Callable[..., Any]) -> str:
    """Definitions of these functions and of all that they call, internal to their module."""
    waiting, known = list(functions), {}
    while waiting:
        function = waiting.pop()
        if function not in known:
            known[function], callees = _definition(function)
            waiting += callees
    declarations = [f"declare double @llvm.{name}.f64(double)" for name in ("sqrt", "fabs")]
    return "\n\n".join(["\n".join(declarations), *known.values()])


def call_text(function: Callable[..., Any], arguments: dict[str, str]) -> Iterator[str]:
    """A line that calls a function, given the value of each parameter; that of a matrix is "name, stride"."""
    kinds, returns = _signature(function)
    given = []
    for name, kind in kinds.items():
        if kind == "Matrix":
            pointer, stride = arguments[name].split(", ")
            given += [f"ptr {pointer}", f"i64 {stride}"]
        else:
            given.append(f"{_LLVM[kind]} {arguments[name]}")
    yield f"call {_LLVM.get(returns, 'void')} @{_symbol(function)}({', '.join(given)})"


def call_from_tables(
    function: Callable[..., Any], sizes: Sequence[str], vectors: Sequence[str], matrices: Sequence[str]
) -> tuple[str, str]:
    """Lines that load the arguments of a function (sizes and strides from %sizes, addresses from %places); its call."""
    lines = []
    for k, name in enumerate((*sizes, *(f"stride.{name}" for name in matrices))):
        lines += [f"%{name}.at = getelementptr i64, ptr %sizes, i64 {k}", f"%{name} = load i64, ptr %{name}.at"]
    for k, name in enumerate((*vectors, *matrices)):
        lines += [f"%{name}.at = getelementptr ptr, ptr %places, i64 {k}", f"%{name} = load ptr, ptr %{name}.at"]
    given = {name: f"%{name}" for name in (*sizes, *vectors)}
    (call,) = call_text(function, given | {name: f"%{name}, %stride.{name}" for name in matrices})
    return "\n  ".join(lines), call


def loops_module(function: Callable[..., Any], *definitions: str) -> str:
    """A module with a function, those that it calls, and definitions in LLVM assembly that call it."""
    bind = f"define void @{BIND}(ptr %table) nounwind {{\n  ret void\n}}"
    return "\n\n".join([loops_assembly(function), bind, *definitions])
