"""Fair times on noisy machines: contenders alternate, each keeps its best run, and ratios come from one process."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Hashable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from kinetree.cli import measure

RESULTS = Path(__file__).parent / "results"
Name = TypeVar("Name", bound=Hashable)


def best_times(contenders: dict[str, Callable[[], object]], repeats: int = 20, least: float = 0.02) -> dict[str, float]:
    """Seconds of one call of each contender: the best of several runs, taken in turn.

    A call of 0.1 ms and more is timed by itself, so that the first of a turn, which finds the other's data in the
    caches, does not count for all.
    """
    loops, groups = {}, {}
    for name, call in contenders.items():
        call()  # compiles, fills caches
        start = time.perf_counter()
        call()
        once = time.perf_counter() - start
        groups[name] = range(max(1, int(1e-4 / max(once, 1e-9))))
        loops[name] = max(1, int(least / max(once, 1e-9) / len(groups[name])))
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(repeats):
        for name, call in contenders.items():
            group = groups[name]
            for _ in range(loops[name]):
                start = time.perf_counter()
                for _ in group:
                    call()
                best[name] = min(best[name], (time.perf_counter() - start) / len(group))
    return best


def best_loops(contenders: Mapping[Name, Callable[[int], float]]) -> dict[Name, float]:
    """As `best_times`, of contenders that run their own loop: each takes a count and returns the seconds of all."""
    return measure.best_loops(contenders, measure.Effort(repeats=60, seconds=0.004))


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    model = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    from kinetree.compiler.runtime.jit import host  # noqa: PLC0415

    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "cpu": model,
        "llvm cpu": host().cpu,
        "lanes": host().lanes,
        "cores": os.cpu_count(),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in ("numpy", "llvmlite", "pin")},
    }


def environment(**settings: str) -> dict[str, str]:
    """The environment of a fresh process, which has files of byte code, as installed packages have."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | settings


def geometric_mean(values: list[float]) -> float:
    """exp of the mean log."""
    return float(np.exp(np.mean(np.log(values))))


def save(name: str, content: dict[str, Any]) -> Path:
    """Results as JSON, with the machine they come from."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"machine": machine(), **content}, indent=2) + "\n")
    return path
