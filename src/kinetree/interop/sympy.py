"""Explicit equations of motion as SymPy expressions: τ = M(q) a + V(q, v) + G(q) + F(q, v).

The only file that knows SymPy. What it gets are sums of waves (textbook form) or a graph (factored form).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import numpy as np
import sympy
from sympy.printing.c import C99CodePrinter
from sympy.printing.pycode import PythonCodePrinter

from kinetree.compiler import Graph, Node, uses
from kinetree.equations import code
from kinetree.equations.derive import as_sums, derive, exact
from kinetree.equations.trig_polynomials import Sum, Wave
from kinetree.errors import ArgumentError, short
from kinetree.interop.exported import common_operations
from kinetree.model.tree import Model
from kinetree.ops import Array

FEW_JOINTS = 4
"""Up to so many velocities, equations are given in textbook form unless asked otherwise."""
LITTLE_WORK = 40_000
"""Unless that takes more products of terms than so many: some seconds."""
COMMON_DENOMINATOR = 64
"""Fractions with a larger one are written as decimals."""
QUANTITIES = ("M", "C", "V", "G", "F", "tau")

OPERATIONS: dict[str, Callable[..., Any]] = {
    **common_operations(sympy),
    "inverse": lambda x: 1 / x,
    "absolute": sympy.Abs,
    "minimum": sympy.Min,
    "maximum": sympy.Max,
    "less": sympy.Lt,
    "less_equal": sympy.Le,
    "equal": sympy.Eq,
    "logical_and": sympy.And,
    "logical_or": sympy.Or,
    "logical_not": sympy.Not,
    "where": lambda condition, then, otherwise: sympy.Piecewise((then, condition), (otherwise, True)),
    "true": lambda: sympy.true,
    "false": lambda: sympy.false,
}
"""What the operations of graphs are called in SymPy."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Equations:
    """τ = M a + V + G + F of a robot, in named symbols.

    q1, q2, … are positions, v1, v2, … velocities and a1, a2, … accelerations, in the order of the robot's; plain SymPy
    symbols, so that ``sympy.Symbol("q1")`` is the same.
    """

    name: str
    q: tuple[Any, ...]
    v: tuple[Any, ...]
    a: tuple[Any, ...]
    coordinates: tuple[str, ...]
    """The joint of every velocity, '…[k]' for one of several."""
    parameters: Mapping[Any, float]
    """The value of every symbol that stands for a number of the robot; ``M.subs(parameters)`` is the robot's own M."""
    M: Any
    """The mass matrix."""
    C: Any
    """The Coriolis matrix, with Ṁ - 2C skew-symmetric."""
    V: Any
    """Coriolis and centrifugal forces C v."""
    G: Any
    """Gravity forces."""
    F: Any
    """Damping, friction and springs of joints, where they are part of the model."""
    definitions: tuple[tuple[Any, Any], ...]
    """Symbols that stand for expressions in q, v, parameters and earlier ones: common factors, and sines and cosines.
    Empty for equations that are written out."""
    is_factored: bool
    """Whether common factors have names; then τ is that of the recursion (RNEA), and not put together."""
    tau: Any
    """M a + V + G + F."""
    _latex: Mapping[Any, str]

    def short(self) -> Equations:
        """The same with c2 for cos(q2), s23 for sin(q2 + q3) and so on, listed in `definitions`."""
        place = {symbol: k for k, symbol in enumerate(self.q, 1)}
        named: dict[Any, Any] = {}
        known = {expression for _, expression in self.definitions}
        every = (self.M, self.C, self.V, self.G, self.F, *known)
        waves = set().union(*(expression.atoms(sympy.sin, sympy.cos) for expression in every))
        for wave in sorted(waves - known, key=sympy.default_sort_key):
            angles = wave.args[0].as_coefficients_dict()
            if all(angle in place and abs(multiple) == 1 for angle, multiple in angles.items()):
                terms = sorted((place[angle], multiple < 0) for angle, multiple in angles.items())
                word = ("" if len(self.q) < 10 else "_").join(f"{'m' if minus else ''}{k}" for k, minus in terms)
                named[wave] = sympy.Symbol(("s" if isinstance(wave, sympy.sin) else "c") + word)
        written = {which: getattr(self, which).xreplace(named) for which in QUANTITIES}
        later = tuple((symbol, expression.xreplace(named)) for symbol, expression in self.definitions)
        return replace(self, **written, definitions=(*((symbol, wave) for wave, symbol in named.items()), *later))

    # -- for people --------------------------------------------------------------------------------------------

    def _lines(self) -> list[tuple[str, str, Any]]:
        """Symbol, index and expression of every line of the equations: M above the diagonal, V, G and F."""
        n = len(self.v)
        mark = "," if n > 9 else ""
        lines = [("M", f"{i + 1}{mark}{j + 1}", self.M[i, j]) for i in range(n) for j in range(i, n)]
        for name, vector in (("V", self.V), ("G", self.G), ("F", self.F)):
            if name != "F" or any(vector):
                lines += [(name, str(i + 1), vector[i]) for i in range(n)]
        return lines

    @property
    def _law(self) -> str:
        return "M a + V + G + F" if any(self.F) else "M a + V + G"

    def __repr__(self) -> str:
        form = f"{len(self.definitions)} factors" if self.is_factored else "written out"
        return f"<Equations of {self.name!r}: {len(self.v)} velocities, {form}>"

    def __str__(self) -> str:
        """The equations line by line, entries of M below the diagonal left out."""
        lines = [f"{self.name}: tau = {self._law}"]
        lines += [f"{symbol} = {_text(expression)}" for symbol, expression in self.definitions]
        lines += [f"{name}{index} = {_text(expression)}" for name, index, expression in self._lines()]
        lines += [f"{symbol} = {value:.6g}" for symbol, value in self.parameters.items()]
        return "\n".join(lines)

    def pretty(self) -> str:
        """M, V, G and F as matrices in two dimensions, for a terminal."""
        shown = [*self.definitions, *((sympy.Symbol(name), getattr(self, name)) for name in "MVG")]
        if any(self.F):
            shown.append((sympy.Symbol("F"), self.F))
        drawn = (sympy.pretty(sympy.Eq(symbol, value, evaluate=False), wrap_line=False) for symbol, value in shown)
        return "\n\n".join(drawn)

    def latex(self) -> str:
        """The equations line by line, as an environment `aligned`."""

        def written(expression: Any) -> str:
            return str(sympy.latex(expression, symbol_names=dict(self._latex)))

        lines = [rf"\tau &= {self._law.replace('a', chr(92) + 'ddot{q}', 1)}"]
        lines += [f"{written(symbol)} &= {written(expression)}" for symbol, expression in self.definitions]
        lines += [f"{name}_{{{index}}} &= {written(expression)}" for name, index, expression in self._lines()]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def _repr_latex_(self) -> str:
        return f"$${self.latex()}$$"

    # -- for machines ------------------------------------------------------------------------------------------

    def python(self) -> str:
        """A module of plain Python, with NumPy for the results only: mass_matrix(q), coriolis_matrix(q, v),
        coriolis_forces(q, v), gravity_forces(q), joint_forces(q, v), inverse_dynamics(q, v, a).

        Parameters are keyword arguments whose defaults are the robot's values.
        """
        return code.python(self.name, self._law, self._functions(), self._names, _Python().doprint)

    def c(self) -> str:
        """The same functions in C99, results in the last argument, matrices row by row; parameters are a struct."""
        return code.c(self.name, self._law, self._functions(), self._names, _C().doprint)

    @property
    def _names(self) -> code.Names:
        q, v, a = (tuple(map(str, symbols)) for symbols in (self.q, self.v, self.a))
        return code.Names(q, v, a, {str(symbol): value for symbol, value in self.parameters.items()})

    def _functions(self) -> list[code.Function]:
        wanted = [
            ("mass_matrix", "qp", self.M, "M(q)"),
            ("coriolis_matrix", "qvp", self.C, "C(q, v), with C v = V"),
            ("coriolis_forces", "qvp", self.V, "V(q, v)"),
            ("gravity_forces", "qp", self.G, "G(q)"),
            ("joint_forces", "qvp", self.F, "F(q, v): damping, friction and springs of joints"),
            ("inverse_dynamics", "qvap", self.tau, f"tau = {self._law}"),
        ]
        functions = []
        for name, arguments, value, about in wanted:
            if name == "joint_forces" and not any(self.F):
                continue
            steps, results = self._factored(value)
            expressions = (*results, *(each for _, each in steps))
            used = frozenset(str(symbol) for expression in expressions for symbol in expression.free_symbols)
            shape = value.shape if name.endswith("matrix") else value.shape[:1]
            functions.append(code.Function(name, arguments, about, shape, steps, results, used))
        return functions

    def _factored(self, value: Any) -> tuple[list[tuple[str, Any]], list[Any]]:
        """Intermediate results and the entries of a matrix in terms of them."""
        if not self.is_factored:
            whole = value.xreplace(dict(self.definitions))
            steps, (result,) = sympy.cse([whole], symbols=_fresh("x", whole.free_symbols), order="none")
            return [(str(symbol), step) for symbol, step in steps], list(result)
        needed, steps = set(value.free_symbols), []
        for symbol, expression in reversed(self.definitions):
            if symbol in needed:
                needed |= expression.free_symbols
                steps.append((str(symbol), expression))
        return steps[::-1], list(value)


