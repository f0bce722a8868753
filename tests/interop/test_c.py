"""kt.to_c: files that gcc accepts without a word, whose functions give the bits of Python's, with codes for refusals.

Covers: interop/c_files.py, interop/c_functions.py.
"""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kinetree as kt
from c_libraries import EXACT, LIBM, SANITIZED, STRICT, Library, assert_bits, needs_gcc, run, symbols
from kinetree import tasks
from kinetree.control import ComputedTorque, PointContact, WholeBody
from kinetree.ik import DifferentialIK
from kinetree.solvers import qp

ARM = kt.load("arm6")
TOOL = ARM.frame("tool0")


@kt.compile(shapes={"target": (3,), "word": ()})
def reach(robot, q, v, target, word):
    """A law whose names mean something in C, with a refusal of its own."""
    from kinetree import ops  # noqa: PLC0415

    p = robot.frame("tool0").pose(q)[:3, 3]
    distance = ops.sqrt((target - p) @ (target - p))
    ops.require(ops.less(distance, 100.0), "the target is */ too far \\ away")
    J = robot.frame("tool0").jacobian(q)[:3]
    return {"double": J.T @ (target - p) - word * v, "w": distance, "t1": kt.atan2(p[0], p[1])}


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    """Quantities, derivatives, a law and a controller in one file."""
    functions = [
        ARM.inverse_dynamics, ARM.forward_dynamics, ARM.mass_matrix, ARM.inverse_dynamics_derivatives, TOOL.pose,
        TOOL.jacobian, ARM.kinetic_energy, kt.jacobian(ARM.gravity_forces), kt.gradient(ARM.potential_energy),
        reach.bind(ARM), ComputedTorque(ARM, stiffness=80.0),
    ]  # fmt: skip
    return Library(functions, tmp_path_factory.mktemp("arm"), "arm")


@needs_gcc
def test_bits_are_those_of_python(arm):
    assert_bits(arm)
    assert arm.symbols <= LIBM


@needs_gcc
def test_defaults_are_null(arm):
    q, v, goal = np.random.default_rng(0).normal(size=(3, 6))
    controller = ComputedTorque(ARM, stiffness=80.0)
    code, (tau,) = arm.call("computed_torque", q, v, goal, None, None, None, None)
    np.testing.assert_array_equal(tau, controller(q, v, goal))
    code, (tau,) = arm.call("computed_torque", q, v, goal, v, None, np.full(6, 3.0), None)
    assert code == 0
    np.testing.assert_array_equal(tau, controller(q, v, goal, v, stiffness=np.full(6, 3.0)))


@needs_gcc
def test_a_refused_state_has_a_code_with_its_reason_in_the_header(arm, tmp_path):
    header = (arm.folder / "arm.h").read_text()
    q, v = np.zeros((2, 6))
    code, _ = arm.call("reach", q, v, [200.0, 0.0, 0.0], 1.0)
    (name,) = re.findall(rf"(ARM_\w+) = {code},? /\* the target is \* / too far / away \*/", header)
    assert arm.codes[name.removeprefix("ARM_")] == code > 0
    assert arm.call("reach", q, v, [1.0, 0.0, 0.0], 1.0)[0] == 0
    legs = kt.load("quadruped", base="floating")
    library = Library([legs.gravity_forces, legs.integrate], tmp_path, "legs", flags=("-O0",))
    q = legs.neutral()
    assert library.call("gravity_forces", q)[0] == 0
    q[3:7] *= 1.01
    assert library.call("gravity_forces", q)[0] == library.codes["Q_HAS_QUATERNION_NOT_UNIT_LENGTH"]
    assert library.call("integrate", q, np.zeros(18))[0] != 0


