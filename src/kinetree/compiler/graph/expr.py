"""One scalar node type. Nodes are hash-consed: the same operation on the same operands is the same object.

`make` creates nodes: it folds constants, applies the rules of `passes/fold.py` and looks the result up in the table of
the current trace. So zeros, ones and repeated terms never enter a graph.
"""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, NoReturn

import numpy as np

from kinetree.errors import short

REAL, BOOLEAN, ROWS = "real", "boolean", "rows"

SIGNATURES: dict[str, tuple[tuple[str, ...], str]] = {
    "const": ((), REAL),
    "true": ((), BOOLEAN),
    "false": ((), BOOLEAN),
    "input": ((), REAL),
    **dict.fromkeys(("neg", "sqrt", "sin", "cos", "tan", "exp", "log", "tanh", "absolute"), ((REAL,), REAL)),
    **dict.fromkeys(("add", "sub", "mul", "div", "atan2", "minimum", "maximum"), ((REAL, REAL), REAL)),
    **dict.fromkeys(("fma", "fms", "fnma", "fnms"), ((REAL, REAL, REAL), REAL)),
    **dict.fromkeys(("less", "less_equal", "equal"), ((REAL, REAL), BOOLEAN)),
    **dict.fromkeys(("logical_and", "logical_or"), ((BOOLEAN, BOOLEAN), BOOLEAN)),
    "logical_not": ((BOOLEAN,), BOOLEAN),
    "where": ((BOOLEAN, REAL, REAL), REAL),
    "rows": ((), ROWS),
    "entry": ((ROWS,), REAL),
}
"""The types of the operands and of the result of every operation; `rows`, a `RowProgram`, has as many as it needs."""

_BOOLEANS = frozenset(op for op, (_, result) in SIGNATURES.items() if result == BOOLEAN)
_BOOLEAN_CONSTANTS = frozenset(("true", "false"))
_TAKES_REALS = frozenset(op for op, (kinds, _) in SIGNATURES.items() if kinds and BOOLEAN not in kinds)
_TAKES_BOOLEANS = frozenset(op for op, (kinds, _) in SIGNATURES.items() if BOOLEAN in kinds)

COMMUTATIVE = frozenset(("add", "mul", "equal", "logical_and", "logical_or"))


_NEVER_RAISES = ("add", "sub", "mul", "neg")
NUMERIC: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in _NEVER_RAISES},
    **{name: getattr(np, name) for name in ("sqrt", "sin", "cos", "tan", "exp", "log", "tanh", "minimum", "maximum")},
    "div": lambda x, y: float(np.float64(x) / np.float64(y)),
    "atan2": np.arctan2,
    "absolute": abs,
    "fma": lambda x, y, z: x * y + z,
    "fms": lambda x, y, z: x * y - z,
    "fnma": lambda x, y, z: z - x * y,
    "fnms": lambda x, y, z: -(x * y) - z,
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
    "logical_and": lambda x, y: x and y,
    "logical_or": lambda x, y: x or y,
    "logical_not": operator.not_,
    "where": lambda c, x, y: x if c else y,
}
"""Every operation on numbers."""

Rules = dict[str, Callable[..., "Node | None"]]


def _infix(op: str) -> Callable[[Any, Any], Any]:
    """The method of an infix operator for the node on its left."""
    is_trivial = op in ("add", "sub", "mul")  # by zero: half of all operations

    def method(x: Node, y: Any) -> Any:
        if type(y) is Node:
            return make(op, x, y)
        if is_trivial and type(y) is float and y == 0.0 and x.op not in _BOOLEANS:
            return constant(0.0) if op == "mul" else x
        return NotImplemented if isinstance(y, np.ndarray) else make(op, x, as_node(y))

    return method


def _reflected(op: str) -> Callable[[Any, Any], Any]:
    """The method of an infix operator for the node on its right."""

    def method(x: Node, y: Any) -> Any:
        return NotImplemented if isinstance(y, np.ndarray) else make(op, as_node(y), x)

    return method


