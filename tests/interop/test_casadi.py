"""kt.to_casadi: values and derivatives of expressions and of machine code, names and shapes, and an optimal posture by
Ipopt."""

import multiprocessing
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import kinetree as kt
from kinetree import ops
from kinetree.control import ComputedTorque, WholeBody
from kinetree.errors import ArgumentTypeError, PlatformError
from kinetree.tasks import Posture
from peers import urdf_files

casadi = pytest.importorskip("casadi", reason="casadi is not installed: make test-interop")

linux = pytest.mark.skipif(sys.platform != "linux", reason="shared libraries are made on Linux")
QUIET = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}
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


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=linux)], ids=["expressions", "machine code"])
def test_ipopt_finds_the_posture_of_a_humanoid_with_the_least_torques(compiled):
    path = next(path for path in map(str, urdf_files().values()) if path.endswith("g1_29dof_rev_1_0.urdf"))
    robot = kt.load(path, base="floating")
    q0 = robot.neutral()
    for side in ("left", "right"):
        for joint, angle in (("hip_pitch", -0.6), ("knee", 1.2), ("ankle_pitch", -0.6)):
            q0[7 + robot.joint_names.index(f"{side}_{joint}_joint")] = angle
    f, kind = kt.to_casadi(standing.bind(robot), tangent=True, compiled=compiled), casadi.MX if compiled else casadi.SX
    dq, forces = kind.sym("dq", robot.nv), kind.sym("forces", len(FEET), 6)
    tau, *feet = f(q0, dq, 100.0 * forces)
    before = f(q0, np.zeros(robot.nv), np.zeros((len(FEET), 6)))[1:]
    problem = {
        "x": casadi.vertcat(dq, casadi.vec(forces)),
        "f": 0.01 * casadi.sumsqr(tau[6:]) + casadi.sumsqr(forces) + casadi.sumsqr(dq),
        "g": casadi.vertcat(tau[:6], *(a - b for a, b in zip(feet, before, strict=True))),
    }
    solver = casadi.nlpsol("posture", "ipopt", problem, QUIET)
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


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=linux)])
def test_functions_with_names_of_casadi_and_of_the_c_library(compiled):
    for name in ("jac", "sin", "exp"):

        def law(x):
            return ops.sin(1e12 * x) + ops.exp(x)

        law.__name__ = name
        f = kt.to_casadi(kt.compile(law, shapes={"x": ()}), compiled=compiled)
        assert f.name() == f"{name}x" and float(f(0.5)) == pytest.approx(np.sin(5e11) + np.exp(0.5), rel=1e-13)


def test_what_is_refused():
    with pytest.raises(ArgumentTypeError, match="is a solver"):
        kt.to_casadi(WholeBody(kt.load("planar2"), Posture()))
    with pytest.raises(ArgumentTypeError, match="is not compiled"):
        kt.to_casadi(np.sin)
    with pytest.raises(ArgumentTypeError, match="is a solver"):
        kt.to_casadi(WholeBody(kt.load("planar2"), Posture()), tangent=True)


# -- machine code ------------------------------------------------------------------------------------------------------


def states(robot, count):
    rng = np.random.default_rng(0)
    return robot.random(rng, count), *rng.normal(size=(2, count, robot.nv))


def same(f, g, *x):
    """Whether two functions give the same, and have the same names and numbers."""
    assert (f.name(), f.name_in(), f.name_out()) == (g.name(), g.name_in(), g.name_out())
    for a, b in zip(f.call(list(x)), g.call(list(x)), strict=True):
        np.testing.assert_allclose(a.full(), b.full(), rtol=1e-10, atol=1e-10)
        assert a.nnz() <= b.nnz()


@linux
@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "poses", "kinetic_energy"])
def test_machine_code_has_the_bits_of_a_call(walker, name):
    function = getattr(walker, name)
    f = kt.to_casadi(function, compiled=True)
    assert f.class_name() == "External"
    (q,), (v,), (a,) = states(walker, 1)
    x = [{"q": q, "v": v, "a": a}[argument] for argument in f.name_in()]
    expected = function(*x)
    np.testing.assert_array_equal(f(*x).full().reshape(np.shape(expected)), expected)


