"""Monte Carlo and sweeps: the numbers of rollouts themselves; the same bits with any partitions; reruns and faults.

Covers: scale/rollouts.py, scale/samples.py, scale/sweep.py.
"""

import json

import numpy as np
import pytest

import kinetree as kt
from kinetree.scale import monte_carlo, sweep
from kinetree.scale.samples import BLOCK

POLE = kt.load("cartpole")
COMMON = {"dt": 2e-3, "steps": 40}


@kt.compile(shapes={"gain": ()})
def damped(robot, q, v, gain):
    return -gain * v


def starts(rng, size):
    return {"q0": 0.3 * rng.standard_normal((size, 2)), "gain": rng.uniform(0.1, 2.0, size)}


def swing(motion):
    return np.abs(motion.q[..., 1]).max(axis=-1)


def facts(result):
    return {
        name: [s.count, s.mean, s.std, s.min, s.max, s.worst, *map(s.quantile, (0.05, 0.5, 0.95))]
        for name, s in result.summaries.items()
    }


@pytest.fixture(scope="module")
def result():
    return monte_carlo(POLE, damped, starts, samples=1000, metrics={"swing": swing}, seed=7, worst=3, **COMMON)


def test_the_numbers_of_all_samples(result):
    """Of the same samples, drawn one by one and rolled out together."""
    drawn = [result.draw(k) for k in range(1000)]
    q0, gain = np.array([each["q0"] for each in drawn]), np.array([each["gain"] for each in drawn])
    motion = POLE.rollout(q0, np.zeros(2), damped, 2e-3, 40, parameters={"gain": gain})
    values, found = swing(motion), result["swing"]
    assert result.samples == found.count == 1000 and result.diverged == 0.0 and result.report.complete
    assert found.max == values.max() and found.min == values.min()
    np.testing.assert_allclose([found.mean, found.std], [values.mean(), values.std(ddof=1)], rtol=1e-12)
    worst = np.argsort(-values, kind="stable")[:3]
    assert found.worst == [(values[k], k) for k in worst]
    np.testing.assert_allclose(found.quantile(0.5), np.median(values), rtol=2e-3)
    again = result.rerun(int(worst[0]))
    assert swing(again)[()] == values[worst[0]], "bit for bit"
    assert abs(q0.mean()) < 0.03 and abs(q0.std() - 0.3) < 0.02, "one stream for each block, none of them twice"
    assert len(np.unique(gain)) == 1000


@pytest.mark.parametrize("rows", [1, BLOCK + 1, 10_000])
def test_partitions_do_not_matter(result, rows):
    other = monte_carlo(
        POLE, damped, starts, samples=1000, metrics={"swing": swing}, seed=7, worst=3, rows=rows, **COMMON
    )
    assert facts(other) == facts(result)
    assert other.report.done == {1: 4, BLOCK + 1: 2, 10_000: 1}[rows]


def test_another_seed_and_fewer_samples(result):
    other = monte_carlo(POLE, damped, starts, samples=300, metrics={"swing": swing}, seed=8, **COMMON)
    assert facts(other) != facts(result)
    fewer = monte_carlo(POLE, damped, starts, samples=300, metrics={"swing": swing}, seed=7, **COMMON)
    for k in (0, 255, 256, 299):
        assert np.array_equal(fewer.draw(k)["q0"], result.draw(k)["q0"]), "a sample does not depend on how many follow"


def test_by_default_positions_and_speeds_of_a_passive_robot():
    given = {"q0": lambda rng, size: rng.uniform(-1.0, 1.0, (size, 2)), "v0": [0.1, 0.0]}
    result = monte_carlo(POLE, None, given, samples=100, **COMMON)
    names = [name for name in result.summaries if name != "diverged"]
    assert len(names) == 4 and names[0].startswith("last ") and names[-1].startswith("fastest ")
    motion = POLE.rollout(np.array([result.draw(k)["q0"] for k in range(100)]), [0.1, 0.0], None, 2e-3, 40)
    assert result[names[1]].max == motion.q[:, -1, 1].max()
    assert result[names[3]].max == np.abs(motion.v[..., 1]).max()


def test_samples_that_diverge_are_counted():
    @kt.compile(shapes={"gain": ()})
    def wild(robot, q, v, gain):
        return gain * v

    given = {"v0": [1.0, 1.0], "gain": lambda rng, size: np.where(rng.random(size) < 0.25, 1e6, 0.0)}
    result = monte_carlo(POLE, wild, given, samples=512, metrics={"swing": swing}, **COMMON)
    bad = sum(result.draw(k)["gain"] > 0 for k in range(512))
    assert result.diverged == bad / 512 > 0.1
    assert result["swing"].count == 512 - bad and result["swing"].missing == bad
    everything = monte_carlo(POLE, wild, {"v0": [1.0, 1.0], "gain": 1e300}, samples=10, **COMMON)
    assert everything.diverged == 1.0