def _function(op: str) -> Callable[[Any], Node]:
    """The method of an elementary function."""
    return lambda x: make(op, x)


_equals = _infix("equal")


class Node:
    """An operation on other nodes; `value` is the value of a constant, the position of an input or of an entry, or a
    `RowProgram`."""

    __slots__ = ("args", "op", "order", "value")
    op: str
    args: tuple[Node, ...]
    value: Any
    order: int
    """The order of creation: operands come before their users."""

    def __init__(self, op: str, args: tuple[Node, ...], value: Any, order: int) -> None:
        self.op = op
        self.args = args
        self.value = value
        self.order = order

    __add__ = __radd__ = _infix("add")
    __mul__ = __rmul__ = _infix("mul")
    __sub__, __rsub__ = _infix("sub"), _reflected("sub")
    __truediv__, __rtruediv__ = _infix("div"), _reflected("div")
    __lt__, __le__ = _infix("less"), _infix("less_equal")
    __gt__, __ge__ = _reflected("less"), _reflected("less_equal")

    def __neg__(self) -> Node:
        return make("neg", self)

    def __pos__(self) -> Node:
        return self

    def __abs__(self) -> Node:
        return make("absolute", self)

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, np.ndarray):
            return NotImplemented
        halves = None if isinstance(exponent, Node) else 2.0 * float(exponent)
        if halves is None or halves % 1.0 != 0.0:
            raise TypeError("a traced value can be raised to a whole or half number; use kt.exp and kt.log otherwise")
        power = _power(self, int(abs(halves)) // 2)
        if halves % 2:
            power = power * make("sqrt", self)
        return constant(1.0) / power if halves < 0 else power

    def __rpow__(self, base: Any) -> Any:
        raise TypeError("a number cannot be raised to a traced value: use kt.exp(x * log(base))")

    def _discontinuous(self, *_: Any) -> NoReturn:
        raise TypeError(
            "a traced value cannot be rounded, floored or taken modulo: wrap an angle to ±π by "
            "kt.atan2(kt.sin(x), kt.cos(x)); choose a case by kt.where"
        )

    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __divmod__ = __rdivmod__ = _discontinuous
    __round__ = __floor__ = __ceil__ = __trunc__ = floor = ceil = rint = trunc = _discontinuous

    def __and__(self, other: Any) -> Any:
        return _logical("logical_and", self, other)

    def __or__(self, other: Any) -> Any:
        return _logical("logical_or", self, other)

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Any:
        return _logical("logical_not", self)

    # NumPy calls these methods on the elements of an array: np.sin(q) works on traced arrays too.

    sin, cos, tan, sqrt, exp, log, tanh = map(_function, ("sin", "cos", "tan", "sqrt", "exp", "log", "tanh"))

    def arctan2(self, other: Any) -> Node:
        return make("atan2", self, as_node(other))

    def arctan(self) -> Node:
        return make("atan2", self, constant(1.0))

    def arcsin(self) -> Node:
        return make("atan2", self, ((1.0 - self) * (1.0 + self)).sqrt())

    def arccos(self) -> Node:
        return make("atan2", ((1.0 - self) * (1.0 + self)).sqrt(), self)

    def cosh(self) -> Node:
        return (self.exp() + (-self).exp()) * 0.5

    def sinh(self) -> Node:
        return self.tanh() * self.cosh()  # eˣ - e⁻ˣ would cancel near zero

    def hypot(self, other: Any) -> Node:
        return (self * self + other * other).sqrt()

    def radians(self) -> Node:
        return self * (math.pi / 180.0)

    def degrees(self) -> Node:
        return self * (180.0 / math.pi)

    deg2rad, rad2deg = radians, degrees

    def conjugate(self) -> Node:
        return self

    # Dicts find a node by its identity: no two living nodes have the same hash, so dicts never compare nodes.

    def __eq__(self, other: object) -> Any:
        return _equals(self, other) if _is_comparable(other) else NotImplemented

    def __ne__(self, other: object) -> Any:
        return make("logical_not", _equals(self, other)) if _is_comparable(other) else NotImplemented

    __hash__ = object.__hash__

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a traced value has no truth value yet: use kt.where(condition, a, b) instead of if, and, or, not; "
            "kt.less(a, b), kt.less_equal, kt.equal instead of <, <=, == on arrays; "
            "kt.minimum, kt.maximum, kt.clip and kt.sign instead of min, max, np.clip and np.sign"
        )

    def __float__(self) -> NoReturn:
        raise TypeError(
            "a traced value is not a number yet: use kt.sin, kt.sqrt, kt.where, … instead of math or float(); "
            "kt.zeros(shape) instead of np.zeros for an array to write it into"
        )

    __int__ = __index__ = __float__

    def __format__(self, spec: str) -> str:
        return repr(self)  # there are no digits to format

    def __repr__(self) -> str:
        if self.op == "const":
            return repr(self.value)
        if self.op == "input":
            return f"x{self.value}"
        inner = (f"{arg.op}(…)" if arg.args else repr(arg) for arg in self.args)  # the whole expression may be huge
        return f"{self.op}({', '.join(inner)})"


