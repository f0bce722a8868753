"""Intersections of a conic with the unit circle: up to four points, by a pair of lines through all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kinetree import ops
from kinetree.ik.closed_form.subproblems import on_circle, root
from kinetree.ops import Array, atan2, where
from kinetree.spatial.euler import wrapped

BISECTIONS = 54


@dataclass(frozen=True, eq=False)
class Affine:
    """f(θ) = one + c cos θ + s sin θ."""

    one: Any
    c: Any
    s: Any

    @staticmethod
    def along(n: Array, center: Array, u: Array, v: Array) -> Affine:
        """nᵀ (center + u cos θ + v sin θ)."""
        return Affine(n @ center, n @ u, n @ v)

    def __call__(self, cosine: Any, sine: Any) -> Any:
        return self.one + self.c * cosine + self.s * sine

    def roots(self) -> tuple[Any, Any]:
        """Both θ with f(θ) = 0."""
        return on_circle(self.c, self.s, -self.one)


def squares_on_circle(terms: list[tuple[Any, Affine]], rest: Affine) -> list[Any]:
    """The four θ with Σ weight · f(θ)² + rest(θ) = 0; those that do not exist come in pairs that are not solutions.

    With x, y in the axes of the quadratic part the sum is A x² + B y² + C x + D y + E, A ≤ B. In the pencil
    sum + λ (x² + y² - 1) one conic is a pair of real lines for some λ between -B and -A, where the determinant changes
    its sign; on these lines lie all solutions (Elias and Wen 2022 solve the same by a quartic).
    """
    cc = sum(weight * f.c * f.c for weight, f in terms)
    ss = sum(weight * f.s * f.s for weight, f in terms)
    cs = sum(weight * f.c * f.s for weight, f in terms)
    one = rest.one + sum(weight * f.one * f.one for weight, f in terms)
    c = rest.c + sum(weight * f.one * f.c for weight, f in terms) * 2.0
    s = rest.s + sum(weight * f.one * f.s for weight, f in terms) * 2.0
    scale = ops.absolute(cc) + ops.absolute(ss) + ops.absolute(cs) + ops.absolute(one) + ops.absolute(c)
    scale = 1.0 / (scale + ops.absolute(s))
    cc, ss, cs, one, c, s = (x * scale for x in (cc, ss, cs, one, c, s))

    spread = root((cc - ss) * (cc - ss) + cs * cs * 4.0)  # B - A
    turn = 0.5 * atan2(-2.0 * cs, ss - cc)  # from the axes of cos and sin to those of x and y
    cosine, sine = ops.cos(turn), ops.sin(turn)
    A = 0.5 * (cc + ss - spread)
    C, D, E = c * cosine + s * sine, s * cosine - c * sine, one + A
    # A x² + B y² + … = A + (B - A) y² + C x + D y + one on the circle; λ is measured from -B, in parts of B - A
    return [wrapped(theta + turn) for theta in _on_lines(spread, C, D, E)]


def _on_lines(spread: Any, C: Any, D: Any, E: Any) -> list[Any]:
    """The same for spread · y² + C x + D y + E = 0."""

    def determinant(t: Any) -> Any:
        """Of the conic with λ = (t - 1) · spread: (t - 1) spread x² + t spread y² + C x + D y + E - λ."""
        past = 1.0 - t
        return (E + past * spread) * spread * spread * t * past + 0.25 * spread * (C * C * t - D * D * past)

    low: Any = 0.0
    high: Any = 1.0
    for _ in range(BISECTIONS):  # -D² at 0, C² at 1
        middle = 0.5 * (low + high)
        above = ops.less(0.0, determinant(middle))
        low, high = where(above, low, middle), where(above, middle, high)
    t = 0.5 * (low + high)
    u, v = root((1.0 - t) * spread), root(t * spread)
    offset = E + (1.0 - t) * spread  # v² y² + D y + offset = u² x² - C x  is  (v y - R)² = (u x - P)²
    by_division = ops.less(u, v)  # by the larger one; the other may be zero, and follows from P² - R² = -offset
    larger = where(by_division, v, u)
    larger = where(ops.less(0.0, larger), larger, 1.0)
    R = where(by_division, -0.5 * D / larger, _signed(root(0.25 * C * C / (larger * larger) + offset), -D))
    P = where(by_division, _signed(root(0.25 * D * D / (larger * larger) - offset), C), 0.5 * C / larger)
    first = on_circle(u, -v, P - R)
    second = on_circle(u, v, P + R)
    straight = on_circle(C, D, -E)  # no quadratic part at all
    is_line = ops.less(spread, 1e-14)
    return [where(is_line, straight[k], pair[k]) for pair in (first, second) for k in (0, 1)]


def _signed(size: Any, like: Any) -> Any:
    return where(ops.less(like, 0.0), -size, size)
