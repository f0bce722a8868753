"""Explicit equations against the textbook's closed forms, and what is printed and generated against the robot.

Covers: equations/code.py.
"""

import ctypes
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest

import kinetree as kt
from peers import close
from textbook import CART_POLE, PLANAR, cart_pole, furuta, planar_2r, planar_3r, scara, spherical_arm

sympy = pytest.importorskip("sympy")
from sympy import Matrix, Rational, cos, diff, simplify, sin, symbols  # noqa: E402

q1, q2, q3, v1, v2, v3 = symbols("q1:4 v1:4")
m1, m2, m3, m4, l1, l2, lc1, lc2, lc3, g = symbols("m1:5 l1:3 lc1:4 g")


def same(ours, textbook):
    assert simplify(ours - Matrix(textbook)) == sympy.zeros(*ours.shape)


def coriolis_forces(M, q, v):
    """V_i = Σ (∂M_ij/∂q_k - ½ ∂M_jk/∂q_i) v_j v_k, as every textbook has it."""
    n = range(len(q))
    return [
        sum((diff(M[i, j], q[k]) - Rational(1, 2) * diff(M[j, k], q[i])) * v[j] * v[k] for j in n for k in n) for i in n
    ]


# -- textbooks ---------------------------------------------------------------------------------------------------------


def test_planar_2r():
    e = planar_2r(**PLANAR).equations(symbolic=True)
    I1, I2 = symbols("I1yy I2yy")
    h = m2 * l1 * lc2
    m12 = I2 + m2 * lc2**2 + h * cos(q2)
    m11 = I1 + I2 + m1 * lc1**2 + m2 * (l1**2 + lc2**2) + 2 * h * cos(q2)
    same(e.M, [[m11, m12], [m12, I2 + m2 * lc2**2]])
    same(e.V, [-h * sin(q2) * (2 * v1 * v2 + v2**2), h * sin(q2) * v1**2])
    same(e.C, [[-h * sin(q2) * v2, -h * sin(q2) * (v1 + v2)], [h * sin(q2) * v1, 0]])
    lower = m2 * g * lc2 * cos(q1 + q2)
    same(e.G, [(m1 * lc1 + m2 * l1) * g * cos(q1) + lower, lower])
    assert str(e.V[0]) == "-l1*lc2*m2*v2*(2*v1 + v2)*sin(q2)"  # as it stands on the blackboard, without simplify
    assert str(e.M[0, 0]) == "I1yy + I2yy + lc1**2*m1 + m2*(l1**2 + 2*l1*lc2*cos(q2) + lc2**2)"
    assert {str(name): value for name, value in e.parameters.items()} == {
        "m1": 1.3, "m2": 0.7, "l1": 0.9, "lc1": 0.4, "lc2": 0.5, "I1yy": 0.05, "I2yy": 0.03, "g": 9.81,
    }  # fmt: skip


def test_planar_3r():
    e = planar_3r((1.0, 0.8, 0.5), (0.5, 0.4), (0.25, 0.2, 0.1), (0.02, 0.01, 0.005)).equations(symbolic=True)
    I1, I2, I3 = symbols("I1yy I2yy I3yy")
    m33 = I3 + m3 * lc3**2
    m23 = m33 + m3 * l2 * lc3 * cos(q3)
    m22 = I2 + I3 + m2 * lc2**2 + m3 * (l2**2 + lc3**2 + 2 * l2 * lc3 * cos(q3))
    m13 = m33 + m3 * (l1 * lc3 * cos(q2 + q3) + l2 * lc3 * cos(q3))
    m12 = m22 + m2 * l1 * lc2 * cos(q2) + m3 * l1 * (l2 * cos(q2) + lc3 * cos(q2 + q3))
    m11 = I1 + m1 * lc1**2 + (m2 + m3) * l1**2 + 2 * m12 - m22
    M = Matrix([[m11, m12, m13], [m12, m22, m23], [m13, m23, m33]])
    same(e.M, M)
    same(e.V, coriolis_forces(M, (q1, q2, q3), (v1, v2, v3)))
    heights = [lc1 * sin(q1), l1 * sin(q1) + lc2 * sin(q1 + q2)]
    heights.append(l1 * sin(q1) + l2 * sin(q1 + q2) + lc3 * sin(q1 + q2 + q3))
    U = sum(m * g * z for m, z in zip((m1, m2, m3), heights, strict=True))
    same(e.G, [diff(U, q) for q in (q1, q2, q3)])
    waves = {wave for wave in (*e.M.atoms(sin, cos), *e.V.atoms(sin, cos), *e.G.atoms(sin, cos))}
    sums = {cos(q1), cos(q1 + q2), cos(q1 + q2 + q3), cos(q2), cos(q3), cos(q2 + q3), sin(q2), sin(q3), sin(q2 + q3)}
    assert waves == sums


