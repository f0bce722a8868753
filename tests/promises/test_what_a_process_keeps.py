"""What belongs to the process, or to an object, is not changed from outside or in passing."""

import os
import subprocess
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.base.files import write_text
from kinetree.base.locks import FREE_THREADED
from kinetree.compiler.runtime import memory


@pytest.mark.skipif(os.name != "posix", reason="about modes of files")
def test_the_umask_is_left_alone(tmp_path, monkeypatch):
    """New files have the mode that it gives, and files that were there keep theirs."""
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "umask", None)
            write_text(tmp_path / "new", "1")
            (tmp_path / "old").touch()
            (tmp_path / "old").chmod(0o604)
            write_text(tmp_path / "old", "2")
    finally:
        os.umask(before)
    assert [oct((tmp_path / name).stat().st_mode & 0o777) for name in ("new", "old")] == ["0o640", "0o604"]
    assert (tmp_path / "old").read_text() == "2" and len(list(tmp_path.iterdir())) == 2


def test_a_container_has_less_memory_than_its_machine(tmp_path):
    """The limits from a control group up to the root count; "max" is none."""
    inner = tmp_path / "system" / "job"
    inner.mkdir(parents=True)
    (tmp_path / "system" / "memory.max").write_text("2000000\n")
    (inner / "memory.max").write_text("max\n")
    (tmp_path / "memory.max").write_text("3000000\n")
    assert list(memory._limits(tmp_path, "system/job", "memory.max")) == [2000000, 3000000]
    assert list(memory._limits(tmp_path, "", "memory.max")) == [3000000]
    assert 0 < memory._granted_memory() <= memory._physical_memory()


def test_states_of_environments_are_copies():
    pytest.importorskip("gymnasium")
    from kinetree import environments  # noqa: PLC0415
    from kinetree.environments.reacher import reacher  # noqa: PLC0415

    many, one = environments.RobotVectorEnv(reacher(), 3), environments.RobotEnv(reacher())
    for env in (many, one):
        env.reset(seed=1)
        q, v = env.q.copy(), env.v.copy()
        env.q[...], env.v[...] = 7.0, 7.0
        assert np.array_equal(env.q, q) and np.array_equal(env.v, v)


INTERPRETER = """
import sys
import numpy as np
import kinetree as kt
print(kt.load("planar2").mass_matrix(np.zeros(2)).tobytes().hex(), flush=True)
"""
RUN = """
import sys
try:
    import _interpreters as interpreters
    interpreters.exec(interpreters.create("legacy"), sys.argv[1])
except ImportError:
    import _xxsubinterpreters as interpreters
    interpreters.run_string(interpreters.create(), sys.argv[1])
"""


@pytest.mark.skipif(FREE_THREADED, reason="NumPy itself refuses to be imported there")
def test_another_interpreter_of_the_same_process_compiles(tmp_path):
    """It has no signals, and touches none."""
    command = [sys.executable, "-W", "ignore", "-c", RUN, INTERPRETER]
    variables = {**os.environ, "KINETREE_CACHE_DIR": str(tmp_path)}
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == kt.load("planar2").mass_matrix(np.zeros(2)).tobytes().hex()
