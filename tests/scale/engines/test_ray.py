"""A Ray cluster of two workers on this machine: annotation, Monte Carlo, killed workers, and calls as they are."""

import numpy as np
import pytest

import kinetree as kt
from killed import ARM, has_the_same_bits, law_of_a_function, lists_what_kills, survives_a_kill
from kinetree.scale import annotate
from logs import read_results, write_logs

ray = pytest.importorskip("ray", reason="needs Ray: make test-scale")
pytestmark = pytest.mark.filterwarnings("ignore")  # of Ray's own


@pytest.fixture(scope="module")
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    yield
    ray.shutdown()


def test_a_cluster_that_runs(tmp_path, cluster):
    given = write_logs(tmp_path / "logs", ARM, [100, 60], group=20)
    report = annotate(tmp_path / "logs", ARM, "inverse_dynamics", tmp_path / "out", "ray", rows=20)
    assert report.complete and report.done == 8
    right = ARM.inverse_dynamics(given["q"], given["v"], given["a"])
    np.testing.assert_array_equal(read_results(tmp_path / "out", "inverse_dynamics"), right)
    assert annotate(tmp_path / "logs", ARM, "inverse_dynamics", tmp_path / "out", "ray").done == 0
    assert ray.is_initialized(), "who has started it stops it"


def test_a_worker_that_is_killed(tmp_path, cluster):
    survives_a_kill(tmp_path, engine="ray")


def test_a_partition_that_kills_its_workers(tmp_path, cluster):
    lists_what_kills(tmp_path, engine="ray")


def test_the_same_bits(cluster):
    has_the_same_bits(engine="ray")


def test_workers_have_one_thread(cluster):
    assert ray.get(ray.remote(kt.get_num_threads).remote()) == 1


def test_functions_of_tasks_and_of_batches(cluster):
    q = ARM.random(0, 400)
    law = law_of_a_function().bind(ARM)

    @ray.remote
    def computed(call, *arrays):
        return call(*arrays)

    for call, arrays in [(ARM.mass_matrix, (q,)), (law, (q, q, 2.0)), (ARM.frame("tool0").pose, (q,))]:
        np.testing.assert_array_equal(ray.get(computed.remote(call, *arrays)), call(*arrays))

    def weighed(batch):
        return {**batch, "tau": ARM.gravity_forces(batch["q"])}

    rows = ray.data.from_numpy(q, column="q") if "column" in ray.data.from_numpy.__code__.co_varnames else None
    rows = ray.data.from_items([{"q": row} for row in q]) if rows is None else rows
    found = rows.map_batches(weighed, batch_size=100).take_all()
    order = np.argsort([row["q"][0] for row in found])
    right = ARM.gravity_forces(q)[np.argsort(q[:, 0])]
    np.testing.assert_array_equal(np.array([row["tau"] for row in found])[order], right)