def test_rrp():
    e = spherical_arm().equations(symbolic=True)
    I1, I2x, I2y, I2z = symbols("I1zz I2xx I2yy I2zz")
    around = m2 * lc2**2 + m3 * q3**2
    same(e.M, sympy.diag(I1 + I2x * sin(q2) ** 2 + (I2z + around) * cos(q2) ** 2, I2y + around, m3))
    twist = (I2z - I2x + around) * sin(q2) * cos(q2)
    out = m3 * q3
    same(
        e.V,
        [
            -2 * twist * v1 * v2 + 2 * out * cos(q2) ** 2 * v1 * v3,
            twist * v1**2 + 2 * out * v2 * v3,
            -out * (v2**2 + cos(q2) ** 2 * v1**2),
        ],
    )
    same(e.G, [0, g * cos(q2) * (m2 * lc2 + m3 * q3), m3 * g * sin(q2)])
    assert not any(wave.args[0].has(2 * q2) for wave in e.M.atoms(sin, cos))  # squares, not double angles


def test_scara():
    e = scara().equations(symbolic=True)
    I1, I2, I3, I4 = symbols("I1zz I2zz I3zz I4zz")
    tip, turning = m3 + m4, I2 + I3 + I4
    bend = l1 * cos(q2)
    m22 = turning + m2 * lc2**2 + tip * l2**2
    m12 = m22 + m2 * lc2 * bend + tip * l2 * bend
    m11 = I1 + m1 * lc1**2 + (m2 + tip) * l1**2 + 2 * m12 - m22
    same(e.M, [[m11, m12, 0, I4], [m12, m22, 0, I4], [0, 0, tip, 0], [I4, I4, 0, I4]])
    h = (m2 * lc2 + tip * l2) * l1 * sin(q2)
    same(e.V, [-h * v2 * (2 * v1 + v2), h * v1**2, 0, 0])
    same(e.G, [0, 0, tip * g, 0])


def test_furuta_pendulum():
    e = furuta().equations(symbolic=True)
    I1, I2x, I2y, I2z = symbols("I1zz I2xx I2yy I2zz")
    swing = m2 * lc2**2 + I2y
    m11 = I1 + m1 * lc1**2 + m2 * l1**2 + swing * sin(q2) ** 2 + I2z * cos(q2) ** 2
    same(e.M, [[m11, m2 * l1 * lc2 * cos(q2)], [m2 * l1 * lc2 * cos(q2), I2x + m2 * lc2**2]])
    twist = (swing - I2z) * sin(2 * q2)
    same(e.V, [twist * v1 * v2 - m2 * l1 * lc2 * sin(q2) * v2**2, -twist * v1**2 / 2])
    same(e.G, [0, m2 * g * lc2 * sin(q2)])


