"""A compiled function and its derivatives as functions of a shared library that CasADi calls, under the names and with
the arguments that it expects:

NAME            the function f
jac_NAME        ∂f/∂x, a block for every result and every argument, in its own sparsity
fwd1_NAME       J ẋ, one direction of forward mode
adj1_NAME       Jᵀ ȳ, one direction of reverse mode
fwd1_adj1_NAME  the derivative of Jᵀ ȳ in one direction, of which CasADi makes Hessians
fwd1_fwd1_NAME  that of J ẋ, for functions of one or two numbers

Matrices are stored in columns. Arguments that are the results of f are passed to its derivatives by CasADi; they are
not used, and have no numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from kinetree.base.precision import FLOAT64, computing_in
from kinetree.compiler import (
    CasadiFunction,
    CasadiKernel,
    Node,
    Pattern,
    Shape,
    any_broken,
    array_operations_if,
    as_node,
    build,
    collected_requirements,
    differentiate,
    host,
    library_of,
    lock,
    sparsities,
)
from kinetree.functions.compiled_function import CompiledFunction, Key
from kinetree.functions.directional import shapes_of
from kinetree.functions.result_tree import flatten
from kinetree.functions.specialization import is_result
from kinetree.ops import Array

Flat = list[Array]
"""Numbers of arrays, each in one row: those of a matrix column by column."""


def as_matrix(shape: Shape) -> tuple[int, int]:
    """The rows and columns of an array; of several matrices, those of all below each other."""
    if len(shape) < 2:
        return prod(shape), 1
    return prod(shape[:-1]), shape[-1]


class CasadiLibrary:
    """The functions of a library for arguments and results of these names."""

    def __init__(self, name: str, compiled: CompiledFunction, key: Key, words: Sequence[str]) -> None:
        """`words` are the names of arguments, then those of results."""
        careful = compiled.careful(key.options)
        self.name, self._compiled, self._key = name, compiled if careful is None else careful, key
        self._shapes = {"in": list(compiled.arrays.values()), "out": list(shapes_of(self._compiled, key))}
        count = len(compiled.arrays)
        self._in = {word: Pattern(as_matrix(shape)) for word, shape in zip(words, self._shapes["in"], strict=False)}
        self._out = {
            word: Pattern(as_matrix(shape)) for word, shape in zip(words[count:], self._shapes["out"], strict=True)
        }

    def data(self) -> bytes:
        """The shared library, from disk if it was made before."""
        own = self._compiled.identity(self._key)
        identity = None if own is None else f"{self.name} {[*self._in]} {[*self._out]} {own}"
        return library_of(identity, self._modules, host().computing_in(FLOAT64))

    def _modules(self) -> tuple[list[str], list[str]]:
        """LLVM assembly, and the names of functions that others see."""
        adjoint, pattern = self._adjoint()
        value = self._function(self.name, self._formula(arrays=True), [*self._in.items()], [*self._out.items()])
        inputs, outputs = [*self._with_results(), *_prefixed("fwd_", self._in)], _prefixed("fwd_", self._out)
        forward = self._function(f"fwd1_{self.name}", self._rates, inputs, outputs)
        second = [self._second(forward, self._rates), self._second(adjoint, self._transposed)]
        functions = [value, self._jacobian(), forward, adjoint, *second]
        name = f"jac_adj1_{self.name}_sparsity_out"
        texts = [text for function in functions for text in function.modules()]
        return [*texts, sparsities(name, pattern)], [*(x for function in functions for x in function.symbols), name]

    # -- the functions -------------------------------------------------------------------------------------------------

    def _jacobian(self) -> CasadiFunction:
        """Derivatives by every argument are a kernel of their own: CasADi asks for those by some."""
        outputs: dict[tuple[int, int], tuple[str, Pattern]] = {}
        kernels, count = [], len(self._in)
        for j, column in enumerate(self._in):
            patterns: list[Pattern] = []

            def run(*given: Array, j: int = j, patterns: list[Pattern] = patterns) -> Flat:
                patterns.clear()
                blocks = []
                columns = [{node: 1.0} for node in given[j].ravel()]
                results = self._formula()(*given)
                nodes = [as_node(x) for result in results for x in result]
                mode = "reverse" if len(nodes) < len(columns) else "forward"
                rows = iter(differentiate.jacobian(nodes, columns, mode))
                for result in results:
                    block = [next(rows) for _ in result]
                    found = [
                        [i for i, row in enumerate(block) if not _is_zero(row.get(k))] for k in range(len(columns))
                    ]
                    patterns.append(Pattern((len(block), len(columns)), tuple(map(tuple, found))))
                    blocks.append(_array([block[i][k] for k, places in enumerate(found) for i in places]))
                return blocks

            kernel = self._kernel(
                run, [*self._in.values()], range(count), [i * count + j for i in range(len(self._out))]
            )
            kernels.append(kernel)
            for i, (row, pattern) in enumerate(zip(self._out, patterns, strict=True)):
                outputs[i, j] = f"jac_{row}_{column}", pattern
        return CasadiFunction(
            f"jac_{self.name}", self._with_results(), [outputs[place] for place in sorted(outputs)], kernels
        )

    def _adjoint(self) -> tuple[CasadiFunction, list[Pattern]]:
        """The function, and the sparsities of its derivatives by all its arguments."""
        found: list[Pattern] = []

        def run(*values: Array) -> Flat:
            result = self._transposed(*values)
            found[:] = self._dependencies(result, values)
            return result

        inputs = [*self._with_results(), *_prefixed("adj_", self._out)]
        return self._function(f"adj1_{self.name}", run, inputs, _prefixed("adj_", self._in)), found

    def _second(self, first: CasadiFunction, run: Callable[..., Flat]) -> CasadiFunction:
        """The derivative of a derivative in one direction."""

        def along(*values: Array) -> Flat:
            given, rates = values[: len(values) // 2], values[len(values) // 2 :]
            return _along(run(*given), given, rates)

        results = [(f"out_{name}", Pattern.empty(pattern.size)) for name, pattern in first.outputs]
        inputs = [*first.inputs, *results, *_prefixed("fwd_", dict(first.inputs))]
        return self._function(f"fwd1_{first.name}", along, inputs, _prefixed("fwd_", dict(first.outputs)))

    # -- their parts ---------------------------------------------------------------------------------------------------

    def _formula(self, arrays: bool = False) -> Callable[..., Flat]:
        """The function of flat arguments, which returns flat results."""
        formula = self._compiled.formula(self._key)

        def run(*given: Array) -> Flat:
            own = [_shaped(x, shape) for x, shape in zip(given, self._shapes["in"], strict=True)]
            with array_operations_if(arrays):  # only scalar nodes have derivatives
                leaves, _ = flatten(formula(*own), is_result)
            return [
                np.asarray(leaf, dtype=object).reshape(as_matrix(shape)).T.ravel()
                for leaf, shape in zip(leaves, self._shapes["out"], strict=True)
            ]

        return run

    def _rates(self, *values: Array) -> Flat:
        """J ẋ of arguments, then rates ẋ."""
        given, rates = values[: len(self._in)], values[len(self._in) :]
        return _along(self._formula()(*given), given, rates)

    def _transposed(self, *values: Array) -> Flat:
        """Jᵀ ȳ of arguments, then weights ȳ."""
        given, weights = values[: len(self._in)], values[len(self._in) :]
        total = as_node(0.0)
        for result, weight in zip(self._formula()(*given), weights, strict=True):
            for x, w in zip(result, weight.ravel(), strict=True):
                total = total + as_node(x) * w
        found = iter(differentiate.reverse(total, [node for array in given for node in array.ravel()]))
        return [_array([as_node(0.0) if (x := next(found)) is None else x for _ in array.ravel()]) for array in given]

    def _dependencies(self, results: Flat, values: Sequence[Array]) -> list[Pattern]:
        """For every result and every argument of adj1_NAME, on which numbers it depends."""
        count = len(self._in)
        columns = [{node: 1.0} for array in values for node in array.ravel()]
        depends = iter(differentiate.sparsity([as_node(x) for result in results for x in result], columns))
        patterns = []
        for result in results:
            rows, start = [next(depends) for _ in result], 0
            blocks = []
            for array in values:
                own = range(start, start + array.size)
                places = tuple(tuple(i for i, row in enumerate(rows) if k in row) for k in own)
                blocks.append(Pattern((len(rows), array.size), places))
                start += array.size
            unused = [Pattern.empty((len(rows), pattern.numbers)) for pattern in self._out.values()]
            patterns += [*blocks[:count], *unused, *blocks[count:]]
        return patterns

    def _function(
        self, name: str, run: Callable[..., Flat], inputs: list[tuple[str, Pattern]],
        outputs: list[tuple[str, Pattern]],
    ) -> CasadiFunction:  # fmt: skip
        """A function of one kernel, which takes all inputs that have numbers."""
        used = [k for k, (_, pattern) in enumerate(inputs) if pattern.rows is None]
        kernel = self._kernel(run, [inputs[k][1] for k in used], used, range(len(outputs)))
        return CasadiFunction(name, inputs, outputs, [kernel])

    def _kernel(
        self, run: Callable[..., Flat], patterns: Sequence[Pattern], inputs: Sequence[int], outputs: Sequence[int]
    ) -> CasadiKernel:
        def checked(*given: Array) -> tuple[Any, ...]:
            with collected_requirements() as conditions, computing_in(FLOAT64):
                results = run(*given)
            return (*results, any_broken(conditions)) if conditions else tuple(results)

        with lock:
            program = build(checked, [(pattern.numbers,) for pattern in patterns], host(), self.name)
        return CasadiKernel(program.single_assembly(), program.single_workspace(), inputs, outputs)

    def _with_results(self) -> list[tuple[str, Pattern]]:
        """The arguments, and the results, which are not used."""
        results = [(f"out_{name}", Pattern.empty(pattern.size)) for name, pattern in self._out.items()]
        return [*self._in.items(), *results]


def _along(results: Flat, given: Sequence[Array], rates: Sequence[Array]) -> Flat:
    """The rates of results while arguments have these rates."""
    direction = {x: rate for array, row in zip(given, rates, strict=True) for x, rate in zip(array, row, strict=True)}
    found = iter(differentiate.forward([as_node(x) for result in results for x in result], [direction]))
    return [_array([next(found).get(0, as_node(0.0)) for _ in result]) for result in results]


def _shaped(flat: Array, shape: Shape) -> Array:
    """The array of numbers that are in columns."""
    rows, columns = as_matrix(shape)
    return flat.reshape(columns, rows).T.reshape(shape).copy()


def _array(values: Sequence[Any]) -> Array:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _is_zero(node: Node | None) -> bool:
    return node is None or (node.op == "const" and node.value == 0.0)


def _prefixed(prefix: str, patterns: Mapping[str, Pattern]) -> list[tuple[str, Pattern]]:
    return [(f"{prefix}{name}", pattern) for name, pattern in patterns.items()]
