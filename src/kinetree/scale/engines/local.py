"""Tasks in this process, or in a pool of processes of its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any

from kinetree.errors import KinetreeError
from kinetree.scale.engines.task import (
    ATTEMPTS,
    DIED,
    EXTRA,
    GUARD,
    Outcome,
    Work,
    attempt,
    ignore_interrupts,
    packed,
    tried,
)
from kinetree.scale.partition import Failed, Partition


def run_here(work: Work, partitions: Iterable[Partition], workers: int) -> Iterator[Outcome]:
    """The outcome of every partition as it comes; with one worker in this process, on all its threads."""
    if workers == 1:
        for partition in partitions:
            yield tried(work, partition)
        return
    payload, left = packed(work), iter(partitions)
    retried: list[Partition] = []
    while True:
        lost = yield from _pooled(payload, left, workers)
        retried += lost
        if not lost:
            break
    yield from _one_by_one(payload, retried)


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), ignore_interrupts)


def _submitted(pool: ProcessPoolExecutor, call: Callable[..., Any], *given: Any) -> Future[Any]:
    """The future of a call. A worker may start for it, which has interrupts blocked until it ignores them."""
    if not hasattr(signal, "pthread_sigmask"):
        return pool.submit(call, *given)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(call, *given)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _started(workers: int) -> ProcessPoolExecutor:
    """A pool in which a worker runs."""
    pool = _pool(workers)
    try:
        _submitted(pool, os.getpid).result()
    except BrokenProcessPool:
        raise KinetreeError(f"worker processes end as soon as they start; {GUARD}") from None
    return pool


def _pooled(payload: bytes, left: Iterator[Partition], workers: int) -> Generator[Outcome, None, list[Partition]]:
    """Outcomes until the end, or until a worker dies; returns the partitions that were on their way then."""
    pending: dict[Future[Outcome], Partition] = {}
    pool = _started(workers)
    try:
        while True:
            for partition in islice(left, max(0, EXTRA * workers - len(pending))):
                pending[_submitted(pool, attempt, payload, partition)] = partition
            if not pending:
                return []
            finished, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in finished:
                outcome = future.result()
                del pending[future]
                yield outcome
    except BrokenProcessPool:
        return list(pending.values())
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _one_by_one(payload: bytes, partitions: list[Partition]) -> Iterator[Outcome]:
    """Each alone, so that one that kills its worker takes no other with it."""
    pool: ProcessPoolExecutor | None = None
    try:
        for partition in partitions:
            for left in reversed(range(ATTEMPTS - 1)):
                pool = pool or _pool(1)
                try:
                    yield _submitted(pool, attempt, payload, partition).result()
                    break
                except BrokenProcessPool:
                    pool = None
                if not left:
                    yield Failed(partition, DIED)
    finally:
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