def _fresh(stem: str, taken: Iterable[Any]) -> Any:
    return sympy.numbered_symbols(stem, exclude=taken, start=1)


def _text(expression: Any) -> str:
    return str(sympy.sstr(expression, full_prec=False))


class _Python(PythonCodePrinter):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__({"fully_qualified_modules": False})

    def _print_Float(self, number: Any) -> str:
        return repr(float(number))


class _C(C99CodePrinter):  # type: ignore[misc]
    def _print_Float(self, number: Any) -> str:
        return repr(float(number))

    def _print_Pow(self, power: Any) -> str:
        if power.base.is_Symbol and power.exp in (2, 3):
            return "*".join([self._print(power.base)] * int(power.exp)).join("()")
        return str(super()._print_Pow(power))


# -- making them -------------------------------------------------------------------------------------------------------


def equations(model: Model, kinds: Sequence[str], factored: bool | None) -> Equations:
    """The equations of a model, with numbers of these kinds as symbols."""
    if not isinstance(factored, bool | None):
        raise ArgumentError(f"factored is {short(factored)}; expected True, False or None")
    sums = None
    if factored is False or (factored is None and model.nv <= FEW_JOINTS and not model.quaternions):
        derivation = derive(model)
        sums = as_sums(derivation, model, kinds, limit=LITTLE_WORK if factored is None else math.inf)
    if sums is None:
        derivation = derive(model, kinds)
    symbols = {letter: sympy.Symbol(letter.name) for letter in derivation.letters}
    if sums is None:
        definitions, values = _from_graph(derivation.graph, list(symbols.values()), model.nq)
        found = {name: _matrix(array) for name, array in derivation.by_quantity(values).items()}
    else:
        masses = [symbols[letter] for letter in derivation.letters if letter.name[0] == "m"]
        definitions = []
        found = {
            name: _matrix(np.vectorize(lambda total: _expression(total, symbols, masses), otypes=[object])(array))
            for name, array in sums.items()
        }
        rates = [symbol for letter, symbol in symbols.items() if letter.name[0] == "a"]
        found["tau"] = found["M"] * sympy.ImmutableMatrix(len(rates), 1, rates) + found["V"] + found["G"] + found["F"]
    used = set().union(*(matrix.free_symbols for matrix in found.values()))
    used = used.union(*(expression.free_symbols for _, expression in definitions))
    everything = list(symbols.values())
    q, v, a = np.split(np.array(everything[: model.nq + 2 * model.nv]), [model.nq, model.nq + model.nv])
    named = {symbols[letter]: parameter for letter, parameter in derivation.named().items() if parameter.kind in kinds}
    latex = {symbol: parameter.latex for symbol, parameter in named.items()}
    for mark, vector in (("q", q), (r"\dot{q}", v), (r"\ddot{q}", a)):
        latex |= {symbol: f"{mark}_{{{k}}}" for k, symbol in enumerate(vector, 1)}
    return Equations(
        name=model.name,
        q=tuple(q),
        v=tuple(v),
        a=tuple(a),
        coordinates=tuple(
            joint.name + (f"[{k}]" if joint.nv > 1 else "") for joint in model.owners for k in range(joint.nv)
        ),
        parameters={symbol: parameter.value for symbol, parameter in named.items() if symbol in used},
        definitions=tuple(definitions),
        is_factored=sums is None,
        _latex=latex,
        **{which: found[which] for which in QUANTITIES},
    )


