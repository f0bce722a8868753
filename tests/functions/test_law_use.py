"""What people write into a function: compiled it works as it does without, or says what to write instead.

Covers: compiler/graph/explain.py, functions/definition.py, robot/quantity_laws.py.
"""

import functools
import math
import multiprocessing
import pickle
import re
import subprocess
import sys
import time
import traceback
from enum import Enum, IntEnum, StrEnum

import numpy as np
import pytest

import kinetree as kt
from declared import OF_FRAME, OF_ROBOT
from kinetree.compiler.graph.expr import tracing
from peers import close


@pytest.fixture(scope="module")
def robot():
    return kt.load("planar2")


q, v = np.array([0.4, -0.7]), np.array([1.0, 0.3])


def filled(robot, q):
    x = kt.zeros((2, 3))
    x[:, 0] = q
    x[0, 1] = q[0] * q[1]
    x[1] += 2.0
    return x


def written_into(robot, q):
    q[0] = 2.0 * q[1]
    q *= 3.0
    return q


WORKS = {
    "functions": lambda robot, q: np.sin(q) + np.cos(q) * np.tan(q) + np.exp(q) - np.tanh(q) + np.sqrt(np.abs(q)),
    "inverse functions": lambda robot, q: np.arcsin(q) + np.arccos(q) * np.arctan(q) + np.arctan2(q[0], q[1]),
    "hyperbolic": lambda robot, q: np.sinh(q) * np.cosh(q),
    "degrees": lambda robot, q: np.degrees(q) + np.deg2rad(q) - np.radians(q) + np.rad2deg(q),
    "of one element": lambda robot, q: np.sin(q[0]) + np.hypot(q[0], q[1]) + abs(q[1]),
    "whole powers": lambda robot, q: q**2 + q[0] ** 3 + q**4.0 + q[1] ** np.int64(5) + q**0 + q[0] ** -2,
    "half powers": lambda robot, q: (q * q) ** 0.5 + abs(q[0]) ** 1.5 + abs(q[0]) ** -0.5,
    "sums": lambda robot, q: np.array([np.sum(q), q.sum(), sum(q), np.prod(q), np.mean(q), np.std(q), np.var(q)]),
    "products": lambda robot, q: q @ q + np.dot(q, q) + np.inner(q, q) + np.vdot(q, q) + np.einsum("i,i->", q, q),
    "matrices": lambda robot, q: robot.mass_matrix(q) @ np.outer(q, q) + np.diag(q) + np.trace(np.outer(q, q)),
    "joining": lambda robot, q: np.concatenate([q, np.stack([q, q]).ravel(), np.hstack([q, 1.0])]),
    "blocks": lambda robot, q: np.block([[robot.mass_matrix(q), q[:, None]], [q[None], np.eye(1)]]),
    "cross": lambda robot, q: np.cross([q[0], 0.0, 1.0], robot.frame("tip").pose(q)[:3, 3]),
    "norm": lambda robot, q: np.linalg.norm(q),
    "cumulative": lambda robot, q: np.cumsum(q)[1:] * np.diff(q),
    "loops": lambda robot, q: np.array([x * k for k, x in enumerate(q, 1)]),
    "lists": lambda robot, q: robot.frame("tip").pose([q[0], 0.5])[:3, 3],
    "zeros like": lambda robot, q: robot.inverse_dynamics(q, np.zeros_like(q), np.ones_like(q)),
    "zeros alone": lambda robot, q: robot.gravity_forces(np.zeros_like(q)) + robot.gravity_forces(kt.zeros(2)),
    "kt.zeros": filled,
    "writing into an argument": written_into,
    "formatting": lambda robot, q: q * len(f"{q[0]:.3f} {q}"[:1]),
    "bounds": lambda robot, q: kt.minimum(kt.maximum(q, -0.5), 0.5 * robot.limits.upper),
    "clip and sign": lambda robot, q: kt.clip(q, -0.5, 0.2) + kt.sign(q) - kt.sign(q - q[0]),
    "equality": lambda robot, q: np.array([q[0] == 0.4, q[0] != 0.4, q[0] == q[1], q[1] != q[0], q[0] == None]),  # noqa: E711
    "equality of arrays": lambda robot, q: kt.where(kt.equal(q, np.array([0.4, 0.4])), 1.0, 2.0),
    "known truths": lambda robot, q: np.array([True, False]) * q + np.eye(2, dtype=bool) @ q + q[0] * (len(q) == 3),
    "truth of numbers": lambda robot, q: np.stack([kt.where(q - 0.4, 1.0, 2.0), kt.logical_or(q - 0.4, 0.0)]),
    "truths in where": lambda robot, q: kt.where(kt.less(q, 0.0), kt.less(q, 0.4), True),
    "whole numbers in linear algebra": lambda robot, q: (
        kt.linalg.solve(np.array([[2, 1], [1, 3]]), np.array([1, 1])) * q
        + kt.linalg.inverse(np.array([[2, 1], [1, 3]]), positive_definite=True) @ q
    ),
}


