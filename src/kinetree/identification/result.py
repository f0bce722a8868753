"""What was identified: parameters, how certain they are, the robot that has them, and a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_floats, as_number, batch_shape
from kinetree.base.lazy import lazy
from kinetree.errors import ArgumentError
from kinetree.identification.base_parameters import BaseParameters
from kinetree.identification.recording import WRENCH
from kinetree.identification.unknowns import Unknowns
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.simulation.labels import labels_of
from kinetree.spatial import Inertia


@dataclass(frozen=True, eq=False)
class Shown:
    """A share of the samples, for plots: times (n,), measured and fitted torques (n, nv)."""

    t: Array
    measured: Array
    fitted: Array


@dataclass(frozen=True, eq=False)
class Identification:
    """Parameters of a robot from recordings, by `identify`."""

    unknowns: Unknowns
    parameters: Array
    """θ: ten inertial parameters for each body, then rotors, friction and offsets; named by `names`."""
    base_parameters: Array
    """B θ, the combinations that torques depend on; `base.describe()` has them as sums."""
    base_estimate: Array
    """What least squares alone says of them, without prior and consistency."""
    base_covariance: Array
    """Of `base_estimate`; infinite on the diagonal where the data do not see a base parameter."""
    blocks: int
    """How many independent pieces of data the covariance is from."""
    identifiable: Array
    """Which base parameters the data say more of than the prior, (base parameters,) of bool."""
    residuals: Array
    """Root mean square of what the fit leaves of the torques, for each coordinate, (nv,) [N m or N]."""
    torques: Array
    """Root mean square of the torques, (nv,)."""
    condition: float
    """Of the regressor with columns of length one: up to some hundreds is good."""
    samples: int
    cutoff: float | None
    """Of the low-pass filter [Hz], None where nothing was filtered."""
    method: str
    findings: tuple[str, ...]
    """What is suspicious in the recordings, and what they cannot show, in sentences."""
    shown: Shown

    @property
    def names(self) -> tuple[str, ...]:
        """The names of `parameters`, such as "forearm.mass" or "elbow.damping"."""
        return self.unknowns.names

    @property
    def base(self) -> BaseParameters:
        """The combinations of `parameters` that determine the torques."""
        return self.unknowns.base

    @property
    def base_standard_errors(self) -> Array:
        """The standard errors of `base_parameters`; infinite where the data do not determine one."""
        return np.sqrt(np.maximum(np.diag(self.base_covariance), 0.0))

    @lazy
    def standard_errors(self) -> Array:
        """Of `parameters`: infinite where torques depend on an entry only in sums with others, (len(θ),)."""
        B = self.base.matrix
        own = [np.flatnonzero(column) for column in B.T]
        found = np.full(len(self.names), np.inf)
        for k, rows in enumerate(own):
            if len(rows) == 1 and np.count_nonzero(B[rows[0]]) == 1:
                found[k] = self.base_standard_errors[rows[0]] / abs(B[rows[0], k])
        return found

    def intervals(self, level: float = 0.95) -> Array:
        """Confidence intervals of `base_parameters`, (base parameters, 2), from Student's distribution."""
        share = as_number("level", level)
        if not 0.0 < share < 1.0:
            raise ArgumentError(f"level is {share:g}; expected a number between 0 and 1")
        half = _quantile(0.5 + 0.5 * share, self.blocks - 1) * self.base_standard_errors
        return np.stack([self.base_parameters - half, self.base_parameters + half], axis=1)

    @property
    def inertias(self) -> dict[str, Inertia]:
        """The identified inertias by the names of bodies."""
        return self.unknowns.inertias(self.parameters)

    @property
    def inconsistent(self) -> tuple[str, ...]:
        """Bodies whose inertia no body has; none with consistent=True."""
        return tuple(name for name, inertia in self.inertias.items() if not inertia.is_consistent())

    @lazy
    def robot(self) -> Robot:
        """The robot with identified inertias, rotors, damping and Coulomb friction."""
        return self.unknowns.robot_with(self.parameters)

    def __getitem__(self, name: str) -> float:
        """A parameter by its name."""
        return float(self.parameters[self.unknowns.index(name)])

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Mapping[str, Array] | None = None) -> Array:
        """The torques of all that was identified, Stribeck friction and offsets too, (…, nv) [N m or N]."""
        robot = self.unknowns.robot
        sizes = {"q": robot.nq, "v": robot.nv, "a": robot.nv} | {f"{WRENCH}.{frame}": 6 for frame in wrenches or {}}
        given = (q, v, a, *(wrenches or {}).values())
        read = [as_floats(name, x, (size,)) for (name, size), x in zip(sizes.items(), given, strict=True)]
        batch = batch_shape({name: (x, (x.shape[-1],)) for name, x in zip(sizes, read, strict=True)})
        flat = [np.broadcast_to(x, (*batch, x.shape[-1])).reshape(-1, x.shape[-1]) for x in read]
        acting = dict(zip(wrenches or {}, flat[3:], strict=True))
        q, v, a = flat[:3]
        tau = self.unknowns.whole(q, v, a) @ self.parameters + self.unknowns.known(q, v, a, acting)
        return tau.reshape(*batch, robot.nv)

    @property
    def unseen(self) -> tuple[str, ...]:
        """Base parameters that the data cannot see, as sums of parameters."""
        words = self.base.describe()
        return tuple(word for word, seen in zip(words, self.identifiable, strict=True) if not seen)

    def __repr__(self) -> str:
        seen = int(self.identifiable.sum())
        return (
            f"<identification of {self.unknowns.robot.name!r}: {seen} of {len(self.base)} base parameters "
            f"from {self.samples} samples>"
        )

    def report(self) -> str:
        """The results as text: residuals of joints, base parameters with their errors, findings."""
        robot = self.unknowns.robot
        filtered = "" if self.cutoff is None else f", low-pass {self.cutoff:.3g} Hz"
        lines = [
            f"{robot.name}: {self.samples} samples, {self.method} least squares{filtered}",
            f"{int(self.identifiable.sum())} of {len(self.base)} base parameters are identifiable, "
            f"condition number {self.condition:.3g}",
            "",
            f"{'coordinate':28s} {'torque':>10s} {'residual':>10s}  (root mean square)",
        ]
        for k, (name, _) in enumerate(labels_of(robot, "v")):
            lines.append(f"{name:28s} {self.torques[k]:10.4g} {self.residuals[k]:10.4g}")
        lines += ["", f"{'base parameter':44s} {'before':>10s} {'found':>10s} {'std. err.':>10s}"]
        before = self.base.of(self.unknowns.values)
        for k, words in enumerate(self.base.describe(3)):
            shown = words if len(words) <= 44 else f"{words[:42]} …"
            error = self.base_standard_errors[k]
            mark = "" if self.identifiable[k] else "  not identifiable"
            lines.append(f"{shown:44s} {before[k]:10.4g} {self.base_parameters[k]:10.4g} {error:10.2g}{mark}")
        if self.inconsistent:
            lines += ["", f"no body has the inertia of {', '.join(self.inconsistent)}; see consistent=True"]
        return "\n".join([*lines, *([""] if self.findings else []), *(f"! {sentence}" for sentence in self.findings)])


def _quantile(p: float, freedom: int) -> float:
    """Of Student's distribution, by the first terms of its expansion about the normal one (Abramowitz and Stegun
    26.7.5)."""
    z, n = NormalDist().inv_cdf(p), max(1, freedom)
    z3, z5 = z**3, z**5
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n**2)