@needs_gcc
def test_a_singular_mass_matrix_has_a_code(tmp_path):
    robot = kt.load(
        """<robot name="weightless"><link name="base"/><link name="tip"/>
        <joint name="turn" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/></joint>
        </robot>"""
    )
    library = Library(robot.forward_dynamics, tmp_path, flags=("-O0",))
    assert library.call("forward_dynamics", [0.0], [0.0], [1.0])[0] == library.codes["MASS_MATRIX_SINGULAR"]
    with pytest.raises(kt.SingularMassMatrixError):
        robot.forward_dynamics([0.0], [0.0], [1.0])


@needs_gcc
def test_the_self_test_runs_under_sanitizers_and_fails_where_numbers_differ(arm):
    said = arm.test("-O0", *SANITIZED)
    assert said == "arm: 0 failures\n"
    source = arm.folder / "arm_test.c"
    text = source.read_text()
    table = re.search(r"arm_mass_matrix_0_result\[\] = \{([^,]+),", text)
    for wrong in ("77.0", "NAN"):  # also if those behind it agree
        source.write_text(text.replace(table[0], table[0].replace(table[1], wrong)))
        run("gcc", "-O0", "arm.o", "arm_test.c", "-lm", "-o", "selftest", folder=arm.folder)
        done = subprocess.run([arm.folder / "selftest"], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "arm_mass_matrix: result: differs by" in done.stdout
    source.write_text(text)


@needs_gcc
def test_checks_of_arguments_and_constants_of_the_header(arm, tmp_path):
    program = tmp_path / "check.c"
    program.write_text("""#include "arm.h"
#include <math.h>
#include <stdio.h>
int main(void) {
    double q[ARM_NQ] = {0}, v[ARM_NV] = {0}, a[ARM_INVERSE_DYNAMICS_A_SIZE] = {0}, r[ARM_INVERSE_DYNAMICS_RESULT_SIZE];
    printf("%d ", arm_inverse_dynamics_check(q, v, a, r));
    printf("%d ", arm_inverse_dynamics_check(q, v, a, 0) == ARM_NULL_ARGUMENT);
    v[ARM_V_ELBOW] = NAN;
    printf("%d ", arm_inverse_dynamics_check(q, v, a, r) == ARM_NOT_FINITE_ARGUMENT);
    printf("%d ", arm_computed_torque_check(q, a, a, 0, 0, 0, 0, r));
    printf("%s %d\\n", arm_joint_names[ARM_JOINTS - 1], ARM_MASS_MATRIX_RESULT_SIZE);
    return 0;
}
""")
    run("gcc", "-std=c99", f"-I{arm.folder}", program, arm.folder / "arm.c", "-lm", "-o", tmp_path / "check")
    assert run(tmp_path / "check") == "0 1 1 0 wrist_3 36\n"


@needs_gcc
def test_threads_share_a_function(arm):
    states = [arm.draw("inverse_dynamics", np.random.default_rng(seed)) for seed in range(8)]
    expected = [arm.call("inverse_dynamics_derivatives", *state)[1][0] for state in states]

    def work(k):
        for _ in range(300):  # ctypes releases the GIL
            code, (result, _) = arm.call("inverse_dynamics_derivatives", *states[k])
            assert code == 0 and (result == expected[k]).all()
        return k

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == list(range(8))


@needs_gcc
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")
def test_the_header_is_also_cpp(arm):
    run("g++", "-x", "c++", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "arm.h", folder=arm.folder)


@pytest.mark.skipif(shutil.which("clang") is None, reason="there is no clang")
def test_clang_accepts_it_too(arm, tmp_path):
    arm.test("-O1", compiler="clang")
    library = Library(DifferentialIK(ARM, tasks.Pose("tool0")), tmp_path, compiler="clang")
    assert library.symbols <= LIBM
    library.test("-O1", compiler="clang")


@needs_gcc
def test_without_fused_multiply_add_numbers_differ_by_rounding(tmp_path):
    library = Library(ARM.inverse_dynamics, tmp_path, flags=("-O2", "-DROBOT_FMA=0"))
    assert library.symbols <= {"sin", "cos", "sincos"}
    for seed in range(5):
        given = library.draw("inverse_dynamics", np.random.default_rng(seed))
        (expected,) = library.expected("inverse_dynamics", given)
        np.testing.assert_allclose(library.call("inverse_dynamics", *given)[1][0], expected, rtol=1e-13, atol=1e-12)


@needs_gcc
def test_float_gives_the_bits_of_float32(tmp_path):
    robot = ARM.astype("float32")
    library = Library([robot.inverse_dynamics, robot.frame("tool0").pose], tmp_path / "own", flags=EXACT)
    assert library.dtype is np.float32
    assert_bits(library)
    other = Library([ARM.inverse_dynamics], tmp_path / "asked", dtype="float32", flags=EXACT)
    given = library.draw("inverse_dynamics", np.random.default_rng(0))
    np.testing.assert_array_equal(
        other.call("inverse_dynamics", *given)[1][0], library.call("inverse_dynamics", *given)[1][0]
    )


# -- solvers -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def solvers(tmp_path_factory):
    """Whole-body control with and without priorities, and a quadratic program."""
    functions = {
        "weighted": WholeBody(ARM, [tasks.Pose("tool0"), tasks.Posture(weight=0.1)]),
        "strict": WholeBody(ARM, [tasks.Position("tool0", priority=0), tasks.Posture(priority=1)]),
        "velocity": DifferentialIK(ARM, [tasks.Pose("tool0")]),
        "program": qp.program(3, 2),
    }
    return functions, Library(functions, tmp_path_factory.mktemp("solvers"), "solvers", flags=("-O1", "-march=native"))


@needs_gcc
@pytest.mark.sweep
def test_solvers_find_what_python_finds(solvers):
    _, library = solvers
    assert library.symbols <= LIBM
    rng = np.random.default_rng(0)
    for name in ("weighted", "strict", "velocity"):
        for _ in range(10):
            given = library.draw(name, rng)
            code, results = library.call(name, *given)
            assert code == 0
            for result, expected, _ in zip(results, library.expected(name, given), range(3), strict=False):
                size = np.abs(expected).max(initial=1.0)
                np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9 * size)