@pytest.mark.parametrize("body", WORKS.values(), ids=WORKS)
@pytest.mark.sampled(5)
def test_works_as_without_compiling(robot, body):
    law = kt.compile(body)
    given = q.copy()
    right = body(robot, q.copy())
    for one in (robot, robot.eager):
        close(law(one, given), right, 1e-14)
        assert np.array_equal(given, q)
        close(law(one, np.stack([given, given]))[1], right, 1e-14)


def in_place(robot, q):
    x = np.zeros(2)
    x += q
    return x


def into_floats(robot, q):
    x = np.zeros(2)
    x[0] = q[0]
    return x


REFUSED = {
    r"np.linalg.solve does not work on traced values: use kt.linalg.solve": lambda robot, q: np.linalg.solve(
        robot.mass_matrix(q), q
    ),
    r"use kt.linalg.inverse": lambda robot, q: np.linalg.inv(robot.mass_matrix(q)),
    r"use kt.linalg.determinant": lambda robot, q: np.linalg.det(robot.mass_matrix(q)),
    r"use kt.linalg.pseudo_inverse": lambda robot, q: np.linalg.pinv(robot.mass_matrix(q)),
    r"kt.linalg.solve(A, b, positive_definite=True)": lambda robot, q: np.linalg.cholesky(robot.mass_matrix(q)),
    r"np.linalg.eigh does not work on traced values: see kt.linalg": lambda robot, q: np.linalg.eigh(
        robot.mass_matrix(q)
    ),
    r"kt.zeros(shape) instead of np.zeros": into_floats,
    r"write x = x + y, or make x by kt.zeros(shape)": in_place,
    r"kt.clip and kt.sign instead of min, max, np.clip": lambda robot, q: np.clip(q, -1.0, 1.0),
    r"kt.less(a, b), kt.less_equal": lambda robot, q: np.where(q > 0.0, q, -q),
    r"kt.equal instead of": lambda robot, q: kt.where(q == 2.0 * q, 1.0, 2.0),
    r"a traced value has no truth value yet": lambda robot, q: q * np.array_equal(q, 2.0 * q),
    r"a traced value has no truth": lambda robot, q: q * (q[0] in list(2.0 * q)),
    r"&, | and ~ take comparisons": lambda robot, q: q & q,
    r"1j is combined with a traced value; expected a real number": lambda robot, q: q * 1j,
    r"None is combined with a traced value": lambda robot, q: q + None,
    r"such as np.interp": lambda robot, q: np.interp(q, [0.0, 1.0], [2.0, 3.0]),
    r"q holds traced values; expected numbers: this cannot be part": lambda robot, q: kt.convert(
        robot, "q", q, to="pinocchio"
    ),
    r"where(condition, a, b) got 1 arguments": lambda robot, q: kt.where(True),
    r"use kt.atan2": lambda robot, q: np.arctan2(1.0, q),
    r"use kt.where(condition, a, b)": lambda robot, q: sorted(q),
    r"instead of math or float()": lambda robot, q: math.sin(q[0]),
    r"wrap an angle to ±π by kt.atan2(kt.sin(x), kt.cos(x))": lambda robot, q: (q + np.pi) % (2.0 * np.pi),
    r"cannot be rounded": lambda robot, q: round(q[0]),
    r"whole or half number": lambda robot, q: q ** q[0],
    r"kt.exp(x * log(base))": lambda robot, q: 2 ** q[0],
    r"@ does not work on traced values": lambda robot, q: q[0] @ q[1],
    r"a traced value has no .item": lambda robot, q: q[0].item(),
    r"np.isnan does not work": lambda robot, q: np.isnan(q),
    r"np.cbrt does not work": lambda robot, q: np.cbrt(q),
    r".vector() makes an array of a Motion": lambda robot, q: kt.Motion(q[0] * np.ones(3), np.zeros(3)),
    r"expected arrays or numbers": lambda robot, q: np.array([q, "a"], dtype=object),
}