class _Table(threading.local):
    """The nodes of the current trace of this thread."""

    nodes: dict[Any, Node] | None = None
    count = 0
    arrays = False
    """Whether large matrix operations become row programs."""


_current = _Table()
FOLDING: Rules = {}
"""For each operation, a function of its operands that returns a simpler node or None; passes/fold.py fills it."""


@contextmanager
def new_table() -> Iterator[None]:
    """A context with a new table of nodes; nested contexts have separate tables."""
    before = _current.nodes, _current.count
    _current.nodes, _current.count = {}, 0
    try:
        yield
    finally:
        _current.nodes, _current.count = before


@contextmanager
def array_operations_if(wanted: bool) -> Iterator[None]:
    """A context in which large matrix operations become row programs, or do not."""
    before, _current.arrays = _current.arrays, wanted
    try:
        yield
    finally:
        _current.arrays = before


def array_operations() -> bool:
    """Whether large matrix operations become row programs."""
    return _current.arrays


def tracing() -> bool:
    """Whether this thread is inside a trace."""
    return _current.nodes is not None


def is_traced(value: object) -> bool:
    """Whether a value is a node, or an array or sequence that may contain nodes."""
    if isinstance(value, np.ndarray):
        return value.dtype == object  # np.zeros_like(q) contains no node, but may receive some
    if isinstance(value, (list, tuple)):
        return any(is_traced(element) for element in value)
    return type(value) is Node


def interned(op: str, args: tuple[Node, ...], value: Any) -> Node:
    """The node of this operation in the table of the current trace."""
    nodes = _current.nodes
    if nodes is None:
        raise RuntimeError("a traced value is used outside the trace it belongs to")
    key: tuple[Any, ...] = (op, args, value)
    try:
        node = nodes.get(key)
    except TypeError:  # the hashes of two keys collide, and nodes have no truth value
        key = (op, value, *map(id, args))
        node = nodes.get(key)
    if node is None:
        _current.count += 1
        node = nodes[key] = Node(op, args, value, _current.count)
    return node


def constant(value: Any) -> Node:
    """The node of a number; -0.0 becomes 0.0, and all NaNs are the same node."""
    number = float(value) + 0.0
    nodes = _current.nodes
    if nodes is None:
        raise RuntimeError("a traced value is used outside the trace it belongs to")
    key = "nan" if math.isnan(number) else number
    node = nodes.get(key)
    if node is None:
        _current.count += 1
        node = nodes[key] = Node("const", (), number, _current.count)
    return node


def boolean(value: bool) -> Node:
    """The node of True or False."""
    return interned("true" if value else "false", (), 0)


def symbol(position: int) -> Node:
    """The node of the input at a position of the concatenated inputs."""
    return interned("input", (), position)