@needs_gcc
def test_solvers_say_why_there_is_no_solution(solvers):
    functions, library = solvers
    H, g, C = np.eye(3), np.ones(3), np.array([[1.0, 0, 0], [1.0, 0, 0]])
    free = np.full(3, -np.inf), np.full(3, np.inf)
    bounds = np.concatenate([free[0], [1.0, 2.0]]), np.concatenate([free[1], [1.0, 2.0]])
    assert library.call("program", H, g, C, *bounds, np.zeros(5))[0] == library.codes["INFEASIBLE"]
    with pytest.raises(kt.InfeasibleError):
        functions["program"].run(H, g, C, *bounds, np.zeros(5))
    assert library.call("program", -H, g, C, *bounds, np.zeros(5))[0] == library.codes["NOT_CONVEX"]
    bounds[1][3:] = bounds[0][3:] = 1.0
    code, (x, *_) = library.call("program", H, g, C, *bounds, np.zeros(5))
    assert code == 0
    np.testing.assert_allclose(x, [1.0, -1.0, -1.0], atol=1e-12)
    given = library.draw("weighted", np.random.default_rng(0))
    given[1][0] = np.nan
    assert library.call("weighted", *given)[0] != 0


@needs_gcc
def test_the_self_test_of_solvers_runs_under_sanitizers(solvers):
    _, library = solvers
    said = library.test("-O0", *SANITIZED)
    assert said == "solvers: 0 failures\n"
    header = (library.folder / "solvers.h").read_text()
    assert "#define SOLVERS_WEIGHTED_REFERENCE_POSTURE_TARGET 16" in header


# -- files -------------------------------------------------------------------------------------------------------------


