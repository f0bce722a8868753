"""The textbook, the kernel for one state and the kernel for a batch: three ways to the same numbers."""

import json
import os
import pickle
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinetree as kt
from declared import OF_FRAME, OF_ROBOT, kernels_of
from kinetree.robot.quantity import program_of
from linkages import gimbal
from peers import close, readable_urdfs, urdf, urdf_files

OPTIONS = {
    "pose": (),
    "body_regressor": (),
    "acceleration": ("local", "classical"),
    "bias_acceleration": ("world", "spatial"),
}
OPTIONS["acceleration_derivatives"] = ("world-aligned", "classical")
GOLDEN = Path(__file__).parent / "operation_counts.json"
FIVE = {
    "ur5_robot.urdf": "fixed",
    "xarm7.urdf": "fixed",
    "anymal_b_simple_description/anymal.urdf": "floating",
    "icub_description/icub.urdf": "floating",
    "g1_29dof_rev_1_0.urdf": "floating",
}
SMALL = [
    "double_pendulum_continuous.urdf",
    "panda_description/panda.urdf",
    "solo12.urdf",
    "iris_simple.urdf",
    "pr2.urdf",
]


def load(name, base, **options):
    path = urdf_files()[name] if name in urdf_files() else urdf(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.ModelWarning)
        return kt.load(path, base, **options)


def inputs(robot, quantity, n, rng):
    values = []
    for name in quantity.inputs:
        values.append(robot.random(rng, n) if name.startswith("q") else rng.normal(size=(n, robot.nv)))
    return values


def calls(robot, frame, rng, large=True):
    """Every quantity with its arguments for eleven states: (name, function of a robot and arguments, arguments)."""
    wrench = {frame: kt.Wrench(rng.normal(size=6), "local")}
    for name, quantity in OF_ROBOT.items():
        if quantity.refusal(robot.model) is not None or (quantity.is_large and not large):
            continue
        yield name, lambda r, *x, n=name: getattr(r, n)(*x), inputs(robot, quantity, 11, rng)
        if quantity.takes_wrenches:
            yield f"{name}, pushed", lambda r, *x, n=name: getattr(r, n)(*x, wrench), inputs(robot, quantity, 11, rng)
    for name, quantity in OF_FRAME.items():
        if quantity.is_large and not large:
            continue
        if quantity.lacks_rank is not None:  # ill-conditioned where a frame cannot move
            continue
        options = OPTIONS.get(name, ("world-aligned",))
        call = lambda r, *x, n=name, o=options: getattr(r.frame(frame), n)(*x, *o)  # noqa: E731
        yield f"frame {name}", call, inputs(robot, quantity, 11, rng)


def as_arrays(result):
    return result if isinstance(result, tuple) else (result,)


def compare(robot, rng, only=None, large=True):
    """Compiled against eager within 1e-12, batch against single to the bit."""
    frame = str(rng.choice(np.array(robot.frame_names)))
    for name, call, values in calls(robot, frame, rng, large):
        if only is not None and name not in only:
            continue
        try:
            batch = call(robot, *values)
        except kt.SingularMassMatrixError as error:
            with pytest.raises(kt.SingularMassMatrixError) as caught:
                call(robot.eager, *values)
            assert str(caught.value) == str(error)
            continue
        for k in (0, 10):
            state = [value[k] for value in values]
            singles, eagers = as_arrays(call(robot, *state)), as_arrays(call(robot.eager, *state))
            tolerance = 1e-12
            if "forward_dynamics" in name or "inverse_mass" in name:
                tolerance *= max(1.0, np.linalg.cond(robot.mass_matrix(state[0])))
            for single, eager, rows in zip(singles, eagers, as_arrays(batch), strict=True):
                assert np.array_equal(single, rows[k]), name
                close(single, eager, tolerance)