@pytest.mark.parametrize(("sentence", "body"), REFUSED.items(), ids=REFUSED)
def test_says_what_to_write_instead(robot, sentence, body):
    law = kt.compile(body)
    for _ in range(2):
        with pytest.raises(TypeError, match=re.escape(sentence)) as caught:
            law(robot, q)
    shown = "".join(traceback.format_exception(caught.value))
    assert __file__ in shown or "lambda" in shown, "the line that did it"
    assert not tracing()


def test_an_error_of_the_functions_own_is_left_alone(robot):
    attempts = []

    @kt.compile
    def law(robot, q):
        attempts.append(1)
        if len(attempts) == 1:
            raise KeyError("mine")
        if len(attempts) == 2:
            return q + None
        return 2.0 * q

    with pytest.raises(KeyError, match="mine") as caught:
        law(robot, q)
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    with pytest.raises(TypeError):
        law(robot, q)
    assert np.array_equal(law(robot, q), 2.0 * q)


def test_endless_recursion(robot):
    @kt.compile
    def law(robot, q):
        return law(robot, q)

    with pytest.raises(RecursionError):
        law(robot, q)
    assert not tracing()


def test_values_of_another_trace(robot):
    kept = []
    kt.compile(lambda robot, q: (kept.append(q), q)[1])(robot, q)
    with pytest.raises(TypeError, match="comes from another trace"):
        kt.compile(lambda robot, q: q + kept[0])(robot, q)
    with pytest.raises(RuntimeError, match="outside the trace"):
        kept[0] * 2.0


# -- arguments ---------------------------------------------------------------------------------------------------------


class Tool(Enum):
    LONG = "tip"
    SHORT = "forearm_link"


class Level(IntEnum):
    LOW = 0


class Word(StrEnum):
    A = "a"


@kt.compile
def where_is(robot, q, frame="tip", negative=False, at=None, tool=Tool.LONG):
    place = robot.frame(frame if at is None else at).pose(q)[:3, 3]
    return (-place if negative else place) + robot.frame(tool.value).pose(q)[:3, 3]


def test_options(robot):
    def place(name):
        return robot.frame(name).pose(q)[:3, 3]

    for one in (robot, robot.eager):
        for _ in range(2):
            close(where_is(one, q), 2.0 * place("tip"), 1e-15)
            close(where_is(one, q, "forearm_link"), place("forearm_link") + place("tip"), 1e-15)
            close(where_is(one, q, negative=True), 0.0 * q[0] * place("tip"), 1e-15)
            close(
                where_is(one, np.stack([q, q]), at="forearm_link", tool=Tool.SHORT)[1], 2.0 * place("forearm_link"), 0
            )
        close(where_is.bind(one, frame="forearm_link")(q), place("forearm_link") + place("tip"), 1e-15)
    close(pickle.loads(pickle.dumps(robot)).frame("tip").pose(q)[:3, 3], place("tip"), 0)
    J = kt.jacobian(where_is)
    for one in (robot, robot.eager):
        expected = robot.frame("forearm_link").jacobian(q)[:3] + robot.frame("tip").jacobian(q)[:3]
        close(J(one, q, frame="forearm_link"), expected, 1e-14)
    inside = kt.compile(lambda robot, q: where_is(robot, q, "forearm_link", negative=True))
    close(inside(robot, q), place("tip") - place("forearm_link"), 1e-15)
    kinds = kt.compile(lambda robot, q, on=False, name="a": np.array([isinstance(on, Level), isinstance(name, Word)]))
    for one in (robot, robot.eager):
        for _ in range(2):  # equal to each other, and yet not the same
            for on in (False, Level.LOW, np.False_):
                for name in ("a", Word.A):
                    right = [on is Level.LOW, name is Word.A]
                    assert kinds(one, q, on, name).tolist() == right == kinds.bind(one, on=on, name=name)(q).tolist()
    with pytest.raises(kt.ArgumentTypeError, match="frame is 3; expected a string, True, False or None"):
        where_is(robot, q, 3)
    with pytest.raises(kt.UnknownNameError, match="frame 'tup' does not exist; did you mean 'tip'"):
        where_is(robot, q, "tup")
    with pytest.raises(kt.ArgumentTypeError, match="frame is an option; a derivative is with respect to an array"):
        kt.jacobian(where_is, "frame")(robot, q)
    with pytest.raises(
        kt.ArgumentTypeError, match="name is 'tip'; expected a robot or an array; an option needs a def"
    ):
        kt.compile(lambda robot, q, name: robot.frame(name).pose(q))(robot, q, "tip")