def test_cart_pole():
    e = cart_pole(**CART_POLE).equations(symbolic=("mass", "length", "gravity"))
    same(e.M, [[m1 + m2, m2 * lc2 * cos(q2)], [m2 * lc2 * cos(q2), m2 * lc2**2]])
    same(e.V, [-m2 * lc2 * sin(q2) * v2**2, 0])
    same(e.G, [0, -m2 * g * lc2 * sin(q2)])
    a1, a2 = e.a
    same(e.tau, e.M * Matrix([a1, a2]) + e.V + e.G)


# -- the robot itself --------------------------------------------------------------------------------------------------


def follower():
    """A finger whose second knuckle turns twice as far as the first, and a thumb about another axis."""
    builder = kt.ModelBuilder("finger")
    builder.link("palm")
    for k in range(3):
        builder.link(f"bone{k}", kt.Inertia.from_com(0.1 + k, (0.3, 0, 0.02), np.diag([0.01, 0.02, 0.025])))
    builder.joint("first", "revolute", "palm", "bone0", axis=(0, 1, 0))
    mimic = kt.Mimic("first", 2.0, 0.3)
    builder.joint("second", "revolute", "bone0", "bone1", axis=(0, 1, 0), xyz=(0.6, 0, 0), mimic=mimic)
    builder.joint("thumb", "revolute", "bone1", "bone2", axis=(0, 0, 1), xyz=(0, 0.1, 0))
    return kt.Robot(builder.build())


ROBOTS = {
    "2R": lambda: planar_2r(**PLANAR),
    "RRP": spherical_arm,
    "SCARA": scara,
    "Furuta": furuta,
    "tree": lambda: kt.Robot(kt.random_model(3, 3, ("revolute", "prismatic", "helical", "universal"))),
    "passive": lambda: kt.Robot(kt.random_model(5, 2, ("revolute", "prismatic"), joint_dynamics=True)),
    "mimic": follower,
    "floating": lambda: kt.Robot(kt.random_model(2, 1, ("revolute",), base="floating")),
    "arm6": lambda: kt.load("arm6"),
    "puma560": lambda: kt.load("puma560"),
    "humanoid": lambda: kt.load("humanoid", base="floating"),
}


FORMS = [("2R", True), ("2R", False), ("RRP", False), ("SCARA", False), ("SCARA", True), ("Furuta", False)]
FORMS += [("tree", False), ("tree", True), ("passive", False), ("passive", True), ("mimic", False), ("mimic", True)]
FORMS += [("floating", True), ("arm6", True), ("puma560", True), ("puma560", False)]
CASES = [(*form, symbolic) for form in FORMS for symbolic in (False, True)]
CASES[-1] = pytest.param(*CASES[-1], marks=pytest.mark.long)  # the Puma written out with all symbols: a quarter minute


def state(robot):
    rng = np.random.default_rng(7)
    return robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def expected(robot, q, v, a):
    weightless = robot.bias_forces(q, v) - robot.gravity_forces(q)
    values = {
        "mass_matrix": ((q,), robot.mass_matrix(q)),
        "coriolis_matrix": ((q, v), robot.coriolis_matrix(q, v)),
        "coriolis_forces": ((q, v), weightless),
        "gravity_forces": ((q,), robot.gravity_forces(q)),
        "inverse_dynamics": ((q, v, a), robot.inverse_dynamics(q, v, a)),
    }
    rest = robot.inverse_dynamics(q, v, a) - robot.mass_matrix(q) @ a - robot.bias_forces(q, v)
    if np.abs(rest).max() > 1e-9:
        values["joint_forces"] = ((q, v), rest)
    return values


@pytest.mark.parametrize(("name", "factored", "symbolic"), CASES)
@pytest.mark.sampled(15)
def test_python_code_computes_what_the_robot_does(name, factored, symbolic):
    robot = ROBOTS[name]()
    source = robot.equations(symbolic, factored).python()
    imports = [line for line in source.splitlines() if "import" in line]
    assert set(imports) <= {"import numpy as np", next(iter(imports))}
    module = {}
    exec(source, module)
    for function, (arguments, value) in expected(robot, *state(robot)).items():
        close(module[function](*arguments), value, 1e-11)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize(("name", "factored", "symbolic"), CASES)
