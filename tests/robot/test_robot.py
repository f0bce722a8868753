"""The public calls: shapes, batches, out=, and a sentence for every wrong argument.

Covers: base/arguments.py, functions/compiled_function.py, functions/parameters.py, robot/frame.py, robot/shapes.py,
robot/wrench.py.
"""

import numpy as np
import pytest

import kinetree as kt
from peers import close

pytestmark = pytest.mark.calls


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm6")


@pytest.fixture(scope="module")
def walker():
    return kt.load("arm6", base="floating")


def calls(robot):
    """Every quantity, with its inputs by name and the shape of its result."""
    n, nq, tool = robot.nv, robot.nq, robot.frame("tool0")
    bodies = len(robot.body_names)
    return [
        (robot.inverse_dynamics, "qva", (n,)),
        (robot.forward_dynamics, "qvt", (n,)),
        (robot.mass_matrix, "q", (n, n)),
        (robot.inverse_mass_matrix, "q", (n, n)),
        (robot.bias_forces, "qv", (n,)),
        (robot.gravity_forces, "q", (n,)),
        (robot.kinetic_energy, "qv", ()),
        (robot.potential_energy, "q", ()),
        (robot.poses, "q", (bodies, 4, 4)),
        (robot.center_of_mass, "q", (3,)),
        (robot.center_of_mass_velocity, "qv", (3,)),
        (robot.center_of_mass_acceleration, "qva", (3,)),
        (robot.center_of_mass_jacobian, "q", (3, n)),
        (robot.integrate, "qv", (nq,)),
        (robot.difference, "qq", (n,)),
        (tool.pose, "q", (4, 4)),
        (tool.velocity, "qv", (6,)),
        (tool.acceleration, "qva", (6,)),
        (tool.bias_acceleration, "qv", (6,)),
        (tool.jacobian, "q", (6, n)),
        (tool.jacobian_rate, "qv", (6, n)),
    ]


def inputs(robot, letters, batch, rng):
    return [robot.random(rng, batch) if k == "q" else rng.normal(size=(*batch, robot.nv)) for k in letters]


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("batch", [(), (3,), (2, 2), (1,), (0,), (2, 0)])
@pytest.mark.sampled(12)
@pytest.mark.sweep
def test_a_batch_is_its_states_one_by_one(base, batch):
    robot, rng = kt.load("arm6", base=base), np.random.default_rng(0)
    for function, letters, shape in calls(robot):
        arguments = inputs(robot, letters, batch, rng)
        result = function(*arguments)
        assert result.shape == batch + shape, function
        assert result.dtype == np.float64
        for index in np.ndindex(*batch):
            assert np.array_equal(result[index], function(*(x[index] for x in arguments))), function
        out = np.full(batch + shape, np.nan)
        assert function(*arguments, out=out) is out
        assert np.array_equal(out, result)


def test_batch_axes_broadcast(arm):
    rng = np.random.default_rng(1)
    q, v = arm.random(rng, (4, 1)), rng.normal(size=(3, 6))
    tau = arm.inverse_dynamics(q, v, np.zeros(6))
    assert tau.shape == (4, 3, 6)
    close(tau[2, 1], arm.inverse_dynamics(q[2, 0], v[1], np.zeros(6)), 0.0)
    w = rng.normal(size=(5, 1, 1, 6))
    pushed = arm.inverse_dynamics(q, v, np.zeros(6), {"tool0": w})
    assert pushed.shape == (5, 4, 3, 6)
    close(pushed[4, 2, 1], arm.inverse_dynamics(q[2, 0], v[1], np.zeros(6), {"tool0": w[4, 0, 0]}), 0.0)


def test_anything_array_like_is_read(arm):
    q = [1, 0, -1, 0, 1, 0]
    exact = arm.gravity_forces(np.array(q, dtype=float))
    for same in (
        tuple(q),
        np.array(q),
        np.array(q, dtype=np.float32),
        np.array(q, dtype=">f8"),
        np.array([q, q])[::-1][0],
    ):
        assert np.array_equal(arm.gravity_forces(same), exact)
    backwards = np.array(q[::-1], dtype=float)[::-1]
    assert np.array_equal(arm.gravity_forces(backwards), exact)


