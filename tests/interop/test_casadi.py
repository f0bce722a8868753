"""kt.to_casadi: values and derivatives of expressions, names and shapes, and an optimal posture by Ipopt."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import ComputedTorque, WholeBody
from kinetree.errors import ArgumentTypeError
from kinetree.tasks import Posture
from peers import urdf_files

casadi = pytest.importorskip("casadi", reason="casadi is not installed: make test-interop")

FEET = ("left_ankle_roll_link", "right_ankle_roll_link")


def jacobian(f, which):
    """The Jacobian by CasADi with respect to one argument."""
    symbols = f.sx_in()
    names = f.name_in()
    result = f(*symbols)
    flat = casadi.reshape(result.T, -1, 1)  # in C order
    return casadi.Function("J", symbols, [casadi.jacobian(flat, symbols[names.index(which)])])


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "poses", "kinetic_energy"])
def test_values(walker, name):
    function = getattr(walker, name)
    f = kt.to_casadi(function)
    given = {"q": walker.random(0), "v": np.ones(walker.nv), "a": np.ones(walker.nv), "tau": np.ones(walker.nv)}
    x = [given[argument] for argument in f.name_in()]
    found, expected = f(*x).full(), function(*x)
    np.testing.assert_allclose(found.reshape(np.shape(expected)), expected, rtol=1e-10, atol=1e-10)


@kt.compile(shapes={"A": (2, 3), "x": (), "B": (2, 2, 2)})
def operations(A, x, B):
    """Every operation of graphs."""
    y = kt.where(kt.logical_and(kt.less(x, 0.0), kt.logical_not(kt.equal(x, -2.0))), kt.sqrt(-x), kt.log(x + 3.0))
    z = kt.where(kt.logical_or(kt.less_equal(x, 0.5), kt.less(9.0, x)), kt.exp(x), kt.tanh(x) / kt.tan(x))
    both = np.array([kt.minimum(x, y), kt.maximum(y, z), abs(x), kt.atan2(z, x), kt.sin(y) - kt.cos(z)])
    return {"rows": A.T @ A, "number": y, "both": (both, B[::-1] * 2.0)}


def test_every_operation_every_shape_and_all_names():
    f = kt.to_casadi(operations)
    assert (f.name(), f.name_in(), f.name_out()) == (
        "operations",
        ["A", "x", "B"],
        ["rows", "number", "both_0", "both_1"],
    )
    assert [f.size_in(k) for k in range(3)] == [(2, 3), (1, 1), (4, 2)] and f.size_out(3) == (4, 2)
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 3)), rng.normal(size=(2, 2, 2))
    for x in (-2.0, -1.5, 0.0, 0.3, 0.7, 4.0, 11.0):
        found, expected = f(A=A, x=x, B=B.reshape(4, 2)), operations(A, x, B)
        np.testing.assert_allclose(found["rows"].full(), expected["rows"], atol=1e-14)
        assert float(found["number"]) == pytest.approx(expected["number"], rel=1e-14, abs=1e-14)
        np.testing.assert_allclose(found["both_0"].full().ravel(), expected["both"][0], rtol=1e-13, atol=1e-14)
        np.testing.assert_array_equal(found["both_1"].full().reshape(2, 2, 2), expected["both"][1])


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_jacobians_by_casadi_are_ours(arm, name):
    x = [arm.random(0), *np.random.default_rng(0).normal(size=(2, 6))]
    f = kt.to_casadi(getattr(arm, name))
    for which in f.name_in():
        expected = kt.jacobian(getattr(arm, name), wrt=which)(*x)
        np.testing.assert_allclose(jacobian(f, which)(*x).full(), expected, rtol=1e-9, atol=1e-9)


def test_on_the_tangent_space_they_are_ours_for_a_floating_base_too(walker):
    x = [walker.random(0), np.zeros(walker.nv), *np.random.default_rng(0).normal(size=(2, walker.nv))]
    f = kt.to_casadi(walker.inverse_dynamics, tangent=True)
    assert f.name_in() == ["q", "dq", "v", "a"]
    expected = kt.jacobian(walker.inverse_dynamics)(x[0], *x[2:])
    np.testing.assert_allclose(jacobian(f, "dq")(*x).full(), expected, rtol=1e-10, atol=1e-10)
    x[1] = 0.2 * np.ones(walker.nv)
    moved = walker.inverse_dynamics(walker.integrate(x[0], x[1]), *x[2:])
    np.testing.assert_allclose(f(*x).full().ravel(), moved, rtol=1e-11, atol=1e-11)


def test_frames_constraints_derivatives_and_controllers(arm):
    q, v = arm.random(0), np.ones(6)
    tool = arm.frame("tool0")
    np.testing.assert_allclose(kt.to_casadi(tool.jacobian)(q).full(), tool.jacobian(q), atol=1e-14)
    held = arm.constrained([kt.Contact("tool0", "point")]).jacobian
    np.testing.assert_allclose(kt.to_casadi(held)(q).full(), held(q), atol=1e-14)
    slope = kt.jacobian(arm.gravity_forces)
    np.testing.assert_allclose(kt.to_casadi(slope)(q).full(), slope(q), atol=1e-12)
    controller = ComputedTorque(arm, stiffness=100.0)
    f = kt.to_casadi(controller)
    x = {"q": q, "v": v, "q_des": q + 0.1, "v_des": v, "a_des": v, "stiffness": 100.0, "damping": 20.0}
    expected = controller(q, v, q + 0.1, v, v)
    assert set(f.name_in()) == set(x)
    np.testing.assert_allclose(f(**x)["result"].full().ravel(), expected, rtol=1e-12)


@kt.compile(shapes={"forces": (len(FEET), 6)})
def standing(robot, q, forces):
    """Torques at rest with these wrenches on the feet, and where the feet are."""
    still = np.zeros(robot.nv)
    tau = robot.inverse_dynamics(q, still, still, wrenches=dict(zip(FEET, forces, strict=True)))
    poses = [robot.frame(foot).pose(q) for foot in FEET]
    return {"tau": tau, "feet": [np.concatenate([X[:3, 3], kt.unskew(X[:3, :3] - X[:3, :3].T)]) for X in poses]}


def test_ipopt_finds_the_posture_of_a_humanoid_with_the_least_torques():
    path = next(path for path in map(str, urdf_files().values()) if path.endswith("g1_29dof_rev_1_0.urdf"))
    robot = kt.load(path, base="floating")
    q0 = robot.neutral()
    for side in ("left", "right"):
        for joint, angle in (("hip_pitch", -0.6), ("knee", 1.2), ("ankle_pitch", -0.6)):
            q0[7 + robot.joint_names.index(f"{side}_{joint}_joint")] = angle
    f = kt.to_casadi(standing.bind(robot), tangent=True)
    dq, forces = casadi.SX.sym("dq", robot.nv), casadi.SX.sym("forces", len(FEET), 6)
    tau, *feet = f(q0, dq, 100.0 * forces)
    before = f(q0, np.zeros(robot.nv), np.zeros((len(FEET), 6)))[1:]
    problem = {
        "x": casadi.vertcat(dq, casadi.vec(forces)),
        "f": 0.01 * casadi.sumsqr(tau[6:]) + casadi.sumsqr(forces) + casadi.sumsqr(dq),
        "g": casadi.vertcat(tau[:6], *(a - b for a, b in zip(feet, before, strict=True))),
    }
    quiet = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}
    solver = casadi.nlpsol("posture", "ipopt", problem, quiet)
    solution = solver(x0=np.zeros(problem["x"].shape[0]), lbg=0.0, ubg=0.0)["x"].full().ravel()
    assert solver.stats()["success"]
    q = robot.integrate(q0, solution[: robot.nv])
    w = 100.0 * solution[robot.nv :].reshape(6, len(FEET)).T
    result = standing(robot, q, w)
    weight = robot.mass * 9.81
    assert np.abs(result["tau"][:6]).max() < 1e-5 * weight and w[:, 2].sum() == pytest.approx(weight, rel=1e-6)
    upright = standing(robot, q0, np.zeros((2, 6)))
    np.testing.assert_allclose(result["feet"], upright["feet"], atol=1e-6)
    share = np.zeros((2, 6))
    share[:, 2] = weight / 2.0
    assert np.abs(result["tau"][6:]).max() < 0.6 * np.abs(standing(robot, q0, share)["tau"][6:]).max()


def test_names_that_casadi_does_not_take():
    f = kt.to_casadi(kt.compile(lambda _x, x: {"__": x + _x, "ẋ": x}, shapes={"_x": (), "x": ()}))
    assert (f.name(), f.name_in()) == ("lambda", ["x", "xx"]) and len({*f.name_in(), *f.name_out()}) == 4
    assert [float(y) for y in f(1.0, 2.0)] == [3.0, 2.0]


def test_what_is_refused():
    with pytest.raises(ArgumentTypeError, match="is a solver"):
        kt.to_casadi(WholeBody(kt.load("planar2"), Posture()))
    with pytest.raises(ArgumentTypeError, match="is not compiled"):
        kt.to_casadi(np.sin)
    with pytest.raises(ArgumentTypeError, match="is a solver"):
        kt.to_casadi(WholeBody(kt.load("planar2"), Posture()), tangent=True)
