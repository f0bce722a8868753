"""A Dask cluster of two workers on this machine: annotation, Monte Carlo, killed workers, and calls as they are."""

import concurrent.futures
import multiprocessing
from functools import partial

import numpy as np
import pytest

import kinetree as kt
from killed import ARM, has_the_same_bits, law_of_a_function, lists_what_kills, survives_a_kill
from kinetree.scale import annotate
from logs import read_results, write_logs

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'kinetree[dask]'")
dask = pytest.importorskip("dask")
pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask's own


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_a_cluster_of_ones_own(tmp_path, client):
    given = write_logs(tmp_path / "logs", ARM, [100, 60], group=20)
    report = annotate(tmp_path / "logs", ARM, "inverse_dynamics", tmp_path / "out", "dask", rows=20, client=client)
    assert report.complete and report.done == 8
    right = ARM.inverse_dynamics(given["q"], given["v"], given["a"])
    np.testing.assert_array_equal(read_results(tmp_path / "out", "inverse_dynamics"), right)
    assert annotate(tmp_path / "logs", ARM, "inverse_dynamics", tmp_path / "out", "dask", client=client).done == 0


def test_a_new_cluster(tmp_path):
    survives_a_kill(tmp_path, engine="dask", workers=2)


def test_a_partition_that_kills_its_workers(tmp_path):
    """Also where Dask would give up workers at once, instead of after 15 s as by default, and wait for ever."""
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "0 s"}):
        lists_what_kills(tmp_path, engine="dask", workers=2)


def test_the_same_bits(client):
    has_the_same_bits(engine="dask", client=client)


def test_workers_have_one_thread(client):
    assert set(client.run(kt.get_num_threads).values()) == {1}


def test_functions_of_dask_arrays(client):
    """Calls as they are, of map_blocks: native calls, frames' calls, bound laws, controllers."""
    da = pytest.importorskip("dask.array")
    q = ARM.random(0, 4000)
    blocks = da.from_array(q, chunks=(1000, 6))
    law = law_of_a_function().bind(ARM)
    controller = kt.control.ComputedTorque(ARM, 100.0, 20.0)
    for call, arrays in [(ARM.inverse_dynamics, 3), (ARM.gravity_forces, 1), (controller, 3)]:
        found = da.map_blocks(call, *[blocks] * arrays, dtype=float, meta=np.empty((0, 6))).compute()
        np.testing.assert_array_equal(found, call(*[q] * arrays))
    found = da.map_blocks(law, blocks, blocks, 2.0, dtype=float, meta=np.empty((0, 6))).compute()
    np.testing.assert_array_equal(found, law(q, q, 2.0))
    shape = {"new_axis": 2, "chunks": ((1000,) * 4, (4,), (4,)), "meta": np.empty((0, 4, 4))}
    poses = da.map_blocks(ARM.frame("tool0").pose, blocks, dtype=float, **shape)
    np.testing.assert_array_equal(poses.compute(), ARM.frame("tool0").pose(q))


def test_every_other_compiled_object_is_a_function(client):
    """Whole-body control, inverse kinematics, rollouts with law and contact, parametric robots, sent to a worker."""
    dog, q = kt.load("quadruped", "floating"), ARM.random(0, 20)
    standing = np.tile(dog.neutral(), (5, 1))
    feet = [name for name in dog.frame_names if name.endswith("foot")]
    assert len(feet) == 4
    body = kt.control.WholeBody(dog, kt.control.Momentum(), [kt.control.PointContact(foot) for foot in feet])
    contact = kt.simulation.CompliantContact(feet, kt.simulation.Ground(height=-0.2))
    damped = kt.compile(law_of_a_function().function, shapes={"gain": ()})
    heavier = kt.load("arm6", parametric=("inertial",))
    fall = {"law_or_controls": None, "dt": 1e-3, "steps": 5}
    calls = {
        "whole body": (body, (standing, np.zeros(18), {"momentum": np.zeros(6)})),
        "ik": (lambda targets: ARM.ik("tool0", targets).q, (ARM.frame("tool0").pose(q),)),
        "rollout": (lambda q: ARM.rollout(q, q, damped, 1e-3, 5, parameters={"gain": 2.0}).q, (q,)),
        "contact": (lambda q: dog.rollout(q, np.zeros(18), **fall, contact=contact).q, (standing,)),
        "parametric": (partial(heavier.gravity_forces, parameters=1.2 * np.array(heavier.parameters)), (q,)),
    }
    for name, (call, arrays) in calls.items():
        found = client.submit(call, *arrays, pure=False).result()
        np.testing.assert_array_equal(found, call(*arrays), err_msg=name)


def torques(frame):
    frame["tau0"] = ARM.gravity_forces(frame[[f"q{k}" for k in range(6)]].to_numpy())[:, 0]
    return frame


def test_functions_of_dask_data_frames(client):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    q = ARM.random(0, 400)
    table = pd.DataFrame({f"q{k}": q[:, k] for k in range(6)})
    found = dd.from_pandas(table, npartitions=4).map_partitions(torques).compute()
    np.testing.assert_array_equal(found["tau0"].to_numpy(), ARM.gravity_forces(q)[:, 0])


def test_functions_of_joblib_and_of_process_pools():
    joblib = pytest.importorskip("joblib")
    parts = np.split(ARM.random(0, 400), 4)
    right = [ARM.mass_matrix(part) for part in parts]
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(ARM.mass_matrix)(part) for part in parts)
    assert all(map(np.array_equal, found, right))
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert all(map(np.array_equal, pool.map(ARM.mass_matrix, parts), right))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert all(map(np.array_equal, pool.map(ARM.mass_matrix, parts), right))
