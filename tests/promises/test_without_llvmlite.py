"""Where llvmlite is not installed, as in a browser, the library imports, says once that calls are not compiled, and
computes by the textbook path all that the course needs."""

import json
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from processes import run

SOLUTIONS = Path(__file__).parents[2] / "teaching" / "solutions.py"
ROBOTS = sorted(path.stem for path in (Path(kt.__file__).parent / "robots").iterdir() if path.suffix != ".py")
STANDING = ("arm6", "arm7", "cartpole", "planar2", "puma560")
WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "llvmlite":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import json
import warnings
import numpy as np
import kinetree as kt

caught = warnings.catch_warnings(record=True).__enter__()
warnings.simplefilter("always")

def warned():
    return [str(each.message) for each in caught if issubclass(each.category, kt.PlatformWarning)]

assert warned() == [], "an import alone warns of nothing"
"""
SENTENCE = "the package llvmlite, which makes machine code, is not installed"
QUANTITIES = """
from declared import OF_FRAME, OF_ROBOT

compared = {}
for name, base in json.loads(sys.argv[1]).items():
    robot = kt.load(name, base=base)
    rng = np.random.default_rng(1)
    q, v, a, tau = robot.random(rng), *rng.normal(size=(3, robot.nv))
    state = {"q": q, "v": v, "dv": v, "a": a, "tau": tau, "q0": q, "q1": robot.neutral()}
    tip = robot.frame(robot.frame_names[-1])
    for owner, declared in ((robot, OF_ROBOT), (tip, OF_FRAME)) if name in ("arm6", "quadruped") else ():
        for each, quantity in declared.items():
            if quantity.refusal(robot.model) is None:
                getattr(owner, each)(*(state[given] for given in quantity.inputs))
    results = [
        robot.mass_matrix(q),
        robot.inverse_dynamics(q, v, a, {robot.frame_names[-1]: np.ones(6)}),
        robot.forward_dynamics(q, v, tau),
        robot.center_of_mass(np.stack([q, robot.neutral()])),
        robot.integrate(q, v),
        tip.pose(q),
        tip.jacobian(q, reference="local"),
        kt.gradient(lambda robot, q: robot.potential_energy(q))(robot, q),
    ]
    compared[name] = [result.tolist() for result in results]
print(json.dumps([warned(), compared]))
"""


def computed(robot):
    """The same, by machine code where that is made soon."""
    rng = np.random.default_rng(1)
    q, v, a, tau = robot.random(rng), *rng.normal(size=(3, robot.nv))
    tip = robot.frame(robot.frame_names[-1])
    yield robot.mass_matrix(q)
    yield robot.inverse_dynamics(q, v, a, {robot.frame_names[-1]: np.ones(6)})
    yield robot.forward_dynamics(q, v, tau)
    yield robot.center_of_mass(np.stack([q, robot.neutral()]))
    yield robot.integrate(q, v)
    yield tip.pose(q)
    yield tip.jacobian(q, reference="local")
    yield robot.gravity_forces(q)


@pytest.mark.sweep
def test_bundled_robots_compute_by_the_textbook_path():
    bases = {name: "fixed" if name in STANDING else "floating" for name in ROBOTS}
    warned, compared = json.loads(run(WITHOUT + QUANTITIES, json.dumps(bases)))
    assert len(warned) == 1 and warned[0].startswith(f"{SENTENCE}. Formulas run as Python")
    assert set(compared) == set(ROBOTS) >= {"arm6", "humanoid", "puma560"}
    for name, results in compared.items():
        robot = kt.load(name, base=bases[name])
        expected_results = computed(robot if robot.nv < 8 else robot.eager)
        for found, expected in zip(results, expected_results, strict=True):
            scale = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * scale, err_msg=name)


COURSE = """
import runpy
from kinetree.course import check, exercises, given

solutions = runpy.run_path(sys.argv[1])["SOLUTIONS"]

def answered(exercise, answer):
    return answer if exercise.draw is not None else answer(*vars(given(exercise.number)).values())

wrong = [verdict for each in exercises() if not (verdict := check(each.number, answered(each, solutions[each.number])))]
for each in exercises():
    for hint, mistake in each.mistakes.items():
        verdict = check(each.number, answered(each, mistake))
        wrong += [verdict] if verdict or hint not in verdict.message else []
print(json.dumps([warned(), len(exercises()), [repr(verdict) for verdict in wrong]]))
"""


def test_every_exercise_of_the_course_is_checked():
    warned, count, wrong = json.loads(run(WITHOUT + COURSE, SOLUTIONS))
    assert (len(warned), wrong) == (1, []) and count >= 50


MORE = """
robot = kt.load("arm6")
q = robot.random(np.random.default_rng(0))
law = kt.compile(lambda robot, q, v: robot.gravity_forces(q) - 2.0 * v)
law(robot, q, q)
robot.prepare("mass_matrix")
from kinetree.control import ComputedTorque
from kinetree.solvers import qp
ComputedTorque(robot, stiffness=9.0, damping=6.0)(q, q, (q, q, q))
assert np.array_equal(kt.load("arm6", base="floating").eager.mass_matrix(np.r_[0, 0, 0, 0, 0, 0, 1, q])[6:, 6:],
                      robot.mass_matrix(q))
kt.cache.where(), kt.cache.size()
for call in (
    lambda: robot.ik("tool0", robot.frame("tool0").pose(q)),
    lambda: robot.rollout(q, q, q, 0.01, 3),
    lambda: qp.solve(np.eye(2), np.ones(2)),
    lambda: kt.cache.export_archive("never.zip"),
):
    try:
        call()
    except kt.PlatformError as error:
        print(error)
print(len(warned()))
"""


def test_what_needs_machine_code_says_what_is_missing():
    *errors, warnings = run(WITHOUT + MORE).splitlines()
    assert errors == [SENTENCE] * 4 and warnings == "1"
