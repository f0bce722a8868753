"""Collections of states on disk, annotated in this process, by Dask and by Ray, in CPU time.

CPU seconds of this process and of all its workers are counted, so that other programs on the machine change little;
wall-clock times stand beside them. A partition has a million states. Logs of many states are links to a few files, so
that they fit on a disk; each is read and computed as if it were another.

    python scale.py [millions of states, 100] [folder] [engines, local dask ray]
    python scale.py steady [folder in memory]       renews only the rows of clusters that run already
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from measure import RESULTS, save
from robots import load

import kinetree as kt
from kinetree.scale import annotate, monte_carlo
from kinetree.scale.run import Report

ROWS = 1_000_000
FILES = 4
"""Different files of a million states."""


def main() -> None:
    """Measure, print, save."""
    if sys.argv[1:2] == ["steady"]:
        record = RESULTS / "scale.json"
        content = json.loads(record.read_text()) | {"steady": steady(Path(sys.argv[2]))}
        record.write_text(json.dumps(content, indent=1) + "\n")
        return
    millions = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="kinetree-scale-"))
    kt.set_num_threads(1)
    os.environ["KINETREE_NUM_THREADS"] = "1"
    robots = {name: load(name).robot for name in ("UR5", "G1")}
    content: dict[str, Any] = {"disk": disk(folder), "start": start(robots["UR5"]), "rollouts": rollouts()}
    content |= {"partitions": [], "engines": [], "memory": []}
    for name, robot in robots.items():
        for kind in ("npz", "parquet"):
            logs(folder / "logs", robot, kind, 1)
            content["partitions"].append({"robot": name, "format": kind, **partition(folder, robot)})
            print(content["partitions"][-1], flush=True)
    content["bookkeeping"] = bookkeeping(folder, robots["UR5"])
    logs(folder / "logs", robots["UR5"], "npz", 96)
    engines = sys.argv[3:] or ("local", "dask", "ray")
    for engine, workers in ((engine, workers) for engine in engines for workers in (1, 2)):
        with suppress(kt.KinetreeError):
            row = {"engine": engine, "workers": workers, **run_of(folder, robots["UR5"], engine, workers)}
            content["engines"].append(row)
            print(row, flush=True)
    for count in (1, 10, millions):
        logs(folder / "logs", robots["UR5"], "npz", count)
        content["memory"].append({"states": count * ROWS, **in_a_process(folder)})
        print(content["memory"][-1], flush=True)
    shutil.rmtree(folder)
    print("saved", save("scale", content))


def logs(folder: Path, robot: kt.Robot, kind: str, count: int) -> None:
    """So many files of a million states, of which a few are different."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    from kinetree.scale.collection import FORMATS  # noqa: PLC0415
    from kinetree.scale.formats.table import Field  # noqa: PLC0415

    for k in range(min(count, FILES)):
        rng = np.random.default_rng(k)
        v, a = rng.standard_normal((2, ROWS, robot.nv))
        given = {"q": robot.random(rng, ROWS), "v": v, "a": a}
        FORMATS[kind].write(folder / f"{k:05}.{kind}", given, [Field(n, (x.shape[1],)) for n, x in given.items()], "{}")
    for k in range(FILES, count):
        os.link(folder / f"{k % FILES:05}.{kind}", folder / f"{k:05}.{kind}")


def partition(folder: Path, robot: kt.Robot) -> dict[str, Any]:
    """One partition: CPU seconds of the bare call and of the whole, the parts of the whole, and bytes."""
    rng = np.random.default_rng(0)
    v, a = rng.standard_normal((2, ROWS, robot.nv))
    q = robot.random(rng, ROWS)
    bare = cpu_of(lambda: robot.inverse_dynamics(q, v, a))
    best: dict[str, Any] = {}
    for _ in range(5):
        report, cpu = annotated(folder, robot)
        value = report.values[0].value
        if not best or cpu < best["cpu"]:
            parts = value["cpu"]
            best = {"bare": bare, "cpu": cpu, **parts, "MB read": value["bytes_read"] / 1e6}
            best |= {"MB written": value["bytes_written"] / 1e6, "beside": cpu - sum(value["cpu"].values())}
    return best


def bookkeeping(folder: Path, robot: kt.Robot) -> list[dict[str, float]]:
    """CPU seconds of a partition for what is not reading, computing or writing, in runs of one and of eight, beside the
    bare call."""
    rng, rows = np.random.default_rng(0), []
    v, a = rng.standard_normal((2, ROWS, robot.nv))
    q = robot.random(rng, ROWS)
    for count in (1, 8):
        logs(folder / "logs", robot, "npz", count)
        bare, beside = cpu_of(lambda: robot.inverse_dynamics(q, v, a)), np.inf
        for _ in range(9):
            report, cpu = annotated(folder, robot)
            beside = min(beside, cpu - sum(sum(each.value["cpu"].values()) for each in report.values))
        rows.append({"partitions": count, "bare": bare, "beside": beside / count, "share": beside / count / bare})
    return rows


def cpu_of(call: Callable[[], object]) -> float:
    """The best of several."""
    best = np.inf
    for _ in range(7):
        begun = time.process_time()
        call()
        best = min(best, time.process_time() - begun)
    return float(best)


