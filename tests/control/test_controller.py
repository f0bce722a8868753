"""What all controllers do alike: one native call, batches, gains per call, copies, and nothing that grows."""

import gc
import inspect
import pickle
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.runtime import native
from kinetree.control import (
    Admittance,
    CartesianImpedance,
    ComputedTorque,
    GravityCompensation,
    HybridMotionForce,
    JointImpedance,
    OperationalSpace,
    SupportConsistent,
)
from natively import native_only, resident

pytestmark = pytest.mark.calls

RNG = np.random.default_rng(0)
ARM = kt.load("arm7")
DOG = kt.load("quadruped", base="floating")
STANCE = DOG.constrained([kt.Contact(name) for name in DOG.frame_names if name.endswith("foot")])
POSE = ARM.frame("tool0").pose(np.full(7, 0.4))
SIX = RNG.normal(size=(3, 6))
JOINTS = (ARM.random(RNG), *RNG.normal(size=(2, 7)))

CASES = {
    "joint impedance": (JointImpedance(ARM, 30.0, np.full(7, 3.0)), JOINTS[:2]),
    "computed torque": (ComputedTorque(ARM, 50.0), JOINTS),
    "operational space": (OperationalSpace(ARM, "tool0", 50.0), (POSE, *SIX[:2])),
    "with a posture": (
        OperationalSpace(ARM, "tool0", 50.0, posture=np.zeros(7), posture_stiffness=4.0),
        (POSE, *SIX[:2]),
    ),
    "cartesian impedance": (CartesianImpedance(ARM, "tool0", 300.0, 30.0), (POSE, *SIX[:2])),
    "hybrid": (HybridMotionForce(ARM, "tool0", 50.0, axes="tool0"), (POSE, *SIX)),
    "gravity": (GravityCompensation(ARM, 0.2, 0.1), ()),
    "support": (SupportConsistent(STANCE, 40.0), (DOG.random(RNG), *RNG.normal(size=(3, DOG.nv)))),
}


@pytest.fixture(params=CASES)
def case(request):
    controller, reference = CASES[request.param]
    robot = controller.robot
    rng = np.random.default_rng(1)
    return controller, robot.random(rng), rng.normal(size=robot.nv), reference


def test_all_ways_to_call_it_give_the_same(case, monkeypatch):
    controller, q, v, reference = case
    tau = controller(q, v, *reference).copy()
    assert tau.shape == (controller.robot.nv,)
    names = list(controller.arguments)[2 : 2 + len(reference)]
    ways = [controller.step(q, v, *reference), controller(q, v, **dict(zip(names, reference, strict=True)))]
    if reference:
        ways += [controller(q, v, reference), controller(list(q), v, reference)]
        ways += [controller(q, v, reference[:1], **dict(zip(names[1:], reference[1:], strict=True)))]
    out = np.empty_like(tau)
    assert controller(q, v, *reference, out=out) is out
    ways += [out, pickle.loads(pickle.dumps(controller))(q, v, *reference), controller.changed()(q, v, *reference)]
    monkeypatch.setenv("KINETREE_NATIVE", "0")
    ways += [controller.changed()(q, v, *reference)]
    for way in ways:
        np.testing.assert_array_equal(way, tau)


def test_the_textbook_agrees(case):
    controller, q, v, reference = case
    tau = controller(q, v, *reference)
    first = STANCE.robot.eager.constrained(STANCE.constraints) if controller.robot is DOG else ARM.eager
    name = next(iter(controller._given[0]), None)
    assert name is controller.robot or isinstance(name, kt.Constrained)
    args, named = controller._given
    textbook = type(controller)(first, *args[1:], **named)
    np.testing.assert_allclose(textbook(q, v, *reference), tau, atol=1e-8 * max(1.0, np.abs(tau).max()))


@pytest.mark.sweep
def test_parameters_of_the_robot(case):
    """Of a parametric robot, beside the controller of the robot that has them."""
    controller, q, v, reference = case
    robot = kt.edit.with_options(controller.robot, parametric=("inertial",))
    parameters = robot.parameters * np.random.default_rng(2).uniform(0.8, 1.2, (2, 1))
    args, named = controller._given

    def of(robot):
        return type(controller)(
            robot.constrained(STANCE.constraints) if controller.robot == DOG else robot, *args[1:], **named
        )

    found = of(robot)(q, v, *reference, parameters=parameters)
    for k in range(2):
        wanted = of(robot.with_parameters(parameters[k]).baked)(q, v, *reference)
        np.testing.assert_allclose(found[k], wanted, atol=1e-8 * max(1.0, np.abs(wanted).max()))


@pytest.mark.sampled(4)
def test_states_references_and_gains_may_be_batches(case):
    controller, q, v, reference = case
    robot, rng = controller.robot, np.random.default_rng(5)
    q, v = robot.random(rng, 9), rng.normal(size=(9, robot.nv))
    many = controller(q, v, reference) if reference else controller(q, v)
    assert many.shape == (9, robot.nv)
    again = controller(q, v, *reference)  # natively now
    for k in range(9):
        np.testing.assert_array_equal(controller(q[k], v[k], *reference), many[k])
        np.testing.assert_array_equal(again[k], many[k])
    settings = [name for name in controller.presets if name in ("stiffness", "damping", "viscous")]
    for name in settings:
        held = controller.presets[name]
        gains = held * np.linspace(0.5, 1.5, 9).reshape(9, *[1] * held.ndim)
        by_call = controller(q, v, *reference, **{name: gains})
        for k in (0, 4, 8):
            kept = {other: controller.presets[other] for other in settings}
            other = controller.changed(**{**kept, name: gains[k]})
            np.testing.assert_array_equal(other(q[k], v[k], *reference), by_call[k])
        assert np.abs(by_call[0] - many[0]).max() > 1e-6