def test_a_second_run_does_what_is_missing(tmp_path, result):
    def call(**options):
        metrics = {"swing": swing}
        given = {"samples": 1000, "seed": 7, "worst": 3, "rows": 256, "out": tmp_path / "out", "metrics": metrics}
        return monte_carlo(POLE, damped, starts, **{**given, **COMMON, **options})

    assert facts(call()) == facts(result)
    (tmp_path / "out" / "samples.1.npz").unlink()
    again = call()
    assert (again.report.done, again.report.kept) == (1, 3) and facts(again) == facts(result)
    manifest = json.loads((tmp_path / "out" / "_kinetree" / "manifest.json").read_text())
    assert manifest["complete"] and manifest["identity"]["seed"] == 7 and manifest["robot"]["name"] == POLE.name
    for changed, word in [({"seed": 8}, "seed"), ({"dt": 1e-3}, "dt"), ({"metrics": {"swing": len}}, "metrics")]:
        with pytest.raises(kt.ArgumentError, match=f"another {word}"):
            call(**changed)


def test_numbers_of_laws_controls_and_distributions_are_noticed(tmp_path):
    """What a law captures, controls that are arrays, constants of a distribution; the same ones go on."""

    def braked(gain):
        return kt.compile(lambda robot, q, v: -gain * v)

    def run(name, law, v0=(0.0, 0.1)):
        return monte_carlo(POLE, law, {"v0": v0}, samples=300, out=tmp_path / name, **COMMON).report

    for name, first, second, word in [
        ("law", {"law": braked(1.0)}, {"law": braked(2.0)}, "law"),
        ("controls", {"law": np.array([0.0, 0.1])}, {"law": np.array([0.0, 0.2])}, "law"),
        ("distribution", {"law": None}, {"law": None, "v0": (0.0, 0.2)}, "distribution"),
    ]:
        assert run(name, **first).done >= 1 and run(name, **first).done == 0
        with pytest.raises(kt.ArgumentError, match=f"another {word}"):
            run(name, **second)


def test_random_robots():
    """Samples of the inputs of a parametric robot: each is a rollout with its own."""
    robot = kt.load("cartpole", parametric=("inertial",))
    own = np.array(robot.parameters)

    def masses(rng, size):
        return {"v0": rng.standard_normal((size, 2)), "parameters": own * rng.uniform(0.5, 2.0, (size, 1))}

    found = monte_carlo(robot, None, masses, samples=300, seed=2, metrics={"swing": swing}, **COMMON)
    value, sample = found["swing"].worst[0]
    drawn = found.draw(sample)
    alone = robot.rollout(robot.neutral(), drawn["v0"], None, 2e-3, 40, parameters=drawn["parameters"])
    assert swing(alone) == value and found.samples == 300


def test_a_metric_that_fails_is_told():
    with pytest.warns(kt.IncompleteWarning, match="rows 0 to 9: metric 'swing' has shape"):
        result = monte_carlo(POLE, None, {"v0": [0.0, 0.0]}, samples=10, metrics={"swing": lambda m: m.q}, **COMMON)
    assert result.samples == 0 and not result.report.complete


# -- sweeps ------------------------------------------------------------------------------------------------------------


def test_a_grid_of_parameters(tmp_path):
    gains, angles = np.linspace(0.0, 2.0, 17), np.linspace(-0.5, 0.5, 21)
    starts = np.column_stack([np.zeros(21), angles])
    for options in ({}, {"rows": 1, "out": tmp_path / "out"}, {"rows": 1, "out": tmp_path / "out"}):
        found = sweep(POLE, damped, {"gain": gains, "q0": starts}, metrics={"swing": swing}, **COMMON, **options)
        motion = POLE.rollout(starts, np.zeros(2), damped, 2e-3, 40, parameters={"gain": gains[:, None]})
        assert found["swing"].shape == (17, 21) and list(found.axes) == ["gain", "q0"]
        np.testing.assert_array_equal(found["swing"], swing(motion))
        assert not found["diverged"].any()
    assert found.report.kept == 2 and found.report.done == 0


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"samples": 0}, "samples is 0"),
        ({"samples": -1}, "samples is -1"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 2**64}, "seed is 18446744073709551616; expected a whole number below"),
        ({"distribution": 3}, "distribution is 3"),
        ({"metrics": 3}, "metrics is 3"),
        ({"metrics": {"diverged": swing}}, "metrics has 'diverged'"),
        ({"robot": "cartpole"}, "robot is 'cartpole'"),
        ({"rows": 0}, "rows is 0"),
        ({"engine": "slurm"}, "engine is 'slurm'"),
    ],
)
def test_wrong_arguments(options, reason):
    given = {"robot": POLE, "law": None, "distribution": starts, "samples": 5, **COMMON, **options}
    with pytest.raises(kt.KinetreeError, match=reason):
        monte_carlo(**given)


def test_wrong_distributions_and_grids():
    for distribution, reason in [
        (lambda rng, size: 3, "distribution returns 3"),
        (lambda rng, size: {"q0": np.zeros(2)}, r"returns 'q0' of shape \(2,\) for size 256"),
        ({"q1": [0.0]}, "q1"),
    ]:
        with pytest.warns(kt.IncompleteWarning, match=reason):
            monte_carlo(POLE, None, distribution, samples=5, **COMMON)
    for grid, reason in [({}, "grid is"), ({"gain": 3.0}, "grid.'gain'. is 3.0"), ({"gain": []}, "grid.'gain'. is")]:
        with pytest.raises(kt.KinetreeError, match=reason):
            sweep(POLE, damped, grid, **COMMON)
    with pytest.raises(kt.ArgumentError, match="sample is 5; expected a number below 5"):
        monte_carlo(POLE, None, {"v0": [0.0, 0.0]}, samples=5, **COMMON).draw(5)
