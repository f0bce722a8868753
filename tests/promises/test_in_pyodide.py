"""In Pyodide, the Python of browsers, the library computes what it computes here, and the course is checked.

`make test-pyodide` fetches Pyodide and a NumPy for it from npm; without them these tests are skipped.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("PYODIDE", ROOT / ".pyodide"))
pytestmark = pytest.mark.skipif(
    not (FOLDER / "lib").is_dir() or shutil.which("node") is None, reason="no Pyodide here: make test-pyodide"
)
SENTENCE = "this machine is wasm32 with 32-bit addresses"


def in_pyodide(code):
    command = ["node", ROOT / "tests" / "pyodide.mjs", FOLDER, ROOT]
    run = subprocess.run(command, input=code, capture_output=True, text=True, check=False, timeout=600)
    assert run.returncode == 0, f"{run.stdout}\n{run.stderr}"
    return json.loads(run.stdout.splitlines()[-1])


WARNED = """
import json, warnings
import numpy as np
import kinetree as kt

caught = warnings.catch_warnings(record=True).__enter__()
warnings.simplefilter("always")
"""
ROBOTS = """
results = {}
for name in ("arm6", "cartpole", "puma560", "quadruped", "humanoid"):
    robot = kt.load(name, base="floating" if name in ("quadruped", "humanoid") else "fixed")
    q, v = robot.integrate(robot.neutral(), np.linspace(-0.4, 0.5, robot.nv)), np.linspace(0.3, -0.2, robot.nv)
    tip = robot.frame(robot.frame_names[-1])
    values = robot.mass_matrix(q), robot.inverse_dynamics(q, v, v), robot.forward_dynamics(q, v, v), tip.jacobian(q)
    results[name] = [value.tolist() for value in values]
try:
    kt.load("arm6").ik("tool0", np.eye(4))
except kt.PlatformError as error:
    refused = str(error)
print(json.dumps([[str(each.message) for each in caught], refused, results]))
"""


def test_bundled_robots():
    warned, refused, results = in_pyodide(WARNED + ROBOTS)
    assert len(warned) == 1 and SENTENCE in warned[0] and "Formulas run as Python" in warned[0]
    assert SENTENCE in refused
    for name, found in results.items():
        robot = kt.load(name, base="floating" if name in ("quadruped", "humanoid") else "fixed").eager
        q, v = robot.integrate(robot.neutral(), np.linspace(-0.4, 0.5, robot.nv)), np.linspace(0.3, -0.2, robot.nv)
        tip = robot.frame(robot.frame_names[-1])
        expected = (
            robot.mass_matrix(q),
            robot.inverse_dynamics(q, v, v),
            robot.forward_dynamics(q, v, v),
            tip.jacobian(q),
        )
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9 * np.abs(other).max(), err_msg=name)


COURSE = """
import runpy
from kinetree.course import check, exercises, given, write_notebooks

solutions = runpy.run_path("/repository/teaching/solutions.py")["SOLUTIONS"]

def answered(exercise, answer):
    return answer if exercise.draw is not None else answer(*vars(given(exercise.number)).values())

wrong = []
for each in exercises():
    verdict = check(each.number, answered(each, solutions[each.number]))
    wrong += [] if verdict else [repr(verdict)]
    for hint, mistake in each.mistakes.items():
        verdict = check(each.number, answered(each, mistake))
        wrong += [repr(verdict)] if verdict or hint not in verdict.message else []
for path in write_notebooks("/tmp/sheets"):
    namespace = {}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), path.name, "exec"), namespace)  # with its blanks: not right, no error
    wrong += [path.name] if not callable(namespace.get("check")) else []
print(json.dumps([len(caught), len(exercises()), wrong]))
"""


def test_every_exercise_and_notebook_of_the_course():
    warnings, count, wrong = in_pyodide(WARNED + COURSE)
    assert (warnings, wrong) == (1, []) and count >= 50
