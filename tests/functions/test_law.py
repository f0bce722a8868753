"""Compiled functions of the user's own: the same results as without compiling, of every structure, and clear errors.

Covers: functions/bindable.py, functions/bound_law.py, functions/result_tree.py.
"""

import copy
import functools
import gc
import inspect
import pickle
import threading
import weakref
from typing import NamedTuple

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.runtime import native
from peers import close

pytestmark = pytest.mark.calls


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm7")


@pytest.fixture(scope="module")
def walker():
    return kt.load("quadruped", base="floating")


def state(robot, seed=0, size=()):
    rng = np.random.default_rng(seed)
    return robot.random(rng, size), rng.normal(size=(*np.atleast_1d(size).astype(int), robot.nv) if size else robot.nv)


@kt.compile(shapes={"target": (3,), "gain": ()})
def reach(robot, q, v, target, gain):
    """Pull a frame to a point, gravity compensated."""
    hand = robot.frame(robot.frame_names[-1])
    J = hand.jacobian(q)[:3]
    force = gain * (target - hand.pose(q)[:3, 3]) - 2.0 * (J @ v)
    return J.T @ force + robot.gravity_forces(q)


def by_hand(robot, q, v, target, gain):
    hand = robot.frame(robot.frame_names[-1])
    J = hand.jacobian(q)[:3]
    return J.T @ (gain * (target - hand.pose(q)[:3, 3]) - 2.0 * (J @ v)) + robot.gravity_forces(q)


@pytest.mark.parametrize("name", ["arm", "walker"])
def test_equal_to_its_parts_and_to_the_textbook(name, request):
    robot = request.getfixturevalue(name)
    q, v = state(robot)
    target = np.array([0.3, 0.2, 0.5])
    got = reach(robot, q, v, target, 80.0)
    close(got, by_hand(robot, q, v, target, 80.0), 1e-12)
    close(reach(robot.eager, q, v, target, 80.0), got, 1e-12)
    assert np.array_equal(reach(robot, q, v, target, gain=80.0), got)
    assert np.array_equal(reach(q=q, v=v, robot=robot, gain=np.float64(80.0), target=target), got)


def test_batches_broadcast_and_equal_single_calls_to_the_bit(walker):
    q, v = state(walker, 1, (4, 5))
    target = np.random.default_rng(2).normal(size=(5, 3))
    gain = np.linspace(1.0, 3.0, 4)[:, None]
    got = reach(walker, q, v, target, gain)
    assert got.shape == (4, 5, walker.nv)
    for i, j in np.ndindex(4, 5):
        assert np.array_equal(got[i, j], reach(walker, q[i, j], v[i, j], target[j], gain[i, 0]))
    close(reach(walker.eager, q, v, target, gain), got, 1e-11)
    assert reach(walker, q[:0], v[:0], target, 1.0).shape == (0, 5, walker.nv)


def test_out(arm):
    q, v = state(arm)
    target, out = np.ones(3), np.empty(7)
    right = reach(arm, q, v, target, 1.0)
    assert reach(arm, q, v, target, 1.0, out=out) is out and np.array_equal(out, right)
    backward = np.empty(14)[::-2]
    assert reach(arm, q, v, target, 1.0, out=backward) is backward and np.array_equal(backward, right)
    with pytest.raises(kt.ArgumentError, match=r"out has shape \(6,\); expected \(7,\)"):
        reach(arm, q, v, target, 1.0, out=np.empty(6))
    with pytest.raises(kt.ArgumentError, match="returns 2 arrays; out takes one"):
        kt.compile(lambda robot, q: (q, q))(arm, q, out=out)


class Pair(NamedTuple):
    M: np.ndarray
    energy: float


