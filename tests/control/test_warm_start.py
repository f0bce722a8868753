"""Controllers in the next process: their formulas are known by what they are made of, and run no more."""

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import pytest

import kinetree as kt
from kinetree import control
from kinetree.compiler.runtime import cache
from kinetree.control import (
    CenterOfMass,
    LineContact,
    MotionLimits,
    PointContact,
    Pose,
    Position,
    Posture,
    TorqueLimits,
    WholeBody,
)
from kinetree.functions import specialization
from kinetree.functions.compiled_function import PLAIN
from kinetree.functions.identity import identity
from processes import run

FEET = tuple(f"{end}_{side}_foot" for end in ("front", "hind") for side in ("left", "right"))

WORK = """
import sys
import numpy as np
import kinetree as kt
from kinetree import control
from forbidden import forbid_tracing

if sys.argv[1] == "warm":
    forbid_tracing()

dog, arm = kt.load("quadruped", "floating"), kt.load("arm6")
feet = [name for name in dog.frame_names if name.endswith("_foot")]
q, v = dog.neutral(), np.zeros(18)
q[[8, 11, 14, 17]], q[[9, 12, 15, 18]] = 0.6, -1.2
tasks = [control.CenterOfMass(), control.Posture(weight=0.1)]
contacts, limits = [control.PointContact(foot) for foot in feet], [control.TorqueLimits(), control.MotionLimits()]
body = control.WholeBody(dog, tasks, contacts, limits, fallback="gravity-compensation")
reference = {"center_of_mass": dog.center_of_mass(q) + 0.01, "posture": q}
step = body.step(q, v, reference)
lost = body.step(q, v, {**reference, "posture": np.full(19, np.nan)})
results = [step.tau, step.a, step.forces, step.state, lost.tau]
q, v = 0.1 * np.arange(6), np.ones(6)
pose = arm.frame("tool0").pose(q)
results += [
    control.ComputedTorque(arm, 100.0)(np.array([q, v]), v, 2.0 * q),
    control.OperationalSpace(arm, "tool0", 100.0, posture=q, posture_stiffness=3.0)(q, v, pose),
    control.Admittance(mass=2.0, damping=30.0, stiffness=80.0, dt=1e-3)(np.zeros((2, 6)), np.ones(6), pose)[0],
    kt.ik.DifferentialIK(arm, [kt.ik.Pose("tool0")]).velocity(q, arm.frame("tool0").pose(v)),
    arm.ik("tool0", pose, q0=v).q,
]
print(*(np.asarray(result).tobytes().hex() for result in results))
"""


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    for name in (cache.SWITCH, cache.BOUND):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.sweep
def test_the_next_process_traces_no_controller(own_cache):
    """The same bits, also where strings are hashed otherwise."""
    cold = run(WORK, "cold", PYTHONHASHSEED=1)
    kept = sorted(path.name for path in own_cache.iterdir())
    assert run(WORK, "warm", PYTHONHASHSEED=2) == cold
    assert sorted(path.name for path in own_cache.iterdir()) == kept


# -- one name for one formula -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dog():
    return kt.load("quadruped", "floating")


def named(robot, tasks=None, contacts=None, limits=(), **options):
    """The name of the formula."""
    feet = [PointContact(foot) for foot in FEET] if contacts is None else contacts
    return WholeBody(robot, tasks or [CenterOfMass(), Posture()], feet, limits, **options)._compiled.first


def test_whatever_a_formula_freezes_is_in_its_name(dog):
    posture = Posture()
    formulas = {
        "as it is": named(dog),
        "another robot": named(moon()),
        "another order": named(dog, [posture, CenterOfMass()]),
        "stiffness": named(dog, [CenterOfMass(stiffness=np.nextafter(100.0, 200.0)), posture]),
        "damping": named(dog, [CenterOfMass(damping=21.0), posture]),
        "gain": named(dog, [CenterOfMass(gain=(1.0, 1.0, 2.0)), posture]),
        "weight": named(dog, [CenterOfMass(weight=(1.0, 1.0, 2.0)), posture]),
        "priority": named(dog, [CenterOfMass(priority=-1), posture]),
        "hard": named(dog, [CenterOfMass(hard=True), posture]),
        "feedforward": named(dog, [CenterOfMass(feedforward=True), posture]),
        "some joints": named(dog, [CenterOfMass(), Posture(joints=(dog.joint_names[0],))]),
        "other joints": named(dog, [CenterOfMass(), Posture(joints=(dog.joint_names[1],))]),
        "a frame": named(dog, [Position(FEET[0]), posture]),
        "another frame": named(dog, [Position(FEET[1]), posture]),
        "another kind": named(dog, [Pose(FEET[0]), posture]),
        "fewer contacts": named(dog, contacts=[PointContact(foot) for foot in FEET[1:]]),
        "friction": named(dog, contacts=[PointContact(foot, friction=0.6) for foot in FEET]),
        "where": named(dog, contacts=[PointContact(foot, at=(0.0, 0.0, -0.01)) for foot in FEET]),
        "edges": named(dog, contacts=[PointContact(foot, edges=5) for foot in FEET]),
        "min_force": named(dog, contacts=[PointContact(foot, min_force=1.0) for foot in FEET]),
        "lines": named(dog, contacts=[LineContact(foot) for foot in FEET]),
        "torque limits": named(dog, limits=TorqueLimits()),
        "scaled": named(dog, limits=TorqueLimits(scale=0.5)),
        "of a priority": named(dog, limits=TorqueLimits(priority=1)),
        "motion limits": named(dog, limits=MotionLimits()),
        "motion limits of a priority": named(dog, limits=MotionLimits(priority=1)),
        "dt": named(dog, limits=MotionLimits(), dt=0.02),
        "regularization": named(dog, regularization=2e-3),
        "motors": named(dog, actuated=dog.joint_names[1:]),
    }
    names = {key: formula.identity(PLAIN) for key, formula in formulas.items()}
    assert all(names.values())
    assert len(set(names.values())) == len(names)
    again = named(kt.load("quadruped", "floating"), contacts=[PointContact(foot, friction=0.7) for foot in FEET])
    assert again.identity(PLAIN) == names["as it is"]


