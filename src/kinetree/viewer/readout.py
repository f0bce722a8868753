"""Numbers about the state that is shown: efforts that hold the robot, manipulability, momentum, energy."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.model.constraints import Contact
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.robot.constrained import Constrained
from kinetree.viewer.stage import State

SINGULAR = 1e-9
"""Singular values of J below this are rounding errors of zero."""
BAR = (
    '<div style="height:4px;border-radius:2px;background:#8884">'
    '<div style="height:4px;border-radius:2px;width:{}%;background:{}"></div></div>'
)
TABLE = (
    '<div style="font-size:.78em;padding:0 .9em .5em;line-height:1.5">'
    '<table style="width:100%;border-spacing:0">{}</table></div>'
)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers about one state."""

    holding: Array
    """Efforts of the joints at rest, (nv,) [N m or N]."""
    manipulability: float
    """√det(J Jᵀ) of a frame; the product of the singular values of J where J has fewer columns than rows."""
    condition: float
    """The largest singular value of J by the smallest."""
    momentum: Array
    """Linear [kg m/s] and angular [kg m²/s] about the centre of mass, (6,)."""
    kinetic_energy: float
    center_of_mass: Array


class Readout:
    """Computes the numbers and writes them as a page. With contacts, holding efforts are those that stand on them."""

    def __init__(self, robot: Robot, contacts: tuple[Contact, ...]) -> None:
        self.robot, self.contacts = robot, contacts

    @lazy
    def stance(self) -> Constrained | None:
        return self.robot.constrained(self.contacts) if self.contacts else None

    def holding(self, q: Array) -> tuple[Array, dict[str, Array]]:
        """Efforts at rest, (nv,), and the forces of the contacts by frame."""
        rest = np.zeros(self.robot.nv)
        if self.stance is None:
            return self.robot.gravity_forces(q), {}
        tau, forces = self.stance.inverse_dynamics(q, rest, rest)
        rows = zip(self.contacts, self.stance.rows, strict=True)
        return tau, {contact.frame: forces[part] for contact, part in rows}

    def numbers(self, state: State, frame: str) -> Numbers:
        J = self.robot.frame(frame).jacobian(state.q)
        moving = J[:, np.abs(J).max(axis=0, initial=0.0) > 1e-12]
        has_sizes = moving.size and np.isfinite(moving).all()
        sizes = np.linalg.svd(moving, compute_uv=False) if has_sizes else np.zeros(1)
        smallest = float(sizes[-1])
        h = self.robot.centroidal_momentum(state.q, state.v) if self.robot.mass > 0.0 else np.zeros(6)
        return Numbers(
            holding=self.holding(state.q)[0],
            manipulability=float(np.prod(sizes)) if smallest > SINGULAR else 0.0,
            condition=float(sizes[0]) / smallest if smallest > SINGULAR else np.inf,
            momentum=h if self.robot.model.spatial_order == "linear-first" else np.roll(h, 3),
            kinetic_energy=float(self.robot.kinetic_energy(state.q, state.v)),
            center_of_mass=self.robot.center_of_mass(state.q) if self.robot.mass > 0.0 else np.full(3, np.nan),
        )

    def facts(self, numbers: Numbers) -> str:
        """All but the efforts, as HTML."""
        p, c = numbers.momentum, numbers.center_of_mass
        condition = f"{numbers.condition:.3g}" if numbers.condition < 1e6 else "∞"
        facts = {
            "Centre of mass": f"{_vector(c)} m",
            "Manipulability": f"{numbers.manipulability:.3g} <small>(condition {condition})</small>",
            "Momentum": f"{_vector(p[:3])} kg m/s",
            "Spin": f"{_vector(p[3:])} kg m²/s",
            "Kinetic energy": f"{numbers.kinetic_energy:.3g} J",
        }
        rows = (f'<tr><td style="opacity:.65">{k}</td><td align="right">{v}</td></tr>' for k, v in facts.items())
        return TABLE.format("".join(rows))

    def efforts(self, numbers: Numbers) -> str:
        """The effort of every joint, as HTML, with its share of the limit."""
        head = f'<tr><td colspan="3" style="opacity:.65">{self.title}</td></tr>'
        return TABLE.format(head + "".join(self._efforts(numbers.holding)))

    @property
    def title(self) -> str:
        return "that carry it on its contacts" if self.contacts else "that hold it against gravity"

    def _efforts(self, tau: Array) -> list[str]:
        limits, rows = self.robot.limits.effort, []
        for joint in self.robot.model.owners:
            if joint is self.robot.model.floating_base:
                continue
            unit = " or ".join(dict.fromkeys(unit for _, unit in joint.tau_labels))
            effort = float(np.abs(tau[joint.v_slice]).max())
            most = float(np.min(limits[joint.v_slice]))
            used = effort / most if 0.0 < most < np.inf else 0.0
            color = "#dc2626" if used > 1.0 else "#2563eb"
            shown = _vector(tau[joint.v_slice]) if joint.nv == 1 else f"{effort:.2f}"
            bar = BAR.format(round(100.0 * min(used, 1.0)), color) if 0.0 < most < np.inf else ""
            rows.append(
                f'<tr><td style="max-width:9em;overflow:hidden;text-overflow:ellipsis;white-space:nowrap">'
                f'{escape(joint.name)}</td><td style="width:30%;padding:0 .5em">{bar}</td>'
                f'<td align="right" style="white-space:nowrap">{shown} {unit}</td></tr>'
            )
        return rows


def _vector(x: Array) -> str:
    return " ".join(f"{value + 0.0:.2f}" for value in np.round(x, 2))