def _matrix(array: Array) -> Any:
    rows, columns = array.shape if array.ndim == 2 else (len(array), 1)
    return sympy.ImmutableMatrix(rows, columns, list(array.ravel()))


# -- from sums of waves ------------------------------------------------------------------------------------------------


def _expression(total: Sum, symbols: Mapping[Any, Any], masses: Sequence[Any] = ()) -> Any:
    """The sum, with common factors taken out of what belongs to one mass."""
    by_mass: dict[Any, list[Any]] = {}
    for (powers, waves), coefficient in total.terms.items():
        found = [(_symbol(letter, symbols), power) for letter, power in powers]
        factors = [symbol if power == 1 else symbol**power for symbol, power in found]  # a comparison has no power
        mass = next((factor for factor in factors if factor in masses), None)
        factors = [factor for factor in factors if factor is not mass]
        factors += [_wave(wave, symbols) for wave in waves]
        if len(total.terms) == 1 and coefficient == 1 and mass is None and len(factors) == 1:
            return factors[0]  # it may be a comparison, which cannot be multiplied
        is_plain = mass is None and not any(
            hasattr(letter, "name") and letter.name[0] in "mlIg" for letter, _ in powers
        )
        by_mass.setdefault(mass, []).append(sympy.Mul(_number(coefficient, is_plain), *factors))
    parts = []
    for mass, terms in by_mass.items():
        part = sympy.Add(*terms)
        kept = {function: sympy.Dummy() for function in part.atoms(sympy.Function)}  # nothing is taken out of angles
        part = sympy.factor_terms(part.xreplace(kept), sign=True).xreplace({new: old for old, new in kept.items()})
        parts.append(part if mass is None else mass * part)
    return sympy.Add(*parts)