def annotated(
    folder: Path, robot: kt.Robot, engine: Any = "local", workers: int = 1, client: Any = None
) -> tuple[Report, float]:
    """A run into an empty folder, and its CPU seconds in this process."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    begun = time.process_time()
    given: Any = {"workers": workers, "rows": ROWS, "client": client}
    report = annotate(folder / "logs", robot, "inverse_dynamics", folder / "out", engine, **given)
    assert report.complete, report
    return report, time.process_time() - begun


def run_of(folder: Path, robot: kt.Robot, engine: str, workers: int, client: Any = None) -> dict[str, Any]:
    """A run of all files: wall-clock seconds, the part of them that workers were busy, and CPU seconds of all tasks, by
    kind."""
    report, here = annotated(folder, robot, engine, workers, client)
    busy = sum(sum(each.value["seconds"].values()) for each in report.values) / (workers * report.seconds)
    tasks = [each.value["cpu"] for each in report.values]
    spent = {kind: sum(task[kind] for task in tasks) for kind in ("read", "compute", "write")}
    return {"partitions": report.done, "seconds": report.seconds, "busy": busy, "in this process": here, **spent}


def steady(folder: Path, count: int = 32, rounds: int = 4) -> list[dict[str, Any]]:
    """Runs on clusters that have started and have run once: the best of several, one worker and two by turns.

    `busy` is the part of the time in which a worker was at a task, which other programs on the machine change little.
    """
    kt.set_num_threads(1)
    os.environ["KINETREE_NUM_THREADS"] = "1"
    robot, best = load("UR5").robot, {}
    logs(folder / "logs", robot, "npz", count)
    for _ in range(rounds):
        for engine, workers in ((engine, workers) for engine in ("dask", "ray") for workers in (1, 2)):
            began = time.monotonic()
            with cluster(engine, workers) as client:
                started = time.monotonic() - began
                for _ in range(2):  # the first one loads code and files
                    row = run_of(folder, robot, engine, workers, client)
            row = {"engine": engine, "workers": workers, "start": started, **row, "load": psutil.getloadavg()[0]}
            print(row, flush=True)
            if row["seconds"] < best.get((engine, workers), row)["seconds"] or (engine, workers) not in best:
                best[engine, workers] = row
    shutil.rmtree(folder)
    return list(best.values())


@contextmanager
def cluster(engine: str, workers: int) -> Iterator[Any]:
    """A cluster on this machine, and the client of Dask's."""
    if engine == "ray":
        import ray  # noqa: PLC0415 - an extra

        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="error")
        yield None
        ray.shutdown()
        return
    import distributed  # noqa: PLC0415 - an extra

    settings: dict[str, Any] = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as started, distributed.Client(started) as client:
        yield client


def in_a_process(folder: Path) -> dict[str, Any]:
    """The same in a new process: the largest memory it took, and its speed."""
    code = (
        "import sys, kinetree as kt; sys.path.insert(0, sys.argv[2]); from robots import load;"
        "from pathlib import Path; from scale import annotated; kt.set_num_threads(1);"
        "report, cpu = annotated(Path(sys.argv[1]), load('UR5').robot);"
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'));"
        "print(report.rows, report.seconds, cpu, int(peak.split()[1]) / 1024)"
    )
    command = [sys.executable, "-c", code, str(folder), str(Path(__file__).parent)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    shutil.rmtree(folder / "out")
    return dict(zip(("rows", "seconds", "cpu", "MB of memory"), map(float, told), strict=True))


@kt.compile(shapes={"gain": ()})
def brake(robot: kt.Robot, q: Any, v: Any, gain: Any) -> Any:
    """A damper at every joint."""
    return -gain * v


def starts(rng: np.random.Generator, size: int) -> dict[str, np.ndarray]:
    """Random positions and gains."""
    return {"q0": 0.2 * rng.standard_normal((size, 2)), "gain": rng.uniform(0.5, 2.0, size)}


def swing(motion: Any) -> np.ndarray:
    """The largest angle of the pole."""
    return np.abs(motion.q[..., 1]).max(axis=-1)


def rollouts() -> dict[str, float]:
    """A Monte Carlo of 1e9 steps of a cart-pole: CPU seconds on one thread."""
    kt.set_num_threads(1)
    begun = time.process_time()
    given: Any = {"samples": 10**6, "dt": 1e-3, "steps": 1000, "metrics": {"swing": swing}}
    result = monte_carlo(kt.load("cartpole"), brake, starts, **given)
    assert result.samples == 10**6
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return {"steps": 1e9, "cpu": time.process_time() - begun, "MB of memory": int(peak.split()[1]) / 1024}


def start(robot: kt.Robot) -> dict[str, float]:
    """CPU and wall-clock seconds of a new worker until its first result, with the host's cache filled."""
    q = robot.random(0, 8)
    robot.inverse_dynamics(q, q, q)
    with tempfile.NamedTemporaryFile() as file:
        file.write(pickle.dumps((robot.inverse_dynamics, q)))
        file.flush()
        code = "import pickle, sys; call, q = pickle.load(open(sys.argv[1], 'rb')); call(q, q, q)"
        best = {"seconds": np.inf, "cpu": np.inf}
        for _ in range(5):
            begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", code, file.name], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            best = {"seconds": min(best["seconds"], time.monotonic() - begun), "cpu": min(best["cpu"], cpu)}
    return best


def disk(folder: Path) -> dict[str, float]:
    """Bytes a second of the disk itself, written with fsync, and read after the system has forgotten them."""
    folder.mkdir(parents=True, exist_ok=True)
    data, path = os.urandom(2**24), folder / "speed"
    begun = time.monotonic()
    with open(path, "wb") as file:
        for _ in range(16):
            file.write(data)
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    written = time.monotonic() - begun
    begun = time.monotonic()
    path.read_bytes()
    read = time.monotonic() - begun
    path.unlink()
    size = 16 * len(data) / 1e6
    return {"MB/s written": size / written, "MB/s read": size / read, "load": psutil.getloadavg()[0]}


if __name__ == "__main__":
    main()