def test_results_keep_their_structure(arm):
    q, v = state(arm)

    @kt.compile
    def several(robot, q, v):
        M = robot.mass_matrix(q)
        return {"pair": Pair(M, 0.5 * v @ M @ v), "list": [q, (v, 2.0)], "constant": np.eye(2)}

    for robot in (arm, arm.eager):
        got = several(robot, q, v)
        assert list(got) == ["pair", "list", "constant"]
        assert isinstance(got["pair"], Pair) and isinstance(got["list"], list) and isinstance(got["list"][1], tuple)
        close(got["pair"].M, arm.mass_matrix(q), 1e-12)
        close(got["pair"].energy, arm.kinetic_energy(q, v), 1e-12)
        assert isinstance(got["pair"].energy, np.float64) and got["list"][1][1] == 2.0
        assert np.array_equal(got["constant"], np.eye(2)) and np.array_equal(got["list"][0], q)
    batch = several(arm, np.stack([q, q, q]), v)
    assert batch["pair"].energy.shape == (3,) and batch["constant"].shape == (3, 2, 2)
    assert np.array_equal(batch["pair"].M[2], got["pair"].M) or np.allclose(batch["pair"].M[2], got["pair"].M)


def test_a_tuple_of_arrays(arm):
    q, v = state(arm)

    @kt.compile
    def both(robot, q, v):
        return robot.mass_matrix(q), robot.bias_forces(q, v), robot.kinetic_energy(q, v)

    for call in (functools.partial(both, arm), both.bind(arm)):
        for _ in range(3):
            M, h, T = call(q, v)
            assert np.array_equal(M, both(arm, q[None], v)[0][0])
            close(h, arm.bias_forces(q, v), 1e-12)
            close(T, arm.kinetic_energy(q, v), 1e-12)


def test_shared_terms_are_computed_once(arm):
    """M and M⁻¹ in one law take fewer operations than apart."""

    def operations(function):
        law = kt.compile(function)
        law.bind(arm)
        return law.graph.operations()

    M = operations(lambda robot, q: robot.mass_matrix(q))
    inverse = operations(lambda robot, q: robot.inverse_mass_matrix(q))
    assert operations(lambda robot, q: (robot.mass_matrix(q), robot.inverse_mass_matrix(q))) < M / 5 + inverse


def test_laws_within_laws(arm):
    q, v = state(arm)

    @kt.compile(shapes={"target": (3,)})
    def twice(robot, q, v, target):
        return 2.0 * reach(robot, q, v, target, 80.0) + reach.bind(robot)(q, v, target, 80.0)

    close(twice(arm, q, v, np.ones(3)), 3.0 * reach(arm, q, v, np.ones(3), 80.0), 1e-12)


def test_without_a_robot():
    @kt.compile(shapes={"x": (2, 3), "y": 3})
    def product(x, y):
        return x @ y, np.sin(x[0]) + kt.where(kt.less(y, 0.0), 0.0, np.sqrt(abs(y)))

    x, y = np.arange(6.0).reshape(2, 3), np.array([1.0, -4.0, 9.0])
    close(product(x, y)[0], x @ y, 1e-15)
    close(product(x, y)[1], np.sin(x[0]) + np.array([1.0, 0.0, 3.0]), 1e-15)
    assert product(np.stack([x] * 5), y)[0].shape == (5, 2)


def test_captured_values_are_frozen(arm):
    gains = np.ones(7)

    @kt.compile
    def damped(robot, q, v):
        return -gains * v

    q, v = state(arm)
    assert np.array_equal(damped(arm, q, v), -v)
    gains[:] = 5.0
    assert np.array_equal(damped(arm, q, v), -v)


def test_default_values(arm):
    @kt.compile(shapes={"gain": ()})
    def damped(robot, v, gain=3.0):
        return -gain * v

    _, v = state(arm)
    assert np.array_equal(damped(arm, v), -3.0 * v)
    assert np.array_equal(damped(arm, v, 2.0), -2.0 * v)