@linux
@pytest.mark.parametrize("tangent", [False, True])
def test_derivatives_of_machine_code_are_those_of_expressions(walker, tangent):
    f, g = (kt.to_casadi(walker.inverse_dynamics, tangent=tangent, compiled=c) for c in (True, False))
    (q,), (v,), (tau,) = states(walker, 1)
    x = [q, 0.2 * v, v, tau] if tangent else [q, v, tau]
    same(f, g, *x)
    same(f.jacobian(), g.jacobian(), *x, 0)
    same(f.forward(1), g.forward(1), *x, 0, *x)
    same(f.reverse(1), g.reverse(1), *x, 0, tau)
    same(f.reverse(3), g.reverse(3), *x, 0, np.outer(tau, [1.0, 2.0, 3.0]))
    kinds, found = (casadi.MX, casadi.SX), []
    for kind, h in zip(kinds, (f, g), strict=True):
        symbols = [kind.sym(name, h.size_in(name)) for name in h.name_in()]
        by = symbols[1] if tangent else symbols[0]
        hessian, _ = casadi.hessian(casadi.dot(h(*symbols), casadi.DM(tau)), by)
        found.append(casadi.Function("H", symbols, [hessian])(*x))
    np.testing.assert_allclose(found[0].full(), found[1].full(), rtol=1e-8, atol=1e-8)


@linux
def test_every_operation_and_every_shape_in_machine_code():
    f, g = kt.to_casadi(operations, compiled=True), kt.to_casadi(operations)
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 3)), rng.normal(size=(4, 2))
    for x in (-1.5, 0.3, 0.7, 4.0, 11.0):
        same(f, g, A, x, B)
        same(f.jacobian(), g.jacobian(), A, x, B, 0, 0, 0, 0)


@linux
@pytest.mark.parametrize("n", [1, 2, 3, 8])
@pytest.mark.parametrize("m", [1, 2, 5])
def test_whatever_mode_casadi_takes_there_are_first_and_second_derivatives(n, m):
    C = np.random.default_rng(0).normal(size=(m, n))
    waves = kt.compile(lambda x, p: ops.sin(C @ x) * x[0] * p, shapes={"x": (n,), "p": ()})
    found = []
    for kind, compiled in ((casadi.MX, True), (casadi.SX, False)):
        f, x = kt.to_casadi(waves, compiled=compiled), kind.sym("x", n)
        y = f(x, 1.5)
        hessian, gradient = casadi.hessian(casadi.sumsqr(y), x)
        found.append(casadi.Function("all", [x], [casadi.jacobian(y, x), gradient, hessian]))
    same(*found, np.linspace(0.3, 1.1, n))


@linux
@pytest.mark.parametrize("how", [("serial",), ("thread", 2), ("unroll",)])
def test_maps_of_machine_code(arm, how):
    f, g = kt.to_casadi(arm.inverse_dynamics, compiled=True), kt.to_casadi(arm.inverse_dynamics)
    q, v, a = states(arm, 24)
    mapped = f.map(24, *how)
    expected = [arm.inverse_dynamics(*state) for state in zip(q, v, a, strict=True)]
    for _ in range(20):
        np.testing.assert_array_equal(mapped(q.T, v.T, a.T).full().T, expected)
    Q = casadi.MX.sym("Q", 6, 24)
    J = casadi.Function("J", [Q], [casadi.jacobian(mapped(Q, v.T, a.T), Q)])(q.T)
    blocks = casadi.diagcat(*(g.jacobian()(*state, 0)[0] for state in zip(q, v, a, strict=True)))
    np.testing.assert_allclose(J.full(), blocks.full(), rtol=1e-10, atol=1e-10)


@linux
def test_machine_code_in_threads_of_python(arm):
    f, (q, v, a) = kt.to_casadi(arm.inverse_dynamics, compiled=True), states(arm, 8)
    found = [None] * 8

    def work(k):
        for _ in range(100):
            found[k] = f(q[k], v[k], a[k]).full().ravel()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(found, [arm.inverse_dynamics(*state) for state in zip(q, v, a, strict=True)])


