"""The primitives all algorithms are written in, and the only dispatch on operand type.

A scalar is a float, a complex number, or any type that registered itself. A vector or matrix is a NumPy array of
such scalars, with dtype ``object`` for registered types; ``+ - * / @``, indexing and stacking are NumPy's own. What
NumPy cannot do on foreign scalars (sin, sqrt, where, …) goes through this file::

    ops.register(Symbol, symbol_operations)     # symbol_operations.sin(x), .where(c, a, b), …
    ops.sin(x)                                  # float, array of floats, Symbol, or array of Symbols
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Scalar: TypeAlias = Any

_registered: dict[type, Any] = {}


def register(scalar_type: type, operations: Any) -> None:
    """Let `scalar_type` be an operand: `operations` has one attribute per primitive, named like it.

    The type's own arithmetic must return NotImplemented for an array, so that NumPy takes it element by element.
    """
    missing = [name for name in PRIMITIVES if not hasattr(operations, name)]
    if missing:
        raise TypeError(f"operations of {scalar_type.__name__} lack {', '.join(missing)}")
    _registered[scalar_type] = operations


def is_scalar_array(x: object) -> bool:
    """Whether x is an array whose elements are of a registered type (or constants beside them)."""
    return isinstance(x, np.ndarray) and x.dtype == object


def _primitive(name: str, on_numbers: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*operands: Any) -> Any:
        if any(is_scalar_array(x) for x in operands):
            return np.frompyfunc(apply, len(operands), 1)(*operands)
        for x in operands:
            operations = _registered.get(type(x))
            if operations is not None:
                return getattr(operations, name)(*operands)
        return on_numbers(*operands)

    apply.__name__ = apply.__qualname__ = name
    PRIMITIVES.append(name)
    return apply


def _where(condition: Any, then: Any, otherwise: Any) -> Any:
    return np.where(condition, then, otherwise)[()]  # [()] makes a scalar of a 0-d array


PRIMITIVES: list[str] = []
sin = _primitive("sin", np.sin)
cos = _primitive("cos", np.cos)
tan = _primitive("tan", np.tan)
atan2 = _primitive("atan2", np.arctan2)
sqrt = _primitive("sqrt", np.sqrt)
divide = _primitive("divide", np.divide)  # where / would raise: Python's floats do not divide by zero
exp = _primitive("exp", np.exp)
log = _primitive("log", np.log)
tanh = _primitive("tanh", np.tanh)
absolute = _primitive("absolute", np.abs)
minimum = _primitive("minimum", np.minimum)
maximum = _primitive("maximum", np.maximum)
less = _primitive("less", np.less)
less_equal = _primitive("less_equal", np.less_equal)
equal = _primitive("equal", np.equal)
logical_and = _primitive("logical_and", np.logical_and)
logical_or = _primitive("logical_or", np.logical_or)
logical_not = _primitive("logical_not", np.logical_not)
where = _primitive("where", _where)


def array(elements: Sequence[Any]) -> Array:
    """A vector or matrix of the given scalars."""
    return np.array(elements)


def zeros(shape: int | tuple[int, ...], *like: Any) -> Array:
    """Zeros that can later hold sums and products of elements of `like`."""
    if any(is_scalar_array(x) for x in like):
        filled = np.empty(shape, dtype=object)
        filled.fill(0.0)
        return filled
    return np.zeros(shape, dtype=np.result_type(float, *like))


def cross(a: Array, b: Array) -> Array:
    """a × b for 3-vectors."""
    a0, a1, a2 = a
    b0, b1, b2 = b
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def skew(a: Array) -> Array:
    """[a]×, the matrix with [a]× b = a × b."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def mirrored(A: Array) -> Array:
    """A matrix that is symmetric in exact arithmetic, with its upper triangle copied below the diagonal.

    Also for traced matrices: the lower triangle is then never computed.
    """
    lower = np.tril_indices(len(A), -1)
    A = A.copy()
    A[lower] = A.T[lower]
    return A