def test_wrenches_and_options_inside(arm):
    @kt.compile(shapes={"w": (6,)})
    def pushed(robot, q, v, a, w):
        local = robot.inverse_dynamics(q, v, a, wrenches={"tool0": kt.Wrench(w, "local")})
        return local, robot.frame("tool0").jacobian(q, "local").T @ w

    q, v = state(arm)
    w = np.arange(6.0)
    torque, from_jacobian = pushed(arm, q, v, v, w)
    close(torque, arm.inverse_dynamics(q, v, v, {"tool0": kt.Wrench(w, "local")}), 1e-12)
    close(torque, arm.inverse_dynamics(q, v, v) - from_jacobian, 1e-11)


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_states_are_refused_as_outside(walker):
    @kt.compile
    def accelerations(robot, q, v, tau):
        return robot.forward_dynamics(q, v, tau)

    q, v = state(walker, 3, 4)
    accelerations(walker, q, v, v)
    q[2, 3:7] *= 1.1
    for call in (accelerations, lambda robot, *args: accelerations.bind(robot)(*args)):
        with pytest.raises(kt.ArgumentError, match=r"of norm 1\.1; expected a unit quaternion"):
            call(walker, q[2], v[2], v[2])
        with pytest.raises(kt.ArgumentError, match=r"q\[2\] has a quaternion .* of norm 1\.1; expected a unit"):
            call(walker, q, v, v)


def test_the_state_that_is_refused_is_named(walker):
    """By the argument's name in the law and its own index, also where another argument has the batch's axes."""
    law = kt.compile(lambda robot, q, posture: robot.difference(q, posture), shapes={"posture": "q"})
    doubled = kt.compile(lambda robot, q: robot.gravity_forces(2.0 * q))
    q, _ = state(walker, 3, (3, 2))
    bad = q.copy()
    bad[1, 1, 3:7] *= 1.2
    for robot in (walker, walker.eager):
        with pytest.raises(
            kt.ArgumentError, match=r"^posture\[1, 1\] has a quaternion .* of norm 1\.2; expected a unit"
        ):
            law(robot, q, bad)
        with pytest.raises(kt.ArgumentError, match=r"^posture\[1\] has a quaternion"):
            law(robot, q, bad[1])
        with pytest.raises(kt.ArgumentError, match=r"^posture\[1, 0\] has a quaternion"):
            law(robot, q[0], bad[:, 1:])
        with pytest.raises(kt.ArgumentError, match=r"^posture has a quaternion"):
            law(robot, q, bad[1, 1])
        with pytest.raises(
            kt.ArgumentError, match=r"^q has a quaternion .* of norm 2; .*, in state \[0, 0\] of the batch"
        ):
            doubled(robot, q)


def test_a_singular_mass_matrix_is_named():
    builder = kt.ModelBuilder("massless")
    builder.link("base")
    builder.link("rod")
    builder.joint("hinge", "revolute", "base", "rod", axis=(0, 0, 1))
    robot = kt.Robot(builder.build())
    law = kt.compile(lambda robot, q, v, tau: robot.forward_dynamics(q, v, tau))
    with pytest.raises(kt.SingularMassMatrixError, match="hinge"):
        law(robot, np.zeros(1), np.zeros(1), np.zeros(1))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda robot, q: q if q[0] > 0 else -q, r"kt\.where"),
        (lambda robot, q: q[0] and q[1], r"kt\.where"),
        (lambda robot, q: float(q[0]), r"kt\."),
        (lambda robot, q: max(q), r"kt\.where"),
        (lambda robot, q: __import__("math").sin(q[0]), r"kt\.sin"),
        (lambda robot, q: q if q[0] == q[1] else -q, r"kt\.where"),
        (lambda robot, q: q if q[0] != 1.0 else -q, r"kt\.where"),
        (lambda robot, q: None, "returned None; expected arrays or numbers"),
        (lambda robot, q: "text", "returned 'text'; expected arrays or numbers"),
    ],
)
def test_python_control_flow_is_explained(arm, body, message):
    law = kt.compile(body)
    for _ in range(2):  # the failed attempt leaves nothing behind
        with pytest.raises(TypeError, match=message):
            law(arm, arm.neutral())