def test_the_files_are_the_same_every_time_and_replace_others(tmp_path):
    for folder in ("a/b", "c"):
        assert kt.to_c([ARM.mass_matrix, TOOL.pose], tmp_path / folder) == tmp_path / folder
    names = sorted(path.name for path in (tmp_path / "c").iterdir())
    assert names == ["README.md", "arm6.c", "arm6.h", "arm6_test.c"]
    for name in names:
        assert (tmp_path / "a/b" / name).read_bytes() == (tmp_path / "c" / name).read_bytes()
    kt.to_c(TOOL.pose, tmp_path / "c")
    assert "mass_matrix" not in (tmp_path / "c" / "arm6.c").read_text()
    assert "`arm6_tool0_pose` | `q` (6) | `result` (4, 4)" in (tmp_path / "c" / "README.md").read_text()


def test_a_readme_that_others_wrote_stays(tmp_path):
    (tmp_path / "README.md").write_text("# My project\n")
    for _ in range(2):
        kt.to_c(TOOL.pose, tmp_path, name="arm")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["README.md", "arm.c", "arm.h", "arm_README.md", "arm_test.c"]
    assert (tmp_path / "README.md").read_text() == "# My project\n"


def test_functions_of_two_robots_have_a_name_and_no_joints(tmp_path):
    other = kt.load("planar2")
    with pytest.raises(kt.ArgumentError, match="name is missing"):
        kt.to_c({"one": ARM.mass_matrix, "two": other.mass_matrix}, tmp_path)
    kt.to_c({"one": ARM.mass_matrix, "two": other.mass_matrix}, tmp_path, name="both")
    assert "NQ" not in (tmp_path / "both.h").read_text()


@needs_gcc
def test_names_that_differ_in_capitals_and_no_results(tmp_path):
    law = kt.compile(lambda q, Q, x_q: Q @ q + x_q[0], shapes={"q": (2,), "Q": (2, 2), "x_q": (1,)})
    nothing = kt.compile(lambda q: {}, shapes={"q": (3,)})
    library = Library({"f": law, "F": nothing, "f_x": nothing}, tmp_path)
    assert library.call("f", [1.0, 2.0], np.eye(2), [3.0])[1][0].tolist() == [4.0, 5.0]
    assert library.call("F", np.ones(3)) == (0, [])
    header = (tmp_path / "robot.h").read_text()
    assert re.findall(r"#define (ROBOT_F_Q_SIZE\w*) (\d)", header) == [
        ("ROBOT_F_Q_SIZE", "2"), ("ROBOT_F_Q_SIZE_2", "4"), ("ROBOT_F_Q_SIZE_3", "3")
    ]  # fmt: skip
    assert library.test("-O0") == "robot: 0 failures\n"
    kt.to_c({"F": nothing}, tmp_path, name="none")
    run("gcc", *STRICT, "none.c", "none_test.c", "-o", "none", folder=tmp_path)
    assert run(tmp_path / "none") == "none: 0 failures\n"