@linux
def test_a_refused_state_is_an_error_that_ipopt_steps_back_from():
    @kt.compile(shapes={"x": ()})
    def cost(x):
        ops.require(ops.less(0.0, x), "x is not positive")
        return x - ops.log(x)

    f = kt.to_casadi(cost, compiled=True)
    for call in (f, lambda x: f.jacobian()(x, 0), lambda x: f.forward(1)(x, 0, 1.0)):
        with pytest.raises(RuntimeError, match="failed"):
            call(-1.0)
    x = casadi.MX.sym("x")
    solver = casadi.nlpsol("least", "ipopt", {"x": x, "f": f(x)}, QUIET | {"show_eval_warnings": False})
    assert float(solver(x0=20.0)["x"]) == pytest.approx(1.0, abs=1e-6) and solver.stats()["success"]


def _values(data, state, connection):
    connection.send(pickle.loads(data)(*state).full())


@linux
def test_processes_get_machine_code_as_a_pickle_and_leave_no_files(arm, tmp_path, monkeypatch):
    f, state = kt.to_casadi(arm.inverse_dynamics, compiled=True), [x[0] for x in states(arm, 1)]
    data, expected = pickle.dumps(f), f(*state).full()
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_values, args=(data, state, sender))
        process.start()
        np.testing.assert_array_equal(receiver.recv(), expected)
        process.join()
    np.testing.assert_array_equal(pickle.loads(data)(*state).full(), expected)  # a child has not removed it
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    text = (
        "import kinetree as kt, os\n"
        "f = kt.to_casadi(kt.load('planar2').inverse_dynamics, compiled=True)\n"
        "(folder,) = os.listdir(os.environ['TMPDIR'])\n"
        "assert os.stat(os.path.join(os.environ['TMPDIR'], folder)).st_mode & 0o77 == 0\n"
        "if os.fork() == 0: raise SystemExit\n"
        "os.wait(); assert os.listdir(os.environ['TMPDIR'])"
    )
    subprocess.run([sys.executable, "-c", text], check=True)
    assert list(tmp_path.iterdir()) == []


@linux
def test_folders_of_killed_processes_are_removed_and_those_of_others_stay(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    make = "import kinetree as kt, os\nkt.to_casadi(kt.load('planar2').inverse_dynamics, compiled=True)\n"
    for _ in range(2):
        subprocess.run([sys.executable, "-c", f"{make}os.kill(os.getpid(), 9)"], check=False)
        (abandoned,) = tmp_path.iterdir()
    (tmp_path / "kinetree-casadi").mkdir()
    (tmp_path / f"{abandoned.name}-link").symlink_to(tmp_path / "kinetree-casadi")
    text = f"{make}print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as alive:
        alive.stdout.readline()
        subprocess.run([sys.executable, "-c", make], check=True)
        kept = {path.name for path in tmp_path.iterdir()} - {"kinetree-casadi", f"{abandoned.name}-link"}
        assert len(kept) == 1 and abandoned.name not in kept
        alive.communicate(b"\n")
    assert alive.returncode == 0 and len(list(tmp_path.iterdir())) == 2


@linux
def test_what_machine_code_refuses(arm, monkeypatch):
    with pytest.raises(ArgumentTypeError, match="is a solver"):
        kt.to_casadi(WholeBody(kt.load("planar2"), Posture()), compiled=True)
    with pytest.raises(ArgumentTypeError, match="compiled is 2"):
        kt.to_casadi(arm.inverse_dynamics, compiled=2)
    f = kt.to_casadi(arm.inverse_dynamics, compiled=True)
    with pytest.raises(RuntimeError, match="dimension"):
        f(np.ones(5), np.ones(6), np.ones(6))
    with pytest.raises(RuntimeError, match="Derivatives cannot be calculated for jac_inverse_dynamics"):
        f.jacobian().jacobian()
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(PlatformError, match="on Linux"):
        kt.to_casadi(arm.inverse_dynamics, compiled=True)
