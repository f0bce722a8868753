"""Settings that every task has, read once and checked."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.tasks import (
    CenterOfMass,
    Force,
    JointCoupling,
    LookAt,
    Momentum,
    Orientation,
    Pose,
    Position,
    Posture,
    RelativePose,
    Torque,
)
from kinetree.tasks.task import snake


def test_the_same_tasks_are_those_of_both_modules():
    for name in kt.tasks.__all__:
        assert getattr(kt.control, name) is getattr(kt.tasks, name)
        if name not in ("Force", "Torque"):
            assert getattr(kt.ik, name) is getattr(kt.tasks, name)


def test_names_unless_others_are_given():
    names = {
        "tool0": (Pose("tool0"), Position("tool0"), Orientation("tool0"), LookAt("tool0")),
        "tool0 from base": (RelativePose("tool0", "base"),),
        "center_of_mass": (CenterOfMass(),),
        "posture": (Posture(),),
        "momentum": (Momentum(),),
        "joint_coupling": (JointCoupling({"elbow": 1.0}),),
        "force of foot": (Force("foot"),),
        "torques": (Torque(),),
    }
    for name, tasks in names.items():
        assert {task.name for task in tasks} == {name}
    assert Pose("tool0", name="hand").name == "hand"
    assert snake("CenterOfMass") == "center_of_mass"


def test_settings_are_kept_as_plain_numbers():
    task = Pose("tool0", weight=np.arange(6), priority=np.int64(2), hard=np.True_, gain=[3.0])
    assert task.weight == (0.0, 1.0, 2.0, 3.0, 4.0, 5.0) and task.gain == 3.0
    assert type(task.priority) is int and type(task.hard) is bool
    np.testing.assert_array_equal(task.per_row("gain", 6), np.full(6, 3.0))
    assert task == Pose("tool0", weight=tuple(range(6)), priority=2, hard=True, gain=3) and hash(task)


WRONG = {
    "weight": (lambda: Position("tool0", weight=-1.0), kt.ArgumentError, "weight is -1"),
    "weights": (lambda: Torque(weight=(1.0, np.nan)), kt.ArgumentError, "weight is "),
    "no weights": (lambda: Posture(weight=()), kt.ArgumentError, "weight is "),
    "a word": (lambda: Posture(weight="high"), kt.ArgumentTypeError, "weight is 'high'"),
    "priority": (lambda: Position("tool0", priority=0.5), kt.ArgumentTypeError, "priority is 0.5"),
    "flag": (lambda: Force("foot", priority=True), kt.ArgumentTypeError, "priority is True"),
    "hard": (lambda: Posture(hard="no"), kt.ArgumentTypeError, "hard is 'no'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named(case):
    make, kind, words = WRONG[case]
    with pytest.raises(kind, match=words):
        make()