def test_out_may_be_an_input(arm):
    q = arm.random(0)
    expected = arm.gravity_forces(q)
    assert np.array_equal(arm.gravity_forces(q, out=q), expected)


def test_a_scalar_result_is_a_scalar(arm):
    energy = arm.potential_energy(arm.neutral())
    assert isinstance(energy, float)
    out = np.zeros(())
    assert arm.potential_energy(arm.neutral(), out=out) is out
    assert out == energy


class Unreadable:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("not today")


WRONG = [
    (lambda r: r.gravity_forces(np.zeros(5)), kt.ArgumentError, r"q has shape \(5,\); expected \(…, 6\)"),
    (lambda r: r.gravity_forces(np.zeros((6, 1))), kt.ArgumentError, r"q has shape \(6, 1\).* \(is it transposed\?\)"),
    (lambda r: r.gravity_forces(0.0), kt.ArgumentError, r"q has shape \(\); expected"),
    (lambda r: r.gravity_forces(None), kt.ArgumentTypeError, "q is None; expected an array"),
    (lambda r: r.gravity_forces("zero"), kt.ArgumentTypeError, "q is 'zero'; expected an array"),
    (lambda r: r.gravity_forces(["a"] * 6), kt.ArgumentTypeError, "q has elements of type <U1; expected real numbers"),
    (lambda r: r.gravity_forces(np.zeros(6, complex)), kt.ArgumentTypeError, "type complex128; expected real numbers"),
    (lambda r: r.gravity_forces(np.zeros(6, bool)), kt.ArgumentTypeError, "type bool; expected real numbers"),
    (lambda r: r.gravity_forces([None] * 6), kt.ArgumentTypeError, "type object; expected real numbers"),
    (lambda r: r.gravity_forces(np.ma.zeros(6)), kt.ArgumentTypeError, "q is masked_array"),
    (lambda r: r.gravity_forces([[0.0] * 6, [0.0] * 5]), kt.ArgumentError, "q has rows of different lengths"),
    (lambda r: r.gravity_forces({}), kt.ArgumentTypeError, r"q is {}; expected an array of shape \(…, 6\)"),
    (
        lambda r: r.bias_forces(np.zeros((2, 6)), np.zeros((3, 6))),
        kt.ArgumentError,
        r"do not broadcast: q \(2,\), v \(3,\)",
    ),
    (lambda r: r.inverse_dynamics(np.zeros(6), np.zeros(6), np.zeros(7)), kt.ArgumentError, r"a has shape \(7,\)"),
    (lambda r: r.forward_dynamics(np.zeros(6), np.zeros(6), np.zeros(7)), kt.ArgumentError, r"tau has shape \(7,\)"),
    (lambda r: r.integrate(np.zeros(6), np.zeros(7)), kt.ArgumentError, r"dv has shape \(7,\)"),
    (lambda r: r.difference(np.zeros(6), np.zeros(7)), kt.ArgumentError, r"q1 has shape \(7,\)"),
    (
        lambda r: r.gravity_forces(np.zeros(6), out=np.zeros(5)),
        kt.ArgumentError,
        r"out has shape \(5,\); expected \(6,\)",
    ),
    (
        lambda r: r.gravity_forces(np.zeros(6), out=[0.0] * 6),
        kt.ArgumentTypeError,
        "out is .*; expected an array of float64",
    ),
    (lambda r: r.gravity_forces(np.zeros(6), out=np.zeros(6, "f")), kt.ArgumentTypeError, "out is an array of float32"),
    (lambda r: r.frame("tool"), kt.UnknownNameError, "^frame 'tool' does not exist; did you mean 'tool0'\\?$"),
    (lambda r: r.frame(None), kt.UnknownNameError, "frame None does not exist"),
    (
        lambda r: r.frame("tool0").jacobian(np.zeros(6), "body"),
        kt.ArgumentError,
        "reference is 'body'; expected 'world-aligned'",
    ),
    (
        lambda r: r.frame("tool0").acceleration(*np.zeros((3, 6)), kind="real"),
        kt.ArgumentError,
        "kind is 'real'; expected 'clas",
    ),
    (lambda r: r.bias_forces(*np.zeros((2, 6)), {"tol0": np.zeros(6)}), kt.UnknownNameError, "did you mean 'tool0'"),
    (
        lambda r: r.bias_forces(*np.zeros((2, 6)), {"tool0": np.zeros(3)}),
        kt.ArgumentError,
        r"wrenches\['tool0'\] has shape",
    ),
    (
        lambda r: r.bias_forces(*np.zeros((2, 6)), [np.zeros(6)]),
        kt.ArgumentTypeError,
        "wrenches is .*; expected a dict",
    ),
    (
        lambda r: r.bias_forces(*np.zeros((2, 6)), {"tool0": kt.Force.zero()}),
        kt.ArgumentTypeError,
        "the value of a wrench is a Force; expected a 6-vector",
    ),
    (lambda r: r.gravity_forces(Unreadable()), kt.ArgumentTypeError, "q cannot be read as an array.*: not today"),
    (lambda r: kt.Wrench(np.zeros(6), "tool"), kt.ArgumentError, "reference is 'tool'; expected"),
    (lambda r: r.random("seed"), kt.ArgumentTypeError, "rng is .seed.; expected a numpy Generator or a seed"),
    (lambda r: r.random(0, size=-1), kt.ArgumentError, "size is -1; expected"),
    (lambda r: r.random(0, size="many"), kt.ArgumentError, "size is 'many'; expected"),
]


