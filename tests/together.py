"""Everything at the same time, and nothing of it compiled before: `python together.py SEED SECONDS`.

Eight threads begin together, each with the jobs in an order of its own, on robots of its own or on one that all share.
Meanwhile the main thread is interrupted at random, and it and one other thread fork. Results must be those of the
textbook, here and in all children; what hangs for so many seconds is shown, and ends the process.
"""

from __future__ import annotations

import faulthandler
import os
import random
import signal
import sys
import threading
import time
import warnings
from typing import Any

import jobs
import kinetree as kt

NAMES, THREADS = ("planar2", "arm6"), 8


class Interrupt(BaseException):
    """What the main thread is interrupted by."""


class Together:
    """One run."""

    def __init__(self, seed: int, seconds: float) -> None:
        self.chance, self.seconds = random.Random(seed), seconds
        self.shared = {name: kt.load(name) for name in NAMES}
        self.states = {name: jobs.state_of(robot, seed) for name, robot in self.shared.items()}
        self.names = self.chance.sample(sorted(jobs.JOBS), 6)
        self.expected = {
            (name, job): jobs.JOBS[job](robot.eager, self.states[name])
            for name, robot in self.shared.items()
            for job in self.names
        }
        self.counts = {"calls": 0, "children": 0, "interrupts": 0}
        self.wrong: list[str] = []
        self._begin = threading.Barrier(THREADS + 1)

    def call(self, chance: random.Random, job: str | None = None) -> None:
        """A job on one of the robots, new or shared."""
        job, name = job or chance.choice(self.names), chance.choice(NAMES)
        robot = self.shared[name] if chance.random() < 0.5 else kt.load(name)
        if not jobs.agree(jobs.JOBS[job](robot, self.states[name]), self.expected[name, job]):
            self.wrong.append(f"{job} of {name}")
        self.counts["calls"] += 1

    def fork(self, chance: random.Random) -> None:
        """A child that calls something; it ends by itself, or is ended."""
        child = os.fork()
        if child == 0:
            status = 3
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                faulthandler.register(signal.SIGALRM, chain=True)
                signal.alarm(int(self.seconds))
                self.wrong = []
                self.call(chance)
                status = 1 if self.wrong else 0
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        self.counts["children"] += 1
        if status:
            self.wrong.append(f"a child ended with {status}")

    def work(self, k: int) -> None:
        """What one of the threads does."""
        try:
            chance = random.Random(self.chance.random() + k)
            order = chance.sample(self.names, len(self.names))
            self._begin.wait()
            for job in order:
                self.call(chance, job)
                if k == 0:
                    self.fork(chance)
        except BaseException as problem:
            self.wrong.append(repr(problem))
            raise

    def run(self) -> None:
        threads = [threading.Thread(target=self.work, args=(k,)) for k in range(THREADS)]
        for thread in threads:
            thread.start()
        self._begin.wait()
        signal.signal(signal.SIGALRM, _interrupt)
        while any(thread.is_alive() for thread in threads):
            if self.chance.random() < 0.2:
                self.fork(self.chance)
            try:
                signal.setitimer(signal.ITIMER_REAL, self.chance.uniform(1e-4, 0.3))
                self.call(self.chance)
                time.sleep(0.01)
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            except Interrupt:
                self.counts["interrupts"] += 1
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for thread in threads:
            thread.join()
        for _ in range(3):  # nothing that was interrupted is left behind
            self.call(self.chance)


def _interrupt(*_: Any) -> None:
    raise Interrupt


def main() -> None:
    seed, seconds = int(sys.argv[1]), float(sys.argv[2])
    faulthandler.dump_traceback_later(seconds, exit=True)
    warnings.simplefilter("ignore", DeprecationWarning)  # of forks with threads, from Python 3.12 on
    sys.unraisablehook = lambda problem: None  # of an interrupt that comes while something is given up
    sys.setswitchinterval(1e-4)
    together = Together(seed, seconds)
    together.run()
    print(*(f"{count} {name}" for name, count in together.counts.items()), sep=", ")
    faulthandler.cancel_dump_traceback_later()
    sys.exit(f"wrong: {together.wrong}" if together.wrong else 0)


if __name__ == "__main__":
    main()