@pytest.mark.sampled(15)
def test_c_code_computes_what_the_robot_does(name, factored, symbolic, tmp_path):
    robot = ROBOTS[name]()
    equations = robot.equations(symbolic, factored)
    source, library = tmp_path / "equations.c", tmp_path / "equations.so"
    source.write_text(equations.c())
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]
    subprocess.run(["gcc", *strict, "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    compiled = ctypes.CDLL(str(library))
    for function, (arguments, value) in expected(robot, *state(robot)).items():
        result = np.full(value.shape, np.nan)
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (*map(np.ascontiguousarray, arguments), result)]
        if equations.parameters:
            pointers.insert(-1, ctypes.addressof(ctypes.c_char.in_dll(compiled, "robot_parameters")))
        getattr(compiled, function)(*map(ctypes.c_void_p, [getattr(p, "value", p) for p in pointers]))
        close(result, value, 1e-11)


@pytest.mark.parametrize("name", ["2R", "RRP", "tree", "mimic"])
@pytest.mark.sampled(4)
def test_values_in_place_of_symbols_give_the_robot(name):
    robot = ROBOTS[name]()
    e = robot.equations(symbolic=True, factored=False)
    q, v, a = state(robot)
    numbers = e.parameters | dict(zip((*e.q, *e.v, *e.a), (*q, *v, *a), strict=True))
    numbers = {symbol: sympy.Float(value) for symbol, value in numbers.items()}
    assert not (e.tau.free_symbols | e.C.free_symbols) - numbers.keys()
    close(np.array(e.M.xreplace(numbers), dtype=float), robot.mass_matrix(q), 1e-12)
    close(np.array(e.C.xreplace(numbers), dtype=float), robot.coriolis_matrix(q, v), 1e-11)
    close(np.array(e.tau.xreplace(numbers), dtype=float).ravel(), robot.inverse_dynamics(q, v, a), 1e-12)


def test_other_values_give_another_robot():
    light, heavy = PLANAR, PLANAR | {"m2": 2.5, "l1": 0.3}
    module = {}
    exec(planar_2r(**light).equations(symbolic=("mass", "length")).python(), module)
    robot = planar_2r(**heavy)
    q, v, a = state(robot)
    close(module["inverse_dynamics"](q, v, a, m2=2.5, l1=0.3), robot.inverse_dynamics(q, v, a), 1e-12)


@pytest.mark.sweep
def test_arms_with_axes_in_general_position_are_not_written_out_by_themselves():
    robot = kt.Robot(kt.random_model(1, 4, ("revolute",), branching=0.0))
    assert robot.equations().is_factored
    assert not scara().equations(symbolic=True).is_factored


@pytest.mark.sweep
def test_a_humanoid_is_written_in_factored_form():
    robot = kt.load("humanoid", base="floating")
    module = {}
    exec(robot.equations().python(), module)
    q, v, a = state(robot)
    close(module["inverse_dynamics"](q, v, a), robot.inverse_dynamics(q, v, a), 1e-11)


# -- reading -----------------------------------------------------------------------------------------------------------


@pytest.mark.sweep
def test_short_forms_are_those_of_the_tables():
    e = kt.load("arm6").equations(factored=False).short()
    defined = dict(e.definitions)
    assert defined[sympy.Symbol("c23")] == cos(q2 + q3)
    assert defined[sympy.Symbol("s2")] == sin(q2)
    assert sympy.Symbol("s23") in e.M[0, 0].free_symbols
    assert not e.G.atoms(sin, cos)
    long = kt.load("arm6").equations(factored=False)
    assert e.M.xreplace(defined) == long.M and e.tau.xreplace(defined) == long.tau


def test_short_forms_of_short_and_of_factored_forms():
    e = planar_2r(**PLANAR).equations().short()
    assert e.short().definitions == e.definitions and e.short().M == e.M
    factored = kt.load("arm6").equations()
    assert dict(factored.definitions)[sympy.Symbol("c2")] == cos(q2)
    assert factored.short().definitions == factored.definitions
    assert repr(e) == "<Equations of '2R': 2 velocities, written out>"


def test_opposite_axes_are_differences():
    builder = kt.ModelBuilder("scissors")
    builder.link("base")
    for k, axis in ((1, (0, 1, 0)), (2, (0, -1, 0))):
        builder.link(f"link{k}", kt.Inertia.from_com(1.0, (0.5, 0, 0), np.eye(3)))
        builder.joint(f"q{k}", "revolute", "base" if k == 1 else "link1", f"link{k}", axis=axis, xyz=(k - 1, 0, 0))
    e = kt.Robot(builder.build()).equations()
    assert e.G[1] == 4.905 * cos(q1 - q2)
    assert sympy.Symbol("c1m2") in e.short().G.free_symbols


def test_text_and_latex():
    e = planar_2r(**PLANAR).equations()
    assert str(e).splitlines()[:4] == [
        "2R: tau = M a + V + G",
        "M11 = 0.63*cos(q2) + 1.03",
        "M12 = 0.315*cos(q2) + 0.205",
        "M22 = 0.205",
    ]
    assert "cos(q₂)" in e.pretty() and "⎡" in e.pretty()
    assert e.latex().startswith("\\begin{aligned}\n\\tau &= M \\ddot{q} + V + G \\\\\nM_{11} &= 0.63 \\cos")
    assert "\\dot{q}_{2}" in e.latex()
    assert "l_{c2}" in planar_2r(**PLANAR).equations(True).latex()


def test_names_of_coordinates_and_parameters():
    robot = kt.load("quadruped")
    e = robot.equations(symbolic="length")
    assert e.coordinates == robot.joint_names
    words = {str(symbol) for symbol in e.parameters}
    assert all(word.startswith("l") for word in words)
    assert len(words) == len(e.parameters)


def test_friction_and_springs_are_apart():
    robot = ROBOTS["passive"]()
    e = robot.equations()
    assert any(e.F) and str(e).startswith(f"{robot.name}: tau = M a + V + G + F")
    assert "def joint_forces" in e.python() and "def joint_forces" not in furuta().equations().python()
    assert e.F.has(sympy.sqrt(sympy.Symbol("v1") ** 2 + sympy.Float(1e-4))) or e.F.has(sympy.Pow)


def test_nothing_to_move():
    builder = kt.ModelBuilder("rock")
    builder.link("rock", kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3)))
    e = kt.Robot(builder.build()).equations()
    exec(e.python(), module := {})
    assert e.M.shape == (0, 0)
    assert module["inverse_dynamics"]([], [], []).shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"symbolic": "weight"}, "symbolic is 'weight'; expected 'mass' or 'length' or 'inertia' or 'gravity'"),
        ({"symbolic": 3}, "symbolic is 3; expected True, False or some of mass, length, inertia, gravity"),
        ({"factored": "yes"}, "factored is 'yes'; expected True, False or None"),
    ],
)
def test_mistakes_get_one_sentence(arguments, sentence):
    with pytest.raises(kt.KinetreeError) as error:
        kt.load("planar2").equations(**arguments)
    assert str(error.value) == sentence


def test_without_sympy_it_says_what_to_install():
    code = (
        "import sys; sys.modules['sympy'] = None\n"
        "import kinetree as kt\n"
        "try: kt.load('planar2').equations()\n"
        "except kt.KinetreeError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "equations need the package sympy: pip install 'kinetree[sympy]'\n"


def test_they_can_be_pickled():
    e = furuta().equations(True)
    copy = pickle.loads(pickle.dumps(e))
    assert copy.M == e.M and copy.c() == e.c()