@pytest.mark.parametrize(
    ("functions", "options", "words"),
    [
        (ARM.mass_matrix, {"name": "6arm"}, "name is '6arm'; expected an identifier of C, such as 'robot_6arm'"),
        (ARM.mass_matrix, {"name": "arm-6"}, "such as 'arm_6'"),
        (ARM.mass_matrix, {"name": "double"}, "such as 'robot_double'"),
        (ARM.mass_matrix, {"name": ""}, "name is ''"),
        (ARM.mass_matrix, {"name": 3}, "name is 3; expected a name such as 'ur5'"),
        (ARM.mass_matrix, {"dtype": "float16"}, 'dtype is \'float16\'; expected "float64" or "float32"'),
        ([], {}, "functions is empty"),
        ([ARM.mass_matrix, ARM.mass_matrix], {}, "two functions are called 'mass_matrix'"),
        ([ARM.mass_matrix, ARM.astype("float32").poses], {}, "of dtype float64 and float32"),
        ({"joint_names": ARM.mass_matrix}, {}, "'joint_names' is the name of a part of the C code; expected a dict"),
        ({"x": ARM.mass_matrix, "x_check": ARM.mass_matrix}, {}, "'x_check' is the name of a part of the C code"),
        ({"sincos": ARM.mass_matrix}, {}, "'sincos' is the name of a part of the C code; .* such as {'sincos_2': …}"),
        (ARM.mass_matrix, {"name": "math"}, "such as 'robot_math'"),
        ("mass_matrix", {}, "'mass_matrix' is not compiled"),
        (reach, {}, r"reach is not bound to a robot; expected reach\.bind\(robot\)"),
        (ARM.ik, {}, "is not compiled"),
        (WholeBody(ARM, tasks.Posture(), fallback="damping"), {}, "has the fallback 'damping', which runs as Python"),
        (WholeBody(ARM, tasks.Posture()), {"dtype": "float32"}, "whole_body is a solver, which needs the digits"),
    ],
)
def test_what_cannot_be_written_is_refused_and_nothing_is_written(functions, options, words, tmp_path):
    with pytest.raises(kt.KinetreeError, match=words):
        kt.to_c(functions, tmp_path / "new", **options)
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_written_keeps_what_it_has(tmp_path):
    (tmp_path / "file").write_text("here")
    with pytest.raises(kt.ArgumentError, match="which is a file; expected the name of a folder"):
        kt.to_c(ARM.mass_matrix, tmp_path / "file")
    with pytest.raises(kt.ArgumentError, match="file"):
        kt.to_c(ARM.mass_matrix, tmp_path / "file" / "inner")
    with pytest.raises(kt.ArgumentTypeError, match="folder is 3; expected the name of a folder"):
        kt.to_c(ARM.mass_matrix, 3)
    for wrong, shown in (("a\0b", r"a\\x00b"), ("", "")):
        with pytest.raises(kt.ArgumentError, match=f"folder is '{shown}'; expected the name of a folder"):
            kt.to_c(ARM.mass_matrix, wrong)
    with pytest.raises(kt.ArgumentError, match="cannot be written: file name too long"):
        kt.to_c(ARM.mass_matrix, tmp_path, name="x" * 300)
    kt.to_c(ARM.mass_matrix, tmp_path / "arm")
    before = {path.name: path.read_bytes() for path in (tmp_path / "arm").iterdir()}
    (tmp_path / "arm" / "arm6_test.c").chmod(0o400)
    with pytest.raises(kt.ArgumentError, match="cannot be written: it is read-only"):
        kt.to_c(ARM.inverse_dynamics, tmp_path / "arm")
    assert {path.name: path.read_bytes() for path in (tmp_path / "arm").iterdir()} == before


# -- sweeps ------------------------------------------------------------------------------------------------------------

QUANTITIES = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_mass_matrix", "coriolis_matrix", "bias_forces",
    "gravity_forces", "poses", "center_of_mass", "centroidal_momentum_matrix", "inverse_dynamics_derivatives",
    "kinetic_energy",
)  # fmt: skip
ROBOTS = (
    ("arm6", "fixed"), ("arm7", "fixed"), ("planar2", "fixed"), ("puma560", "fixed"), ("cartpole", "fixed"),
    ("arm6", "floating"), ("quadruped", "fixed"), ("quadruped", "floating"), ("humanoid", "fixed"),
    ("humanoid", "floating"),
)  # fmt: skip


@needs_gcc
@pytest.mark.sweep
@pytest.mark.parametrize(("name", "base"), ROBOTS, ids=str)
def test_twelve_quantities_of_ten_robots(name, base, tmp_path):
    robot = kt.load(name, base=base)
    library = Library([getattr(robot, quantity) for quantity in QUANTITIES], tmp_path, "r", ("-O1", *EXACT[1:]))
    assert library.symbols <= LIBM
    assert_bits(library, 3)
    assert library.test("-O0", *SANITIZED) == "r: 0 failures\n"
    if shutil.which("clang"):
        assert library.test("-O0", compiler="clang") == "r: 0 failures\n"


