"""Objects with code reach another process once, however often they are sent; this process copies them."""

import copy
import pickle
import sys
from functools import partial

import numpy as np
import pytest

import kinetree as kt
from kinetree.base import unpickled_once
from processes import run

cloudpickle = pytest.importorskip("cloudpickle")

RECEIVE = """
import pickle, sys
import numpy as np
from forbidden import counted
from kinetree.compiler.graph.trace import trace

data = open(sys.argv[1], "rb").read()
first = pickle.loads(data)
q = np.zeros(first["robot"].nq)
reached = {name: call(*[q] * count) for name, (call, count) in first["calls"].items()}
with counted(trace) as traced:
    for _ in range(3):
        again = pickle.loads(data)
        assert again["robot"] is first["robot"]
        for name, (call, count) in again["calls"].items():
            assert np.array_equal(call(*[q] * count), reached[name]), name
assert not traced, "a copy was traced again"
pickle.dump(reached, open(sys.argv[2], "wb"))
"""


def sent():
    """A robot, and calls with the number of their arguments, each of which is as long as q."""
    robot = kt.load("arm6")
    gain = 3.0

    @kt.compile
    def local(robot, q, v):
        return gain * q + robot.gravity_forces(q) - v

    calls = {
        "quantity": (robot.mass_matrix, 1),
        "of a frame": (robot.frame("tool0").jacobian, 1),
        "law": (local.bind(robot), 2),
        "derivative": (kt.jacobian(local).bind(robot), 2),
        "controller": (kt.control.ComputedTorque(robot, 100.0, 20.0), 3),
        "differential IK": (kt.ik.DifferentialIK(robot, [kt.tasks.Posture()], dt=0.01), 2),
    }
    return {"robot": robot, "calls": calls}


@pytest.mark.sweep
def test_another_process_makes_an_object_once(tmp_path):
    given = sent()
    (tmp_path / "sent").write_bytes(cloudpickle.dumps(given))
    run(RECEIVE, tmp_path / "sent", tmp_path / "back")
    back = pickle.loads((tmp_path / "back").read_bytes())
    q = np.zeros(6)
    for name, (call, count) in given["calls"].items():
        np.testing.assert_array_equal(back[name], call(*[q] * count), err_msg=name)


@kt.compile
def held(robot, q, v):
    return -5.0 * v


def landed(robot, contact, q):
    return robot.rollout(q, np.zeros(robot.nv), held, 1e-3, 5, contact=contact).q


def reached(robot, target, q):
    return robot.ik("tool0", target, q0=q).q


def many():
    """The largest objects: inverse kinematics, rollouts with a law and contact, whole-body control."""
    robot = kt.load("arm6")
    contact = kt.simulation.RigidContact(["tool0"])
    target = robot.frame("tool0").pose(0.3 * np.ones(6))
    body = kt.control.WholeBody(robot, [kt.tasks.Posture(stiffness=10.0)], [])
    calls = {
        "rollout": (partial(landed, robot, contact), 1),
        "inverse kinematics": (partial(reached, robot, target), 1),
        "whole body": (partial(body, reference={"posture": np.zeros(6)}), 2),
    }
    return {"robot": robot, "calls": calls}


@pytest.mark.sweep
def test_the_largest_objects(tmp_path):
    given = many()
    with_functions_by_value = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(with_functions_by_value)
    (tmp_path / "sent").write_bytes(cloudpickle.dumps(given))
    cloudpickle.unregister_pickle_by_value(with_functions_by_value)
    run(RECEIVE, tmp_path / "sent", tmp_path / "back")
    back = pickle.loads((tmp_path / "back").read_bytes())
    for name, (call, count) in given["calls"].items():
        np.testing.assert_array_equal(back[name], call(*[np.zeros(6)] * count), err_msg=name)


MAIN = """
import pickle, sys
import cloudpickle
import numpy as np
import kinetree as kt

GAIN = 2.0

@kt.compile(shapes={"gain": ()})
def law(robot, q, gain=1.5):
    return GAIN * gain * q

if __name__ == "__main__":
    by_name = pickle.loads(pickle.dumps(law))
    assert by_name is law and pickle.loads(pickle.dumps(law.bind(kt.load("arm6"))))(np.ones(6), 1.5)[0] == 3.0
    open(sys.argv[1], "wb").write(cloudpickle.dumps(law))
"""

ELSEWHERE = """
import pickle, sys
import numpy as np
import kinetree as kt

data = open(sys.argv[1], "rb").read()
law = pickle.loads(data)
assert pickle.loads(data) is law and law.__name__ == "law"
assert (law(kt.load("arm6"), np.ones(6)) == 3.0).all()
"""


def test_a_law_of_a_script_reaches_a_process_without_the_script(tmp_path):
    run(MAIN, tmp_path / "law")
    run(ELSEWHERE, tmp_path / "law")


def test_this_process_copies():
    robot = kt.load("arm6")
    assert pickle.loads(pickle.dumps(robot)) is not robot and copy.deepcopy(robot) == robot
    assert pickle.loads(pickle.dumps(robot)) is not pickle.loads(pickle.dumps(robot))


class Made:
    def __init__(self, number):
        self.number = number

    def __reduce__(self):
        return unpickled_once.reduced_once(self, Made, self.number)


def test_few_are_kept(monkeypatch):
    monkeypatch.setattr(unpickled_once, "KEPT", 2)
    monkeypatch.setattr(unpickled_once, "_kept", {})
    data = [pickle.dumps(Made(k)) for k in range(3)]
    monkeypatch.setattr(unpickled_once, "_session", "another process")
    first, second = pickle.loads(data[0]), pickle.loads(data[1])
    assert pickle.loads(data[0]) is first, "used last"
    third = pickle.loads(data[2])
    assert pickle.loads(data[0]) is first and pickle.loads(data[2]) is third
    assert pickle.loads(data[1]) is not second and pickle.loads(data[1]).number == 1


def test_a_copy_keeps_its_token(monkeypatch):
    monkeypatch.setattr(unpickled_once, "_kept", {})
    data = pickle.dumps(Made(5))
    monkeypatch.setattr(unpickled_once, "_session", "the first worker")
    onward = pickle.dumps(pickle.loads(data))
    monkeypatch.setattr(unpickled_once, "_session", "the second worker")
    monkeypatch.setattr(unpickled_once, "_kept", {})
    assert pickle.loads(onward) is pickle.loads(data)