def test_kinds_of_arguments(robot):
    def positional(robot, q, /, v, *, gain=2.0):
        return gain * q + v

    law = kt.compile(positional, shapes={"gain": ()})
    right = 2.0 * q + v
    for got in (law(robot, q, v), law(robot, q, v=v), law.bind(robot)(q, v), law(robot.eager, q, v)):
        close(got, right, 1e-15)
    close(law(robot, q, v, gain=3.0), 3.0 * q + v, 1e-15)
    close(law.bind(robot)(q, v, gain=3.0), 3.0 * q + v, 1e-15)
    assert np.array_equal(kt.jacobian(law)(robot, q, v), 2.0 * np.eye(2))
    assert np.array_equal(kt.jacobian(law)(robot.eager, q, v), 2.0 * np.eye(2))


def test_shapes_that_the_robot_gives():
    walker = kt.load("quadruped", base="floating")
    law = kt.compile(
        lambda robot, q, v, posture, gain: gain @ robot.difference(q, posture) - v,
        shapes={"posture": "q", "gain": ("v", "v")},
    )
    rng = np.random.default_rng(0)
    q0, q1, v, gain = walker.random(rng), walker.random(rng), rng.normal(size=18), rng.normal(size=(18, 18))
    close(law(walker, q0, v, q1, gain), gain @ walker.difference(q0, q1) - v, 1e-12)
    # a configuration by another name: the derivative is along velocities
    assert kt.jacobian(law, "posture")(walker, q0, v, q1, gain).shape == (18, 18)
    assert kt.jacobian(law, "gain")(walker, q0, v, q1, gain).shape == (18, 18, 18)
    with pytest.raises(kt.ArgumentError, match=r"posture has shape \(18,\); expected \(…, 19\)"):
        law(walker, q0, v, v, gain)
    with pytest.raises(kt.ArgumentError, match=r"shapes\['posture'\] is 'p'; expected 'q' or"):
        kt.compile(lambda robot, posture: posture, shapes={"posture": "p"})
    with pytest.raises(kt.ArgumentError, match=r"shapes\['x'\] is .*; expected a count or a tuple of counts"):
        kt.compile(lambda robot, x: x, shapes={"x": ("v", 2.5)})
    with pytest.raises(kt.ArgumentError, match="argument 'x' of unknown shape"):
        kt.compile(lambda x: x, shapes={"x": "q"})(q0)


def test_what_became_of_it_survives_the_textbook(robot):
    law = kt.compile(lambda robot, q: robot.gravity_forces(q))
    law(robot, q)
    law(robot.eager, q)
    assert law.graph.operations() > 0