@pytest.mark.parametrize(("call", "error", "sentence"), WRONG, ids=range(len(WRONG)))
def test_wrong_arguments_get_a_sentence(arm, call, error, sentence):
    with pytest.raises(error, match=sentence) as caught:
        call(arm)
    assert isinstance(caught.value, kt.KinetreeError)
    assert isinstance(caught.value, (ValueError, TypeError))
    assert "\n" not in str(caught.value)


def test_a_read_only_out(arm):
    out = np.zeros(6)
    out.setflags(write=False)
    with pytest.raises(kt.ArgumentError, match="out is read-only"):
        arm.gravity_forces(np.zeros(6), out=out)
    copy = out[[0] * 6]
    assert np.array_equal(arm.gravity_forces(np.zeros(6), out=copy), arm.gravity_forces(np.zeros(6)))


def test_a_failed_call_leaves_out_alone(walker):
    out, q = np.full(12, 7.0), walker.neutral()
    q[6] = 0.975
    with pytest.raises(kt.ArgumentError):
        walker.gravity_forces(q, out=out)
    assert np.all(out == 7.0)


def test_quaternions_must_be_unit(walker):
    q = np.array([walker.neutral()] * 6).reshape(2, 3, -1)
    q[1, 2, 6] = 0.975
    with pytest.raises(kt.ArgumentError, match=r"q\[1, 2\] has a quaternion \(entries 3 to 6, xyzw\) of norm 0\.975"):
        walker.mass_matrix(q)
    with pytest.raises(kt.ArgumentError, match=r"^q has a quaternion .* norm 0;"):
        walker.mass_matrix(np.zeros(13))
    with pytest.raises(kt.ArgumentError, match=r"^q1 has a quaternion"):
        walker.difference(walker.neutral(), np.zeros(13))
    with pytest.raises(kt.ArgumentError, match="of norm inf; expected a unit quaternion"):
        walker.mass_matrix(np.full(13, 1e200))
    exact = walker.random(0)
    nearly = exact.copy()
    nearly[3:7] *= 1 + 4e-7
    assert np.abs(walker.poses(nearly) - walker.poses(exact)).max() > 1e-7  # used as given


