"""Threads, forks, signals, the disk cache and random calls, all at once, for long: `make soak MINUTES=120`.

A worker process calls whatever there is, from six threads and its main thread, on robots that are shared or new; its
results must be, bit for bit, those that it computed alone at the start, which agree with the textbook. Its main thread
is interrupted, runs calls inside of signal handlers, and forks children that call too. This process watches: a thread
that gets nowhere, too much memory, or memory that keeps growing ends the worker and counts as a failure, as does any
wrong number. A line a minute says how far it is; what came of it is in benchmarks/results/soak.json.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import jobs
import kinetree as kt
from kinetree.base.originals import replaced

THREADS, STATES = 6, 24
NAMES = {"planar2": "fixed", "arm6": "fixed", "quadruped": "floating"}
QUANTITIES = {
    "mass_matrix": "q",
    "poses": "q",
    "gravity_forces": "q",
    "center_of_mass": "q",
    "potential_energy": "q",
    "bias_forces": "qv",
    "kinetic_energy": "qv",
    "coriolis_matrix": "qv",
    "inverse_dynamics": "qva",
    "forward_dynamics": "qva",
    "regressor": "qva",
}
SHAPES = [(), (), (), (1,), (2,), (3,), (7,), (8,), (9,), (31,), (257,), (0,), (3, 5), (1, 4), (2, 1, 3), (4099,)]
PATIENCE = 1200.0
"""Seconds in which every thread must get on, on a machine that others keep busy as well."""
CEILING = 3e9
"""Bytes that the worker may take."""
GROWTH = 1.25
"""How much larger the worker may be in the last quarter than in the second, and 50 MB."""


class Interrupt(BaseException):
    """What the main thread is interrupted by."""


class Worker:
    """The process under test."""

    def __init__(self, seed: int, seconds: float) -> None:
        self.seed = seed
        self.robots = {name: kt.load(name, base) for name, base in NAMES.items()}
        self.states, self.known, self.expected = {}, {}, {}
        self.counts: dict[str, int] = {}
        self.wrong: list[str] = []
        self.progress = [time.monotonic()] * (THREADS + 1)
        for name, robot in self.robots.items():
            self._prepare(name, robot)
        self.end = time.monotonic() + seconds

    def _prepare(self, name: str, robot: kt.Robot) -> None:
        """What every call must give, from this one thread, and checked against the textbook."""
        rng = np.random.default_rng(self.seed)
        q, v, a = robot.random(rng, STATES), rng.normal(size=(STATES, robot.nv)), rng.normal(size=(STATES, robot.nv))
        self.states[name] = {"q": q, "v": v, "a": a}
        for quantity, inputs in QUANTITIES.items():
            arguments = [self.states[name][each] for each in inputs]
            self.known[name, quantity] = getattr(robot, quantity)(*arguments)
            textbook = getattr(robot.eager, quantity)(*(array[:4] for array in arguments))
            assert jobs.agree([self.known[name, quantity][:4]], [textbook]), (name, quantity)
        if robot.nq == robot.nv:
            state = self.states[name, "job"] = jobs.state_of(robot, self.seed)
            for job, run in jobs.JOBS.items():
                self.expected[name, job] = run(robot, state)
                assert jobs.agree(self.expected[name, job], run(robot.eager, state)), (name, job)

    # -- calls -------------------------------------------------------------------------------------------------

    def call(self, chance: random.Random) -> None:
        """One of all there are."""
        what = chance.choices((self.quantity, self.job, self.compile_anew, self.settings), weights=(60, 12, 2, 1), k=1)[
            0
        ]
        what(chance)
        self.counts[what.__name__] = self.counts.get(what.__name__, 0) + 1

    def robot(self, chance: random.Random, name: str) -> kt.Robot:
        return self.robots[name] if chance.random() < 0.8 else kt.load(name, NAMES[name])

    def quantity(self, chance: random.Random) -> None:
        """States drawn at random, in a batch of any shape and any layout in memory."""
        name, quantity = chance.choice(sorted(NAMES)), chance.choice(sorted(QUANTITIES))
        shape, draw = chance.choice(SHAPES), np.random.default_rng(chance.getrandbits(32))
        chosen = draw.integers(0, STATES, shape)
        arguments = [_laid_out(self.states[name][each][chosen], chance) for each in QUANTITIES[quantity]]
        result = getattr(self.robot(chance, name), quantity)(*arguments)
        if not np.array_equal(result, self.known[name, quantity][chosen]):
            self.wrong.append(f"{quantity} of {name} for a batch {shape}")

    def job(self, chance: random.Random) -> None:
        name, job = chance.choice(sorted(self.expected))
        results = jobs.JOBS[job](self.robot(chance, name), self.states[name, "job"])
        if not all(map(np.array_equal, results, self.expected[name, job])):
            self.wrong.append(f"{job} of {name}")

    def compile_anew(self, chance: random.Random) -> None:
        """Nobody has compiled for this gravity before; forces are proportional to it."""
        name, g = chance.choice(("planar2", "arm6")), chance.uniform(1.0, 20.0)
        robot = kt.load(name, gravity=(0.0, 0.0, -g))
        result = robot.gravity_forces(self.states[name]["q"][: chance.choice((1, STATES))])
        if not jobs.agree([result * 9.81 / g], [self.known[name, "gravity_forces"][: len(result)]]):
            self.wrong.append(f"gravity_forces of {name} for gravity {g}")

    def settings(self, chance: random.Random) -> None:
        if chance.random() < 0.5:
            kt.set_num_threads(chance.randint(1, 4))
        else:
            kt.set_result_memory(chance.choice((0, 2**22, 2**26, 2**28)))

    # -- threads, forks, signals -------------------------------------------------------------------------------

    def work(self, k: int) -> None:
        chance = random.Random(1000 * self.seed + k)
        while time.monotonic() < self.end and not self.wrong:
            try:
                self.call(chance)
                if chance.random() < 0.002:
                    self.fork(chance)
                if k == 0 and chance.random() < 0.001:
                    self.another_process(chance)
            except BaseException as problem:
                self.wrong.append(f"{type(problem).__name__}: {problem}")
                raise
            self.progress[k] = time.monotonic()

    def fork(self, chance: random.Random) -> None:
        child = os.fork()
        if child == 0:
            status = 3
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                faulthandler.register(signal.SIGALRM, chain=True)
                signal.alarm(int(PATIENCE))
                self.wrong = []
                for _ in range(chance.randint(1, 4)):
                    self.call(chance)
                status = 1 if self.wrong else 0
                for sentence in self.wrong:
                    print(f"in a child: {sentence}", file=sys.stderr, flush=True)
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        self.counts["children"] = self.counts.get("children", 0) + 1
        if status:
            self.wrong.append(f"a child ended with {status}")

    def another_process(self, chance: random.Random) -> None:
        """One that begins with nothing but the same cache."""
        command = [
            sys.executable,
            str(Path(__file__).with_name("together.py")),
            str(chance.getrandbits(20)),
            str(0.8 * PATIENCE),
        ]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        self.counts["processes"] = self.counts.get("processes", 0) + 1
        if ended.returncode:
            print(ended.stderr, file=sys.stderr, flush=True)
            self.wrong.append(f"another process ended with {ended.returncode}: {ended.stderr[-200:]}")

    def main(self) -> None:
        """Calls that are interrupted, and calls from signal handlers."""
        threads = [threading.Thread(target=self.work, args=(k,)) for k in range(THREADS)]
        for thread in threads:
            thread.start()
        chance, inner = random.Random(self.seed - 1), random.Random(self.seed - 2)

        collecting: list[str] = []
        gc.callbacks.append(lambda phase, _: collecting.append(phase) if phase == "start" else collecting.clear())

        def handle(*_: Any) -> None:
            if collecting and sys.version_info < (3, 12):
                return  # NumPy alone crashes there: np.errstate in a handler, in a finalizer, inside of np.errstate
            if inner.random() < 0.3:
                self.counts["inside handlers"] = self.counts.get("inside handlers", 0) + 1
                self.call(inner)
            else:
                raise Interrupt

        signal.signal(signal.SIGALRM, handle)
        told = time.monotonic()
        while time.monotonic() < self.end and not self.wrong:
            try:
                signal.setitimer(signal.ITIMER_REAL, 10.0 ** chance.uniform(-5.0, -0.5))
                for _ in range(chance.randint(1, 20)):
                    self.call(chance)
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            except Interrupt:
                self.counts["interrupts"] = self.counts.get("interrupts", 0) + 1
            if chance.random() < 0.05:
                self.fork(chance)
            self.progress[-1] = now = time.monotonic()
            if now - told > 5.0:
                told = now
                self.tell()
        for thread in threads:
            thread.join()
        self.tell()
        sys.exit(1 if self.wrong else 0)

    def tell(self) -> None:
        """A line for who watches."""
        if replaced():
            self.wrong.append(f"names do not hold: {sorted(replaced())}")
        idle = time.monotonic() - min(self.progress)
        print(json.dumps({"counts": self.counts, "idle": idle, "wrong": self.wrong}), flush=True)


def _laid_out(array: Any, chance: random.Random) -> Any:
    """The same numbers in another layout."""
    layouts = (np.ascontiguousarray, np.asfortranarray, jobs.strided, _backwards, _unaligned, np.ndarray.tolist)
    return chance.choice(layouts)(array) if array.size else array


def _backwards(array: Any) -> Any:
    return np.ascontiguousarray(array[..., ::-1])[..., ::-1]


def _unaligned(array: Any) -> Any:
    memory = np.empty(array.nbytes + 1, dtype=np.uint8)[1:]
    result = memory.view(np.float64).reshape(array.shape)
    result[...] = array
    return result


# -- watching ---------------------------------------------------------------------------------------------------------


class Watch:
    """Runs a worker, and looks after it."""

    def __init__(self, minutes: float, seed: int) -> None:
        self.minutes, self.seed = minutes, seed
        self.last: dict[str, Any] = {"counts": {}, "idle": 0.0, "wrong": []}
        self.heard = self.begun = time.monotonic()
        self.sizes: list[float] = []
        self.problems: list[str] = []

    def run(self) -> None:
        with tempfile.TemporaryDirectory(prefix="kinetree-soak-") as folder:
            environment = {**os.environ, "KINETREE_CACHE_DIR": folder, "KINETREE_CACHE_MB": "40"}
            command = [sys.executable, "-X", "faulthandler", __file__, "worker", str(self.seed), str(60 * self.minutes)]
            worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
            threading.Thread(target=self._listen, args=(worker,), daemon=True).start()
            told = 0.0
            while worker.poll() is None:
                time.sleep(1.0)
                self._look_at(worker)
                if time.monotonic() - told >= 60.0:
                    told = time.monotonic()
                    self._tell()
            time.sleep(1.0)
        self.problems += self.last["wrong"]
        if worker.returncode and not self.problems:
            self.problems.append(f"the worker ended with {worker.returncode}")
        self._look_for_leaks()

    def _listen(self, worker: Any) -> None:
        for line in worker.stdout:
            self.last, self.heard = json.loads(line), time.monotonic()

    def _look_at(self, worker: Any) -> None:
        try:
            pages = int(Path(f"/proc/{worker.pid}/statm").read_text().split()[1])
        except (OSError, IndexError):
            return
        self.sizes.append(float(pages * os.sysconf("SC_PAGE_SIZE")))
        silent = time.monotonic() - self.heard
        reason = ""
        if self.sizes[-1] > CEILING:
            reason = f"it takes {self.sizes[-1] / 1e6:.0f} MB"
        elif max(silent, self.last["idle"]) > PATIENCE:
            reason = f"a thread has got nowhere for {max(silent, self.last['idle']):.0f} s"
        if reason:
            self.problems.append(reason)
            worker.send_signal(signal.SIGABRT)  # faulthandler shows where all threads are
            worker.wait()

    def _look_for_leaks(self) -> None:
        n = len(self.sizes) // 4
        if self.minutes >= 10 and n:
            early, late = np.median(self.sizes[n : 2 * n]), np.median(self.sizes[3 * n :])
            if late > GROWTH * early + 50e6:
                self.problems.append(f"it grew from {early / 1e6:.0f} to {late / 1e6:.0f} MB")

    def _tell(self) -> None:
        minutes, size = (time.monotonic() - self.begun) / 60.0, (self.sizes or [0.0])[-1] / 1e6
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self.last["counts"].items()))
        print(f"{minutes:5.0f} min  {size:5.0f} MB  {counts}", flush=True)

    def summary(self) -> dict[str, Any]:
        quarters = [float(np.median(part)) / 1e6 for part in np.array_split(self.sizes or [0.0], 4) if len(part)]
        return {
            "minutes": round((time.monotonic() - self.begun) / 60.0, 1),
            "threads": THREADS,
            "counts": self.last["counts"],
            "memory by quarters [MB]": quarters,
            "most memory [MB]": max(self.sizes or [0.0]) / 1e6,
            "problems": self.problems,
        }


def main() -> None:
    warnings.simplefilter("ignore", DeprecationWarning)  # of forks with threads, from Python 3.12 on
    if sys.argv[1:2] == ["worker"]:
        sys.unraisablehook = lambda problem: None  # of an interrupt that comes while something is given up
        Worker(int(sys.argv[2]), float(sys.argv[3])).main()
    watch = Watch(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    watch.run()
    watch._tell()
    summary = watch.summary()
    sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
    from measure import save  # noqa: PLC0415

    print(json.dumps(summary, indent=2), f"\nwritten to {save('soak', {'soak': summary})}", flush=True)
    sys.exit(1 if watch.problems else 0)


if __name__ == "__main__":
    main()
