"""One function of the loop language, translated statement by statement to LLVM assembly."""

from __future__ import annotations

import ast
import ctypes
import inspect
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from kinetree.compiler.codegen.loop_types import (
    ADDRESS,
    BOOL,
    FLOAT,
    INT,
    MATRIX,
    TYPES,
    VECTOR,
    WIDENED,
    Rows,
    fits,
    is_address,
    is_array,
    is_structure,
    llvm_type,
    name_of,
    signature,
    symbol,
    type_named,
)

_ARITHMETIC = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
_INTEGERS = {ast.FloorDiv: "sdiv", ast.Mod: "srem", ast.BitAnd: "and", ast.BitOr: "or", ast.RShift: "ashr"}
"""Instructions on integers alone. Division equals Python's for numbers that are not negative."""
_COMPARE = {
    ast.Lt: ("slt", "olt"), ast.LtE: ("sle", "ole"), ast.Gt: ("sgt", "ogt"), ast.GtE: ("sge", "oge"),
    ast.Eq: ("eq", "oeq"), ast.NotEq: ("ne", "une"), ast.Is: ("eq", ""), ast.IsNot: ("ne", ""),
}  # fmt: skip
_FLAGS = "reassoc nsz contract"
_PURE = ("sqrt", "abs", "int", "float")
_BUILT_IN = (*_PURE, "pointer", "Integers", "Addresses")


class Value(NamedTuple):
    """The value of an expression: its type, its name in the assembly, and the stride between rows of a matrix."""

    type: Any
    name: str
    stride: str = ""