def _symbol(letter: Any, symbols: Mapping[Any, Any]) -> Any:
    if letter in symbols:
        return symbols[letter]
    return OPERATIONS[letter.op](*(_expression(arg, symbols) for arg in letter.args))


def _wave(wave: Wave, symbols: Mapping[Any, Any]) -> Any:
    positions = list(symbols.values())
    angle = sympy.Add(*(_number(k, False) * (positions[at] if at >= 0 else 1) for at, k in wave.frequency))
    return OPERATIONS[wave.kind](angle)


def _number(value: Fraction, is_plain: bool) -> Any:
    """A whole number or a simple fraction as such, but 0.25 of a coefficient that is a number and nothing else."""
    if value.denominator == 1 or (not is_plain and value.denominator <= COMMON_DENOMINATOR):
        return sympy.Rational(value.numerator, value.denominator)
    return sympy.Float(float(exact(float(value))))


# -- from graphs -------------------------------------------------------------------------------------------------------


def _from_graph(graph: Graph, symbols: Sequence[Any], nq: int) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """What is used more than once by a name of its own, in order, and the outputs in terms of these."""
    counted: Counter[Node] = uses(graph)
    definitions: list[tuple[Any, Any]] = []
    found: dict[Node, Any] = {}
    fresh = _fresh("x", symbols)
    for node in graph.nodes():
        if node.op == "input":
            found[node] = symbols[int(node.value)]
            continue
        if node.op == "const":
            found[node] = sympy.Integer(int(node.value)) if node.value == int(node.value) else sympy.Float(node.value)
            continue
        value = OPERATIONS[node.op](*(found[arg] for arg in node.args))
        is_wave = node.op in ("sin", "cos") and node.args[0].op == "input" and node.args[0].value < nq
        is_number = node.args and not isinstance(value, sympy.logic.boolalg.Boolean)
        if is_number and node.op != "neg" and (counted[node] > 1 or is_wave):
            name = sympy.Symbol(f"{node.op[0]}{int(node.args[0].value) + 1}") if is_wave else next(fresh)
            definitions.append((name, value))
            value = name
        found[node] = value
    return definitions, [found[node] for node in graph.outputs]
