"""A rollout by steps of their own length: states leave the loop one by one, and are seen where the user wants."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextvars import ContextVar
from math import prod
from typing import Any

import numpy as np

from kinetree.base.progress import Progress
from kinetree.errors import ArgumentError, DivergenceError, DivergenceWarning
from kinetree.ops import Array
from kinetree.simulation.adaptive import Attempt, Attempts
from kinetree.simulation.dynamics import Dynamics
from kinetree.simulation.efforts import Efforts
from kinetree.simulation.events import Event
from kinetree.simulation.labels import names_and_units
from kinetree.simulation.trajectory import Occurrence, Trajectory

SAFETY, MIN_FACTOR, MAX_FACTOR = 0.9, 0.2, 8.0
"""The next step is SAFETY · error^(-1/5) times the last, within bounds."""
SHORTEST = 1e-13
"""A step that would have to be shorter, relative to the time, is not made: the state stops."""
LOOKS = np.array([0.0, 0.02, 0.25, 0.5, 0.75, 1.0])
"""Parts of a step at which events are looked for; the second tells the sign where an event was at the first."""
BISECTIONS = 52
AT_ONCE = 1e-12
"""Events of one step that are not further apart, as parts of it, happen together."""
PAUSE = 1e-11
"""Time between events, relative to the time, below which there is none; more of these in a row than there are events to
look for would follow each other for ever, and the state stops."""


class Adaptive:
    """States at their own times, and what is known of them at the times of records."""

    def __init__(
        self,
        efforts: Efforts,
        dynamics: Dynamics,
        batch: tuple[int, ...],
        span: tuple[float, int, int],
        tolerance: float,
        events: tuple[Event, ...],
    ) -> None:
        self.robot, self.batch, self.events = efforts.robot, batch, events
        self.dt, self.steps, self.every = span
        self.attempts = Attempts(efforts, dynamics, batch, tolerance)
        self.held = any(given.moving for given in efforts.given.values())
        self.looks = bool(events) or efforts.knows_time
        """Whether steps are no longer than dt, since something may begin and end between the stages of a long one."""
        self.acceleration = dynamics.acceleration
        count = prod(batch)
        self.times = self.dt * self.every * np.arange(self.steps // self.every + 1)
        self.end = self.times[-1]
        self.h = np.full(count, min(self.dt, 1e-2 * (tolerance / 1e-8) ** 0.2))
        self.seen = np.ones(count, dtype=np.int64)
        """Records that each state has behind it."""
        self.going = np.ones(count, dtype=bool)
        self.failed = np.zeros(count, dtype=bool)
        self.fresh = np.zeros((count, len(events)), dtype=bool)
        """Where an event was just now, so that its function is zero but for rounding."""
        self.last = np.full(count, -np.inf)
        """When each state had its last event."""
        self.stuck = np.zeros(count, dtype=np.int64)
        """How many events it had in a row without time in between."""
        self.found: list[Occurrence] = []

    def run(self, start: Mapping[str, Array]) -> Trajectory:
        """All states to the end, or to where they stop."""
        count, records = len(self.going), len(self.times)
        flat = {name: array.reshape(count, array.shape[-1]) for name, array in start.items()}
        self.now = {"q": flat["q"].copy(), "v": flat["v"].copy(), "t": np.zeros(count)}
        self.series = {name: np.repeat(array[:, None], records, axis=1) for name, array in flat.items()}
        with Progress(count * self.end, "rollout") as progress:
            while self.going.any() and records > 1:
                before = self.now["t"].sum()
                self._attempt(np.flatnonzero(self.going))
                progress.tell(self.now["t"].sum() - before)
        for name, array in self.series.items():  # those that stopped stay where they are
            for row in np.flatnonzero(self.seen < records):
                array[row, self.seen[row] :] = self.now[name][row]
        self._look(flat)
        shaped = {name: array.reshape(*self.batch, *array.shape[1:]) for name, array in self.series.items()}
        names, units = names_and_units(self.robot, shaped, {})
        return Trajectory(
            self.times,
            shaped,
            diverged=self.failed.reshape(self.batch),
            steps=((self.seen - 1) * self.every).reshape(self.batch),
            names=names,
            units=units,
            events=tuple(sorted(self.found, key=lambda event: (event.index, event.t))),
        )

    def _look(self, start: Mapping[str, Array]) -> None:
        if self.failed.size and self.failed.all() and (self.now["t"] == 0.0).all():
            self.acceleration(start["q"][0], start["v"][0], np.zeros(self.robot.nv))  # says what is wrong with it
            raise DivergenceError("no step is short enough for the motion to begin; accelerations are not finite")
        warn_of(self.failed, (self.seen - 1) * self.every, self.steps, self.batch)

    # -- one attempt of all ------------------------------------------------------------------------------------

    def _attempt(self, rows: Array) -> None:
        t = self.now["t"][rows]
        interval = np.minimum((t / self.dt + 1e-9).astype(np.int64), self.steps - 1)
        limit = np.minimum(self.end, (interval + 1) * self.dt) if self.held else np.full(len(rows), self.end)
        wanted = np.minimum(self.h[rows], self.dt) if self.looks else self.h[rows]
        whole = t + wanted * (1.0 + 1e-9) >= limit
        h = np.where(whole, limit - t, wanted)
        attempt = self.attempts.make(self.now, rows, h, interval)
        with np.errstate(divide="ignore"):
            factor = np.clip(SAFETY * attempt.error**-0.2, MIN_FACTOR, MAX_FACTOR)
        good = attempt.error <= 1.0
        self.h[rows] = np.where(good & whole, np.maximum(self.h[rows], h * factor), h * factor)
        lost = rows[~good & (h * factor < SHORTEST * np.maximum(1.0, t))]
        self.going[lost], self.failed[lost] = False, True
        accepted = np.flatnonzero(good)
        if len(accepted):
            arrived = np.where(whole, limit, t + h)
            self._accept(rows, attempt, accepted, arrived)

    def _accept(self, rows: Array, attempt: Attempt, accepted: Array, arrived: Array) -> None:
        cuts = self._crossings(rows, attempt, accepted) if self.events else {}
        until = arrived.copy()
        for k, (_, s, _) in cuts.items():
            until[k] = attempt.t0[k] + s * attempt.h[k]
        self._record(rows, attempt, accepted, until)
        plain = np.array([k for k in accepted if k not in cuts], dtype=np.int64)
        for name in "qv":
            self.now[name][rows[plain]] = getattr(attempt, name)[plain]
        self.now["t"][rows[accepted]] = until[accepted]
        for k, (events, _, state) in cuts.items():
            self._cut(int(rows[k]), events, float(until[k]), state)
        self.going[rows[accepted]] &= self.now["t"][rows[accepted]] < self.end

    def _record(self, rows: Array, attempt: Attempt, accepted: Array, until: Array) -> None:
        """States at the times of records that lie in the steps."""
        waiting = accepted
        while len(waiting):
            states = rows[waiting]
            following = np.minimum(self.seen[states], len(self.times) - 1)
            due = (self.seen[states] < len(self.times)) & (self.times[following] <= until[waiting] * (1 + 1e-14))
            waiting, states, following = waiting[due], states[due], following[due]
            if not len(waiting):
                return
            s = np.clip((self.times[following] - attempt.t0[waiting]) / attempt.h[waiting], 0.0, 1.0)
            q, v = attempt.at(waiting, s)
            ends = s == 1.0
            self.series["q"][states, following] = np.where(ends[:, None], attempt.q[waiting], q)
            self.series["v"][states, following] = np.where(ends[:, None], attempt.v[waiting], v)
            self.seen[states] += 1

    # -- events ------------------------------------------------------------------------------------------------

    def _values(self, event: Event, attempt: Attempt, rows: Array, s: Array) -> tuple[Array, Array, Array]:
        q, v = attempt.at(rows, s)
        return event.values(self.robot, q, v, attempt.t0[rows] + s * attempt.h[rows]), q, v

    def _crossings(self, rows: Array, attempt: Attempt, accepted: Array) -> dict[int, tuple[list[int], float, Any]]:
        """Where steps end before their end: events, part of the step and state there. Events that change nothing are
        only noted."""
        found: dict[int, list[tuple[float, int, Any]]] = {}
        for number, event in enumerate(self.events):
            looks = [np.full(len(accepted), part) for part in LOOKS]
            g = np.array([self._values(event, attempt, accepted, look)[0] for look in looks])
            just = self.fresh[rows[accepted], number]
            g[0, just] = g[1, just]
            self.fresh[rows[accepted], number] = False
            begins = (attempt.t0[accepted] == 0.0) & (g[0] == 0.0) & (event.direction * g[1] > 0.0)
            g[0, begins] = -g[1, begins]  # zero at the beginning, and off in the event's direction: that is one
            falls, rises = (g[:-1] > 0.0) & (g[1:] <= 0.0), (g[:-1] < 0.0) & (g[1:] >= 0.0)
            crossed = (falls & (event.direction <= 0)) | (rises & (event.direction >= 0))
            hit = np.flatnonzero(crossed.any(axis=0))
            if len(hit):
                first = crossed.argmax(axis=0)[hit]
                places = accepted[hit]
                parts, q, v = self._located(event, attempt, places, first, g[first, hit])
                for k, place in enumerate(places):
                    found.setdefault(int(place), []).append((float(parts[k]), number, (q[k], v[k])))
        cuts: dict[int, tuple[list[int], float, Any]] = {}
        for place, hits in found.items():
            for s, number, state in sorted(hits, key=lambda hit: hit[0]):
                if place in cuts and s > cuts[place][1] + AT_ONCE:
                    break
                event, row = self.events[number], int(rows[place])
                t = float(attempt.t0[place] + s * attempt.h[place])
                index = tuple(int(i) for i in np.unravel_index(row, self.batch)) if self.batch else ()
                self.found.append(Occurrence(event.name, index, t, *state))
                if place in cuts or event.terminal or event.effect is not None:
                    cuts.setdefault(place, ([], s, state))[0].append(number)
        return cuts

    def _located(
        self, event: Event, attempt: Attempt, places: Array, first: Array, before: Array
    ) -> tuple[Array, Array, Array]:
        """The first instant with the new sign, found by bisection of the part in which the sign changes."""
        low, high = LOOKS[first], LOOKS[first + 1]
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            g, _, _ = self._values(event, attempt, places, middle)
            same = g * before > 0.0
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        _, q, v = self._values(event, attempt, places, high)
        return high, q, v

    def _cut(self, row: int, numbers: list[int], t: float, state: tuple[Array, Array]) -> None:
        """Events happen to a state."""
        for number in numbers:
            state = self.events[number].after(self.robot, *state, t)
            self.fresh[row, number] = True
            if self.events[number].terminal:
                self.going[row] = False
        self.now["q"][row], self.now["v"][row] = state
        since, self.last[row] = t - self.last[row], t
        self.h[row] = max(min(t, since), SHORTEST)  # the next may come as soon as this one did
        self.stuck[row] = self.stuck[row] + 1 if since < PAUSE * max(1.0, t) else 0
        if self.going[row] and self.stuck[row] > len(self.events):
            self.going[row], self.failed[row] = False, True


IS_PART: ContextVar[bool] = ContextVar("IS_PART", default=False)
"""Whether the rollout of this thread is a part of another one, which warns for all of them."""


def warn_of(stopped: Array, made: Array, steps: int, batch: tuple[int, ...], remedy: str = "") -> None:
    """A warning if some states, (N,), stopped after they had made so many steps, and what may help."""
    if IS_PART.get() or not stopped.any():
        return
    first = int(np.argmax(stopped))
    which, told = "the state diverged", ""
    if batch:
        index = tuple(int(i) for i in np.unravel_index(first, batch))
        which = f"{int(stopped.sum())} of {len(stopped)} states diverged, the first at index {index},"
        told = "; trajectory.diverged says which"
    message = f"{which} after {int(made[first])} of {steps} steps{told}{'; ' if remedy else ''}{remedy}"
    warnings.warn(message, DivergenceWarning, stacklevel=6)


def check_adaptive(efforts: Efforts, dynamics: Dynamics, wanted: tuple[str, ...]) -> None:
    """Raises for what only steps of a fixed length can do."""
    if efforts.function is not None:
        raise ArgumentError("'dormand-prince' has adaptive steps; expected efforts as an array or compiled function")
    if efforts.memory:
        raise ArgumentError(
            f"states has {next(iter(efforts.memory))!r}; 'dormand-prince' has no steps to carry it over"
        )
    if dynamics.step is not None:
        raise ArgumentError("'dormand-prince' has adaptive steps, and this contact model needs constant steps of dt")
    others = [name for name in wanted if name not in ("q", "v")]
    if others:
        raise ArgumentError(f"record is {others[0]!r}; 'dormand-prince' records 'q' and 'v'")
