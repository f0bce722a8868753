"""The primitives all algorithms are written in, and the only dispatch on operand type.

A scalar is a float, a complex number, or any type that registered itself. A vector or matrix is a NumPy array of
such scalars, with dtype ``object`` for registered types; ``+ - * / @``, indexing and stacking are NumPy's own. What
NumPy cannot do on foreign scalars (sin, sqrt, where, …) goes through this file::

    ops.register(Symbol, symbol_operations)     # symbol_operations.sin(x), .where(c, a, b), …
    ops.sin(x)                                  # float, array of floats, Symbol, or array of Symbols
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ArgumentError

Array: TypeAlias = NDArray[Any]
Scalar: TypeAlias = Any

_registered: dict[type, Any] = {}


def register(scalar_type: type, operations: Any) -> None:
    """Make `scalar_type` a valid operand: `operations` has one attribute per primitive, of the same name.

    The type's own arithmetic must return NotImplemented for an array, so that NumPy takes it element by element.
    """
    missing = [name for name in PRIMITIVES if not hasattr(operations, name)]
    if missing:
        raise TypeError(f"operations of {scalar_type.__name__} lack {', '.join(missing)}")
    _registered[scalar_type] = operations


def is_registered(x: object) -> bool:
    """Whether x is a scalar of a registered type."""
    return type(x) in _registered


def is_scalar_array(x: object) -> bool:
    """Whether x is an array whose elements are of a registered type (or constants beside them)."""
    return isinstance(x, np.ndarray) and x.dtype == object


PRIMITIVES: list[str] = []
F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def _primitive(on_numbers: Callable[..., Any]) -> Callable[[F], F]:
    """A decorator that gives a body to a bare signature: `on_numbers` for numbers, the registered operation for other
    scalars."""

    def decorate(signature: F) -> F:
        name, parameters = signature.__name__, inspect.signature(signature).parameters
        count = len(parameters)

        @wraps(signature)
        def apply(*operands: Any) -> Any:
            if len(operands) != count:
                raise TypeError(f"{name}({', '.join(parameters)}) got {len(operands)} arguments")
            if any(is_scalar_array(x) for x in operands):
                return np.frompyfunc(apply, count, 1)(*operands)
            for x in operands:
                operations = _registered.get(type(x))
                if operations is not None:
                    if any(isinstance(other, np.ndarray) for other in operands):  # an array of numbers
                        return np.frompyfunc(apply, count, 1)(*operands)
                    return getattr(operations, name)(*operands)
            return on_numbers(*operands)

        plain = [parameter.replace(annotation=parameter.empty) for parameter in parameters.values()]
        apply.__signature__ = inspect.Signature(plain)  # type: ignore[attr-defined]
        PRIMITIVES.append(name)
        return cast(F, apply)

    return decorate


def _where(condition: Any, a: Any, b: Any) -> Any:
    return np.where(condition, a, b)[()]  # [()] makes a scalar of a 0-d array


# Each primitive takes numbers or arrays, which broadcast, and works in compiled functions.


@_primitive(np.sin)
def sin(x: Any, /) -> Any:
    """sin x, x in radians."""


@_primitive(np.cos)
def cos(x: Any, /) -> Any:
    """cos x, x in radians."""


@_primitive(np.tan)
def tan(x: Any, /) -> Any:
    """tan x, x in radians."""


@_primitive(np.arctan2)
def atan2(y: Any, x: Any, /) -> Any:
    """The angle [rad], between -π and π, from the x-axis to the point (x, y)."""


@_primitive(np.sqrt)
def sqrt(x: Any, /) -> Any:
    """√x; NaN below zero."""


@_primitive(np.divide)
def divide(a: Any, b: Any, /) -> Any:
    """a / b; infinite or NaN where b is zero, where Python's floats raise."""


@_primitive(np.exp)
def exp(x: Any, /) -> Any:
    """eˣ."""


@_primitive(np.log)
def log(x: Any, /) -> Any:
    """The natural logarithm."""


@_primitive(np.tanh)
def tanh(x: Any, /) -> Any:
    """The hyperbolic tangent."""


@_primitive(np.abs)
def absolute(x: Any, /) -> Any:
    """|x|; its derivative at zero is 1."""


@_primitive(np.minimum)
def minimum(a: Any, b: Any, /) -> Any:
    """The smaller of each pair; where they are equal, its derivative is that of a."""


@_primitive(np.maximum)
def maximum(a: Any, b: Any, /) -> Any:
    """The larger of each pair; where they are equal, its derivative is that of a."""


@_primitive(np.less)
def less(a: Any, b: Any, /) -> Any:
    """a < b."""


@_primitive(np.less_equal)
def less_equal(a: Any, b: Any, /) -> Any:
    """a ≤ b."""


@_primitive(np.equal)
def equal(a: Any, b: Any, /) -> Any:
    """a = b, exactly."""


@_primitive(np.logical_and)
def logical_and(a: Any, b: Any, /) -> Any:
    """Whether both hold; a number holds if it is not zero."""


@_primitive(np.logical_or)
def logical_or(a: Any, b: Any, /) -> Any:
    """Whether at least one holds; a number holds if it is not zero."""


@_primitive(np.logical_not)
def logical_not(a: Any, /) -> Any:
    """Whether a does not hold; a number holds if it is not zero."""


@_primitive(_where)
def where(condition: Any, a: Any, b: Any, /) -> Any:
    """a where the condition holds, b elsewhere. Both are computed; the derivative is that of the chosen one."""


