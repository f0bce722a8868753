"""Jacobian, gradient and Hessian of any compiled function with respect to any of its arguments, also compiled.

Derivatives with respect to a configuration are on its tangent space: those of f(q ⊕ dv) at dv = 0, (…, nv).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import update_wrapper
from inspect import BoundArguments
from itertools import count
from math import prod
from typing import Any, Literal

import numpy as np

from kinetree import ops
from kinetree.algorithms.configuration import position_rates
from kinetree.compiler import (
    Graph,
    Node,
    array_operations_if,
    as_node,
    collected_requirements,
    differentiate,
    is_traced,
    new_table,
    reachable,
    rebuilt,
    require,
    symbols,
)
from kinetree.errors import ArgumentError, ArgumentTypeError, one_of, short, unknown
from kinetree.functions.bindable import Bindable
from kinetree.functions.definition import Definition, is_choice
from kinetree.functions.law import Law, law_of
from kinetree.functions.result_tree import flatten
from kinetree.functions.specialization import is_result
from kinetree.ops import Array

Mode = Literal["auto", "forward", "reverse"]
MODES: tuple[Mode, ...] = ("auto", "forward", "reverse")

_fresh = count(-1, -1)
"""Positions of symbols that stand for the argument of a derivative; they are negative, unlike those of inputs."""


def jacobian(
    function: Callable[..., Any],
    wrt: str | Sequence[str] = "q",
    mode: Mode = "auto",
    *,
    shapes: Mapping[str, Any] | None = None,
) -> Law:
    """The Jacobian of a function: an array (…, n) for every result of shape (…), with n numbers of the argument `wrt`.

    The function is a law, a function that could be compiled as one, or a quantity such as `kt.Robot.gravity_forces`.
    The derivative of a bound law, or of a quantity of one robot, is bound as well. Several names in `wrt` give a tuple.
    `mode` is the direction of differentiation: forward, from the arguments, or reverse, from the results; by default it
    starts from the side with fewer numbers.
    """
    return _derivative_of(function, "jacobian", wrt, one_of("mode", mode, MODES), shapes)


def gradient(
    function: Callable[..., Any], wrt: str | Sequence[str] = "q", *, shapes: Mapping[str, Any] | None = None
) -> Law:
    """The gradient (n,) of a function that returns one number, by reverse differentiation."""
    return _derivative_of(function, "gradient", wrt, "reverse", shapes)


def hessian(
    function: Callable[..., Any], wrt: str | Sequence[str] = "q", *, shapes: Mapping[str, Any] | None = None
) -> Law:
    """The Hessian (n, n) of a function that returns one number, exactly symmetric.

    With respect to a configuration with quaternions it is that of f(q ⊕ dv) at dv = 0. Several names in `wrt` give one
    diagonal block each; a mixed block is a `jacobian` of a `gradient`.
    """
    return _derivative_of(function, "hessian", wrt, "auto", shapes)


def rate_of_change(function: Callable[..., Any], robot: Bindable, q: Array, v: Array, *given: Any) -> Any:
    """d/dt of function(robot, q, v, …) while q moves with v and all else stays: on symbols or on numbers."""
    return _derived(Definition(function, {}), "rate", "q", "forward").function(robot, q, v, *given)


Kind = Literal["jacobian", "gradient", "hessian", "rate"]
Differentiate = Callable[[list[Array], list[Any]], list[Array]]
"""A function of results and directions (columns) that returns derivatives, whose last axes are over the columns."""


def _derivative_of(
    function: Any, kind: Kind, wrt: str | Sequence[str], mode: Mode, shapes: Mapping[str, Any] | None
) -> Any:
    """The derivative of a law, cached in the law; the derivative of a bound law is bound."""
    found = law_of(function, shapes)
    if not isinstance(wrt, (str, Sequence)):
        raise ArgumentTypeError(f"wrt is {short(wrt)}; expected the name of an argument, or several")
    names = wrt if isinstance(wrt, str) else tuple(wrt)
    known, key = found.law._derivatives, (kind, names, mode)
    if key not in known:
        known.setdefault(key, Law(_derived(found.law.definition, kind, names, mode)))
    return found.bound(known[key])


def _derived(primal: Definition, kind: Kind, wrt: str | tuple[str, ...], mode: Mode) -> Definition:
    names = (wrt,) if isinstance(wrt, str) else wrt
    for name in names:
        if name not in (*primal.names, "parameters"):
            raise unknown(f"argument of {primal.name}", name, (*primal.names, "parameters"))

    def derivative(*args: Any, **kwargs: Any) -> Any:
        named = primal.arguments(args, kwargs)
        is_symbolic = any(isinstance(value, Bindable) and value.is_symbolic for value in named.values())
        if not is_symbolic and not any(map(is_traced, named.values())):
            return _on_floats(derivative, primal, named)
        results = tuple(_by_argument(primal, named, name, kind, mode) for name in names)
        return results[0] if isinstance(wrt, str) else results

    update_wrapper(derivative, primal.function)
    derivative.__name__ = derivative.__qualname__ = f"{kind}_of_{primal.name}"
    derivative.__doc__ = f"The {kind} of {primal.name} with respect to {', '.join(names)}."
    derivative.__signature__ = primal.signature  # type: ignore[attr-defined]
    return Definition(derivative, primal.shapes, (_derived, (primal, kind, wrt, mode)))


def _kinds(mode: Mode) -> dict[Kind, Differentiate]:
    return {
        "jacobian": lambda leaves, columns: _jacobian(leaves, columns, mode),
        "gradient": lambda leaves, columns: [_gradient(_number(leaves), columns)],
        "hessian": lambda leaves, columns: [_hessian(_number(leaves), columns)],
        "rate": lambda leaves, columns: _jacobian(leaves, columns, mode),
    }


def _by_argument(law: Definition, named: dict[str, Any], name: str, kind: Kind, mode: Mode) -> Any:
    """The derivative with respect to one argument, or to the parameters of a robot; arguments are nodes or numbers."""
    robot = None if name in law.names else _parametric(law, named)
    given = named[name] if robot is None else named[robot].own_parameters
    if isinstance(given, Bindable):
        raise ArgumentTypeError(f"{name} is a robot; a derivative is with respect to an array or a number")
    if is_choice(given):
        raise ArgumentTypeError(f"{name} is an option; a derivative is with respect to an array or a number")
    fresh = symbols(np.shape(given), _fresh)
    with array_operations_if(False), collected_requirements() as conditions:  # only scalar nodes have derivatives
        argument = fresh.copy() if fresh.shape else fresh[()]  # the law may write into it
        changed = {name: argument} if robot is None else {robot: named[robot].at_parameters(argument)}
        result = law.apply({**named, **changed})
    leaves, rebuild = flatten(result, is_result)
    rates, axes = _directions(law, named, name, fresh)
    if kind == "rate":
        rates, axes = (rates.T @ named["v"])[None], ()
    columns = [_nonzero(fresh, column) for column in rates]
    arrays = [np.asarray(leaf, dtype=object) for leaf in leaves]
    derived, order = _kinds(mode)[kind](arrays, columns), 2 if kind == "hessian" else 1
    given_nodes = [as_node(value) for value in np.asarray(given, dtype=object).ravel()]
    put = _substitution(
        [*conditions, *(node for array in derived for node in array.ravel())], fresh.ravel(), given_nodes
    )
    for condition, reason in zip(conditions, conditions.reasons, strict=True):
        require(put(condition), reason)
    return rebuild([_shaped(array, axes * order, order, put) for array in derived])


def _parametric(law: Definition, named: Mapping[str, Any]) -> str:
    """The name of the argument that is a parametric robot."""
    for name, value in named.items():
        if isinstance(value, Bindable) and value.model.parametric is not None:
            return name
    raise ArgumentError(
        f"{law.name} has no parameters to differentiate by; expected a parametric robot, as "
        "kt.load(…, parametric=('inertial',)) gives"
    )


def _directions(law: Definition, named: Mapping[str, Any], name: str, fresh: Array) -> tuple[Array, tuple[int, ...]]:
    """The rates of the argument along every column, one row each, and the shape of the axes over columns."""
    robot = next((value for value in named.values() if isinstance(value, Bindable)), None)
    if robot is not None and law.is_configuration(name):
        return position_rates(robot.model, fresh).T, (robot.nv,)
    return np.eye(fresh.size), fresh.shape


def _nonzero(fresh: Array, rates: Array) -> dict[Node, Any]:
    pairs = zip(fresh.ravel(), rates, strict=True)
    return {node: rate for node, rate in pairs if type(rate) is Node or rate != 0.0}


def _shaped(array: Array, axes: tuple[int, ...], order: int, put: Callable[[Any], Any]) -> Array:
    """The derivative with its argument substituted, and its last axes, over columns, shaped like the argument."""
    filled = np.empty(array.size, dtype=object)
    for k, value in enumerate(array.ravel()):
        filled[k] = put(value)
    return filled.reshape((*array.shape[: array.ndim - order], *axes))


def _substitution(used: list[Any], symbols: Iterable[Node], values: Iterable[Node]) -> Callable[[Any], Any]:
    """A function that replaces the symbols in a node by the values."""
    new: dict[Node, Node] = dict(zip(symbols, values, strict=True))
    for node in reachable([value for value in used if type(value) is Node]):
        if node not in new:
            new[node] = rebuilt(node, tuple(new[arg] for arg in node.args))
    return lambda value: new[value] if type(value) is Node else value


def _on_floats(derivative: Callable[..., Any], law: Definition, named: dict[str, Any]) -> Any:
    """The derivative on numbers: its graph, evaluated node by node."""
    from kinetree.compiler import trace  # noqa: F401, PLC0415 - registers nodes as operands; slow to load

    robots = {name: value for name, value in named.items() if isinstance(value, Bindable) or is_choice(value)}
    arrays = {name: np.asarray(value, dtype=np.float64) for name, value in named.items() if name not in robots}
    parametric = {
        name: robot for name, robot in robots.items() if getattr(robot, "model", None) and robot.model.parametric
    }
    inputs = {**arrays, **{name: robot.own_parameters for name, robot in parametric.items()}}
    with new_table():
        position = count()
        traced = {name: symbols(array.shape, position) for name, array in inputs.items()}
        traced = {name: array if array.shape else array[()] for name, array in traced.items()}
        with collected_requirements() as conditions:
            traced |= {name: robot.at_parameters(traced[name]) for name, robot in parametric.items()}
            given = BoundArguments(law.signature, {**robots, **traced})
            leaves, rebuild = flatten(derivative(*given.args, **given.kwargs), is_result)
        shapes = [np.shape(leaf) for leaf in leaves]
        nodes = [as_node(value) for leaf in leaves for value in np.asarray(leaf, dtype=object).ravel()]
        nodes += [as_node(condition) for condition in conditions]
        numbers = Graph(next(position), tuple(nodes)).evaluate([x for array in inputs.values() for x in array.ravel()])
    if not all(numbers[len(numbers) - len(conditions) :]):
        law.apply({**robots, **arrays})  # raises if the state is refused
    results, start = [], 0
    for shape in shapes:
        results.append(np.array(numbers[start : start + prod(shape)], dtype=np.float64).reshape(shape))
        start += prod(shape)
    return rebuild(results)


# -- the three kinds ---------------------------------------------------------------------------------------------------


def _jacobian(leaves: list[Array], columns: list[Any], mode: Mode) -> list[Array]:
    outputs = [as_node(value) for leaf in leaves for value in leaf.ravel()]
    if mode == "auto":
        mode = "reverse" if len(outputs) < len(columns) else "forward"
    rows = iter(differentiate.jacobian(outputs, columns, mode))
    derived = []
    for leaf in leaves:
        array = ops.zeros((leaf.size, len(columns)), leaf)
        for k, row in zip(range(leaf.size), rows, strict=False):
            for column, rate in row.items():
                array[k, column] = rate
        derived.append(array.reshape(*leaf.shape, len(columns)))
    return derived


def _gradient(f: Node, columns: list[Any]) -> Array:
    (row,) = differentiate.jacobian([f], columns, "reverse")
    return np.array([row.get(k, as_node(0.0)) for k in range(len(columns))], dtype=object)


def _hessian(f: Node, columns: list[Any]) -> Array:
    n = len(columns)
    rows = differentiate.jacobian(list(_gradient(f, columns)), columns, "forward")
    H = np.empty((n, n), dtype=object)
    for i, j in np.ndindex(n, n):
        H[i, j] = rows[i].get(j, as_node(0.0))
    if any(type(rate) is Node for column in columns for rate in column.values()):
        H = (H + H.T) * 0.5  # derivatives along rotations do not commute; that of f(q ⊕ dv) is the mean of both orders
    return ops.mirrored(H)


def _number(leaves: list[Array]) -> Node:
    if len(leaves) != 1 or leaves[0].size != 1:
        found = ", ".join(str(leaf.shape) for leaf in leaves)
        raise ArgumentError(f"the function returns arrays of shape {found}; expected one number")
    return as_node(leaves[0].ravel()[0])