def test_arguments_are_explained(arm):
    q, v = state(arm)
    with pytest.raises(kt.ArgumentError, match=r"argument 'target' of unknown shape; give it as kt.compile\(shapes="):
        kt.compile(lambda robot, q, target: target)(arm, q, q)
    with pytest.raises(kt.ArgumentError, match="argument 'q' of unknown shape"):
        kt.compile(lambda q: q)(q)
    with pytest.raises(kt.ArgumentError, match="shapes names 'goal', which is not an argument of"):
        kt.compile(lambda robot, q: q, shapes={"goal": (3,)})
    with pytest.raises(kt.ArgumentError, match=r"takes \*args"):
        kt.compile(lambda robot, *args: args)
    with pytest.raises(kt.ArgumentTypeError, match="expected a function"):
        kt.compile(3)
    with pytest.raises(kt.ArgumentError, match=r"target has shape \(4,\); expected \(…, 3\)"):
        reach(arm, q, v, np.zeros(4), 1.0)
    with pytest.raises(kt.ArgumentTypeError, match="gain is 'high'"):
        reach(arm, q, v, np.zeros(3), "high")
    for call in (
        lambda *args, **named: kt.compile(reach.function, shapes=reach.shapes)(arm, *args, **named),
        reach.bind(arm),
    ):
        with pytest.raises(TypeError, match=r"argument of reach 'targt' does not exist; did you mean 'target'\?"):
            call(q, v, targt=np.zeros(3), gain=1.0)
        with pytest.raises(TypeError, match="reach: missing a required argument: 'target'"):
            call(q, v)
    with pytest.raises(kt.ArgumentError, match="law has an argument 'out'; compiled functions take one already"):

        @kt.compile(shapes={"out": ()})
        def law(robot, q, out):
            return q * out

    with pytest.raises(kt.ArgumentTypeError, match="expected the robots"):
        reach.bind("arm")
    with pytest.raises(kt.ArgumentError, match="has not been compiled yet"):
        _ = kt.compile(lambda robot, q: q).graph
    with pytest.raises(kt.ArgumentError, match="compiled functions see one state"):
        kt.compile(lambda robot, q: robot.mass_matrix(np.stack([q, q])))(arm, q)
    with pytest.raises(kt.ArgumentError, match="out cannot be given inside"):
        kt.compile(lambda robot, q: robot.mass_matrix(q, out=np.empty((7, 7))))(arm, q)


def test_what_became_of_it(arm):
    law = kt.compile(lambda robot, q: robot.gravity_forces(q))
    law(arm, arm.neutral())
    assert law.graph.operations() == law.graph.counts().total() > 10
    assert "define void @kinetree_single" in law.llvm
    assert "kinetree_single:" in law.assembly


# -- objects -----------------------------------------------------------------------------------------------------------


def test_names_signatures_and_pickles(arm):
    assert reach.__name__ == "reach" and reach.__doc__.startswith("Pull a frame")
    assert list(inspect.signature(reach).parameters) == ["robot", "q", "v", "target", "gain"]
    assert "reach(robot, q, v, target, gain)" in repr(reach)
    assert copy.copy(reach) is reach
    q, v = state(arm)
    bound = reach.bind(arm)
    assert not native.available() or (
        "Pull a frame" in bound.__doc__
        and list(inspect.signature(bound).parameters)[:4] == ["q", "v", "target", "gain"]
    )
    close(functools.partial(bound, q, v)(np.ones(3), 1.0), reach(arm, q, v, np.ones(3), 1.0), 0)


def test_two_robots_and_a_robot_that_goes():
    robots = [kt.load("arm6"), kt.load("arm7")]
    for robot in robots * 2:
        q, v = state(robot)
        close(reach(robot, q, v, np.ones(3), 1.0), by_hand(robot, q, v, np.ones(3), 1.0), 1e-12)
    gone = weakref.ref(robots[0])
    held = reach.bind(robots[0])
    q, v = state(robots[0])
    right = reach(robots[0], q, v, np.ones(3), 1.0)
    del robots[0], robot
    gc.collect()
    assert np.array_equal(held(q, v, np.ones(3), 1.0), right)
    del held
    gc.collect()
    assert gone() is None