def test_nan_goes_where_it_must_and_raises_nothing(arm, walker):
    q = arm.neutral()
    q[3] = np.nan
    poses = arm.poses(q)
    assert np.isfinite(poses[:3]).all()
    assert np.isnan(poses[3:]).any(axis=(1, 2)).all()
    for robot in (arm, walker):
        q, zero = robot.neutral(), np.zeros(robot.nv)
        q[3] = np.nan
        assert np.isnan(robot.inverse_dynamics(q, zero, zero)).any()
        assert np.isnan(robot.forward_dynamics(q, zero, zero)).any()


def test_random_configurations_respect_limits(arm, walker):
    q = arm.random(np.random.default_rng(0), size=200)
    assert np.all((q >= arm.limits.lower) & (q <= arm.limits.upper))
    assert np.all(np.ptp(q, axis=0) > 0.8 * (arm.limits.upper - arm.limits.lower))
    assert np.array_equal(arm.random(5, 3), arm.random(np.random.default_rng(5), (3,)))
    base = walker.random(0, 200)
    close(np.linalg.norm(base[:, 3:7], axis=1), np.ones(200), 1e-12)
    assert np.all(np.abs(base[:, 3:7].mean(axis=0)) < 0.2)
    assert np.array_equal(base.shape, (200, 13))


def test_half_open_limits():
    builder = kt.ModelBuilder()
    builder.link("a")
    for k, (lower, upper) in enumerate([(2.0, np.inf), (-np.inf, -2.0), (0.5, 0.5)]):
        builder.link(f"b{k}", kt.Inertia.from_com(1, (0, 0, 0), np.eye(3)))
        builder.joint(f"j{k}", "prismatic", "a", f"b{k}", lower=lower, upper=upper)
    robot = kt.Robot(builder.build())
    q = robot.random(0, 50)
    assert np.all(q >= robot.limits.lower) and np.all(q <= robot.limits.upper) and np.isfinite(q).all()


def test_names_and_sizes(arm, walker):
    assert (arm.nq, arm.nv) == (6, 6) and (walker.nq, walker.nv) == (13, 12)
    assert (
        arm.joint_names
        == walker.joint_names
        == ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
    )
    assert walker.body_names[0] == "base_link" and len(arm.body_names) == 6
    assert "tool0" in arm.frame_names
    assert walker.limits.lower.shape == (13,) and walker.limits.effort.shape == (12,)
    assert np.array_equal(walker.neutral(), [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    assert arm.gravity.tolist() == [0, 0, -9.81]
    assert "arm6" in repr(arm) and "tool0" in repr(arm.frame("tool0"))


def test_robots_are_values(arm):
    assert arm == kt.load("arm6") and hash(arm) == hash(kt.load("arm6"))
    assert arm != kt.load("arm6", gravity=(0, 0, -1.62))
    assert arm.frame("tool0") == kt.load("arm6").frame("tool0")
    with pytest.raises(AttributeError):
        arm.model = None


def test_no_joints_at_all():
    robot = kt.load('<robot name="stone"><link name="stone"/></robot>')
    assert (robot.nq, robot.nv, robot.mass, robot.joint_names) == (0, 0, 0.0, ())
    assert robot.inverse_dynamics([], [], []).shape == (0,)
    assert robot.forward_dynamics([], [], []).shape == (0,)
    assert robot.mass_matrix(np.zeros((3, 0))).shape == (3, 0, 0)
    assert robot.poses([]).shape == (0, 4, 4)
    assert robot.random(0, 4).shape == (4, 0)
    assert robot.frame("stone").jacobian([]).shape == (6, 0)
    assert robot.kinetic_energy([], []) == 0.0
    with pytest.raises(kt.ArgumentError, match="'stone' has no moving mass"):
        robot.center_of_mass([])


def test_gravity_can_point_anywhere():
    down, aside = kt.load("arm6"), kt.load("arm6", gravity=(9.81, 0.0, 0.0))
    q = down.random(0)
    assert not np.allclose(down.gravity_forces(q), aside.gravity_forces(q))
    close(aside.potential_energy(q), -aside.mass * 9.81 * aside.center_of_mass(q)[0], 1e-12)
    assert np.all(kt.load("arm6", gravity=(0, 0, 0)).gravity_forces(q) == 0)
