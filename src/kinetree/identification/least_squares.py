"""Linear least squares over recordings of any length: sums over chunks of samples, never the whole regressor.

For each coordinate j of the robot, with its rows y of the regressor and torques τ_j less what is known,

    G_j = Σ w y yᵀ        g_j = Σ w y τ_j        s_j = Σ w τ_j²

are all that ordinary and weighted estimates need: β = (Σ_j G_j / σ_j²)⁻¹ Σ_j g_j / σ_j². Weights w of single samples
leave out slow samples (friction is uncertain there), or outliers in the sense of Huber.

Residuals are not white: filters and what the model leaves out make them slow. Standard errors come from the sums of
y r / σ_j² over blocks of time that are long beside the correlation of r (the "sandwich" of White 1980, with blocks as
clusters).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.errors import ArgumentError
from kinetree.identification.recording import Measurements
from kinetree.identification.unknowns import Unknowns
from kinetree.ops import Array

CHUNK = 1024
"""Samples of which regressors are in memory at once."""
STRETCH = 64
HUBER = 1.345
"""Residuals beyond so many standard deviations count with their absolute value: 95 % efficient for Gaussian noise."""
RANK = 1e-12
"""Relative to the largest, eigenvalues of the scaled normal equations that count as zero."""
EXACT = 1e-7
"""Relative to the torques, the least standard deviation: data without noise are known to so many digits."""
MOST_ITERATIONS = 30
MOST_BLOCKS, FEWEST_BLOCKS = 1000, 40
MOST_CORRELATED = 20_000
"""Samples of which the correlation of residuals is found."""


@dataclass(frozen=True, eq=False)
class Sums:
    """G_j, g_j and s_j of all coordinates, in base parameters."""

    columns: tuple[Array, ...]
    """For each coordinate, which base parameters its torque depends on."""
    G: tuple[Array, ...]
    g: tuple[Array, ...]
    s: Array
    count: Array
    """Samples of each coordinate, by weight, (nv,)."""
    size: int
    """The number of base parameters."""

    def weighted(self, weights: Array) -> tuple[Array, Array]:
        """Σ_j w_j G_j and Σ_j w_j g_j."""
        G, g = np.zeros((self.size, self.size)), np.zeros(self.size)
        for w, own, G_j, g_j in zip(weights, self.columns, self.G, self.g, strict=True):
            G[np.ix_(own, own)] += w * G_j
            g[own] += w * g_j
        return G, g

    def squares(self, beta: Array) -> Array:
        """Σ w r² of each coordinate for these base parameters, (nv,)."""
        return np.array(
            [
                max(0.0, float(s - 2.0 * g @ beta[own] + beta[own] @ G @ beta[own]))
                for own, G, g, s in zip(self.columns, self.G, self.g, self.s, strict=True)
            ]
        )


class Samples:
    """All samples of all recordings, in chunks: rows of the base regressor and torques less what is known."""

    def __init__(self, unknowns: Unknowns, recordings: Sequence[Measurements], min_speed: float = 0.0) -> None:
        self.unknowns, self.recordings, self.min_speed = unknowns, recordings, min_speed
        self.base = unknowns.base
        self.starts = np.cumsum([0, *(len(each) for each in recordings)])
        self.place = np.full(len(unknowns.names), -1)
        self.place[self.base.independent] = np.arange(len(self.base))

    def __len__(self) -> int:
        return int(self.starts[-1])

    def chunks(self) -> Iterator[tuple[slice, Iterator[tuple[int, Array, Array]], Array]]:
        """Which samples, their rows by coordinate as `Unknowns.rows` has them, and torques (n, nv)."""
        robot = self.unknowns.robot
        kept = np.empty((CHUNK, *robot.regressor(robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)).shape))
        for start, each in zip(self.starts, self.recordings, strict=False):
            assert each.v is not None and each.a is not None
            for first in range(0, len(each), CHUNK):
                part = slice(first, min(first + CHUNK, len(each)))
                q, v, a = (np.ascontiguousarray(x[part]) for x in (each.q, each.v, each.a))
                Y = robot.regressor(q, v, a, out=kept[: len(q)])
                wrenches = {frame: wrench[part] for frame, wrench in each.wrenches.items()}
                torque = each.tau[part] - self.unknowns.known(q, v, a, wrenches)
                rows = self.unknowns.rows(self.base.independent, Y, v, a)
                yield slice(int(start) + part.start, int(start) + part.stop), rows, torque

    @lazy
    def fast(self) -> Array | None:
        """Which samples count for which coordinate, (n, nv); None if all do."""
        if not self.min_speed:
            return None
        fast = np.concatenate([np.abs(np.asarray(each.v)) >= self.min_speed for each in self.recordings])
        fast[:, np.setdiff1d(np.arange(fast.shape[1]), self.unknowns.robot.model.actuated)] = True
        return fast

    def counted(self, j: int, weights: Array | None, where: slice) -> Array | None:
        """Weights of the samples of a coordinate, None if all are 1."""
        if self.fast is None:
            return None if weights is None else weights[where, j]
        fast = self.fast[where, j].astype(float)
        return fast if weights is None else fast * weights[where, j]

    def sums(self, weights: Array | None = None) -> Sums:
        """G_j, g_j and s_j, with weights of samples (n, nv) if there are any."""
        nv = self.unknowns.robot.nv
        columns: list[Array] = [np.zeros(0, dtype=int)] * nv
        G: list[Array] = [np.zeros((0, 0))] * nv
        g: list[Array] = [np.zeros(0)] * nv
        s, count = np.zeros(nv), np.zeros(nv)
        for where, rows, torque in self.chunks():
            for j, own, y in rows:
                if not len(own):
                    continue  # nothing that is sought moves with it
                if not len(columns[j]):
                    columns[j], G[j], g[j] = self.place[own], np.zeros((len(own),) * 2), np.zeros(len(own))
                w = self.counted(j, weights, where)
                b = torque[:, j]
                weighed, wb = (y, b) if w is None else (w[:, None] * y, w * b)
                G[j] += _product(weighed, y)
                g[j] += y.T @ wb
                s[j] += b @ wb
                count[j] += len(b) if w is None else w.sum()
        return Sums(tuple(columns), tuple(G), tuple(g), s, count, len(self.base))

    def residuals(self, beta: Array) -> Array:
        """Torques less what is known and less Y β, (n, nv)."""
        found = np.empty((len(self), self.unknowns.robot.nv))
        for where, rows, torque in self.chunks():
            for j, own, y in rows:
                found[where, j] = torque[:, j] - y @ beta[self.place[own]]
        return found

    def block_scores(self, beta: Array, weights: Array, per_sample: Array | None, length: int) -> Array:
        """Σ_j w_j Σ y r over each block of so many samples of one recording, (blocks, base parameters)."""
        counts = [-(-len(each) // length) for each in self.recordings]
        firsts = np.cumsum([0, *counts[:-1]])
        ids = np.concatenate(
            [first + np.arange(len(each)) // length for first, each in zip(firsts, self.recordings, strict=True)]
        )
        scores = np.zeros((sum(counts), len(self.base)))
        for where, rows, torque in self.chunks():
            block = ids[where]
            cuts = np.flatnonzero(np.diff(block, prepend=block[0] - 1))
            for j, own, y in rows:
                places = self.place[own]
                r = weights[j] * (torque[:, j] - y @ beta[places])
                w = self.counted(j, per_sample, where)
                r = r if w is None else w * r
                scores[np.ix_(block[cuts], places)] += np.add.reduceat(y * r[:, None], cuts, axis=0)
        return scores


def _product(x: Array, y: Array) -> Array:
    """xᵀ y, summed over short stretches: for small products BLAS starts no threads, which would wait for each other."""
    whole = len(x) // STRETCH * STRETCH
    parts = [each[:whole].reshape(-1, STRETCH, each.shape[1]) for each in (x, y)]
    return (parts[0].transpose(0, 2, 1) @ parts[1]).sum(axis=0) + x[whole:].T @ y[whole:]


@dataclass(frozen=True, eq=False)
class Estimate:
    """Base parameters, and how well the data determine them."""

    beta: Array
    G: Array
    """Normal equations, weighted: the information in units of 1 / β²."""
    g: Array
    sigma: Array
    """Standard deviation of the residuals of each coordinate, (nv,)."""
    weights: Array
    """1 / σ² of each coordinate, or 1 for ordinary least squares; 0 where there is no sample."""
    per_sample: Array | None
    """Weights of samples of the robust estimate, (n, nv)."""
    sums: Sums
    """Without weights of samples."""

    def rms(self, beta: Array) -> Array:
        """Root mean square of the residuals of these base parameters, (nv,)."""
        return np.sqrt(self.sums.squares(beta) / np.maximum(self.sums.count, 1.0))

    @property
    def condition(self) -> float:
        """Of the regressor with columns of length one; infinite where the data do not see some combination."""
        values = np.linalg.eigvalsh(_scaled(self.G)[0])
        return float(np.sqrt(values[-1] / values[0])) if values[0] > RANK * values[-1] else np.inf


def estimate(samples: Samples, method: str = "weighted") -> Estimate:
    """Base parameters by "ordinary", "weighted" or "huber" least squares."""
    sums = samples.sums()
    if not sums.count.any():
        raise ArgumentError(f"no sample is faster than min_speed, {samples.min_speed:g}; expected some")
    weights = (sums.count > 0).astype(float)
    beta = solve(*sums.weighted(weights))
    if method != "ordinary":
        beta, weights = _reweighted(sums, beta)
    if method != "huber":
        shares = np.full(len(weights), len(beta) / max(1, int((weights > 0).sum())))
        return Estimate(beta, *sums.weighted(weights), _sigma(sums, beta, shares), weights, None, sums)
    plain, rms = sums, _rms(sums)
    for _ in range(MOST_ITERATIONS):
        residuals = samples.residuals(beta)
        counted = residuals if samples.fast is None else np.where(samples.fast, residuals, np.nan)
        scale = np.maximum(_medians(np.abs(counted)) / 0.6745, EXACT * rms)
        per_sample = np.minimum(1.0, HUBER * scale / np.maximum(np.abs(residuals), 1e-300))
        sums = samples.sums(per_sample)
        weights = np.where(sums.count > 0, 1.0 / scale**2, 0.0)
        before, beta = beta, solve(*sums.weighted(weights))
        G = sums.weighted(weights)[0]
        step = beta - before
        if step @ G @ step <= 1e-6 * max(1, len(beta)):
            break
    return Estimate(beta, *sums.weighted(weights), scale, weights, per_sample, plain)


def _medians(sizes: Array) -> Array:
    """Of the columns, without NaN; zero of those that have nothing else."""
    return np.array([np.median(own) if len(own := column[~np.isnan(column)]) else 0.0 for column in sizes.T])


def _rms(sums: Sums) -> Array:
    """Of the torques, (nv,); where they are zero, as of a floating base, a part of the largest."""
    rms = np.sqrt(sums.s / np.maximum(sums.count, 1.0))
    return np.maximum(rms, max(1e-3 * float(rms.max()), 1e-30))


def _sigma(sums: Sums, beta: Array, shares: Array) -> Array:
    """Standard deviations of residuals; each coordinate pays for its share of the parameters."""
    free = np.maximum(sums.count - shares, 1.0)
    return np.maximum(np.sqrt(sums.squares(beta) / free), EXACT * _rms(sums))


def _reweighted(sums: Sums, beta: Array) -> tuple[Array, Array]:
    """β and 1/σ_j², each from the other, until they agree."""
    weights = np.zeros(len(sums.count))
    shares = np.full(len(sums.count), len(beta) / max(1, len(sums.count)))
    for _ in range(MOST_ITERATIONS):
        before = weights
        weights = np.where(sums.count > 0, 1.0 / _sigma(sums, beta, shares) ** 2, 0.0)
        G, g = sums.weighted(weights)
        beta = solve(G, g)
        inverse = np.linalg.pinv(G, hermitian=True)
        shares = np.array(
            [
                float(np.sum(inverse[np.ix_(own, own)] * (w * G_j)))
                for w, own, G_j in zip(weights, sums.columns, sums.G, strict=True)
            ]
        )
        if np.allclose(weights, before, rtol=1e-6):
            break
    return beta, weights


def _scaled(G: Array) -> tuple[Array, Array]:
    """G with a diagonal of ones, and the scale of its columns; columns that no sample excites stay zero."""
    scale = np.sqrt(np.maximum(np.diag(G), 0.0))
    scale = np.where(scale > 0.0, scale, 1.0)
    return G / np.outer(scale, scale), scale


def _spectrum(G: Array) -> tuple[Array, Array, Array, Array]:
    """Eigenvalues and vectors of the scaled G, which of them are not zero, and the scale."""
    S, scale = _scaled(G)
    values, vectors = np.linalg.eigh(S)
    return values, vectors, values > RANK * max(values[-1], 1e-300), scale


def solve(G: Array, g: Array) -> Array:
    """The shortest solution of G x = g in scaled columns."""
    values, vectors, kept, scale = _spectrum(G)
    basis = vectors[:, kept]
    return basis @ ((basis.T @ (g / scale)) / values[kept]) / scale


def covariance(samples: Samples, found: Estimate) -> tuple[Array, int]:
    """The covariance of β, infinite on the diagonal where the data do not see an entry, and the number of blocks."""
    some = Samples(samples.unknowns, [max(samples.recordings, key=len)[:MOST_CORRELATED]], samples.min_speed)
    residuals = some.residuals(found.beta)
    length = block_length(residuals if some.fast is None else some.fast * residuals, len(samples))
    scores = samples.block_scores(found.beta, found.weights, found.per_sample, length)
    values, vectors, kept, scale = _spectrum(found.G)
    bread = vectors[:, kept] / values[kept] @ vectors[:, kept].T
    half = bread @ (scores / scale).T
    blocks, size = scores.shape
    rows = max(1.0, float(found.weights.astype(bool).sum()) * len(samples))
    C = half @ half.T * (blocks / max(1, blocks - 1)) * rows / max(1.0, rows - size)
    C = C / np.outer(scale, scale)
    unseen = (vectors[:, ~kept] ** 2).sum(axis=1) > 1e-6
    C[unseen, unseen] = np.inf
    return C, blocks


def block_length(residuals: Array, total: int) -> int:
    """Samples of a block: ten times as many as residuals stay correlated, but at least forty blocks of the total."""
    part = residuals - residuals.mean(axis=0)
    n = len(part)
    spectrum = np.abs(np.fft.rfft(part, 2 * n, axis=0)) ** 2
    correlation = np.fft.irfft(spectrum, axis=0)[:n]
    ratio = correlation / np.maximum(correlation[0], 1e-300)
    below = ratio < 0.1
    lag = int(np.where(below.any(axis=0), below.argmax(axis=0), n).max(initial=1))
    return max(1, min(max(10 * lag, -(-total // MOST_BLOCKS)), total // FEWEST_BLOCKS))