@settings(max_examples=settings().max_examples // 5)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["fixed", "floating"]),
    st.sampled_from(["linear-first", "angular-first"]),
    st.sampled_from(["body", "mixed"]),
)
@pytest.mark.sweep
def test_random_trees(seed, base, order, velocity):
    rng = np.random.default_rng(seed)
    model = kt.random_model(rng, int(rng.integers(1, 6)), base=base, spatial_order=order, base_velocity=velocity)
    robot, large = kt.Robot(model), model.nv <= 10
    names = [name for name, _, _ in calls(robot, robot.frame_names[0], rng, large)]
    compare(robot, rng, set(rng.choice(names, len(names) // 3, replace=False)), large)  # all of them, on real robots


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.sampled(4)
@pytest.mark.sweep
def test_some_real_robots(name):
    """Each quantity on two of them, large ones on those with few joints; all of them in the long tests."""
    robot, rng = load(name, "floating"), np.random.default_rng(0)
    listed = [[each for each, _, _ in calls(robot, robot.frame_names[0], rng, large)] for large in (False, True)]
    turn = {each for k, each in enumerate(listed[0]) if (k - SMALL.index(name)) % len(SMALL) < 2}
    compare(robot, rng, turn | (set(listed[1]) - set(listed[0])), large=robot.nv <= 10)


@pytest.mark.long
@pytest.mark.parametrize("name", readable_urdfs())
def test_all_real_robots(name):
    robot = load(name, "floating")
    slow = {"inverse_mass_matrix"} if robot.nv > 60 else set()
    slow |= {name for name, quantity in OF_ROBOT.items() if quantity.is_large and robot.nv > 30}
    names = {name for name, _, _ in calls(robot, robot.frame_names[0], np.random.default_rng(0))} - slow
    compare(robot, np.random.default_rng(0), names)


@pytest.mark.parametrize("name", FIVE)
@pytest.mark.sampled(4)
def test_operation_counts_are_those_on_record(name):
    """A change of these numbers is a change of speed; to record new ones, run this file as a script."""
    assert counted(name) == json.loads(GOLDEN.read_text())[name]


def counted(name):
    robot = load(name, FIVE[name])
    frame = max(robot.model.frames, key=lambda frame: len(robot.model.support(frame.body))).name
    names = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "poses")
    names += ("centroidal_momentum_matrix", "centroidal_momentum_bias")
    programs = {q: program_of(robot, q) for q in names}
    programs |= {f"frame {q}": program_of(robot.frame(frame), q) for q in ("pose", "jacobian")}
    return {key: program.operations for key, program in programs.items()}


def test_batch_axes_broadcast_and_nest():
    arm, rng = kt.load("arm6"), np.random.default_rng(0)
    q, v = arm.random(rng, (4, 1)), rng.normal(size=(3, 6))
    tau = arm.inverse_dynamics(q, v, np.zeros(6))
    assert tau.shape == (4, 3, 6)
    assert np.array_equal(tau[2, 1], arm.inverse_dynamics(q[2, 0], v[1], np.zeros(6)))
    M = arm.mass_matrix(np.asfortranarray(arm.random(rng, 100)))
    assert M.flags.c_contiguous and M.shape == (100, 6, 6)
    assert arm.mass_matrix(np.zeros((2, 0, 6))).shape == (2, 0, 6, 6)


def test_prepared_wrenches_switch_off_by_zeros():
    robot = kt.load("arm6", base="floating")
    robot.prepare("inverse_dynamics", "bias_forces", wrenches=["tool0", ("forearm_link", "local")])
    kernels = kernels_of(robot)
    q, v, a = robot.random(0), np.ones(robot.nv), np.zeros(robot.nv)
    push = {"tool0": np.arange(6.0)}
    exact = robot.eager.inverse_dynamics(q, v, a, push)
    close(robot.inverse_dynamics(q, v, a, push), exact, 1e-12)
    both = push | {"forearm_link": kt.Wrench(np.ones(6), "local")}
    close(robot.bias_forces(q, v, both), robot.eager.bias_forces(q, v, both), 1e-12)
    assert kernels_of(robot) == kernels
    robot.inverse_dynamics(q, v, a, {"tool0": kt.Wrench(np.ones(6), "world")})  # elsewhere: code of its own
    assert len(kernels_of(robot)) == len(kernels) + 1
    robot.bias_forces(q, v)
    robot.bias_forces(q, v, {})
    assert len(kernels_of(robot)) == len(kernels) + 1
    robot.prepare("bias_forces", wrenches=["tool0", "tool0", ("tool0", "local")], batch=True)
    states = robot.random(0, 9)
    pushed = robot.bias_forces(states, v, {"tool0": kt.Wrench(np.ones(6), "local")})
    close(pushed[4], robot.eager.bias_forces(states[4], v, {"tool0": kt.Wrench(np.ones(6), "local")}), 1e-12)
    for wrong in ("wrench", None):
        with pytest.raises(kt.KinetreeError, match=r"quantity .* does not exist"):
            robot.prepare(wrong)
    with pytest.raises(kt.ArgumentError, match="mass_matrix takes no wrenches"):
        robot.prepare("mass_matrix", wrenches=["tool0"])
    for wrong in ("tool", ["tool"]):
        with pytest.raises(kt.UnknownNameError, match="did you mean 'tool0'"):
            robot.prepare("bias_forces", wrenches=wrong)
    for wrong in ([3], [("tool0",)]):
        with pytest.raises(kt.ArgumentTypeError, match="expected a frame name or"):
            robot.prepare("bias_forces", wrenches=wrong)
    robot.frame("tool0").prepare("pose", "jacobian", reference="local", batch=True)
    with pytest.raises(kt.UnknownNameError, match="quantity 'position' does not exist"):
        robot.frame("tool0").prepare("position")


def test_eager_by_attribute_and_by_environment(monkeypatch):
    arm = kt.load("arm6")
    assert arm.eager.eager == arm.eager != arm
    monkeypatch.setenv("KINETREE_EAGER", "1")
    assert kt.load("arm6").is_eager
    monkeypatch.setenv("KINETREE_EAGER", "0")
    assert not kt.load("arm6").is_eager


def test_a_compiled_robot_pickles_without_its_code():
    arm = kt.load("arm6")
    q = arm.random(0)
    G = arm.gravity_forces(q)
    again = pickle.loads(pickle.dumps(arm))
    assert again == arm and "_functions" not in vars(again)
    assert np.array_equal(again.gravity_forces(q), G)


def test_first_calls_from_many_threads():
    arm = kt.load("arm6")
    q = arm.random(0, 8)
    results = [None] * 8

    def ask(k):
        results[k] = (arm.mass_matrix(q[k]), arm.mass_matrix(q))

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kernels_of(arm)) == 1
    for k, (single, batch) in enumerate(results):
        assert np.array_equal(single, batch[k])


def test_a_fork_while_another_thread_compiles():
    """The child compiles and runs batches on threads of its own."""
    arm, other = kt.load("arm6"), kt.load("arm6", base="floating")
    q = arm.random(0, 50_000)
    expected = arm.gravity_forces(q)  # the parent's pool has threads now
    compiling = threading.Thread(target=lambda: [other.forward_dynamics(other.neutral(), *np.zeros((2, 12)))])
    compiling.start()
    child = os.fork()
    if child == 0:
        same = np.array_equal(arm.gravity_forces(q), expected) and kt.load("arm6").mass_matrix(q[0]).shape == (6, 6)
        os._exit(0 if same else 1)
    compiling.join()
    deadline = time.monotonic() + 60
    ended, status = 0, 0
    while not ended:
        ended, status = os.waitpid(child, os.WNOHANG)
        if time.monotonic() > deadline:
            os.kill(child, 9)
            pytest.fail("the child hangs")
        time.sleep(0.05)
    assert os.waitstatus_to_exitcode(status) == 0


def test_nan_and_huge_inputs():
    for robot in (kt.load("arm6"), kt.load("arm6", base="floating")):
        q, zero = robot.random(0, 20), np.zeros(robot.nv)
        q[7, -1] = np.nan
        q[3, -2] = 1e17
        tau = robot.inverse_dynamics(q, zero + 1, zero)
        assert np.isnan(tau[7]).any()
        assert np.isfinite(np.delete(tau, 7, axis=0)).all()
        close(tau[3], robot.eager.inverse_dynamics(q[3], zero + 1, zero), 1e-12)
        assert np.isnan(robot.forward_dynamics(q, zero, zero)[7]).any()


def test_quaternions_of_a_large_batch_are_checked():
    robot = kt.load("arm6", base="floating")
    q = robot.random(0, 3000)
    assert robot.mass_matrix(q).shape == (3000, 12, 12)
    q[17] = np.nan
    assert np.isnan(robot.mass_matrix(q)[17]).any()
    q[2345, 3:7] *= 1.001
    with pytest.raises(kt.ArgumentError, match=r"q\[2345\] has a quaternion"):
        robot.mass_matrix(q)
    with pytest.raises(kt.ArgumentError, match=r"q\[2345\] has a quaternion"):
        robot.mass_matrix(np.asfortranarray(q))


def test_a_singular_state_in_a_batch_is_named():
    for robot in (gimbal(), gimbal(20)):  # factors, and the articulated-body algorithm
        q, zero = robot.random(0, (3, 2)), np.zeros(robot.nv)
        q[1, 1, 1] = 0.0
        with pytest.raises(kt.SingularMassMatrixError, match=r"'yaw' can move without .*, in state \[1, 1\] of"):
            robot.forward_dynamics(q, zero, zero)
        assert np.isfinite(robot.forward_dynamics(q[0], zero, zero)).all()


def test_states_near_a_gimbal_are_computed():
    icub = load("icub_description/icub.urdf", "fixed")
    assert np.isfinite(icub.forward_dynamics(icub.random(5, 20_000), np.zeros(icub.nv), np.ones(icub.nv))).all()


MASSLESS = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1"
  izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="c"/>
  <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
  <joint name="k" type="continuous"><parent link="b"/><child link="c"/></joint></robot>"""


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_massless_link_is_found_by_the_compiled_code_too(base):
    robot = kt.load(MASSLESS, base)
    q, zero = robot.neutral(), np.zeros(robot.nv)
    out = np.full(robot.nv, 7.0)
    for one in (robot, robot.eager):
        with pytest.raises(kt.SingularMassMatrixError, match="joint 'k' can move without moving any mass"):
            one.forward_dynamics(q, zero, zero, out=out)
        with pytest.raises(kt.SingularMassMatrixError, match="joint 'k' can move without moving any mass"):
            one.inverse_mass_matrix(q)
    assert np.all(out == 7.0)


def test_negative_inertia_is_called_by_its_name():
    text = (
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="-0.5" iyy="1" izz="1" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous"><parent link="a"/>'
        '<child link="b"/></joint></robot>'
    )
    with pytest.raises(
        kt.SingularMassMatrixError, match="not positive definite at this q: joint 'j' has negative inertia"
    ):
        kt.load(text).forward_dynamics([0.0], [0.0], [0.0])


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({name: counted(name) for name in FIVE}, indent=2) + "\n")
