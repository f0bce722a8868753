"""The algorithms on symbols for one robot: M, C, V, G and forces of joints as a graph, and that as sums of waves."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from kinetree.algorithms import coriolis, crba, joint_forces, rnea
from kinetree.compiler import Graph, Node, new_table, trace
from kinetree.equations.named import KINDS, Parameter, renamed
from kinetree.equations.trig_polynomials import Sum
from kinetree.model.tree import Model
from kinetree.ops import Array

PARALLEL = 1e-12
"""How far the directions of two axes may be apart to count as parallel."""

ROUNDING = 1e-14
"""Relative: how far a float may be from a decimal number of eleven digits to stand for it."""
ARITHMETIC: dict[str, Callable[..., Sum]] = {
    "add": operator.add,
    "sub": operator.sub,
    "neg": operator.neg,
    "mul": operator.mul,
}
"""Operations under which sums stay sums."""


@dataclass(frozen=True)
class Letter:
    """A symbol of the equations."""

    name: str
    order: int = field(compare=False)


@dataclass(frozen=True)
class Applied:
    """An operation other than sums, products, sines and cosines, such as the square root of smoothed friction."""

    op: str
    args: tuple[Sum, ...]
    order: int = field(compare=False)


@dataclass(frozen=True)
class Derivation:
    """The graph of all quantities, with the letters of its inputs: q, v, a and parameters."""

    graph: Graph
    shapes: Mapping[str, tuple[int, ...]]
    """Of every quantity, in the order of the graph's outputs."""
    letters: tuple[Letter, ...]
    parameters: tuple[Parameter, ...]
    """Those that have letters, the last of all."""

    def named(self) -> dict[Letter, Parameter]:
        """The parameters by their letters."""
        first = len(self.letters) - len(self.parameters)
        return dict(zip(self.letters[first:], self.parameters, strict=True))

    def by_quantity(self, values: Iterable[object]) -> dict[str, Array]:
        """What stands for the outputs, shaped as matrices and vectors."""
        flat, arrays, start = np.empty(len(self.graph.outputs), dtype=object), {}, 0
        flat[:] = list(values)
        for name, shape in self.shapes.items():
            size = int(np.prod(shape))
            arrays[name] = flat[start : start + size].reshape(shape)
            start += size
        return arrays


def derive(model: Model, kinds: Iterable[str] = KINDS) -> Derivation:
    """M, C, V, G, F and τ with the numbers of these kinds as inputs, the others as constants."""
    chosen: list[Parameter] = []

    def choose(parameter: Parameter) -> float:
        if parameter.kind in kinds:
            chosen.append(parameter)
        return parameter.value

    renamed(model, choose)
    index = {parameter.name: k for k, parameter in enumerate(chosen)}
    weightless = replace(model, gravity=np.zeros(3))
    names = ("M", "C", "V", "G", "F", "tau")

    def quantities(q: Array, v: Array, a: Array, p: Array) -> tuple[Array, ...]:
        def scalar(parameter: Parameter) -> object:
            return p[index[parameter.name]] if parameter.name in index else parameter.value

        robot = renamed(model, scalar) if chosen else model
        floating = replace(robot, gravity=weightless.gravity)
        still = np.zeros(model.nv)
        return (
            crba.mass_matrix(robot, q),
            coriolis.coriolis_matrix(floating, q, v),
            rnea.newton_euler(floating, q, v, still),
            rnea.newton_euler(robot, q, still, still),
            joint_forces.passive_forces(robot, q, v),
            rnea.inverse_dynamics(robot, q, v, a),
        )

    with new_table():
        graph, shapes = trace(quantities, [(model.nq,), (model.nv,), (model.nv,), (len(chosen),)])
    words = [f"q{k + 1}" for k in range(model.nq)]
    words += [f"{letter}{k + 1}" for letter in "va" for k in range(model.nv)]
    words += [parameter.name for parameter in chosen]
    letters = tuple(Letter(word, order) for order, word in enumerate(words))
    return Derivation(graph, dict(zip(names, shapes, strict=True)), letters, tuple(chosen))


def as_sums(
    derivation: Derivation, model: Model, keep: Iterable[str], limit: float = math.inf
) -> dict[str, Array] | None:
    """M, C, V, G and F as sums of waves; parameters of kinds that are not to be kept get their values, exactly.

    None, if that takes more than `limit` products of two terms.
    """
    kept = set(keep)
    inputs = {letter: Sum.symbol(letter) for letter in derivation.letters}
    for letter, parameter in derivation.named().items():
        if parameter.kind not in kept:
            inputs[letter] = Sum.number(exact(parameter.value))
    group_of = {derivation.letters[k]: (group, k) for k, group in enumerate(parallel(model))}
    shapes = {name: shape for name, shape in derivation.shapes.items() if name != "tau"}
    count = sum(int(np.prod(shape)) for shape in shapes.values())
    graph = Graph(derivation.graph.n_inputs, derivation.graph.outputs[:count])
    found: dict[Node, Sum] = {}
    atoms: dict[Applied, Applied] = {}
    work = 0
    for node in graph.nodes():
        if node.op == "mul":
            work += len(found[node.args[0]].terms) * len(found[node.args[1]].terms)
            if work > limit:
                return None
        found[node] = _sum(node, [found[arg] for arg in node.args], list(inputs.values()), group_of, atoms)
    sums = [found[node].with_products() for node in graph.outputs]
    return replace(derivation, graph=graph, shapes=shapes).by_quantity(sums)


def _sum(
    node: Node,
    args: list[Sum],
    inputs: list[Sum],
    group_of: Mapping[Letter, tuple[int, int]],
    atoms: dict[Applied, Applied],
) -> Sum:
    if node.op == "input":
        return inputs[int(node.value)]
    if node.op == "const":
        return Sum.number(exact(node.value))
    if node.op in ARITHMETIC:
        return ARITHMETIC[node.op](*args)
    if node.op in ("sin", "cos"):
        wave = args[0].wave(node.op, group_of)
        if wave is not None:
            return wave
    if node.op == "div":
        divisor = args[1].constant()
        if divisor:
            return args[0] * Sum.number(1 / divisor)
        return args[0] * _applied("inverse", args[1:], atoms)
    return _applied(node.op, args, atoms)


def _applied(op: str, args: list[Sum], atoms: dict[Applied, Applied]) -> Sum:
    new = Applied(op, tuple(args), 10_000_000 + len(atoms))
    return Sum.symbol(atoms.setdefault(new, new))


def exact(number: float) -> Fraction:
    """The decimal number that a float stands for; a short one, if only rounding is between them."""
    near = float(f"{number:.11g}")
    return Fraction(repr(near if abs(near - number) <= ROUNDING * abs(number) else float(number)))


def parallel(model: Model) -> list[int]:
    """For every position in q a number that is the same for angles about axes that stay parallel."""
    group = list(range(model.nq))
    for i, _ in model.root_to_tips():
        turns = model.joints[i].turns
        if not turns:
            continue
        (axis, at), body = turns[0], i
        while True:  # up to the next joint that turns
            axis, body = model.placements[body].R.T @ axis, model.parents[body]
            before = model.joints[body].turns
            if before != () or body == 0:
                break
        if before and np.abs(np.cross(axis, before[-1][0])).max() < PARALLEL:
            old, new = group[at], group[before[-1][1]]
            group = [new if each == old else each for each in group]
    return group
