"""Tasks on a Dask cluster: the one of the client that is current or given, or a new one on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Any

from kinetree.base.lazy_imports import extra
from kinetree.scale.engines.task import ATTEMPTS, DIED, EXTRA, Outcome, Work, attempt, ignore_interrupts, packed
from kinetree.scale.partition import Failed, Partition

SETTINGS = {
    "distributed.scheduler.allowed-failures": ATTEMPTS - 1,
    # a worker that was killed and starts again on a busy machine is not given up meanwhile, which would end the cluster
    "distributed.deploy.lost-worker-timeout": "1 hour",
}


def run_on_dask(work: Work, partitions: Iterable[Partition], workers: int, client: Any = None) -> Iterator[Outcome]:
    """The outcome of every partition as it comes. Dask tries a partition again whose worker dies."""
    dask, distributed = packages()
    payload, left = packed(work), iter(partitions)
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(SETTINGS))
        if client is None:
            cluster = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50
                )
            )
            client = stack.enter_context(distributed.Client(cluster))
            client.run(ignore_interrupts)
        threads = max(1, sum(client.nthreads().values()))
        killed: list[Partition] = []
        yield from _finished(distributed, client, payload, left, (1 + EXTRA) * threads, killed)
        deadly: list[Partition] = []
        yield from _finished(distributed, client, payload, iter(killed), 1, deadly)  # alone: perhaps others killed it
        yield from (Failed(partition, DIED) for partition in deadly)


def packages() -> tuple[Any, Any]:
    """Dask and its scheduler."""
    with extra("dask", "engine='dask' needs the package distributed"):
        import dask  # noqa: PLC0415 - an extra
        import distributed  # noqa: PLC0415
    return dask, distributed


def _finished(
    distributed: Any, client: Any, payload: bytes, left: Iterator[Partition], window: int, killed: list[Partition]
) -> Iterator[Outcome]:
    """Outcomes of partitions of which so many are under way; those whose workers died are added to `killed`."""
    known: dict[str, Partition] = {}

    def submitted(count: int) -> list[Any]:
        futures = []
        for partition in islice(left, count):
            future = client.submit(attempt, payload, partition, pure=False)
            known[future.key] = partition
            futures.append(future)
        return futures

    finished = distributed.as_completed(submitted(window))
    for future in finished:
        partition = known.pop(future.key)
        try:
            yield future.result()  # of a worker that has died since, it is computed again
        except distributed.KilledWorker:
            killed.append(partition)
        except Exception as problem:
            yield Failed(partition, f"{type(problem).__name__}: {problem}")
        future.release()
        finished.update(submitted(1))
