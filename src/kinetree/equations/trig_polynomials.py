"""Sums of products of symbols, sines and cosines, in a form that is the same for equal sums.

    Σ coefficient · Π symbol^power · Π_g wave_g         wave: sin or cos of a sum of angles of one group

Angles of joints with parallel axes make a group. Products of sines and cosines of one group become sums,

    2 cos a cos b = cos(a - b) + cos(a + b)     2 sin a sin b = cos(a - b) - cos(a + b)     2 sin a cos b = …

so that cos q2 cos q3 - sin q2 sin q3 is cos(q2 + q3) from the moment it arises, sin² + cos² is 1, and what cancels is
gone. Such sums are unique: waves of different frequencies are linearly independent. Coefficients are exact fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

NEGLIGIBLE = 1e-13
"""Coefficients so small beside the largest of their sum come from rounded constants, and are dropped."""
CLOSE = 1e-12
"""Relative: coefficients this close are equal up to the rounding of constants."""


class Wave(NamedTuple):
    """sin or cos of Σ multiple · angle, for angles of one group; the first multiple is positive."""

    group: int
    kind: str
    frequency: tuple[tuple[int, Fraction], ...]
    """(angle, multiple) by angle; the angle -1 is the number one, so that its multiple is a phase."""


Powers = tuple[tuple[Any, int], ...]
"""(symbol, power), in the order of what the symbols are sorted by."""
Key = tuple[Powers, tuple[Wave, ...]]
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Sum:
    """Coefficients by symbols and waves; waves of a product are in the order of their groups, one for each."""

    terms: Mapping[Key, Fraction]

    @staticmethod
    def number(value: Fraction) -> Sum:
        return Sum({((), ()): value} if value else {})

    @staticmethod
    def symbol(symbol: Any) -> Sum:
        return Sum({(((symbol, 1),), ()): Fraction(1)})

    def constant(self) -> Fraction | None:
        """Its value, if it is a number."""
        if not self.terms:
            return Fraction(0)
        return self.terms.get(((), ())) if len(self.terms) == 1 else None

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __add__(self, other: Sum) -> Sum:
        total = dict(self.terms)
        for key, coefficient in other.terms.items():
            _accumulate(total, key, coefficient)
        return Sum(total)

    def __neg__(self) -> Sum:
        return Sum({key: -coefficient for key, coefficient in self.terms.items()})

    def __sub__(self, other: Sum) -> Sum:
        return self + -other

    def __mul__(self, other: Sum) -> Sum:
        total: dict[Key, Fraction] = {}
        for (powers, waves), x in self.terms.items():
            for (other_powers, other_waves), y in other.terms.items():
                product = _powers(powers, other_powers)
                for factor, together in _interfere(waves, other_waves):
                    _accumulate(total, (product, together), factor * x * y)
        return Sum(total)

    # -- sines and cosines -------------------------------------------------------------------------------------

    def wave(self, kind: str, group_of: Mapping[Any, tuple[int, int]]) -> Sum | None:
        """sin or cos of this sum, if it is one of multiples of angles of one group; `group_of` knows of every angle its
        group and its place."""
        groups, frequency = set(), {}
        for (powers, waves), multiple in self.terms.items():
            if waves or len(powers) > 1 or (powers and (powers[0][1] != 1 or powers[0][0] not in group_of)):
                return None
            if powers:
                group, place = group_of[powers[0][0]]
                groups.add(group)
                frequency[place] = multiple
            else:
                frequency[-1] = multiple
        if len(groups) != 1:
            return None
        sign, wave = _normal(groups.pop(), kind, frequency)
        return Sum({((), (wave,)): Fraction(sign)})

    def with_products(self) -> Sum:
        """The same with pairs such as cos(2a + b) + cos(b) written as products, 2 cos(a) cos(a + b), where one of the
        pair is no plain sum of angles: fewer terms, and those of textbooks. It is for reading: nothing can be added
        to it or multiplied by it."""
        terms = _without_rounding(self.terms)
        for group in sorted({wave.group for _, waves in terms for wave in waves}):
            terms = _paired(terms, group)
        return Sum(terms)


def _accumulate(total: dict[Any, Fraction], key: Any, value: Fraction) -> None:
    new = total.get(key, 0) + value
    if new:
        total[key] = new
    else:
        total.pop(key, None)


def _powers(left: Powers, right: Powers) -> Powers:
    if not left or not right:
        return left or right
    merged = dict(left)
    for symbol, power in right:
        merged[symbol] = merged.get(symbol, 0) + power
    return tuple(sorted(merged.items(), key=lambda item: item[0].order))


def _interfere(left: tuple[Wave, ...], right: tuple[Wave, ...]) -> list[tuple[Fraction, tuple[Wave, ...]]]:
    """The product of two products of waves, as a sum of such products."""
    if not left or not right:
        return [(Fraction(1), left or right)]
    of_left = {wave.group: wave for wave in left}
    of_right = {wave.group: wave for wave in right}
    products: list[tuple[Fraction, tuple[Wave, ...]]] = [(Fraction(1), ())]
    for group in sorted(of_left.keys() | of_right.keys()):
        if group in of_left and group in of_right:
            choices = _product(of_left[group], of_right[group])
        else:
            choices = [(Fraction(1), of_left.get(group) or of_right[group])]
        products = [
            (x * y, (*waves, wave) if wave is not None else waves) for x, waves in products for y, wave in choices
        ]
    return products


def _product(a: Wave, b: Wave) -> list[tuple[Fraction, Wave | None]]:
    """2 cos cos = cos(-) + cos(+), 2 sin sin = cos(-) - cos(+), 2 sin cos = sin(+) + sin(-)."""
    plus, minus = dict(a.frequency), dict(a.frequency)
    for angle, multiple in b.frequency:
        _accumulate(plus, angle, multiple)
        _accumulate(minus, angle, -multiple)
    kind = "cos" if a.kind == b.kind else "sin"
    of_plus = -HALF if a.kind == b.kind == "sin" else HALF
    of_minus = -HALF if (a.kind, b.kind) == ("cos", "sin") else HALF
    found: list[tuple[Fraction, Wave | None]] = []
    for factor, frequency in ((of_plus, plus), (of_minus, minus)):
        if frequency:
            sign, wave = _normal(a.group, kind, frequency)
            found.append((factor * sign, wave))
        elif kind == "cos":
            found.append((factor, None))
    return found


def _normal(group: int, kind: str, frequency: Mapping[int, Fraction]) -> tuple[int, Wave]:
    """The wave with its first multiple positive, and the sign that leaves."""
    ordered = sorted(item for item in frequency.items() if item[0] >= 0)
    ordered += [item for item in frequency.items() if item[0] < 0]
    negative = ordered[0][1] < 0
    if negative:
        ordered = [(angle, -multiple) for angle, multiple in ordered]
    return -1 if negative and kind == "sin" else 1, Wave(group, kind, tuple(ordered))


# -- for reading -------------------------------------------------------------------------------------------------------


def _without_rounding(terms: Mapping[Key, Fraction]) -> dict[Key, Fraction]:
    largest = max(map(abs, terms.values()), default=Fraction(0))
    return {key: value for key, value in terms.items() if abs(value) > NEGLIGIBLE * largest}


def _paired(terms: Mapping[Key, Fraction], group: int) -> dict[Key, Fraction]:
    """Pairs of waves of this group that have all other factors in common, as products."""
    alike: dict[Any, dict[Wave | None, Fraction]] = {}
    for (powers, waves), value in terms.items():
        own = next((wave for wave in waves if wave.group == group), None)
        others = tuple(wave for wave in waves if wave.group != group)
        alike.setdefault((powers, others), {})[own] = value
    result: dict[Key, Fraction] = {}
    for (powers, others), values in alike.items():
        for factor, waves in _products(values):
            _accumulate(result, (powers, tuple(sorted((*others, *waves)))), factor)
    return result


def _products(values: dict[Wave | None, Fraction]) -> Iterable[tuple[Fraction, tuple[Wave, ...]]]:
    left = dict(values)
    for wave, value in values.items():
        if wave is None or wave not in left or _is_plain(wave.frequency):
            continue
        for partner, other in left.items():
            halves = _halves(wave, partner)
            if halves is None or abs(abs(value) - abs(other)) > CLOSE * abs(value):
                continue
            same = value * other > 0
            (a, b), kinds = halves, _KINDS[wave.kind, same]
            factor = 2 * value if (wave.kind, same) != ("cos", False) else -2 * value
            (sign_a, first), (sign_b, second) = (
                _normal(wave.group, kind, dict(part)) for kind, part in zip(kinds, (a, b), strict=True)
            )
            yield factor * sign_a * sign_b, (first, second)
            del left[wave], left[partner]
            break
    for wave, value in left.items():
        yield value, () if wave is None else (wave,)


_KINDS = {
    ("cos", True): ("cos", "cos"),
    ("cos", False): ("sin", "sin"),
    ("sin", True): ("sin", "cos"),
    ("sin", False): ("cos", "sin"),
}
"""The two factors of cos w ± cos u and of sin w ± sin u, of (w + u)/2 and (w - u)/2."""


def _is_plain(frequency: Iterable[tuple[int, Fraction]]) -> bool:
    return all(abs(multiple) <= 1 for angle, multiple in frequency if angle >= 0)


def _halves(wave: Wave, partner: Wave | None) -> tuple[Any, Any] | None:
    """(w + u)/2 and (w - u)/2, where both are plain sums of angles."""
    if partner == wave or (partner is None and wave.kind == "sin") or (partner and partner.kind != wave.kind):
        return None
    w, u = dict(wave.frequency), dict(partner.frequency if partner else ())
    halves = []
    for sign in (1, -1):
        twice = {angle: w.get(angle, Fraction(0)) + sign * u.get(angle, Fraction(0)) for angle in w.keys() | u.keys()}
        plain = {angle: multiple / 2 for angle, multiple in twice.items() if multiple}
        is_whole = all(multiple.denominator == 1 for angle, multiple in plain.items() if angle >= 0)
        if not plain or not is_whole or not _is_plain(plain.items()):
            return None
        halves.append(tuple(plain.items()))
    return halves[0], halves[1]
