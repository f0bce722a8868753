"""Long runs: partitions that an engine does in any order, what is done already, and what went wrong.

Outcomes come as they are ready. A failed partition ends nothing: the others go on, and the report lists it with its
reason. After a reason that would stop all others too, as a full disk, no more are begun.
"""

from __future__ import annotations

import multiprocessing
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from kinetree.base.arguments import as_count
from kinetree.base.progress import Progress
from kinetree.compiler import get_num_threads
from kinetree.errors import ArgumentError, IncompleteWarning, KinetreeError, one_of, short
from kinetree.scale.engines.dask import run_on_dask
from kinetree.scale.engines.local import run_here
from kinetree.scale.engines.ray import run_on_ray
from kinetree.scale.engines.task import GUARD, Outcome, Work
from kinetree.scale.ledger import Ledger
from kinetree.scale.partition import Done, Failed, Partition

Engine = Literal["local", "dask", "ray"]
ENGINES = ("local", "dask", "ray")


@dataclass(frozen=True)
class Report:
    """The result of a run: counts of partitions and of rows, seconds, and all failures."""

    done: int
    """Partitions of this run."""
    kept: int
    """Partitions that an earlier run has done."""
    failed: tuple[Failed, ...] = ()
    left: int = 0
    """Partitions that were not tried, after a reason that stops all."""
    rows: int = 0
    """Of this run."""
    seconds: float = 0.0
    values: tuple[Done, ...] = field(default=(), repr=False)
    """What the tasks returned."""

    @property
    def complete(self) -> bool:
        """Whether every partition is done."""
        return not self.failed and not self.left

    @property
    def rate(self) -> float:
        """Rows of this run each second."""
        return self.rows / self.seconds if self.seconds else 0.0

    def __str__(self) -> str:
        total = self.done + self.kept + len(self.failed) + self.left
        lines = [f"{self.done + self.kept} of {total} partitions are done, {self.done} of them in {self.seconds:.1f} s"]
        lines += [f"  {each.sentence}" for each in self.failed]
        lines += [f"  {self.left} were not tried"] * bool(self.left)
        return "\n".join(lines)


def as_workers(workers: Any, engine: str, client: Any = None) -> int:
    """A number of workers: by default one process for the local engine, which has threads, else one for each CPU."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise KinetreeError(f"a worker that starts reads this script again and came here; {GUARD}")
    one_of("engine", engine, ENGINES)
    if client is not None and engine != "dask":
        raise ArgumentError(f"client is {short(client)} with engine={engine!r}; expected engine='dask' with it")
    if workers is None:
        return 1 if engine == "local" else get_num_threads()
    return as_count("workers", workers, 1)


def run(
    title: str,
    unit: str,
    work: Work,
    partitions: Sequence[Partition],
    engine: str,
    workers: int,
    client: Any,
    ledger: Ledger | None,
    facts: Mapping[str, Any],
    *,
    kept: Collection[Partition] = (),
    failed: Sequence[Failed] = (),
    arrived: Callable[[Done], None] | None = None,
) -> Report:
    """Do all partitions but those that are `kept` from an earlier run; `failed` cannot be begun. `arrived` is called
    for each that is done, in this process. The ledger, if there is one, gets a manifest with these facts at the end."""
    begun, bad = time.monotonic(), list(failed)
    left = [each for each in partitions if each not in kept]
    done: list[Done] = []
    stopped = False

    def unless_stopped() -> Iterator[Partition]:
        for partition in left:
            if stopped:
                return
            yield partition

    try:
        with Progress(max(1, sum(each.rows for each in left)), title, unit) as progress:
            for outcome in _outcomes(engine, work, unless_stopped(), workers, client):
                if isinstance(outcome, Failed):
                    bad.append(outcome)
                    stopped = stopped or outcome.stops
                    continue
                if arrived is not None:
                    arrived(outcome)
                    outcome = Done(outcome.partition, None)  # what it returned need not be kept
                done.append(outcome)
                progress.tell(outcome.partition.rows)
        bad.sort(key=lambda each: each.partition.name)
    finally:  # after an interrupt, too: it says what there is
        if ledger is not None:
            ledger.finish(facts, partitions, bad)
    tried = len(done) + len(bad) - len(failed)
    rows, seconds = sum(each.partition.rows for each in done), time.monotonic() - begun
    report = Report(len(done), len(partitions) - len(left), tuple(bad), len(left) - tried, rows, seconds, tuple(done))
    if not report.complete:
        first = f": {bad[0].sentence}" if bad else ""
        missing = len(bad) + report.left
        plural = "partition is" if missing == 1 else "partitions are"
        warnings.warn(f"{missing} {plural} not done{first}", IncompleteWarning, stacklevel=3)
    return report


def _outcomes(engine: str, work: Work, partitions: Iterator[Partition], workers: int, client: Any) -> Iterator[Outcome]:
    if engine == "dask":
        return run_on_dask(work, partitions, workers, client)
    return run_on_ray(work, partitions, workers) if engine == "ray" else run_here(work, partitions, workers)
