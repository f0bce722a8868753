"""The columns S of a joint and their rates, for derivatives of recursions.

All in coordinates that stand still, with the parent λ moving with v_λ and a_λ, and the body with v:

    Ψ̇ = v_λ × S,     Ψ̈ = a_λ × S + v_λ × Ψ̇,     Ṡ = v × S

Moved by δ along S, what the joint carries changes by δ S ×, but for what does not take part: -δ Ψ̇ of its velocity and,
beside δ Ψ̇ × v, -δ Ψ̈ of its acceleration (Singh, Russell and Wensing 2022). A joint whose S depends on q is a series of
simpler ones without mass between them: its columns are taken one by one. A free joint with velocities in its parent's
axes is a series of three slides and a ball whose columns do not turn with it, so that v and v_λ change places.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kinetree.model.joints import Free, Joint
from kinetree.model.joints.joint import combination
from kinetree.ops import Array
from kinetree.spatial import CoriolisInertia, Force, Inertia, Motion
from kinetree.spatial.packing import halves


@dataclass(frozen=True)
class MovingColumns:
    """The columns of one joint, or of one step of a series: their place in v, S, Ψ̇, Ψ̈ and Ṡ."""

    at: slice
    S: tuple[Motion, ...]
    psi1: tuple[Motion, ...]
    psi2: tuple[Motion, ...]
    psi2_seen: tuple[Motion, ...]
    """Ψ̈ - v × Ψ̇ = a_λ × S - (v - v_λ) × Ψ̇, with few entries that are not zero."""
    rate: tuple[Motion, ...]

    def force_by_q(self, I: Inertia, B: CoriolisInertia) -> list[Force]:
        """2 B Ψ̇ + I Ψ̈ for every column, of sums over the subtree: how f changes with q, but for being carried along,
        S ×* f."""
        return [(B * psi1) * 2.0 + I * psi2 for psi1, psi2 in zip(self.psi1, self.psi2, strict=True)]

    def force_by_v(self, I: Inertia, B: CoriolisInertia) -> list[Force]:
        """2 B S + I (Ψ̇ + Ṡ) for every column: how f changes with v."""
        return [(B * s) * 2.0 + I * (psi1 + rate) for s, psi1, rate in zip(self.S, self.psi1, self.rate, strict=True)]


def moving_columns(
    joint: Joint, S: tuple[Motion, ...], V: Motion, A: Motion, v: Array, a: Array
) -> tuple[list[MovingColumns], Motion, Motion]:
    """The columns of a joint with V and A those of its parent; and V and A of its body."""
    series = list(_series(joint, S))
    velocities = [combination(part, v[at]) for at, part, _ in series]
    steps = []
    for k, (at, part, turns) in enumerate(series):
        V_next = V + velocities[k]
        psi1 = tuple((V if turns else V_next).cross(s) for s in part)
        A_next = A + combination(part, a[at]) + combination(psi1, v[at])  # S v × S v = 0
        (V_p, A_p), V_b = ((V, A), V_next) if turns else ((V_next, A_next), V)
        ahead = sum(velocities[k if turns else k + 1 :], Motion.zero())  # v - v_λ
        psi2 = tuple(A_p.cross(s) + V_p.cross(psi) for s, psi in zip(part, psi1, strict=True))
        seen = tuple(A_p.cross(s) - ahead.cross(psi) for s, psi in zip(part, psi1, strict=True))
        rate = psi1 if len(part) == 1 else tuple(V_b.cross(s) for s in part)  # S × S = 0
        steps.append(MovingColumns(at, part, psi1, psi2, seen, rate))
        V, A = V_next, A_next
    return steps, V, A


def _series(joint: Joint, S: tuple[Motion, ...]) -> Iterator[tuple[slice, tuple[Motion, ...], bool]]:
    """Places in v, columns, and whether they turn with the body."""
    if joint.is_series:
        yield from ((slice(joint.iv + k, joint.iv + k + 1), (s,), True) for k, s in enumerate(S))
    elif isinstance(joint, Free) and joint.frame == "mixed":
        for half, turns in zip(halves(joint.order), (True, False), strict=True):
            yield slice(joint.iv + half.start, joint.iv + half.stop), S[half], turns
    else:
        yield joint.v_slice, S, True