def require(condition: Any, reason: str | Callable[[], Exception | None], /, *like: Any) -> None:
    """Refuse a state in which the condition does not hold, for this reason.

    On numbers it raises an ArgumentError with the sentence `reason`, or what `reason()` returns; None accepts the state
    after a closer look. In a compiled function the condition is one more output: a state that breaks it is computed
    again on numbers, where it raises. Exported code returns a number for each reason, whose sentence is that of the
    docstring of `reason` if it is a function. If an array of `like` is traced, so is the condition, even if it is a
    number: `reason` is then not called.
    """
    operations = _registered.get(type(condition)) or _operations_of(*like)
    if operations is not None:
        getattr(operations, "require", _nothing)(condition, reason)
    elif not condition:
        error = ArgumentError(reason) if isinstance(reason, str) else reason()
        if error is not None:
            raise error


def _operations_of(*arrays: Any) -> Any:
    """The operations of the first element of a registered type in the arrays, if there is one."""
    elements = (element for array in arrays if is_scalar_array(array) for element in array.flat)
    return next((_registered[kind] for kind in map(type, elements) if kind in _registered), None)


def specialized(name: str, *arrays: Array | None) -> Any:
    """What the elements' own version of a matrix operation returns; None if they have none, or it declines."""
    operation = getattr(_operations_of(*arrays), name, None)
    return None if operation is None else operation(*arrays)


def for_each(function: Callable[..., T], items: Sequence[tuple[Any, ...]], *like: Array) -> list[T]:
    """The results of a function for each of the items, tuples of arguments that have the same structure.

    Where the arrays of `like` are traced and items are many, the function is compiled once for all of them.
    """
    operation = getattr(_operations_of(*like), "for_each", None)
    found = None if operation is None else operation(function, items)
    return [function(*item) for item in items] if found is None else cast(list[T], found)


def _nothing(condition: Any, reason: Any) -> None:
    """Ignore a condition on symbols that have no `require`, such as those that are only printed."""


def clip(x: Any, lower: Any, upper: Any, /) -> Any:
    """x limited to [lower, upper]; outside, the derivative is zero."""
    return minimum(maximum(x, lower), upper)


def sign(x: Any, /) -> Any:
    """The sign of x: -1, 0 or 1; its derivative is zero."""
    return where(less(x, 0.0), -1.0, where(less(0.0, x), 1.0, where(equal(x, 0.0), 0.0, x)))  # NaN stays NaN


def array(elements: Sequence[Any]) -> Array:
    """A vector or matrix of the given scalars."""
    return np.array(elements)


def zeros(shape: int | tuple[int, ...], *like: Any) -> Array:
    """Zeros of a dtype that can hold sums and products of elements of `like`."""
    if any(is_scalar_array(x) for x in like):
        filled = np.empty(shape, dtype=object)
        filled.fill(0.0)
        return filled
    return np.zeros(shape, dtype=np.result_type(float, *like))


def cross(a: Array, b: Array) -> Array:
    """The cross product a × b, (…, 3), of vectors (…, 3)."""
    if np.ndim(a) > 1 or np.ndim(b) > 1:
        if np.shape(a)[-1:] != (3,) or np.shape(b)[-1:] != (3,):
            raise _of_three("cross", a, b)
        a0, a1, a2 = np.moveaxis(np.asarray(a), -1, 0)
        b0, b1, b2 = np.moveaxis(np.asarray(b), -1, 0)
        return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=-1)
    try:
        a0, a1, a2 = a
        b0, b1, b2 = b
    except (TypeError, ValueError):
        raise _of_three("cross", a, b) from None
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def skew(a: Array) -> Array:
    """The matrix [a]×, (…, 3, 3), with [a]× b = a × b, of vectors (…, 3)."""
    if np.shape(a)[-1:] != (3,):
        raise _of_three("skew", a)
    if np.ndim(a) > 1:
        x, y, z = np.moveaxis(np.asarray(a), -1, 0)
        zero = 0.0 * x
        rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def unskew(A: Array) -> Array:
    """The vector a, (…, 3), with [a]× = A, of matrices (…, 3, 3); if A is not skew-symmetric, [a]× = ½ (A - Aᵀ)."""
    A = np.asarray(A)
    if A.shape[-2:] != (3, 3):
        raise ArgumentError(f"unskew of an array of shape {A.shape}; expected (…, 3, 3)")
    return 0.5 * axial(A)


def axial(A: Array) -> Array:
    """The vector a, (…, 3), with [a]× = A - Aᵀ, of matrices (…, 3, 3)."""
    parts = [A[..., 2, 1] - A[..., 1, 2], A[..., 0, 2] - A[..., 2, 0], A[..., 1, 0] - A[..., 0, 1]]
    return np.stack(parts, axis=-1)


def _of_three(name: str, *given: Any) -> ArgumentError:
    """The error for arrays that are not vectors of three."""
    shapes = " and ".join(f"{np.shape(each)}" for each in given)
    return ArgumentError(f"{name} of shape {shapes}; expected (…, 3)")


def mirrored(A: Array) -> Array:
    """The matrix with its upper triangle copied below the diagonal, for one that is symmetric in exact arithmetic.

    The lower triangle of a traced matrix is then never computed.
    """
    lower = np.tril_indices(len(A), -1)
    A = A.copy()
    A[lower] = A.T[lower]
    return A