def test_robots_in_any_place(robot):
    other = kt.load("planar2", gravity=(0, 0, 0))
    difference = kt.compile(lambda q, robot, other: robot.gravity_forces(q) - other.gravity_forces(q))
    right = robot.gravity_forces(q)
    assert np.array_equal(difference(q, robot, other), right)
    assert np.array_equal(difference.bind(robot=robot, other=other)(q), right)
    assert np.array_equal(difference(q, other=other, robot=robot), right)
    assert np.array_equal(kt.compile(lambda: np.ones(2))(), np.ones(2))
    assert np.array_equal(
        kt.compile(lambda robot: robot.mass_matrix(robot.neutral()))(robot), robot.mass_matrix([0, 0])
    )
    with pytest.raises(kt.ArgumentTypeError, match=r"robot is 'planar2'; expected a robot, such as kt.load returns"):
        kt.compile(lambda robot, q: q)("planar2", q)
    with pytest.raises(kt.ArgumentTypeError, match=r"takes a robot, for example from kt.load"):
        kt.compile(lambda robot, q: q)(robot.model, q)
    with pytest.raises(kt.ArgumentTypeError, match=r"q is a robot; expected an array of shape \(2,\)"):
        kt.compile(lambda q: q, shapes={"q": 2})(robot)


def test_things_that_can_be_called(robot):
    class Controller:
        gain = 2.0

        def torque(self, robot, q):
            return self.gain * q

        def __call__(self, robot, q):
            return self.torque(robot, q)

    controller = Controller()
    for callable_ in (controller.torque, controller, functools.partial(Controller.torque, controller)):
        assert np.array_equal(kt.compile(callable_)(robot, q), 2.0 * q)
    with pytest.raises(kt.ArgumentError, match=r"torque is a method, and self is not an array"):
        kt.compile(Controller.torque)
    with pytest.raises(kt.ArgumentError, match="neutral of a robot is not a quantity; compile a function"):
        kt.compile(robot.neutral)
    with pytest.raises(kt.ArgumentError, match=r"pose is a method of frames; .* robot.frame\(name\).pose"):
        kt.jacobian(kt.Frame.pose)


@pytest.mark.sweep
def test_quantities_are_laws(robot):
    """Of all robots, of one robot, of one frame."""
    assert np.array_equal(kt.compile(kt.Robot.bias_forces)(robot, q, v), robot.bias_forces(q, v))
    close(kt.gradient(kt.Robot.potential_energy)(robot, q), robot.gravity_forces(q), 1e-14)
    close(kt.gradient(robot.potential_energy)(q), robot.gravity_forces(q), 1e-14)
    close(kt.jacobian(robot.inverse_dynamics, "a")(q, v, v), robot.mass_matrix(q), 1e-14)
    tip = robot.frame("tip")
    close(kt.jacobian(tip.pose)(q)[:3, 3], tip.jacobian(q)[:3], 1e-14)
    close(kt.jacobian(tip.velocity, "v")(q, v), tip.jacobian(q), 1e-14)
    close(kt.jacobian(robot.eager.potential_energy)(q), robot.gravity_forces(q), 1e-14)
    with pytest.raises(kt.ArgumentError, match="already knows its shapes"):
        kt.compile(robot.gravity_forces, shapes={"q": (2,)})
    for owner, quantities in ((robot, OF_ROBOT), (tip, OF_FRAME)):
        for name, quantity in quantities.items():
            call, arrays = getattr(owner, name), [q] * len(quantity.inputs)
            got, right = kt.compile(call)(*arrays), call(*arrays)
            for mine, its in zip(*((got, right) if isinstance(right, tuple) else ((got,), (right,))), strict=True):
                close(mine, its, 1e-11)


def test_bound_laws_compile_and_have_derivatives(robot):
    law = kt.compile(
        lambda robot, q, gain=2.0, frame="tip": gain * robot.frame(frame).pose(q)[:3, 3], shapes={"gain": ()}
    )
    J = robot.frame("forearm_link").jacobian(q)[:3]
    for one in (robot, robot.eager):
        bound = law.bind(one, frame="forearm_link")
        assert np.array_equal(kt.compile(bound)(q), bound(q))
        close(kt.jacobian(bound)(q), 2.0 * J, 1e-14)
        close(kt.jacobian(bound)(q, gain=3.0), 3.0 * J, 1e-14)
        close(kt.jacobian(bound, "gain")(np.stack([q, q]))[1], robot.frame("forearm_link").pose(q)[:3, 3], 1e-14)
        close(kt.compile(lambda robot, q, b=bound: kt.jacobian(b)(q) @ q).function(one, q), 2.0 * J @ q, 1e-14)
    inside = kt.compile(lambda robot, q: kt.jacobian(law.bind(robot, frame="forearm_link"))(q) @ q)
    close(inside(robot, q), 2.0 * J @ q, 1e-14)
    unnamed = kt.compile(lambda robot, q: 2.0 * q).bind(robot)
    close(kt.jacobian(unnamed)(q), 2.0 * np.eye(2), 0)


