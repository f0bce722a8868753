"""Parameters of a robot from recordings of its motion: inertias, rotors, friction, offsets, or a payload."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from kinetree.base.arguments import as_constant, as_flag, number_that
from kinetree.edit import attach, with_options
from kinetree.errors import ArgumentError, ArgumentTypeError, one_of, short
from kinetree.identification.consistent import Problem, entropic
from kinetree.identification.diagnosis import check_velocities, findings
from kinetree.identification.differentiation import completed
from kinetree.identification.friction import as_terms
from kinetree.identification.least_squares import Estimate, Samples, covariance, estimate
from kinetree.identification.recording import Measurements, read_recording
from kinetree.identification.result import Identification, Shown
from kinetree.identification.semidefinite import pullback
from kinetree.identification.unknowns import Unknowns
from kinetree.model.description import free_name
from kinetree.ops import Array
from kinetree.robot import Robot, as_robot
from kinetree.spatial import Inertia

Method = Literal["ordinary", "weighted", "huber"]
Metric = Literal["entropic", "pullback"]
METHODS: tuple[Method, ...] = ("ordinary", "weighted", "huber")
METRICS: tuple[Metric, ...] = ("entropic", "pullback")
SHOWN = 2000
"""Samples that are kept for plots."""
HAND = Inertia.from_com(1.0, (0.0, 0.0, 0.0), 2.5e-3 * np.eye(3))
"""What a payload is like before anything is known of it: a kilogram within ten centimetres."""

_positive = number_that(lambda x: 0.0 < x < np.inf, "a positive number")
_not_negative = number_that(lambda x: 0.0 <= x < np.inf, "zero or more")


def identify(
    robot: Robot,
    recording: Any,
    *,
    friction: bool | str | Iterable[str] = True,
    armature: bool = False,
    offset: bool = False,
    bodies: Iterable[str] | None = None,
    consistent: bool = True,
    prior: Literal["model"] | Robot | Array | None = "model",
    spread: float = 1.0,
    metric: Metric = "entropic",
    method: Method = "weighted",
    cutoff: float | None = None,
    min_speed: float = 0.0,
    stribeck_speed: float = 0.1,
) -> Identification:
    """Inertial parameters, friction and rotors of a robot, from recorded positions and torques.

    recording       mapping with t, q, tau and, if measured, v, a and "wrench.<frame>"; a table with a column for each
                    number, a `kt.Trajectory`, a file (.parquet, .csv, .npz, ROS bag), or a list of these
    friction        True for viscous and Coulomb friction, False, or some of "viscous", "coulomb", "stribeck"
    armature        whether rotor inertias are sought
    offset          whether torques have constant offsets
    bodies          names of bodies whose inertias are sought; all by default, and others are as the model has them
    consistent      whether inertias are those of bodies, and friction and rotors are not negative
    prior           what decides where the data do not: "model", another robot or an array of parameters; None (only
                    without `consistent`) for the shortest vector
    spread          by how much, relative to their size, parameters may differ from the prior
    metric          distance to the prior: "entropic", or "pullback", a semidefinite program (needs clarabel)
    method          "ordinary", "weighted" by the noise of each joint, or "huber", which outliers do not spoil
    cutoff          of the zero-phase low-pass filter [Hz]; chosen by the spectrum where v or a has to be found
    min_speed       samples of slower joints do not count for that joint [rad/s or m/s]: friction is uncertain there
    stribeck_speed  speed at which Stribeck friction has fallen to 37 % [rad/s or m/s]
    """
    robot = as_robot(robot).astype("float64")
    terms = as_terms(friction, as_flag("armature", armature), as_flag("offset", offset))
    one_of("metric", metric, METRICS)
    method, spread = one_of("method", method, METHODS), _positive("spread", spread)
    if cutoff is not None:
        cutoff = _positive("cutoff", cutoff)
    unknowns = Unknowns.of(robot, bodies, terms, _positive("stribeck_speed", stribeck_speed))
    before = _prior(unknowns, prior)
    if before is None and as_flag("consistent", consistent):
        raise ArgumentError(
            "prior is None; a consistent estimate needs one: 'model', a robot or an array of parameters"
        )
    recordings, used = _prepared(robot, recording, cutoff)
    count, size = sum(map(len, recordings)), len(unknowns.base)
    if count * robot.nv < 2 * size:
        raise ArgumentError(
            f"{count} samples are too few for {size} base parameters; expected {-(-2 * size // robot.nv)}"
        )
    doubts = findings(unknowns, recordings, _not_negative("min_speed", min_speed))
    samples = Samples(unknowns, recordings, min_speed)
    found = estimate(samples, method)
    C, blocks = covariance(samples, found)
    theta = _parameters(unknowns, found, before, consistent, spread, metric)
    beta = unknowns.base.of(theta)
    seen = _identifiable(unknowns, found, C, recordings)
    doubts += _unseen(unknowns, seen)
    squares = sum((each.tau**2).sum(axis=0) for each in recordings)
    return Identification(
        unknowns, theta, beta, found.beta, C, blocks, seen, found.rms(beta), np.sqrt(squares / len(samples)),
        found.condition, len(samples), used, method, tuple(doubts), _shown(unknowns, recordings, theta),
    )  # fmt: skip


def identify_payload(robot: Robot, recording: Any, frame: str, **options: Any) -> Identification:
    """The payload of an arm of known inertias: mass, centre and inertia of a body fixed to a frame, about its origin.

    `options` are those of `identify`, except that `prior` is a `kt.Inertia`, by default a kilogram within ten
    centimetres, and that friction is the model's unless it is asked for. `.inertias["payload"]` is the body, in the
    axes of the frame, `.robot` the arm that carries it.
    """
    robot = as_robot(robot)
    name = free_name("payload", robot.frame_names)
    prior = options.pop("prior", HAND)
    if not isinstance(prior, Inertia):
        raise ArgumentTypeError(f"prior is {short(prior)}; expected a kt.Inertia that approximates the payload")
    loaded = attach(robot, frame, prior, name=name)
    assert loaded.model.options is not None
    kept = (*loaded.model.options.keep_fixed, f"{name}_joint")
    return identify(with_options(loaded, keep_fixed=kept), recording, bodies=[name], **{"friction": False} | options)


def _prepared(robot: Robot, recording: Any, cutoff: float | None) -> tuple[list[Measurements], float | None]:
    """All recordings with v and a, and the cutoff they were filtered with."""
    recordings, used = [], None
    for each in read_recording(robot, recording):
        check_velocities(robot, each)
        whole, used = completed(robot, each, cutoff)
        recordings.append(whole)
    return recordings, used


def _prior(unknowns: Unknowns, prior: Any) -> Array | None:
    """θ of the prior."""
    if prior is None:
        return None
    if isinstance(prior, str):
        one_of("prior", prior, ["model"])
        return unknowns.values
    if isinstance(prior, Robot):
        other = Unknowns(prior, unknowns.bodies, unknowns.terms, unknowns.stribeck_speed)
        if prior.model.names != unknowns.robot.model.names or prior.joint_names != unknowns.robot.joint_names:
            raise ArgumentError(
                f"prior is {prior!r}; expected a robot with the bodies and joints of {unknowns.robot!r}"
            )
        return other.values
    return as_constant("prior", prior, (len(unknowns.names),))


def _parameters(
    unknowns: Unknowns, found: Estimate, prior: Array | None, consistent: bool, spread: float, metric: Metric
) -> Array:
    """All parameters with the estimated base parameters: those nearest to the prior, or the consistent ones."""
    B = unknowns.base.matrix
    if prior is None:
        return np.linalg.lstsq(B, found.beta, rcond=None)[0]
    problem = Problem.of(unknowns, found.G, found.beta, prior, spread)
    if consistent:
        return entropic(problem) if metric == "entropic" else pullback(problem)
    M = problem.metric()
    size = 1.0 / np.sqrt(np.where(np.diag(M) > 0.0, np.diag(M), 1e-6))
    root = np.linalg.cholesky(M * np.outer(size, size) + 1e-12 * np.eye(len(M)) + np.diag(np.diag(M) == 0.0))
    change = np.linalg.lstsq(np.linalg.solve(root, (B * size).T).T, found.beta - B @ prior, rcond=None)[0]
    return prior + size * np.linalg.solve(root.T, change)


def _identifiable(unknowns: Unknowns, found: Estimate, C: Array, recordings: list[Measurements]) -> Array:
    """Which base parameters the data say more of than the prior would with spread 1; of friction, rotors and offsets
    those known to a tenth of the torques."""
    B, inertial = unknowns.base.matrix, unknowns.n_inertial
    M = Problem.of(unknowns, found.G, found.beta, unknowns.values, 1.0).metric()
    covariances = np.diag(np.concatenate([np.zeros(inertial), _term_sizes(unknowns, recordings)]))
    for k in range(0, inertial, 10):
        part = slice(k, k + 10)
        covariances[part, part] = np.linalg.inv(M[part, part])
    return np.diag(C) < np.einsum("bi,ij,bj->b", B, covariances, B)


def _term_sizes(unknowns: Unknowns, recordings: list[Measurements]) -> Array:
    """Squares of the friction, rotors and offsets that would make up a tenth of the torques of their joints."""
    motors = list(unknowns.robot.model.actuated)
    squares = {
        name: sum((np.asarray(getattr(each, name))[:, motors] ** 2).sum(axis=0) for each in recordings)
        for name in ("v", "a", "tau")
    }
    count = sum(map(len, recordings))
    under = {"armature": squares["a"], "damping": squares["v"]}
    sizes = [1e-2 * squares["tau"] / np.maximum(under.get(term, count), 1e-300) for term in unknowns.terms]
    return np.concatenate(sizes) if sizes else np.zeros(0)


def _unseen(unknowns: Unknowns, seen: Array) -> list[str]:
    if seen.all():
        return []
    words = [word for word, is_seen in zip(unknowns.base.describe(3), seen, strict=True) if not is_seen]
    listed = "; ".join(words[:8]) + (f"; and {len(words) - 8} more" if len(words) > 8 else "")
    return [f"the data cannot see {len(words)} of {len(seen)} base parameters: {listed}"]


def _shown(unknowns: Unknowns, recordings: list[Measurements], theta: Array) -> Shown:
    """Some samples of all recordings, one after the other."""
    every = slice(None, None, -(-sum(map(len, recordings)) // SHOWN))
    start, parts = 0.0, []
    for each in recordings:
        some = each[every]
        assert some.v is not None and some.a is not None
        fitted = unknowns.whole(some.q, some.v, some.a) @ theta + unknowns.known(some.q, some.v, some.a, some.wrenches)
        parts.append((some.t - each.t[0] + start, some.tau, fitted))
        start += float(each.t[-1] - each.t[0]) + each.period
    return Shown(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
