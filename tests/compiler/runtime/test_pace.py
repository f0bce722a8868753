"""Machine code comes back to Python every ten milliseconds, however wrong the estimate of its time is."""

import itertools

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.runtime import pace


class Clock:
    """Time that passes only where a test lets it."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(pace, "perf_counter", lambda: self.now)


@pytest.mark.parametrize("unit", [1, 8])
@pytest.mark.parametrize("seconds", [1e-9, 4e-7, 4e-6, 2e-5, 0.5])
def test_pieces_become_ten_milliseconds_long(seconds, unit, monkeypatch):
    """A unit of work of 1,000 operations is thought to take 0.4 µs; half a second is more than can be helped."""
    clock, lengths, last, stop = Clock(monkeypatch), [], 0, unit * 10**9 + 3
    for first, end in itertools.islice(pace.Pace(1000, unit).pieces(0, stop), 60):
        assert first == last and first % unit == 0 and end > first and (end % unit == 0 or end == stop)
        units = -(-(end - first) // unit)
        lengths.append(units * seconds)
        clock.now += lengths[-1]
        last = end
    assert max(lengths[1:]) < max(0.011, 1.01 * seconds)
    if seconds <= 2e-5:
        assert lengths[0] <= 0.016
    if last < stop:
        assert lengths[-1] == pytest.approx(max(0.01, seconds), rel=0.02)


def test_what_was_learned_is_kept_and_nothing_is_no_work(monkeypatch):
    clock, paced = Clock(monkeypatch), pace.Pace(1)
    assert list(paced.pieces(5, 5)) == []
    for first, end in paced.pieces(0, 100_000):
        clock.now += 1e-4 * (end - first)
    first, end = next(paced.pieces(0, 100_000))
    assert end - first == pytest.approx(100, rel=0.02)


@pytest.mark.parametrize("count", [1, 20])
def test_rollouts_go_by_it(count, monkeypatch):
    """To a clock on which every piece takes a second, all but the first pieces are as short as they can be."""
    robot, ticks, seen = kt.load("planar2"), itertools.count(), []
    whole = robot.rollout(np.zeros((count, 2)), np.ones(2), None, 1e-3, 40)
    pieces = pace.Pace.pieces

    def counted(self, start, stop):
        for piece in pieces(self, start, stop):
            seen.append(piece)
            yield piece

    monkeypatch.setattr(pace.Pace, "pieces", counted)
    monkeypatch.setattr(pace, "perf_counter", lambda: float(next(ticks)))
    monkeypatch.setattr(pace, "FIRST", 0.0)
    monkeypatch.setattr("kinetree.compiler.runtime.step_loop.FIRST", 0.0)
    again = robot.rollout(np.zeros((count, 2)), np.ones(2), None, 1e-3, 40)
    assert len(seen) >= 40 and all(end - start == 1 for start, end in seen)
    assert np.array_equal(again.q, whole.q)
