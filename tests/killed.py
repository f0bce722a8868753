"""Calls that end their own process, as the kernel does for want of memory, and runs that must survive it."""

import os
import signal
import time
import warnings
from dataclasses import dataclass

import numpy as np

import kinetree as kt
from kinetree.errors import IncompleteWarning
from kinetree.scale import annotate, monte_carlo
from logs import read_results, write_logs

ARM = kt.load("arm6")
POLE = kt.load("cartpole")


@dataclass(frozen=True)
class Killer:
    """v, but a process that meets 666 dies: the first `deaths` times, counted by files in the folder `path`, until a
    file `mended` is there."""

    path: str
    deaths: int

    def __call__(self, v):
        if (v[:, 0] == 666.0).any():
            died = len([name for name in os.listdir(self.path) if name.startswith("died")])
            if died < self.deaths and not os.path.exists(os.path.join(self.path, "mended")):
                with open(os.path.join(self.path, f"died {died}"), "w", encoding="utf-8"):
                    pass
                os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.02)
        return v


def logs_with_a_mark(folder):
    """Eight files of which the fourth has the mark."""
    given = write_logs(folder, ARM, [30] * 8, "npz")
    path = folder / "log3.npz"
    with np.load(path) as file:
        arrays = {name: file[name].copy() for name in file.files}
    arrays["v"][5, 0] = 666.0
    np.savez(path, **arrays)
    given["v"][95, 0] = 666.0
    return given


def survives_a_kill(tmp_path, **engine):
    """A worker dies once: its partition is done by another."""
    given = logs_with_a_mark(tmp_path / "logs")
    (tmp_path / "deaths").mkdir()
    calls = {"v": Killer(str(tmp_path / "deaths"), 1), "tau": "inverse_dynamics"}
    report = annotate(tmp_path / "logs", ARM, calls, tmp_path / "out", **engine)
    assert report.complete and report.done == 8 and os.listdir(tmp_path / "deaths") == ["died 0"]
    np.testing.assert_array_equal(read_results(tmp_path / "out", "v"), given["v"])
    right = ARM.inverse_dynamics(given["q"], given["v"], given["a"])
    np.testing.assert_array_equal(read_results(tmp_path / "out", "tau"), right)


def lists_what_kills(tmp_path, **engine):
    """A partition that kills every worker is listed, and all others are done; a rerun completes."""
    logs_with_a_mark(tmp_path / "logs")
    (tmp_path / "deaths").mkdir()
    killer = Killer(str(tmp_path / "deaths"), 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteWarning)
        report = annotate(tmp_path / "logs", ARM, {"v": killer}, tmp_path / "out", **engine)
    assert report.done == 7 and [each.partition.name for each in report.failed] == ["log3.0000"]
    assert "its worker ended without a word" in report.failed[0].reason
    assert sorted(path.name for path in (tmp_path / "out").glob("*.npz")) == [
        f"log{k}.0000.npz" for k in range(8) if k != 3
    ]
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")], "nothing half-written"
    (tmp_path / "deaths" / "mended").touch()
    again = annotate(tmp_path / "logs", ARM, {"v": killer}, tmp_path / "out", **engine)
    assert again.complete and (again.done, again.kept) == (1, 7)


def law_of_a_function():
    """A law with a closure, which pickle alone does not send."""
    factor = 0.5

    @kt.compile(shapes={"gain": ()})
    def law(robot, q, v, gain):
        return -factor * gain * v

    return law


def starts(rng, size):
    return {"q0": 0.3 * rng.standard_normal((size, 2)), "gain": rng.uniform(0.1, 2.0, size)}


def has_the_same_bits(**engine):
    """Monte Carlo on an engine and in this process."""
    law = law_of_a_function()
    given = {"samples": 2000, "dt": 2e-3, "steps": 20, "seed": 3}
    here = monte_carlo(POLE, law, starts, **given)
    there = monte_carlo(POLE, law, starts, rows=300, **given, **engine)
    assert there.report.done == 4 and here.report.done == 8
    for name, summary in here.summaries.items():
        other = there[name]
        assert (summary.mean, summary.std, summary.worst) == (other.mean, other.std, other.worst)
        assert np.array_equal(summary.keys, other.keys) and np.array_equal(summary.counts, other.counts)