def moon():
    return kt.load("quadruped", "floating", gravity=(0.0, 0.0, -1.62))


def test_names_are_of_what_cannot_change_and_is_ours():
    assert identity(1.0) != identity(1) != identity("1") != identity(True)
    assert identity(("a", "b"), "c") != identity(("a",), "b", "c")
    assert identity(0.0) != identity(-0.0)
    assert identity([1.0]) is None and identity(np.ones(2)) is None and identity({"a": 1.0}) is None
    assert identity(len) is None and identity(object) is None
    assert identity(CenterOfMass) == "kinetree.tasks.center_of_mass.CenterOfMass"


@dataclass(frozen=True)
class Own(control.MotionTask):
    """A task of a user's."""

    def size(self, robot):
        return 3

    def target_shape(self, robot):
        return (3,)

    def evaluate(self, robot, q, target):
        error, J = CenterOfMass().evaluate(robot, q, target)
        return 2.0 * error, J


def test_what_users_define_is_known_by_its_graph(dog, monkeypatch):
    assert named(dog, [Own(), Posture()]).identity(PLAIN) is None
    derived = type("CenterOfMass", (CenterOfMass,), {"__module__": CenterOfMass.__module__})
    assert named(dog, [derived(), Posture()]).identity(PLAIN) is None
    computed = type("ComputedTorque", (control.ComputedTorque,), {})
    assert computed(kt.load("arm6"), 100.0).law.identity(PLAIN) is None
    assert control.ComputedTorque(kt.load("arm6"), 100.0).law.identity(PLAIN)
    with monkeypatch.context() as patch:
        patch.setattr(CenterOfMass, "evaluate", Own.evaluate)
        assert named(dog).identity(PLAIN) is None
        patch.setattr(control.MotionTask, "acceleration_rows", lambda *given: None)
        assert named(dog, [Posture()]).identity(PLAIN) is None
    assert named(dog).identity(PLAIN) and named(dog, [Posture()]).identity(PLAIN)


OWN = """
import sys
from dataclasses import dataclass
import numpy as np
import kinetree as kt
from kinetree.control import CenterOfMass, MotionTask, Posture, WholeBody

@dataclass(frozen=True)
class Own(MotionTask):
    def size(self, robot):
        return 3

    def target_shape(self, robot):
        return (3,)

    def evaluate(self, robot, q, target):
        error, J = CenterOfMass().evaluate(robot, q, target)
        return float(sys.argv[1]) * error, J

formula = WholeBody(kt.load("planar2"), [Own(), Posture(weight=0.1)])._compiled.first
print(*(part.tobytes().hex() for part in formula.call(np.ones(2), np.ones(2), np.arange(5.0), np.ones(2))))
"""


@pytest.mark.sweep
def test_a_task_that_was_edited_is_another_one(own_cache):
    """Its name and its fields are the same; what it does is not."""
    first = run(OWN, 1.0)
    assert run(OWN, 2.0) != first
    assert run(OWN, 1.0) == first


# -- what the disk has lost -------------------------------------------------------------------------------------------


def test_a_name_whose_code_is_gone(own_cache):
    q = np.array([0.3, -0.7])

    def torques():
        return control.ComputedTorque(kt.load("planar2"), 100.0)(q, q, 2.0 * q)

    right = torques()
    for path in own_cache.iterdir():
        if path.stat().st_size > 1000:  # code, not what is remembered of the formula
            path.unlink()
    assert np.array_equal(torques(), right)


def test_a_name_that_leads_to_another_graph_is_not_believed(own_cache, monkeypatch):
    record = {"digest": "0" * 64, "shapes": [[2]], "is_tuple": False, "refuses": True, "reasons": []}
    monkeypatch.setattr(specialization, "record_or_lock", lambda *given: nullcontext(record))
    with pytest.raises(RuntimeError, match="was another function"):
        control.ComputedTorque(kt.load("planar2"), 100.0)(np.ones(2), np.ones(2), np.ones(2))
