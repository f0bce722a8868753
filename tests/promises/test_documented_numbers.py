"""Numbers in the documents are those of recorded benchmarks, or of the library as it is."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree import rotations
from kinetree.algorithms import centroidal_coordinates
from kinetree.compiler.graph.expr import new_table
from kinetree.compiler.graph.trace import trace
from kinetree.compiler.program import simplified

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def record(name: str):
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())


def text(page: str) -> str:
    """With every run of blanks as one."""
    return " ".join((ROOT / page).read_text().split())


def is_printed(shown: str, value: float) -> bool:
    """Whether a number is the value, up to one unit of its last digit or 3 %."""
    digits = len(shown.partition(".")[2])
    return abs(float(shown) - value) <= max(10.0**-digits, 0.03 * abs(value))


def rows_below(page: str, sentence: str) -> dict[str, list[str]]:
    """Of the first table after a sentence: cells by the first one."""
    lines = (ROOT / page).read_text().partition(sentence)[2].splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("|"))
    rows = {}
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        rows[name] = cells
    return rows


def test_the_table_of_the_readme_is_the_records():
    batch = {(row["robot"], row["quantity"]): row for row in record("batch")["batch"]}
    one = {row["robot"]: row for row in record("calls")["pin"] if row["quantity"] == "RNEA"}
    table = rows_below("README.md", "benchmarks/results/calls.json")
    assert len(table) == 5
    for robot, (dof, *cells) in table.items():
        inverse, forward = (batch[robot, quantity] for quantity in ("inverse_dynamics", "forward_dynamics"))
        assert int(dof) == inverse["nv"]
        values = [row[key] for row in (inverse, forward) for key in ("kinetree [ns/state]", "pin [ns/state]", "ratio")]
        values += [one[robot][key] for key in ("kinetree [µs]", "pin [µs]", "ratio")]
        for shown, value in zip(cells, values, strict=True):
            assert is_printed(shown, value), (robot, shown, value)


def test_sentences_of_the_readme_are_the_records():
    readme, calls = text("README.md"), record("calls")
    mean, least = re.search(
        r"([\d.]+) times faster than Pinocchio's bindings \(geometric mean\), and at least ([\d.]+)", readme
    ).groups()
    assert is_printed(mean, calls["pin, summary"]["geometric mean"])
    assert is_printed(least.strip("."), calls["pin, summary"]["least"])
    (first,) = re.findall(r"its first result after about (\d+) ms", readme)
    warm = [1e3 * row["seconds"] for row in calls["start-up"] if row["what"].startswith("kinetree, warm")]
    assert 0.6 * min(warm) < float(first) < 1.6 * max(warm)


def test_the_table_of_quadratic_programs_is_the_record():
    recorded = {(row["programs"], row["solver"]): row for row in record("qp")["programs"]}
    solvers = {"kinetree, cold": "kinetree", "DAQP, warm": "daqp, warm", "DAQP, cold": "daqp", "PIQP": "piqp"}
    solvers |= {"ProxQP, warm": "proxqp, warm", "OSQP, warm": "osqp, warm"}
    table = rows_below("docs/inside/qp.md", "Each sequence has 60 steps")
    assert len(table) == 8
    for name, cells in table.items():
        rows = [
            recorded[programs, solvers.get(name, name)]
            for programs in ("IK, UR5", "IK, G1", "whole body, G1", "whole body, Talos")
        ]
        for cell, row in zip(cells, rows, strict=False):
            median, worst = cell.split(" / ")
            assert is_printed(median, row["median [µs]"]) and is_printed(worst, row["worst [µs]"]), (name, cell)
        assert float(cells[4]) == max(float(row["outside"]) for row in rows)
        if cells[5] != "–":
            assert float(cells[5]) >= 0.99 * max(float(row["above"]) for row in rows)


def test_numbers_of_inverse_kinematics_are_the_records():
    page, batches = text("docs/inside/ik.md"), {row["robot"]: row for row in record("ik")["batches"]}
    shown = re.search(
        r"targets in one call take ([\d.]+) µs each on UR5 and ([\d.]+) on Panda.*?: (\d+) and (\d+) million.*?"
        r"(\d+) steps per target, over ([\d.]+) starts",
        page,
    ).groups()
    ur5, panda = batches["UR5"], batches["Panda"]
    values = [ur5["µs a target"], panda["µs a target"], ur5["million a minute"], panda["million a minute"]]
    values += [ur5["steps a target"], ur5["starts a target"]]
    assert all(map(is_printed, shown, values))
    step = next(row for row in record("differential_ik")["steps"] if row["by"] == "kinetree")
    assert "about half a microsecond from Python" in text("docs/differential_ik.md") and 0.4 < step["µs"] < 0.6


def test_numbers_of_simulation_are_the_records():
    shown = re.search(
        r"A call takes ([\d.]+) µs for UR5 and ([\d.]+) µs for Talos", text("docs/simulation.md")
    ).groups()
    steps = {row["robot"]: row["next_state [µs]"] for row in record("rollouts")["one by one"]}
    assert all(map(is_printed, shown, (steps["UR5"], steps["Talos"])))


def test_the_solver_is_as_long_as_is_said():
    (lines,) = re.findall(r"written in some (\d+) lines of Python", text("docs/inside/qp.md"))
    source = ROOT / "src/kinetree/solvers/active_set.py"
    assert 0.8 < int(lines) / len(source.read_text().splitlines()) < 1.25


def test_the_oldest_python_is_the_documented_one():
    assert "kinetree needs Python 3.11 or newer" in text("README.md")
    assert PROJECT["requires-python"] == ">=3.11"


def test_extras_that_pages_install_exist():
    pages = [ROOT / "README.md", ROOT / "examples" / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {
        extra
        for page in pages
        for group in re.findall(r"(?:kinetree|\.)\[([a-z,-]+)\]'", page.read_text())
        for extra in group.split(",")
    }
    assert {"cli", "viewer", "sympy", "plot", "mujoco"} <= named <= set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize(
    ("equations", "of_all"), [("centroidal_coordinates", 22_000), ("diagonalized_coordinates", 36_000)]
)
@pytest.mark.sampled(2)
def test_operations_of_centroidal_coordinates(equations, of_all):
    page, model = text("docs/centroidal_coordinates.md"), kt.load("humanoid", base="floating").model
    assert f"{of_all // 1000} 000" in page and "`.M` alone has 5 200" in page and model.nv == 37
    algorithm = getattr(centroidal_coordinates, equations)
    with new_table():
        graph, _ = trace(lambda q, v: tuple(algorithm(model, q, v)), [(model.nq,), (model.nv,)])
        assert 0.95 < simplified(graph, fuses=True).operations() / of_all < 1.05


def test_the_table_of_bundled_robots_has_all_of_them():
    table = rows_below("docs/bundled_robots.md", "Eleven robots")
    assert {name.strip("`") for name in table} == set(kt.bundled_robots()) and len(table) == 11
    assert "1 m and 0.5 m" in table["`planar2`"][0]
    elbow, tip = (kt.load("planar2").frame(name).pose([0.0, 0.0])[:3, 3] for name in ("forearm_link", "tip"))
    assert np.allclose(elbow, [1.0, 0.0, 0.0]) and np.allclose(tip, [1.5, 0.0, 0.0])


def test_operations_of_written_equations():
    page = text("docs/equations.md")
    for name in ("arm6", "puma560"):
        (shown,) = re.findall(rf"\| {name} \| [\d.]+ s, (\d+) factors", page)
        assert len(kt.load(name).equations(factored=True).definitions) == int(shown)


def test_a_fused_operation_rounds_once():
    """x² - y² at x = y is what one rounding of a product leaves, or nothing."""
    difference = kt.compile(lambda x, y: x * x - y * y, shapes={"x": (100,), "y": (100,)})
    x = np.random.default_rng(0).normal(size=100)
    assert np.all(np.abs(difference(x, x.copy())) <= np.spacing(x * x))


def test_results_are_float64():
    robot = kt.load("arm6")
    q = robot.random(0).astype(np.float32)
    for result in (
        robot.mass_matrix(q),
        robot.poses(q.tolist()),
        robot.frame("tool0").jacobian(q),
        rotations.exp(q[:3]),
    ):
        assert result.dtype == np.float64


def test_an_arm_at_rest_has_no_accelerations():
    robot = kt.load("arm6").eager
    rest = np.zeros(6)
    for reference in ("world-aligned", "local", "world"):
        for kind in ("classical", "spatial"):
            assert not robot.body_accelerations(robot.random(0), rest, rest, reference, kind).any()


@pytest.mark.parametrize(("name", "at", "along"), [("ZYX", [0.3, np.pi / 2, 0.1], 1), ("ZYZ", [0.3, 0.0, 0.1], 1)])
def test_rates_are_refused_within_1e_8_of_a_singularity(name, at, along):
    for distance, refused in ((0.0, True), (0.9e-8, True), (1.1e-8, False), (1e-6, False)):
        angles = np.array(at)
        angles[along] -= distance
        if refused:
            with pytest.raises(kt.ArgumentError, match="have no rates here"):
                rotations.E_R_inverse(angles, name)
        else:
            assert np.isfinite(rotations.E_R_inverse(angles, name)).all()


def test_runge_kutta_at_a_millisecond():
    robot = kt.load("cartpole")
    start = ([0.0, 0.2], [0.0, 0.0], None)
    shown = robot.rollout(*start, dt=1e-3, steps=2000, integrator="rk4", every=2000)
    finer = robot.rollout(*start, dt=2.5e-4, steps=8000, integrator="rk4", every=8000)
    assert np.abs(shown.q[-1] - finer.q[-1]).max() < 1e-10


def test_all_cores_work_by_default():
    plain = {name: value for name, value in os.environ.items() if name != "KINETREE_NUM_THREADS"}
    cores = "len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()"
    code = f"import os, kinetree as kt; print(kt.get_num_threads() == ({cores}))"
    run = subprocess.run([sys.executable, "-c", code], env=plain, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "True", run.stdout


def test_errors_of_the_library_are_kinetree_errors():
    for name in kt.__all__:
        if name.endswith("Error"):
            assert issubclass(getattr(kt, name), kt.KinetreeError), name
