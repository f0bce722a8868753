"""Constants of the elementary functions, one set for float64 and one for float32."""

from __future__ import annotations

from dataclasses import dataclass, replace

Polynomial = tuple[float, ...]
"""Coefficients, the constant one first."""


@dataclass(frozen=True)
class Constants:
    """What sin, cos and atan2 need in one type of numbers."""

    half_pi: tuple[float, ...]
    """π/2 in parts."""
    round: float
    """A sum with it is rounded to an integer, which is in the low bits."""
    reducible: float
    """Angles up to this size are reduced by the parts."""
    sin: Polynomial
    """sin r = r + r³ p(r²) for |r| ≤ π/4."""
    cos: Polynomial
    """cos r = 1 - r²/2 + r⁴ p(r²) for |r| ≤ π/4."""
    atan: Polynomial
    """atan t = t - t³ p(t²) for |t| ≤ tan π/8."""
    huge: float
    """Two numbers of this size may have an infinite sum."""
    quarter_pi_low: float
    """What rounding takes from π/4; twice and four times this are taken from π/2 and π."""


DOUBLE = Constants(
    half_pi=(1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33),
    round=6755399441055744.0,  # 1.5 · 2⁵²
    reducible=1e9,
    sin=(
        -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
    ),
    cos=(
        4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
        -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
    ),
    atan=(
        3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01,
        -1.11111104054623557880e-01, 9.09088713343650656196e-02, -7.69187620504482999495e-02,
        6.66107313738753120669e-02, -5.83357013379057348645e-02, 4.97687799461593236017e-02,
        -3.65315727442169155270e-02, 1.62858201153657823623e-02,
    ),
    huge=1e300,
    quarter_pi_low=3.061616997868383e-17,
)  # fmt: skip
"""The polynomials are those of fdlibm (Sun Microsystems 1993)."""

SINGLE = Constants(
    half_pi=(1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
    round=12582912.0,  # 1.5 · 2²³
    reducible=1e5,
    sin=(-1.6666654611e-01, 8.3321608736e-03, -1.9515295891e-04),
    cos=(4.166664568298827e-02, -1.388731625493765e-03, 2.443315711809948e-05),
    atan=(3.33329491539e-01, -1.99777106478e-01, 1.38776856032e-01, -8.05374449538e-02),
    huge=1e37,
    quarter_pi_low=-2.1855694143368964e-08,
)
"""The polynomials are those of Cephes' single-precision functions (Moshier 1989)."""

WITH_FMA = {"double": DOUBLE, "float": SINGLE}
"""By LLVM's name of the type."""
WITHOUT_FMA = {
    "double": replace(
        DOUBLE,
        half_pi=(
            1.57079632673412561417,
            6.07710050630396597660e-11,
            2.02226624871116645580e-21,
            8.47842766036889956997e-32,
        ),
        reducible=1e6,
    ),
    "float": replace(
        SINGLE,
        half_pi=(1.57080078125, -4.454515874385834e-06, 6.077272018956137e-11, -1.7150994166548195e-15),
        reducible=1e3,
    ),
}
"""The parts of π/2 have 33 bits, in float32 14, so that their products with multiples below 2²⁰, or 2¹⁰, are exact."""