@needs_gcc
@pytest.mark.sweep
def test_a_humanoid_that_stands(tmp_path):
    from whole_bodies import standing  # noqa: PLC0415

    for name in ("humanoid", "g1"):
        stander = standing(name)
        robot, jobs = stander.robot, [tasks.CenterOfMass(weight=10.0), tasks.Posture(weight=0.1)]
        controller = WholeBody(robot, jobs, stander.contacts)
        library = Library(controller, tmp_path / name, "body", flags=("-O2", "-march=native"))
        assert library.symbols <= LIBM
        rng, state = np.random.default_rng(0), np.zeros(controller._compiled.state_size)
        goal = controller.pack({"center_of_mass": robot.center_of_mass(stander.q), "posture": stander.q})
        for _ in range(20):
            q, v = stander.near(rng)
            code, (tau, a, forces, state, info) = library.call("whole_body", q, v, goal, controller.switches(), state)
            expected = controller.solve(q, v, goal, controller.switches(), state)
            assert code == info[0] == 0
            for result, number in zip((tau, a, forces), expected, strict=False):
                np.testing.assert_allclose(result, number, rtol=1e-8, atol=1e-8 * np.abs(number).max())


IN_ORDER = """
import sys
import numpy as np
from kinetree.compiler.codegen import loop_body
loop_body._FLAGS = ""
from c_libraries import EXACT, Library
from kinetree import tasks
from kinetree.compiler.codegen.c.loops import MACROS
from kinetree.control import WholeBody
from whole_bodies import standing

stander = standing(sys.argv[1])
jobs = [tasks.CenterOfMass(weight=10.0), tasks.Posture(weight=0.1)]
controller = WholeBody(stander.robot, jobs, stander.contacts)
permission = MACROS.split("__GNUC__)")[1].split("LOOPS ")[1].split("\\n#define")[0]
flags = (*EXACT, "-fno-tree-slp-vectorize")  # which contracts products in any case
library = Library(controller, sys.argv[2], "body", flags, without=permission)
goal = controller.pack({"center_of_mass": stander.robot.center_of_mass(stander.q), "posture": stander.q})
rng, state = np.random.default_rng(0), np.zeros(controller._compiled.state_size)
for _ in range(20):
    q, v = stander.near(rng)
    code, (tau, a, forces, after, info) = library.call("whole_body", q, v, goal, controller.switches(), state)
    expected = controller.solve(q, v, goal, controller.switches(), state)
    assert code == 0 and np.abs(tau).max() > 1.0
    for result, number in zip((tau, a, forces), expected, strict=False):
        assert np.array_equal(result, number), np.abs(result - number).max()
    state = after
print("the same bits")
"""


@needs_gcc
@pytest.mark.sweep
@pytest.mark.parametrize("name", ["humanoid", "g1"])
def test_solvers_give_the_same_bits_where_neither_compiler_reassociates_sums(name, tmp_path):
    environment = {**os.environ, "KINETREE_CACHE": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", IN_ORDER, name, str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "the same bits\n", done.stderr


@needs_gcc
@pytest.mark.sweep
def test_contacts_can_be_off(tmp_path):
    legs = kt.load("quadruped", base="floating")
    feet = [PointContact(name, friction=0.6) for name in legs.frame_names if name.endswith("_foot")]
    controller = WholeBody(legs, tasks.Posture(), feet)
    library = Library(controller, tmp_path, "legs", flags=("-O1", "-march=native"))
    q, v, state = legs.neutral(), np.zeros(18), np.zeros(controller._compiled.state_size)
    for contacts in (None, {str(feet[0].name): False}):
        switches = controller.switches(contacts)
        code, (tau, _, forces, *_) = library.call("whole_body", q, v, controller.pack({"posture": q}), switches, state)
        expected = controller.solve(q, v, controller.pack({"posture": q}), switches, state)
        assert code == 0 and (np.abs(forces[:3]).max() < 1e-9) == (contacts is not None)
        np.testing.assert_allclose(tau, expected[0], rtol=1e-8, atol=1e-8)
    assert symbols(tmp_path / "legs.o") <= LIBM
