"""How rollouts run: in pieces, over threads, with states that diverge, interrupted, within memory.

Covers: compiler/runtime/step_loop.py, base/progress.py.
"""

import signal
import sys
import textwrap
import time
import tracemalloc

import numpy as np
import pytest

import kinetree as kt
from kinetree.base.progress import Progress
from kinetree.compiler.runtime import pace, step_loop
from processes import interruptible


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm6")


@kt.compile(shapes={"runaway": ()})
def unstable(robot, q, v, runaway):
    return runaway * v * v * v


@pytest.mark.parametrize("count", [1, 21])
@pytest.mark.parametrize("every", [1, 3, 60])
def test_pieces_do_not_matter(arm, count, every, monkeypatch):
    """Many short calls of machine code, with records that do not end where they end, are one long one."""
    rng = np.random.default_rng(0)
    q0, v0 = arm.random(rng, count), rng.normal(size=(count, 6))
    u = rng.normal(size=(count, 60, 6))
    whole = arm.rollout(q0, v0, u, 1e-3, 60, record=("q", "v", "tau"))
    monkeypatch.setattr(pace, "AT_ONCE", 2000.0)
    monkeypatch.setattr(step_loop, "AT_ONCE", 2000.0)
    pieces = arm.rollout(q0, v0, u, 1e-3, 60, record=("q", "v", "tau"), every=every)
    assert np.array_equal(pieces.t, 1e-3 * every * np.arange(60 // every + 1))
    assert np.array_equal(pieces.q, whole.q[:, ::every]) and np.array_equal(pieces.v, whole.v[:, ::every])
    assert np.array_equal(pieces["tau"], u[:, every - 1 :: every])


def test_long_kernels_and_odd_counts():
    """Two blocks of states go through the parts of a long kernel together; the last may be alone, and not full."""
    robot = kt.load("humanoid", base="floating")
    rng = np.random.default_rng(0)
    q0, v0 = robot.random(rng, 37), rng.normal(size=(37, robot.nv))
    path = robot.rollout(q0, v0, None, 1e-4, 5)
    for k in (0, 15, 16, 31, 36):
        alone = robot.rollout(q0[k], v0[k], None, 1e-4, 5)
        assert np.array_equal(path.q[k], alone.q) and np.array_equal(path.v[k], alone.v)
    assert (path.steps == 5).all() and not path.diverged.any()


def test_a_state_that_diverges_stays_and_the_others_go_on(arm):
    gains = np.zeros((3, 5))
    gains[1, 3] = 1e4
    q0, v0 = arm.random(0, (3, 5)), np.ones(6)
    with pytest.warns(kt.DivergenceWarning, match=r"1 of 15 states diverged, the first at index \(1, 3\), after"):
        path = arm.rollout(q0, v0, unstable, 1e-2, 100, parameters={"runaway": gains})
    calm = arm.rollout(q0, v0, unstable, 1e-2, 100, parameters={"runaway": np.zeros((3, 5))})
    others = gains == 0.0
    assert np.array_equal(path.diverged, ~others) and (path.steps[others] == 100).all()
    assert np.array_equal(path.q[others], calm.q[others])
    made = path.steps[1, 3]
    assert 0 < made < 20
    assert np.isfinite(path.q).all() and (path.q[1, 3, made:] == path.q[1, 3, made]).all()
    assert not np.array_equal(path.v[1, 3, made], path.v[1, 3, made - 1])
    with pytest.warns(kt.DivergenceWarning, match=f"the state diverged after {made} of 100 steps"):
        alone = arm.rollout(q0[1, 3], v0, unstable, 1e-2, 100, parameters={"runaway": 1e4})
    assert alone.diverged and alone.steps == made and np.array_equal(alone.q, path.q[1, 3])


def test_what_helps_against_stiff_gains_is_said_and_does(arm):
    stiff = kt.compile(lambda robot, q, v: robot.gravity_forces(q) - 10.0 * q - v)  # a wrist has 3e-4 kg m²
    with pytest.warns(kt.DivergenceWarning, match="a shorter dt.* or integrator='implicit' where gains are stiff"):
        assert arm.rollout(np.full(6, 0.1), np.zeros(6), stiff, 1e-3, 200).diverged
    path = arm.rollout(np.full(6, 0.1), np.zeros(6), stiff, 1e-3, 200, "implicit")
    assert not path.diverged and np.abs(path.q).max() <= 0.11


def test_a_state_that_cannot_even_begin_is_refused(arm):
    with pytest.raises(kt.DivergenceError, match=r"not finite after the first step of 0\.01 s"):
        arm.rollout(arm.random(0), np.full(6, 1e90), None, 1e-2, 10)
    with pytest.raises(kt.ArgumentError, match="q0 has a quaternion"):
        robot = kt.load("quadruped", base="floating")
        robot.rollout(2.0 * robot.neutral(), np.zeros(robot.nv), None, 1e-2, 10)


INTERRUPTED = """
    import sys, time
    import numpy as np
    import kinetree as kt

    kt.set_num_threads({threads})
    arm = kt.load("arm6")
    q0 = arm.random(0, {count}) if {count} > 1 else arm.random(0)
    arm.rollout(q0, np.zeros(6), None, 1e-3, 10, every=10)
    print("ready", flush=True)
    begun = time.monotonic()
    try:
        arm.rollout(q0, np.zeros(6), None, 1e-6, 10**9, every=10**9)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    path = arm.rollout(q0, np.zeros(6), None, 1e-3, 10)
    print("well" if np.isfinite(path.q).all() else "broken", flush=True)
"""


@pytest.mark.parametrize(("count", "threads"), [(1, 1), (1000, 2)])
def test_control_c_ends_a_long_rollout(count, threads):
    code = textwrap.dedent(INTERRUPTED.format(count=count, threads=threads))
    process = interruptible([sys.executable, "-c", code])
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - sent < 5.0
        assert process.stdout.readline() == "well\n"
    finally:
        process.kill()
        process.communicate()


def peak(call):
    """Most bytes in use at a time."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.sweep
def test_memory_does_not_grow_with_steps(arm):
    """States of 12 numbers in 500 steps: 48 kB each if all are kept, far below one if only the last is, whether there
    are a thousand or a hundred thousand of them."""
    few, many = np.zeros((1000, 6)), np.zeros((100_000, 6))
    u = np.zeros((500, 6))
    all_kept = peak(lambda: arm.rollout(few, np.zeros(6), u, 1e-3, 500)) / 1000
    last_kept = [peak(lambda q=q: arm.rollout(q, np.zeros(6), u, 1e-3, 500, every=500)) / len(q) for q in (few, many)]
    assert all_kept > 48_000 and last_kept[1] < 1.1 * last_kept[0] < 1000


def test_progress(monkeypatch, capsys):
    progress = Progress(200.0, "rollout")
    progress.tell(50.0)
    assert progress.picture(3.0) == f"rollout {'━' * 10}{'─' * 30}  25 %, 9 s left"
    progress.unit, progress.done, progress.total = "states", 4.5e7, 9e7
    assert progress.picture(3.0).endswith(" 50 %, 15 M states/s, 3 s left")
    with progress:
        pass
    assert capsys.readouterr().err == ""  # no terminal
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Progress(200.0, "rollout") as late:
        late.tell(10.0)
        assert capsys.readouterr().err == ""
        late._due = 0.0
        late.tell(10.0)
        assert "10 %" in capsys.readouterr().err
    assert capsys.readouterr().err == "\r\x1b[K"