def symbols(shape: tuple[int, ...], positions: Iterator[int]) -> Any:
    """An array of symbols at the next positions, in C order."""
    array = np.empty(shape, dtype=object)
    for index in np.ndindex(*shape):
        array[index] = symbol(next(positions))
    return array


def make(op: str, *args: Node) -> Node:
    """The simplest known node for this operation."""
    if op in _TAKES_REALS:
        if args[0].op in _BOOLEANS or args[-1].op in _BOOLEANS:
            args = _numbers(args)
    elif op in _TAKES_BOOLEANS:
        if op == "where" and args[1].op in _BOOLEANS and args[2].op in _BOOLEANS:
            return _boolean_where(*args)
        args = tuple(_as_kind(kind, arg) for kind, arg in zip(SIGNATURES[op][0], args, strict=True))
    for arg in args:
        if arg.args or arg.op == "input":
            break
    else:
        return _folded(op, args)
    simpler = FOLDING.get(op)
    if simpler is not None:
        found = simpler(*args)
        if found is not None:
            return found
    if op in COMMUTATIVE and args[0].order > args[1].order:
        args = (args[1], args[0])
    return interned(op, args, 0)


def _numbers(args: tuple[Node, ...]) -> tuple[Node, ...]:
    """Operands of arithmetic as numbers; True and False count as 1 and 0 beside a number, comparisons raise."""
    if any(arg.op in _BOOLEANS - _BOOLEAN_CONSTANTS for arg in args) or all(arg.op in _BOOLEANS for arg in args):
        raise TypeError("a traced comparison is not a number: use kt.where(condition, 1.0, 0.0)")
    return tuple(_as_kind(REAL, arg) for arg in args)


def _as_kind(kind: str, node: Node) -> Node:
    """The node as a number or as a boolean: a number is true if it is not zero, a boolean counts 1 or 0."""
    if (node.op in _BOOLEANS) == (kind == BOOLEAN):
        return node
    if kind == BOOLEAN:
        return make("logical_not", make("equal", node, constant(0.0)))
    return make("where", node, constant(1.0), constant(0.0))


def _boolean_where(condition: Node, a: Node, b: Node) -> Node:
    """`where` with two boolean branches, as a boolean."""
    condition = _as_kind(BOOLEAN, condition)
    return make("logical_or", make("logical_and", condition, a), make("logical_and", make("logical_not", condition), b))


def _folded(op: str, args: tuple[Node, ...]) -> Node:
    """The constant result of an operation on constants."""
    if op in _NEVER_RAISES:
        return constant(NUMERIC[op](*[arg.value for arg in args]))
    with np.errstate(all="ignore"):
        result = NUMERIC[op](*(arg.value if arg.op == "const" else arg.op == "true" for arg in args))
    return boolean(bool(result)) if SIGNATURES[op][1] == BOOLEAN else constant(result)


def _power(x: Node, exponent: int) -> Node:
    """x to a whole exponent, by repeated squaring."""
    power = constant(1.0)
    while exponent:
        if exponent % 2:
            power = power * x
        x, exponent = x * x, exponent // 2
    return power


def as_node(value: Any) -> Node:
    """The value as a node: a node itself, a number or a boolean."""
    if type(value) is Node:
        return value
    if isinstance(value, (bool, np.bool_)):
        return boolean(bool(value))
    if not isinstance(value, (float, Real)):  # the check for float is fast
        raise TypeError(f"{short(value)} is combined with a traced value; expected a real number")
    return constant(value)


def _is_comparable(value: object) -> bool:
    """Whether a node may equal the value: None and strings equal no node."""
    return isinstance(value, (Node, Real, np.bool_, np.ndarray))


def _logical(op: str, *operands: Any) -> Any:
    if any(isinstance(x, np.ndarray) for x in operands):
        return NotImplemented
    nodes = [as_node(x) for x in operands]
    if any(node.op not in _BOOLEANS for node in nodes):
        raise TypeError("&, | and ~ take comparisons, not numbers: use kt.logical_and, kt.logical_or, kt.logical_not")
    return make(op, *nodes)
