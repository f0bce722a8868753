"""Fixtures of several files: every real robot, on a fixed and on a floating base, beside its Pinocchio model."""

import gc
import os
import re
import shutil
import tempfile
import warnings
import zlib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import kinetree as kt
from kinetree.base import originals

TESTS = Path(__file__).parent


@cache
def needs_pinocchio(path):
    """Whether a file imports Pinocchio, or a helper beside this file that does."""
    names = re.findall(r"^(?:from|import) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    helpers = [TESTS / f"{name}.py" for name in names]
    return "pinocchio" in names or any(needs_pinocchio(helper) for helper in helpers if helper.exists())


try:
    from peers import PinPeer, pin_from_urdf, readable_urdfs, urdf_files
except ModuleNotFoundError:  # it has no wheel for free-threaded Python and for Windows: what needs it does not run
    PinPeer, pin_from_urdf, readable_urdfs, urdf_files = object, None, list, dict
    collect_ignore = [str(path) for path in TESTS.rglob("test_*.py") if needs_pinocchio(path)]

settings.register_profile("default", deadline=None, max_examples=6, derandomize=True)
settings.register_profile("all", deadline=None, max_examples=15, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=200)
settings.load_profile("default")


def pytest_configure(config):
    """Compiled code goes to a folder of this run, for all its workers and processes: it profits from what it has made
    itself, and from nothing that earlier sources have."""
    if "KINETREE_CACHE_DIR" not in os.environ:
        folder = os.environ["KINETREE_CACHE_DIR"] = tempfile.mkdtemp(prefix="kinetree-tests-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        config.add_cleanup(lambda: os.environ.pop("KINETREE_CACHE_DIR"))


SAMPLED, SWEPT, MANY = 12, 4, 30
"""Of the cases of a test on more than `MANY` real robots, one in `SAMPLED` runs by default, one in `SWEPT` in
`make test-all`, and all in `make test-long`, unless the test is marked `all_robots`."""
SWEPT_CASES = 8
"""Of the cases of another test that do not run by default, one in so many runs in `make test-all`."""
APART = (
    *("algorithms", "cli", "compiler/cache", "compiler/codegen", "compiler/test_robots", "control/test_closed_loops"),
    *("edit", "environments", "flight", "geometry", "identification", "interop", "model", "plot", "rotations"),
    *("solvers", "spatial", "trajectories", "viewer"),
    *("test_architecture", "test_documents", "test_errors", "test_notebooks", "test_site", "test_solids"),
)
"""Tests that native calls cannot change, and long ones; all others are marked `native`. `make test-all` runs those once
more with KINETREE_NATIVE=0, `make test` the ones whose file says `pytest.mark.calls`."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Of tests on every real robot, and of those marked `sampled`, only a share runs by default, another one for each
    test, drawn from its name. Cases that are named on the command line all run."""
    for item in items:
        if not item.path.relative_to(TESTS).as_posix().startswith(APART):
            item.add_marker(pytest.mark.native)
    if any("::" in argument for argument in config.args):
        return
    robots = set(urdf_files())
    on_robots = {item: None for item in items if hasattr(item, "callspec") and robots & _words(item)}
    count = Counter(item.function for item in on_robots)
    for item in on_robots:
        if count[item.function] > MANY and not item.get_closest_marker("all_robots"):
            drawn = zlib.crc32(f"{item.path.name}::{item.name}".encode())
            if drawn % SAMPLED:
                item.add_marker(pytest.mark.long if drawn % SWEPT else pytest.mark.sweep)
    cases, swept = Counter(), Counter()
    for item in items:
        if sampled := item.get_closest_marker("sampled"):
            start = zlib.crc32(item.originalname.encode())
            if (start + cases[item.function]) % sampled.args[0]:
                item.add_marker(pytest.mark.sweep)
            cases[item.function] += 1
        if item.get_closest_marker("sweep") and not item.get_closest_marker("long") and item not in on_robots:
            if swept[item.function] % SWEPT_CASES:
                item.add_marker(pytest.mark.long)
            swept[item.function] += 1


def _words(item):
    return {value for value in item.callspec.params.values() if isinstance(value, str)}


@pytest.fixture(autouse=True, scope="module")
def small_heap():
    """What earlier files have left alive, hundreds of megabytes, is not looked at again by every collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def originals_again():
    """A test may replace a part of the library, and puts it back; the library would remember that for ever."""
    yield
    if originals._found:
        originals._found.clear()
        assert not originals.replaced(), "a test has left the library changed"


@dataclass
class Case:
    """One robot, the same in Pinocchio, and a state; all random numbers follow from the name of the file."""

    robot: kt.Robot
    peer: PinPeer
    rng: np.random.Generator
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray

    def some_frames(self, count=3):
        return [str(name) for name in self.rng.permutation(np.array(self.robot.frame_names))[:count]]


@pytest.fixture(params=readable_urdfs())
def path(request):
    return urdf_files()[request.param]


@pytest.fixture(params=["fixed", "floating"])
def case(request, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.ModelWarning)
        robot = kt.load(path, request.param)
    peer = pin_from_urdf(robot, path, request.param == "floating")
    rng = np.random.default_rng(zlib.crc32(path.name.encode()))
    return Case(robot, peer, rng, robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv))
