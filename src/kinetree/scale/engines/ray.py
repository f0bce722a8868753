"""Tasks on a Ray cluster: the one that this process is connected to, or a new one on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from kinetree.base.lazy_imports import extra
from kinetree.scale.engines.task import ATTEMPTS, DIED, EXTRA, Outcome, Work, attempt, packed
from kinetree.scale.partition import Failed, Partition


def run_on_ray(work: Work, partitions: Iterable[Partition], workers: int) -> Iterator[Outcome]:
    """The outcome of every partition as it comes. Ray tries a partition again whose worker dies."""
    ray = package()
    started = not ray.is_initialized()
    if started:
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        left = iter(partitions)
        remote = ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1)(attempt)
        payload = ray.put(packed(work))
        window = (1 + EXTRA) * max(1, int(ray.cluster_resources().get("CPU", workers)))
        pending: dict[Any, Partition] = {}
        while True:
            for partition in islice(left, window - len(pending)):
                pending[remote.remote(payload, partition)] = partition
            if not pending:
                return
            finished, _ = ray.wait(list(pending), num_returns=1)
            for reference in finished:
                partition = pending.pop(reference)
                try:
                    yield ray.get(reference)
                except ray.exceptions.WorkerCrashedError:
                    yield Failed(partition, DIED)
                except ray.exceptions.RayError as problem:
                    yield Failed(partition, f"{type(problem).__name__}: {problem}".partition("\n")[0])
    finally:
        if started:
            ray.shutdown()


def package() -> Any:
    """Ray."""
    with extra("ray", "engine='ray' needs the package ray"):
        import ray  # noqa: PLC0415 - an extra
    return ray