def test_derivatives_are_made_once(robot):
    traces = []

    @kt.compile
    def law(robot, q):
        traces.append(1)
        return robot.potential_energy(q)

    for _ in range(3):
        kt.gradient(law)(robot, q)
    assert len(traces) == 1
    assert kt.jacobian(law) is kt.jacobian(law, "q", "auto") and kt.jacobian(law) is not kt.jacobian(law, ["q"])
    assert kt.jacobian(law) is not kt.gradient(law) and kt.jacobian(law, mode="forward") is not kt.jacobian(law)


def test_a_law_inside_sees_arrays(robot):
    """Also where it was given lists; and what it writes into them stays inside."""
    inner = kt.compile(shapes={"x": (2,)})(lambda robot, q, x: written_into(robot, q) + 2 * x)
    traces = []

    @kt.compile
    def outer(robot, q):
        traces.append(1)
        return inner(robot, q, [1.0, 2.0]) + inner(robot, [q[0], 0.0], (q[1], 0.0)) + q

    expected = written_into(robot, q.copy()) + written_into(robot, np.array([q[0], 0.0])) + q
    expected += np.array([2.0 + 2.0 * q[1], 4.0])
    close(outer(robot, q), expected, 1e-15)
    assert len(traces) == 1
    with pytest.raises(kt.ArgumentError, match=r"x has shape \(3,\); expected"):
        kt.compile(lambda robot, q: inner(robot, q, np.ones(3)))(robot, q)


def test_derivatives_of_what_is_written_into(robot):
    derivative = kt.jacobian(written_into)
    for one in (robot, robot.eager):
        assert np.array_equal(derivative(one, q), [[0.0, 6.0], [0.0, 3.0]])
    with pytest.raises(kt.ArgumentTypeError, match="wrt is 0; expected the name of an argument"):
        kt.jacobian(written_into, 0)


def test_right_hand_sides_that_do_not_fit():
    with pytest.raises(kt.ArgumentError, match=r"right-hand side has shape \(2,\); expected 3 rows"):
        kt.linalg.solve(np.eye(3), np.ones(2))


def test_zeros_outside():
    assert kt.zeros(3).dtype == np.float64 and kt.zeros((2, 3)).shape == (2, 3)
    with pytest.raises(kt.ArgumentError, match="shape is 'a'"):
        kt.zeros("a")


# -- large, and elsewhere ----------------------------------------------------------------------------------------------


def test_a_thousand_sines_compile_in_seconds(robot, monkeypatch):
    monkeypatch.setenv("KINETREE_CACHE", "0")
    law = kt.compile(lambda robot, q: sum(kt.sin(k * q[0]) + kt.cos(k * q[1]) for k in range(600)))
    start = time.perf_counter()
    close(law(robot, q), sum(np.sin(k * q[0]) + np.cos(k * q[1]) for k in range(600)), 1e-10)
    assert time.perf_counter() - start < 20.0


def test_in_another_process(tmp_path):
    """A law of a module goes by its name, a bound one with its robot."""
    (tmp_path / "laws.py").write_text("import kinetree as kt\n\n@kt.compile\ndef double(robot, q):\n    return 2.0 * q")
    (tmp_path / "main.py").write_text(
        "import multiprocessing, numpy as np, kinetree as kt, laws\n"
        "if __name__ == '__main__':\n"
        "    robot = kt.load('planar2')\n"
        "    laws.double(robot, np.ones(2))\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.apply(laws.double, (robot, np.ones(2))))\n"
        "        print(pool.apply(laws.double.bind(robot), (np.ones(2),)))\n"
    )
    run = subprocess.run([sys.executable, "main.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "[2. 2.]\n[2. 2.]", run.stderr
    assert "spawn" in multiprocessing.get_all_start_methods()