@dataclass
class Body:
    """A builder of the body of one function."""

    name: str
    returns: Any
    known: dict[str, Any]
    callees: list[Callable[..., Any]] = field(default_factory=list)
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

    def statements(self, statements: list[ast.stmt]) -> bool:
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
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                kind = type_named(ast.unparse(node.annotation), self.known)
                self.assign(target, self.as_type(self.value(value), kind, node))
            case ast.AugAssign():
                self.assign(node.target, self.binary(node, self.value(node.target), node.op, self.value(node.value)))
            case ast.Return():
                return self.leave(node)
            case ast.If():
                return self.branch(node)
            case ast.For(target=ast.Name() as target, iter=ast.Call(func=ast.Name(id="range")) as bounds, orelse=[]):
                self.counted(target.id, bounds.args, node)
            case ast.While(orelse=[]):
                self.loop(node)
            case ast.Break() | ast.Continue():
                self.add(f"br label %{self.exits[-1][isinstance(node, ast.Continue)]}")
                return False
            case _:
                raise self.fail(node, type(node).__name__)
        return True

    def leave(self, node: ast.Return) -> bool:
        if node.value is None:
            self.add("ret void")
        else:
            result = self.as_type(self.value(node.value), self.returns, node)
            self.add(f"ret {llvm_type(result.type)} {result.name}")
        return False

    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.assign_variable(target.id, value, target)
        elif isinstance(target, ast.Subscript | ast.Attribute):
            kind, pointer = self.place(target)
            value = self.as_type(value, kind, target)
            self.add(f"store {llvm_type(kind)} {value.name}, ptr {pointer}, align {ctypes.sizeof(kind)}")
        else:
            raise self.fail(target, "this assignment")

    def assign_variable(self, name: str, value: Value, node: ast.AST) -> None:
        """Assign to a variable, whose type is that of its first value."""
        if name not in self.variables:
            pointer = f"%{name}.{self.fresh()}"
            self.allocas.append(f"  {pointer} = alloca {llvm_type(value.type)}")
            self.variables[name] = Value(value.type, pointer)
        variable = self.variables[name]
        value = self.as_type(value, variable.type, node)
        self.add(f"store {llvm_type(variable.type)} {value.name}, ptr {variable.name}")

    def branch(self, node: ast.If) -> bool:
        then, other, end = self.fresh("then"), self.fresh("else"), self.fresh("end")
        condition = self.truth(node.test)
        self.add(f"br i1 {condition}, label %{then}, label %{other}")
        goes_on = False
        for label, statements in ((then, node.body), (other, node.orelse)):
            self.label(label)
            if self.statements(statements):
                self.add(f"br label %{end}")
                goes_on = True
        if goes_on:
            self.label(end)
        return goes_on

    def counted(self, name: str, bounds: list[ast.expr], node: ast.For) -> None:
        values = [self.as_type(self.value(bound), INT, bound).name for bound in bounds]
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
        self.assign_variable(name, Value(INT, k), node)
        self.exits.append((end, following))
        if self.statements(node.body):
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
        if self.statements(node.body):
            self.add(f"br label %{head}")
        self.exits.pop()
        self.label(end)

    # -- expressions -------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=None | bool() | int() | float() as number):
                return _literal(number)
            case ast.Name(id=name) if name in self.variables:
                variable = self.variables[name]
                return variable if variable.type is MATRIX else self.load(variable.type, variable.name)
            case ast.Name() | ast.Attribute():
                return self.named(node)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(node, self.value(left), op, self.value(right))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return _literal(-number)
            case ast.UnaryOp(op=ast.USub()):
                value = self.value(node.operand)
                text = f"fneg double {value.name}" if value.type is FLOAT else f"sub i64 0, {value.name}"
                return Value(value.type, self.let(text))
            case ast.UnaryOp(op=ast.Not()):
                return Value(BOOL, self.let(f"xor i1 {self.truth(node.operand)}, true"))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.compare(node, self.value(left), op, self.value(right))
            case ast.BoolOp():
                return self.logic(node)
            case ast.IfExp():
                return self.choice(node)
            case ast.Call():
                return self.call(node)
            case ast.Subscript():
                return self.subscript(node)
        raise self.fail(node, type(node).__name__)

    def named(self, node: ast.Name | ast.Attribute) -> Value:
        """A number of this or another module, an object that a module declares, or a field of a structure."""
        number = self.outside(node)
        if isinstance(number, (bool, int, float)):
            return _literal(number)
        if isinstance(node, ast.Name):
            raise self.fail(node, f"{node.id!r}, which is neither a variable nor a number,")
        module = self.outside(node.value)
        if isinstance(module, ModuleType):
            kind = type_named(module.__annotations__[node.attr], vars(module))
            return self.load(kind, f"@{module.__name__}.{node.attr}")
        return self.load(*self.place(node))

    def outside(self, node: ast.expr) -> Any:
        """What a name stands for outside of the function, such as a number, a function or a module; or None."""
        if isinstance(node, ast.Name):
            return None if node.id in self.variables else self.known.get(node.id)
        if isinstance(node, ast.Attribute):
            module = self.outside(node.value)
            return vars(module).get(node.attr) if isinstance(module, ModuleType) else None
        return None

    def truth(self, node: ast.expr) -> str:
        value = self.value(node)
        if value.type is INT:
            return self.let(f"icmp ne i64 {value.name}, 0")
        return self.as_type(value, BOOL, node).name

    def binary(self, node: ast.AST, a: Value, op: ast.operator, b: Value) -> Value:
        if a.type is ADDRESS and b.type is INT and isinstance(op, ast.Add):
            return Value(ADDRESS, self.let(f"getelementptr i8, ptr {a.name}, i64 {b.name}"))
        if type(op) in _INTEGERS and a.type is b.type is INT:
            return Value(INT, self.let(f"{_INTEGERS[type(op)]} i64 {a.name}, {b.name}"))
        if type(op) not in _ARITHMETIC:
            raise self.fail(node, type(op).__name__)
        word = _ARITHMETIC[type(op)]
        if a.type is b.type is INT and word != "div":
            return Value(INT, self.let(f"{word} nsw i64 {a.name}, {b.name}"))
        a, b = self.as_type(a, FLOAT, node), self.as_type(b, FLOAT, node)
        return Value(FLOAT, self.let(f"f{word} {_FLAGS} double {a.name}, {b.name}"))

    def compare(self, node: ast.AST, a: Value, op: ast.cmpop, b: Value) -> Value:
        if type(op) not in _COMPARE:
            raise self.fail(node, type(op).__name__)
        integers, floats = _COMPARE[type(op)]
        if is_address(a.type) and is_address(b.type):
            return Value(BOOL, self.let(f"icmp {integers.replace('s', 'u')} ptr {a.name}, {b.name}"))
        if a.type is b.type is INT:
            return Value(BOOL, self.let(f"icmp {integers} i64 {a.name}, {b.name}"))
        a, b = self.as_type(a, FLOAT, node), self.as_type(b, FLOAT, node)
        return Value(BOOL, self.let(f"fcmp {floats} double {a.name}, {b.name}"))

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
        return Value(BOOL, self.let(f"load i1, ptr {pointer}"))

    def choice(self, node: ast.IfExp) -> Value:
        """`a if condition else b`. Only one of them is evaluated, unless both just compute with variables and elements
        of arrays: to choose is then faster than to branch."""
        a, b = node.body, node.orelse
        if _computes(a) and _computes(b):
            first, second, condition = self.value(a), self.value(b), self.truth(node.test)
            kind = second.type if first.type is ADDRESS else first.type
            text = f"{llvm_type(kind)} {first.name}, {llvm_type(kind)} {second.name}"
            return Value(kind, self.let(f"select i1 {condition}, {text}"))
        chosen = ast.Name(f"choice.{self.fresh()}")
        self.branch(ast.If(node.test, [ast.Assign([chosen], a)], [ast.Assign([chosen], b)]))
        return self.value(chosen)

    def as_type(self, value: Value, wanted: Any, node: ast.AST) -> Value:
        if value.type is wanted:
            return value
        if value.type is INT and wanted is FLOAT:
            if value.name.lstrip("-").isdigit():
                return _literal(float(value.name))
            return Value(FLOAT, self.let(f"sitofp i64 {value.name} to double"))
        if value.type is INT and wanted is ctypes.c_int32:
            return Value(wanted, self.let(f"trunc i64 {value.name} to i32"))
        if fits(value.type, wanted):
            return Value(wanted, value.name)
        raise self.fail(node, f"{name_of(value.type)} where {name_of(wanted)} is expected")

    # -- memory ------------------------------------------------------------------------------------------------

    def load(self, kind: Any, pointer: str) -> Value:
        """What lies at an address; of structures and arrays inside of structures, the address itself."""
        if kind is Rows:
            stride = self.let(f"getelementptr inbounds i8, ptr {pointer}, i64 {Rows.stride.offset}")
            return Value(MATRIX, self.load(VECTOR, pointer).name, self.load(INT, stride).name)
        if is_structure(kind):
            return Value(ctypes.POINTER(kind), pointer)
        if is_array(kind):
            return Value(ctypes.POINTER(kind._type_), pointer)
        return self.widened(Value(kind, self.let(f"load {llvm_type(kind)}, ptr {pointer}{_alignment(kind)}")))

    def widened(self, value: Value) -> Value:
        """An int or float of the language in place of a shorter one."""
        if value.type not in WIDENED:
            return value
        kind, text = WIDENED[value.type]
        return Value(kind, self.let(text.format(value.name)))

    def place(self, node: ast.Subscript | ast.Attribute) -> tuple[Any, str]:
        """The type and the address of an element of an array, or of a field of a structure."""
        if isinstance(node, ast.Subscript):
            kind, pointer, _ = self.element(node)
            return kind, pointer
        base = self.value(node.value)
        structure: Any = getattr(base.type, "_type_", None)
        if not is_structure(structure):
            raise self.fail(node, f"{node.attr!r} of {name_of(base.type)}")
        kinds = {name: kind for part in structure.__mro__ for name, kind in vars(part).get("_fields_", ())}
        offset = getattr(structure, node.attr).offset
        return kinds[node.attr], self.let(f"getelementptr inbounds i8, ptr {base.name}, i64 {offset}")

    def subscript(self, node: ast.Subscript) -> Value:
        kind, pointer, is_view = self.element(node)
        if kind is MATRIX:
            return Value(MATRIX, pointer, self.value(node.value).stride)
        return Value(ctypes.POINTER(kind), pointer) if is_view else self.load(kind, pointer)

    def element(self, node: ast.Subscript) -> tuple[Any, str, bool]:
        """The type and the address of an element; or of the first one of a row or of the rest of an array: a view. The
        type of the rest of a matrix is that of matrices."""
        base = self.value(node.value)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        is_view = isinstance(indices[-1], ast.Slice) or (base.type is MATRIX and len(indices) == 1)
        offsets = []
        for index in indices:
            if isinstance(index, ast.Slice):
                if index is not indices[-1] or index.upper is not None or index.step is not None or index.lower is None:
                    raise self.fail(node, "a slice other than [k:]")
                index = index.lower
            offsets.append(self.as_type(self.value(index), INT, node).name)
        if base.type is MATRIX:
            row = self.let(f"mul nsw i64 {offsets[0]}, {base.stride}")
            pointer = self.let(f"getelementptr inbounds double, ptr {base.name}, i64 {row}")
            if isinstance(indices[0], ast.Slice):
                return MATRIX, pointer, True
            kind, offsets = FLOAT, offsets[1:]
        elif is_address(base.type) and base.type is not ADDRESS:
            kind, pointer = base.type._type_, base.name
        else:
            raise self.fail(node, f"an index of {name_of(base.type)}")
        step = f"[{ctypes.sizeof(kind)} x i8]" if is_structure(kind) else llvm_type(kind)
        for offset in offsets:
            pointer = self.let(f"getelementptr inbounds {step}, ptr {pointer}, i64 {offset}")
        return kind, pointer, is_view

    def local(self, kind: Any, count: str = "1") -> Value:
        """Memory for structures or numbers of this type until the function returns."""
        pointer = f"%local.{self.fresh()}"
        step = f"[{ctypes.sizeof(kind)} x i8]" if is_structure(kind) else llvm_type(kind)
        self.allocas.append(f"  {pointer} = alloca [{count} x {step}], align 16")
        return Value(ctypes.POINTER(kind), pointer)

    # -- calls -------------------------------------------------------------------------------------------------

    def call(self, node: ast.Call) -> Value:
        if node.keywords:
            raise self.fail(node, "this call")
        callee = self.outside(node.func)
        name = ast.unparse(node.func)
        if name == "cast":
            return Value(type_named(ast.unparse(node.args[0]), self.known), self.value(node.args[1]).name)
        if name == "addressof" and isinstance(node.args[0], ast.Subscript | ast.Attribute):
            kind, pointer = self.place(node.args[0])
            return Value(ctypes.POINTER(kind), pointer)
        if is_structure(callee):
            return self.local(callee)
        values = [self.value(argument) for argument in node.args]
        if name in _BUILT_IN:
            return self.built_in(node, name, values[0])
        if inspect.isfunction(callee):
            return self.call_function(node, callee, values)
        if isinstance(node.func, ast.Attribute) or name in self.variables:
            function = self.as_type(self.value(node.func), ADDRESS, node)
            self.add(f"call void {function.name}({', '.join(f'{llvm_type(v.type)} {v.name}' for v in values)})")
            return Value(None, "")
        raise self.fail(node, f"a call of {name!r}")

    def built_in(self, node: ast.AST, name: str, value: Value) -> Value:
        match name:
            case "Integers" | "Addresses":
                return self.local(TYPES[name]._type_, self.as_type(value, INT, node).name)
            case "pointer":
                return Value(ADDRESS, self.let(f"inttoptr i64 {self.as_type(value, INT, node).name} to ptr"))
            case "int" if is_address(value.type):
                return Value(INT, self.let(f"ptrtoint ptr {value.name} to i64"))
            case "int":
                return Value(INT, self.let(f"fptosi double {self.as_type(value, FLOAT, node).name} to i64"))
            case "float":
                return self.as_type(value, FLOAT, node)
        number, intrinsic = self.as_type(value, FLOAT, node), {"sqrt": "sqrt", "abs": "fabs"}[name]
        return Value(FLOAT, self.let(f"call double @llvm.{intrinsic}.f64(double {number.name})"))

    def call_function(self, node: ast.AST, callee: Callable[..., Any], values: list[Value]) -> Value:
        """A call of another function of the language, or of a C function that a module declares."""
        kinds, returns = signature(callee)
        if len(kinds) != len(values):
            raise self.fail(node, f"{callee.__name__} of {len(values)} arguments")
        given = []
        for value, kind in zip(values, kinds.values(), strict=True):
            value = self.as_type(value, kind, node)
            given.append(f"{llvm_type(value.type)} {value.name}")
            if kind is MATRIX:
                given.append(f"i64 {value.stride}")
        function = f"@{symbol(callee)}"
        if is_declaration(callee):
            function = self.let(f"load ptr, ptr {function}")
        elif callee not in self.callees:
            self.callees.append(callee)
        text = f"call {llvm_type(returns)} {function}({', '.join(given)})"
        if returns is None:
            self.add(text)
            return Value(None, "")
        return self.widened(Value(returns, self.let(text)))


def _computes(node: ast.expr) -> bool:
    """Whether an expression neither calls other functions nor follows addresses to structures."""
    calls = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
    pure = all(isinstance(function, ast.Name) and function.id in _PURE for function in calls)
    return pure and not any(isinstance(part, ast.Attribute) for part in ast.walk(node))


def _alignment(kind: Any) -> str:
    return f", align {ctypes.sizeof(kind)}" if kind is not BOOL else ""


def _literal(number: float | None) -> Value:
    if number is None:
        return Value(ADDRESS, "null")
    if isinstance(number, bool):
        return Value(BOOL, str(number).lower())
    if isinstance(number, int):
        return Value(INT, str(number))
    return Value(FLOAT, f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}")


def parsed(function: Callable[..., Any]) -> ast.FunctionDef:
    """The definition of a function, from the source of its module."""
    return _definitions(function.__module__)[function.__name__]


@cache
def _definitions(module: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def is_declaration(function: Callable[..., Any]) -> bool:
    """Whether a function only says how a C function is called: its body is ``...``."""
    match parsed(function).body[-1]:
        case ast.Expr(value=ast.Constant(value=value)):
            return value is ...
    return False
