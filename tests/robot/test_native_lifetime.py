"""Native calls whose robot is going or gone."""

import gc
import itertools
import weakref
from textwrap import dedent

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.codegen.entry import records
from kinetree.compiler.runtime import native
from kinetree.compiler.runtime.jit import keep_alive
from natively import in_python, native_only, natively
from processes import run
from used_robots import Q, fresh


@pytest.fixture(autouse=True)
def collected():
    """Nothing is collected but when a test says so."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_a_method_outlives_every_name_of_its_robot():
    """In whatever order the names go."""
    for order in itertools.permutations(["robot", "tool", "mass_matrix"]):
        robot, tool, mass, jacobian = fresh()
        names = {"robot": robot, "tool": tool, "mass_matrix": robot.mass_matrix}
        call, gone = tool.jacobian, weakref.ref(robot)
        del robot, tool
        for name in order:
            del names[name]
            gc.collect()
            assert np.array_equal(call(Q), jacobian)
            assert np.array_equal(call.__self__.robot.mass_matrix(Q), mass)
        assert gone() is not None
        del call
        gc.collect()
        assert gone() is None


@native_only
@pytest.mark.sweep
def test_methods_of_robots_that_are_gone_stay_native_and_apart():
    kept, right = [], []
    for k in range(20):
        robot = kt.load("arm6", gravity=(0.0, 0.0, -float(k)))
        robot.gravity_forces(Q)
        kept.append(robot.gravity_forces)
        right.append(np.array(in_python(robot.gravity_forces, Q)))
        del robot
        if k % 3 == 0:
            gc.collect()
    for call, expected in zip(kept, right, strict=True):
        assert np.array_equal(natively(call, Q), expected)
    del kept[::2], call
    gc.collect()
    others = [kt.load("arm6", base="floating").potential_energy for _ in range(30)]  # in the places that are free now
    for call in others:
        call(call.__self__.neutral())
    for call, expected in zip(kept, right[1::2], strict=True):
        assert np.array_equal(natively(call, Q), expected)


class User:
    """Calls a robot when it is finalized."""

    def __init__(self, robot, tool, seen):
        self.robot, self.tool, self.seen = robot, tool, seen
        self.mass_matrix, self.jacobian, self.Q = robot.mass_matrix, tool.jacobian, Q
        self.itself = self

    def __del__(self):
        for _ in range(3):
            self.seen.append((np.array(self.mass_matrix(self.Q)), np.array(self.jacobian(self.Q))))
        self.seen.append((self.mass_matrix(np.array([self.Q]))[0], self.jacobian(np.array([self.Q]))[0]))
        self.seen.append((self.robot.mass_matrix(list(self.Q)), self.tool.jacobian(list(self.Q))))


def test_finalizers_in_a_cycle_with_the_robot_still_call_it():
    """The collector finalizes what is dead in the order in which it was made, so users come before and after."""
    for place in range(3):
        seen = []
        user = User.__new__(User) if place == 0 else None
        robot, tool, mass, jacobian = fresh()
        robot.mass_matrix(np.array([Q])), tool.jacobian(np.array([Q]))
        user = user or User.__new__(User)
        user.__init__(robot, tool, seen)
        if place == 2:
            gc.collect()
        robot.__dict__["user"] = user
        died = weakref.ref(robot)
        del robot, tool, user
        gc.collect()
        assert died() is None and len(seen) == 5
        for found_mass, found_jacobian in seen:
            assert np.array_equal(found_mass, mass)
            assert np.array_equal(found_jacobian, jacobian)


class Saviour:
    """Saves the method when it is finalized, and with it the robot."""

    def __init__(self, call, saved):
        self.call, self.saved, self.itself = call, saved, self

    def __del__(self):
        self.saved.append(self.call)


@pytest.mark.sweep
def test_a_robot_that_a_finalizer_saves_is_whole():
    """Others that come after it do not get its place."""
    saved, right = [], []
    for k in range(5):
        robot = kt.load("arm6", gravity=(0.0, 0.0, -1.0 - k))
        right.append(np.array(robot.gravity_forces(Q)))
        robot.__dict__["saviour"] = Saviour(robot.gravity_forces, saved)
        del robot
        gc.collect()
        others = [kt.load("arm6", base="floating") for _ in range(3)]
        for other in others:
            other.mass_matrix(other.neutral())
        assert len(saved) == k + 1
    for call, expected in zip(saved, right, strict=True):
        assert np.array_equal(call(Q), expected) and np.array_equal(call(Q), expected)
    del saved, call
    gc.collect()


@native_only
@pytest.mark.sweep
def test_entries_are_used_again():
    """Robots come and go, and the number of pages stays."""
    robot = kt.load("arm6")
    robot.mass_matrix(Q)
    model = robot.model
    gc.collect()

    def free():
        return sum(len(page.free) for page in native._pages)

    before = len(native._pages), free()
    for _ in range(3 * records.ENTRIES):
        robot = kt.Robot(model)
        assert robot.mass_matrix is not None and robot.frame("tool0").pose is not None
        del robot
        gc.collect(0)
    gc.collect()
    assert len(native._pages) <= before[0] + 1 and free() >= before[1]
    many = [kt.Robot(model) for _ in range(records.ENTRIES + 1)]
    calls = [robot.mass_matrix for robot in many]
    assert len({id(call) for call in calls}) == len(many)
    assert len(native._pages) > 1
    assert all(np.array_equal(call(Q), calls[0](Q)) for call in calls)


@native_only
def test_an_entry_that_is_closed_says_so():
    """Only one who takes a call's home away can have such a call."""
    interface = native.Interface("call", "call($self)\n--\n\n", (), ((1,),), True, print, __name__)
    call = native.NativeEntry(interface).bind(None)
    call.__module__ = "elsewhere"
    gc.collect()
    with pytest.raises(ReferenceError, match="no longer exists"):
        call()
    with pytest.raises(ReferenceError, match="no longer exists"):
        call(1, out=2)


def test_the_collector_does_not_see_what_is_kept_alive():
    class Finalized:
        def __del__(self):
            died.append(True)

    died, thing = [], Finalized()
    reference = weakref.ref(thing)
    cycle = [keep_alive(thing)]
    cycle.append(cycle)
    assert not gc.is_tracked(cycle[0])
    del thing
    assert reference() is not None
    del cycle
    assert not died
    gc.collect()
    assert died and reference() is None


EXIT = """
    import atexit, builtins, sys
    import numpy as np, kinetree as kt

    class User:
        def __init__(self):
            self.itself = self
            self.robot, self.tool, self.q, self.right, self.same = robot, tool, q, right, np.array_equal
            self.write = sys.stdout.write

        def __del__(self):
            self.robot.mass_matrix(self.q)
            self.write("right " if (self.robot.mass_matrix(self.q) == self.right).all() else "wrong ")
            self.tool.jacobian(self.q)

    robot = kt.load("arm6")
    tool, q = robot.frame("tool0"), robot.random(0)
    right = robot.mass_matrix(q).copy()
    tool.jacobian(q)
    users = [User(), User()]
    del users[1].itself
    robot.__dict__["user"] = User()
    sys.modules["another"] = type(sys)("another")
    sys.modules["another"].user = User()
    builtins.user = User()
    atexit.register(User)
    """


def test_calls_while_the_interpreter_shuts_down():
    """Of finalizers that run when modules are already gone."""
    assert run(dedent(EXIT)).split() == ["right"] * 6
