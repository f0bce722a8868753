"""Native calls leave no references behind, and no memory.

Covers: compiler/codegen/entry/references.py.
"""

import gc
import itertools
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.base.locks import FREE_THREADED
from kinetree.compiler.runtime import native
from natively import native_only, python_calls, resident

pytestmark = native_only


def made(word):
    return "".join(list(word))


class Case:
    """Calls of each kind on one robot, and every object that they touch."""

    def __init__(self):
        self.arm = kt.load("arm6")
        self.dog = kt.load("quadruped", base="floating")
        self.feet = [name for name in self.dog.frame_names if "foot" in name][:2]
        self.dog.prepare("inverse_dynamics", wrenches=[*self.feet, (self.feet[0], "local")])
        self.tool = self.arm.frame("tool0")
        self.q, self.v = np.linspace(-1.0, 1.0, 6), np.linspace(1.0, 2.0, 6)
        self.state, self.motion, self.torque = self.dog.random(0), *np.ones((2, self.dog.nv))
        self.bad = self.state * 2.0
        self.out, self.number, self.readonly = np.zeros((6, 6)), np.zeros(()), np.zeros((6, 6))
        self.readonly.setflags(write=False)
        self.wrench, self.numbers = np.arange(6.0), [0.0] * 6
        self.words, self.large, self.subclass = ["1"] * 6, [1.0] * 5 + [10**30], self.q.view(np.recarray)
        self.strided, self.single, self.integers = np.repeat(self.q, 2)[::2], self.q.astype(np.float32), np.arange(6)
        self.listed = {self.feet[0]: [1, 2.0, 3, 4, 5, 6], self.feet[1]: self.integers}
        self.tagged = kt.Wrench(self.wrench, "local")
        self.wrenches = {self.feet[0]: self.wrench, made(self.feet[1]): self.wrench}
        self.both = {made(self.feet[0]): self.tagged, self.feet[1]: self.wrench}
        self.unknown, self.short = {"nowhere": self.wrench}, {self.feet[0]: self.wrench[:5]}
        self.word, self.wrong = made("local"), made("nonsense")
        self.dtype, self.batch = self.q.dtype, np.zeros((2, 6))
        for quick in (self.quick, self.slow):
            for call in quick.values():
                attempt(call, 2)

    @property
    def quick(self):
        """No Python runs in any of these."""
        arm, dog, tool, q, v = self.arm, self.dog, self.tool, self.q, self.v
        kept, place = [None] * 8, itertools.cycle(range(8))

        def keep():
            kept[next(place)] = arm.mass_matrix(q)

        return {
            "new result": lambda: arm.mass_matrix(q),
            "kept results": keep,
            "a number": lambda: arm.kinetic_energy(q, v),
            "by name": lambda: arm.kinetic_energy(v=v, q=q),
            "out": lambda: arm.mass_matrix(q, out=self.out),
            "out for a number": lambda: arm.potential_energy(q, out=self.number),
            "out is None": lambda: arm.mass_matrix(q, out=None),
            "option": lambda: tool.jacobian(q, "local"),
            "option, made": lambda: tool.jacobian(q, reference=self.word),
            "list": lambda: arm.mass_matrix(self.numbers),
            "strided": lambda: arm.mass_matrix(self.strided),
            "float32 and integers": lambda: arm.kinetic_energy(self.single, self.integers),
            "a list of wrenches": lambda: dog.inverse_dynamics(self.state, self.motion, self.motion, self.listed),
            "no wrenches": lambda: dog.inverse_dynamics(self.state, self.motion, self.motion),
            "wrenches": lambda: dog.inverse_dynamics(self.state, self.motion, self.motion, self.wrenches),
            "tagged": lambda: dog.inverse_dynamics(self.state, self.motion, self.motion, self.both, out=self.torque),
        }

    @property
    def slow(self):
        """All of these go through Python, and some of them fail there."""
        arm, dog, tool, q, v = self.arm, self.dog, self.tool, self.q, self.v
        return {
            "list of words": lambda: arm.mass_matrix(self.words),
            "number too large": lambda: arm.mass_matrix(self.large),
            "another class": lambda: arm.mass_matrix(self.subclass),
            "batch of several axes": lambda: arm.mass_matrix(self.batch[None]),
            "too many": lambda: arm.mass_matrix(q, v),
            "too few": lambda: arm.kinetic_energy(q),
            "unknown name": lambda: arm.kinetic_energy(q, v=v, w=v),
            "given twice": lambda: arm.kinetic_energy(q, v, q=q),
            "wrong type": lambda: arm.mass_matrix(None),
            "wrong shape": lambda: arm.mass_matrix(self.batch.T),
            "read-only out": lambda: arm.mass_matrix(q, out=self.readonly),
            "out is an input": lambda: arm.gravity_forces(v, out=v),
            "wrong option": lambda: tool.jacobian(q, self.wrong),
            "unknown frame": lambda: dog.inverse_dynamics(self.state, self.motion, self.motion, self.unknown),
            "short wrench": lambda: dog.inverse_dynamics(self.state, self.motion, self.motion, self.short),
            "not of unit length": lambda: dog.inverse_dynamics(self.bad, self.motion, self.motion, self.wrenches),
        }

    def touched(self):
        """Objects whose reference counts must not move; every name and value of theirs."""
        own = [value for value in vars(self).values() if not isinstance(value, (bool, int))]
        names = [*self.feet, *self.wrenches, *self.both, "local", "world-aligned", "reference", "wrenches", "out", "q"]
        calls = [self.arm.mass_matrix, self.tool.jacobian, self.dog.inverse_dynamics]
        kinds = [np.ndarray, kt.Robot.mass_matrix, kt.Wrench, dict, str, float, type(self.dtype)]
        return [*own, *names, *calls, *kinds]