def test_code_is_shared_where_only_numbers_differ():
    one, two = ComputedTorque(ARM, 50.0), ComputedTorque(ARM, 20.0, 3.0)
    assert one.law is two.law
    assert ComputedTorque(ARM, np.diag(np.full(7, 50.0))).law is not one.law
    np.testing.assert_array_equal(one.changed(stiffness=20.0, damping=3.0)(*JOINTS), two(*JOINTS))


def test_what_is_wrong_is_said():
    controller = CASES["computed torque"][0]
    q, v = np.zeros((2, 7))
    with pytest.raises(kt.ArgumentTypeError, match="missing a required argument: 'q_des'"):
        controller(q, v)
    with pytest.raises(kt.ArgumentError, match=r"q_des has shape \(3,\); expected \(…, 7\)"):
        controller(q, v, (np.zeros(3),))
    with pytest.raises(kt.ArgumentTypeError, match="too many positional"):
        controller(q, v, *(q,) * 9)
    with pytest.raises(kt.ArgumentError, match="a reference of 4 parts; expected q_des, v_des, a_des"):
        controller(q, v, (q,) * 4)
    with pytest.raises(kt.ArgumentTypeError, match="did you mean 'stiffness'"):
        controller(q, v, q, stifness=1.0)
    with pytest.raises(kt.ArgumentError, match=r"stiffness has shape \(\); expected \(…, 7\)"):
        controller(q, v, q, stiffness=3.0)
    assert repr(controller) == "<ComputedTorque of 'arm7': q, v, q_des, v_des, a_des, stiffness, damping>"


def test_it_can_be_compiled_ahead_and_looked_at():
    controller = ComputedTorque(ARM, 3.0)
    controller.prepare(batch=True)
    assert callable(controller)
    assert list(inspect.signature(controller).parameters) == list(controller.arguments)
    assert list(inspect.signature(ComputedTorque).parameters) == ["robot", "stiffness", "damping"]
    if native.available():
        assert str(inspect.signature(controller.step)).startswith("(q, v, q_des, v_des=")
    assert controller(np.zeros((4, 7)), *JOINTS[1:]).shape == (4, 7)


def test_gains_cannot_be_changed_behind_its_back():
    gains = np.full(7, 30.0)
    controller = ComputedTorque(ARM, gains)
    before = controller(*JOINTS).copy()
    gains[:] = 0.0
    np.testing.assert_array_equal(controller(*JOINTS), before)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(controller))(*JOINTS), before)
    with pytest.raises(ValueError, match="read-only"):
        controller.presets["stiffness"][0] = 1.0


def test_inside_a_law_of_ones_own():
    controller, reference = CASES["operational space"]

    @kt.compile(shapes={"push": (6,)})
    def law(robot, q, v, push):
        return controller(q, v, reference) + robot.frame("tool0").jacobian(q).T @ push

    q, v, push = ARM.random(3), np.ones(7), np.arange(6.0)
    expected = controller(q, v, reference) + ARM.frame("tool0").jacobian(q).T @ push
    np.testing.assert_allclose(law(ARM, q, v, push), expected, atol=1e-9)


def test_a_singular_mass_matrix_is_refused():
    builder = kt.ModelBuilder("massless")
    builder.link("base")
    builder.link("arm", kt.Inertia.from_com(1.0, (0.1, 0, 0), 0.01 * np.eye(3)))
    builder.link("tip")
    builder.joint("a", "revolute", "base", "arm", axis=(0, 0, 1))
    builder.joint("b", "revolute", "arm", "tip", axis=(0, 0, 1), xyz=(0.3, 0, 0))
    robot = kt.Robot(builder.build())
    controller = OperationalSpace(robot, "tip", 10.0, task=("x", "y"))
    with pytest.raises(kt.SingularMassMatrixError, match="joint 'b' can move without moving any mass"):
        controller(np.array([0.1, 0.4]), np.zeros(2), np.zeros(3))


# -- real time ---------------------------------------------------------------------------------------------------------


@native_only
def test_a_hundred_thousand_steps_allocate_nothing(case):
    """References, blocks of Python's and pages of the process stay, and the same arguments give the same bits."""
    controller, q, v, reference = case
    given = (q, v, reference) if reference else (q, v)
    call = controller

    def steps(count):
        for _ in range(count):
            call(*given)

    first = controller(*given).copy()
    steps(2000)
    gc.collect()
    objects = [q, v, *given, *reference, *controller.presets.values(), controller]
    counts, blocks, memory = [sys.getrefcount(x) for x in objects], sys.getallocatedblocks(), resident()
    steps(100_000)
    assert abs(sys.getallocatedblocks() - blocks) < 50
    assert resident() - memory < 1 << 20
    assert [sys.getrefcount(x) for x in objects] == counts
    np.testing.assert_array_equal(controller(*given), first)


@native_only
def test_a_step_runs_no_python(case):
    controller, q, v, reference = case
    given = (q, v, reference) if reference else (q, v)
    controller(*given)
    entered = []
    sys.setprofile(lambda frame, event, argument: entered.append(event) if event == "call" else None)
    try:
        controller(*given)
    finally:
        sys.setprofile(None)
    assert not entered


@native_only
def test_states_that_are_passed_leave_nothing_behind():
    admittance = Admittance(1.0, 10.0, 20.0, 1e-3)
    state, push = admittance.start, np.ones(6)
    for _ in range(1000):
        state, *_ = admittance(state, push, POSE)
    gc.collect()
    blocks = sys.getallocatedblocks()
    for _ in range(20_000):
        state, *_ = admittance(state, push, POSE)
    assert abs(sys.getallocatedblocks() - blocks) < 50