def test_threads_meet_at_a_fresh_law():
    arm = kt.load("arm7")
    traces = []

    @kt.compile
    def law(robot, q, v):
        traces.append(1)
        return robot.bias_forces(q, v)

    q, v = state(arm)
    right = arm.bias_forces(q, v)
    results = []
    threads = [threading.Thread(target=lambda: results.append(law(arm, q, v))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    for result in results:
        close(result, right, 1e-12)
    assert len(traces) == 1


def laws(robot):
    return [key for key, function in robot._functions.items() if not hasattr(function, "declared")]


def test_a_law_that_goes(arm):
    """What robots keep of it goes too, with its derivatives; a bound law stays as long as somebody has it."""
    arm = kt.Robot(arm.model)
    q, _ = state(arm)
    law = kt.compile(lambda robot, q, sign="+": q if sign == "+" else -q)
    law(arm, q), law.bind(arm, sign="-"), kt.jacobian(law)(arm, q)
    parts = [weakref.ref(law), weakref.ref(law.inspect(arm)), weakref.ref(kt.jacobian(law))]
    held = law.bind(arm)
    assert len(laws(arm)) == 3
    del law
    gc.collect()
    assert not laws(arm) and np.array_equal(held(q), q)
    assert parts[0]() is None and parts[2]() is None
    del held
    gc.collect()
    assert parts[1]() is None
    for _ in range(3):
        kt.gradient(lambda robot, q: robot.potential_energy(q))(arm, q)
    gc.collect()
    assert not laws(arm)


def test_what_it_becomes_for_one_robot(arm):
    law = kt.compile(lambda robot, q, twice=False: robot.gravity_forces(2.0 * q if twice else q))
    small = kt.load("planar2")
    law.bind(arm)
    assert law.inspect(small).graph.operations() < law.inspect(arm).graph.operations()
    assert law.inspect(small, twice=True).graph.operations() > law.inspect(small).graph.operations()
    assert "define void @kinetree_single" in law.inspect(small).llvm and "kinetree_single:" in law.inspect(arm).assembly
    assert repr(law.inspect(small, twice=True)) == "<<lambda>(q) for planar2, twice=True>"


def test_bound_laws_have_the_names_and_defaults_of_the_law(arm):
    def push(robot, q, gain=2.5, offset=np.zeros(7)):  # noqa: B008
        """Pushes."""
        return gain * q + offset

    law = kt.compile(push, shapes={"gain": (), "offset": "v"})
    q, _ = state(arm)
    call = law.bind(arm)
    assert np.array_equal(call(q), 2.5 * q)
    if native.available():
        assert call.__name__ == "push" and call.__doc__ == "Pushes."
        assert str(inspect.signature(call)) == "(q, gain=2.5, offset=Ellipsis, *, out=None)"
        assert kt.compile(lambda robot, q: q).bind(arm).__name__ == "<lambda>"
    named_like_ours = kt.compile(call_named("traced")).bind(arm)
    assert np.array_equal(named_like_ours(q), 2.0 * q)


def call_named(name):
    def function(robot, q):
        return 2.0 * q

    function.__name__ = name
    return function


def test_pickles(arm):
    """By name; where only the function has one, with its shapes; derivatives by what they are of."""
    q, v = state(arm)
    laws = [MODULE_LAW, kt.compile(module_function, shapes={"gain": ()}), kt.jacobian(MODULE_LAW)]
    laws += [kt.hessian(module_sum, ("v", "q")), kt.jacobian(kt.jacobian(module_sum, "q", "forward"), "v")]
    laws += [kt.compile(kt.Robot.gravity_forces), kt.jacobian(kt.Robot.gravity_forces)]
    for law in laws:
        arrays = [{"q": q, "v": v, "gain": 3.0}[name] for name in law.definition.names[1:]]
        right = law(arm, *arrays)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(law))(arm, *arrays), right)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(law.bind(arm)))(*arrays), right)
    with pytest.raises((pickle.PicklingError, AttributeError), match="<lambda>"):  # as of any local function
        pickle.dumps(kt.compile(lambda robot, q: q))
    law = kt.compile(lambda robot, q: q)
    assert copy.copy(law) is law and copy.deepcopy(law) is law


def module_function(robot, q, gain):
    return gain * q


def module_sum(robot, q, v):
    return (q @ v) ** 2


def test_pickled_by_name():
    again = pickle.loads(pickle.dumps(MODULE_LAW)) if MODULE_LAW.__module__ in __import__("sys").modules else MODULE_LAW
    assert again is MODULE_LAW


@kt.compile
def MODULE_LAW(robot, q):
    return q