def attempt(call, times):
    for _ in range(times):
        try:  # noqa: SIM105 - suppress takes longer than the call
            call()
        except (kt.KinetreeError, TypeError):
            pass


@pytest.fixture(scope="module")
def case():
    return Case()


def counts(objects):
    return [sys.getrefcount(item) for item in objects]


def test_the_calls_are_of_the_kind_they_are_meant_to_be(case):
    for name, call in case.quick.items():
        with python_calls() as entered:
            call()
        assert not entered, name
    refused_by_python_itself = {"too many", "too few", "unknown name", "given twice", "wrong option"}
    for name, call in case.slow.items():
        with python_calls() as entered:
            attempt(call, 1)
        assert bool(entered) == (name not in refused_by_python_itself), name


@pytest.mark.parametrize("kind", ["quick", "slow"])
def test_reference_counts_stay(case, kind):
    """After 1e5 calls of each kind that is native, and 1e3 of those through Python."""
    times = {"quick": 100_000, "slow": 1_000}[kind]
    for name, call in getattr(case, kind).items():
        objects = case.touched()
        attempt(call, 20)
        gc.collect()
        before, none = counts(objects), sys.getrefcount(None)
        attempt(call, times)
        gc.collect()
        moved = [(item, b - a) for item, a, b in zip(objects, before, counts(objects), strict=True) if a != b]
        if kind == "slow":  # np.empty itself may leave a reference to the dtype, and Python give up names it had kept
            moved = [(item, change) for item, change in moved if item is not case.dtype and abs(change) > times // 100]
        assert not moved, name
        assert abs(sys.getrefcount(None) - none) < 50, name
        del moved, objects


linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux how much memory is used")


def grows(work, times):
    """Bytes that are in use after `times` more than after a tenth of it."""
    work(times // 10)
    gc.collect()
    before = resident()
    work(times)
    gc.collect()
    return resident() - before


def test_robots_that_come_and_go_leave_no_blocks(case):
    """Counted in blocks of Python's own memory, and in native entries."""
    model = case.arm.model
    gc.collect()

    def work(times):
        for _ in range(times):
            robot = kt.Robot(model)
            robot.mass_matrix, robot.frame("tool0").jacobian, robot.frame("tool0").pose
            del robot
        gc.collect()

    work(600 if FREE_THREADED else 100)  # without a global lock, memory is given back later
    pages, before = len(native._pages), sys.getallocatedblocks()
    work(300)
    work(300)
    assert sys.getallocatedblocks() - before < 200
    assert len(native._pages) <= pages + 3 * 300 // 64 + 1
    pages = len(native._pages)
    work(300)
    assert len(native._pages) == pages


@pytest.mark.long
@linux_only
@pytest.mark.parametrize("name", ["quick", "slow", "robots"])
def test_memory_stays_flat(case, name):
    """Over 1e7 native calls of all kinds, 1e5 of each kind through Python, and 3000 robots."""
    if name == "robots":

        def work(times):
            for k in range(times):
                robot = kt.Robot(case.arm.model)
                robot.mass_matrix(case.q), robot.frame("tool0").pose(case.q)
                del robot
                if k % 20 == 0:
                    gc.collect()

        assert grows(work, 3000) < 4 << 20
        return
    calls = getattr(case, name)
    times = {"quick": 10_000_000 // len(calls) + 1, "slow": 100_000}[name]
    for call in calls.values():
        assert grows(lambda count, call=call: attempt(call, count), times) < 1 << 20, call
