"""Environments for learning: Gymnasium's own checks, vectors beside single ones, and tasks that can be done.

Covers: environments/cart_pole.py, environments/quadruped_stand.py, environments/reacher.py, environments/registered.py,
environments/single.py, environments/task.py, environments/vector.py.
"""

import pickle
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import kinetree as kt
from kinetree.environments import TASKS, RobotEnv, RobotVectorEnv, Task, cart_pole, quadruped_stand, reacher

MAKERS = {name.split("/")[1]: make for name, make in TASKS.items()}


@pytest.fixture(scope="module")
def tasks():
    return {name: make() for name, make in MAKERS.items()}


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.sampled(5)
def test_gymnasiums_own_checker_is_content(name):
    with pytest.warns(UserWarning, match="infinity"):  # observations have no bounds, which it mentions
        check_env(gymnasium.make(name).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.sampled(3)
def test_made_as_a_vector_by_name(name):
    envs = gymnasium.make_vec(name, num_envs=3)
    seen, info = envs.reset(seed=1)
    assert seen in envs.observation_space and info == {}
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    envs.action_space.seed(0)
    result = envs.step(envs.action_space.sample())
    assert result[0] in envs.observation_space
    assert [part.shape for part in result[1:4]] == [(3,)] * 3
    assert [part.dtype for part in result[1:4]] == [np.dtype(float), np.dtype(bool), np.dtype(bool)]
    envs.close()


@pytest.mark.parametrize("name", MAKERS)
def test_a_vector_is_its_single_environments(tasks, name):
    task, rng = tasks[name], np.random.default_rng(3)
    envs, one = RobotVectorEnv(task, 5), RobotEnv(task)
    envs.reset(seed=4)
    one.reset(seed=5)
    one._state = (envs.q[2].copy(), envs.v[2].copy(), envs.goal[2].copy())
    for _ in range(5):
        actions = rng.uniform(task.action_low, task.action_high, (5, len(task.action_low)))
        seen, reward, ended, cut, _ = envs.step(actions)
        alone = one.step(actions[2])
        assert np.array_equal(seen[2], alone[0]) and np.array_equal(envs.q[2], one.q)
        assert (reward[2], ended[2], cut[2]) == alone[1:4]


@pytest.mark.parametrize("name", ["CartPole", "Reacher"])
def test_environments_pickle_where_they_are(name):
    """In the middle of an episode, with their random numbers."""
    for env in (gymnasium.make(f"kinetree/{name}-v0").unwrapped, gymnasium.make_vec(f"kinetree/{name}-v0", num_envs=3)):
        env.reset(seed=7)
        env.action_space.seed(0)
        action = env.action_space.sample()
        env.step(action)
        again = pickle.loads(pickle.dumps(env))
        assert again.task is env.task
        for _ in range(3):
            assert np.array_equal(env.step(action)[0], again.step(action)[0])
        assert np.array_equal(env.reset()[0], again.reset()[0])


def test_wrong_actions_and_options(tasks):
    one, envs = RobotEnv(tasks["CartPole-v0"]), RobotVectorEnv(tasks["CartPole-v0"], 2)
    one.reset(seed=0)
    envs.reset(seed=0)
    for action, sentence in (
        ("left", "action is 'left'; expected an array of shape"),
        ([[0.0], [0.0, 1.0]], "action has rows of different lengths"),
        (np.array([1j]), "action has elements of type complex128"),
        ([np.nan], "action has nan; expected finite numbers"),
    ):
        with pytest.raises(kt.KinetreeError, match=sentence):
            one.step(action)
    with pytest.raises(kt.UnknownNameError, match="option 'q' does not exist; there are none"):
        one.reset(options={"q": np.zeros(2)})
    with pytest.raises(kt.UnknownNameError, match="option 'mask' does not exist; did you mean 'reset_mask'"):
        envs.reset(options={"mask": np.ones(2, dtype=bool)})
    with pytest.raises(kt.ArgumentError, match="reset_mask has elements of type int64; expected truth values"):
        envs.reset(options={"reset_mask": np.array([2, 0])})
    with pytest.raises(kt.ArgumentTypeError, match="options is 3; expected a dict"):
        envs.reset(options=3)


@kt.compile(shapes={"action": (2,)})
def motors(robot, q, v, action):
    return 20.0 * action - 0.5 * v


@kt.compile(shapes={"action": (2,), "goal": (0,)})
def outcome(robot, q, v, action, goal):
    return {"observation": np.concatenate([q, v]), "reward": q[0], "terminated": False}


def two_rewards(robot, q, v, action, goal):
    return {"observation": np.concatenate([q, v]), "reward": q, "terminated": False}


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"robot": "planar2"}, "robot is 'planar2'; expected a robot"),
        ({"outcome": two_rewards}, "outcome is <function two_rewards.*; expected a function from kt.compile"),
        ({"outcome": kt.compile(two_rewards, shapes={"action": (2,), "goal": ()})}, r"goal of outcome has shape \(\)"),
        (
            {"outcome": kt.compile(two_rewards, shapes={"action": (2,), "goal": (0,)})},
            r"reward of outcome has shape \(2,\); expected \(\)",
        ),
        ({"observation_size": 5}, r"observation of outcome has shape \(4,\); expected \(5,\)"),
        ({"horizon": 0}, "horizon is 0; expected at least 1"),
        ({"action_low": np.ones(2), "action_high": -np.ones(2)}, "expected .*, low first"),
        ({"start": lambda rng, count: None}, r"start gives None; expected \(q, v, goals\)"),
        ({"start": lambda rng, count: [np.zeros((count, 3))] * 3}, r"q of start has shape \(3, 3\); expected \(3, 2\)"),
        ({"start": lambda rng, count: [np.full((count, 2), np.nan)] * 3}, r"q of start\[0, 0\] is nan"),
    ],
)
def test_tasks_that_cannot_be(changed, sentence):
    def start(rng, count):
        return np.zeros((count, 2)), np.zeros((count, 2)), np.zeros((count, 0))

    given = {"robot": kt.load("planar2"), "efforts": motors, "outcome": outcome, "start": start}
    given |= {"action_low": [-1, -1], "action_high": [1, 1], "observation_size": 4}
    assert RobotVectorEnv(Task(**given, dt=0.01, substeps=2, horizon=9), 3).reset(seed=0)[0].shape == (3, 4)
    with pytest.raises(kt.KinetreeError, match=sentence):
        RobotVectorEnv(Task(**{**given, "dt": 0.01, "substeps": 2, "horizon": 9, **changed}), 3).reset(seed=0)


def test_a_seed_decides_everything(tasks):
    def run(threads):
        kt.set_num_threads(threads)
        envs = RobotVectorEnv(tasks["CartPole-v0"], 200)
        seen = [envs.reset(seed=7)[0]]
        actions = np.random.default_rng(1).uniform(-1, 1, (60, 200, 1))
        seen += [envs.step(action)[0] for action in actions]
        return np.array(seen)

    before = kt.get_num_threads()
    try:
        assert np.array_equal(run(1), run(2))
    finally:
        kt.set_num_threads(before)


# -- ends and beginnings -----------------------------------------------------------------------------------------------


def test_the_step_after_an_end_starts_again(tasks):
    envs = RobotVectorEnv(tasks["CartPole-v0"], 4)
    envs.reset(seed=0)
    envs._q[1, 1] = 1.0  # leans too far
    _, reward, ended, cut, _ = envs.step(np.zeros((4, 1)))
    assert ended.tolist() == [False, True, False, False] and not cut.any() and reward[1] > 0
    seen, reward, ended, cut, _ = envs.step(np.ones((4, 1)))
    assert not ended.any() and not cut.any() and reward[1] == 0.0 and (reward[[0, 2, 3]] > 0).all()
    assert np.abs(seen[1, 2]) < 0.06 and np.abs(envs.q[1]).max() <= 0.05  # as it starts: the action was not used
    assert np.abs(envs.v[0, 0]) > 0.1


def test_or_the_same_step_does(tasks):
    envs = RobotVectorEnv(tasks["CartPole-v0"], 3, "SameStep")
    envs.reset(seed=0)
    envs._q[1, 1] = 1.0
    seen, _, ended, _, info = envs.step(np.zeros((3, 1)))
    assert ended.tolist() == [False, True, False] and info["_final_obs"].tolist() == [False, True, False]
    assert info["final_obs"][1, 2] > np.sin(0.9) and abs(seen[1, 2]) < 0.06


def test_or_none_does(tasks):
    envs = RobotVectorEnv(tasks["CartPole-v0"], 3, AutoresetMode.DISABLED)
    envs.reset(seed=0)
    envs._q[1, 1] = 1.0
    assert envs.step(np.zeros((3, 1)))[2][1]
    with pytest.raises(kt.ArgumentError, match=r"environment 1 is over; reset it first"):
        envs.step(np.zeros((3, 1)))
    kept = envs.q[0].copy()
    envs.reset(options={"reset_mask": np.array([False, True, False])})
    assert np.array_equal(envs.q[0], kept) and abs(envs.q[1, 1]) < 0.06
    envs.step(np.zeros((3, 1)))


def test_cut_off_at_the_horizon(tasks):
    envs = RobotVectorEnv(tasks["Reacher-v0"], 2)
    envs.reset(seed=0)
    cut = [envs.step(np.zeros((2, 2)))[3].all() for _ in range(101)]
    assert cut.index(True) == 99 and sum(cut) == 1


def test_what_cannot_be_computed_ends(tasks):
    envs = RobotVectorEnv(tasks["CartPole-v0"], 3)
    envs.reset(seed=0)
    envs._v[2] = 1e200
    _, _, ended, _, info = envs.step(np.zeros((3, 1)))
    assert ended.tolist() == [False, False, True] and info["diverged"].tolist() == [False, False, True]
    assert np.isfinite(envs.step(np.zeros((3, 1)))[0]).all()
    one = RobotEnv(tasks["CartPole-v0"])
    one.reset(seed=0)
    one._state = (one.q, np.full(2, 1e200), np.zeros(0))
    _, _, ended, cut, info = one.step(np.zeros(1))
    assert ended and not cut and info["diverged"]


# -- the tasks can be done, and not by doing nothing -------------------------------------------------------------------


def test_a_pole_is_balanced_by_feedback_and_falls_without():
    task = cart_pole()
    envs = RobotVectorEnv(task, 50)

    def lasted(policy):
        seen, _ = envs.reset(seed=2)
        alive = np.ones(50, dtype=bool)
        for k in range(300):
            seen, _, ended, _, _ = envs.step(policy(seen))
            alive &= ~ended
            if not alive.any():
                return alive, k
        return alive, 300

    gains = np.array([1.0, 0.0, 30.0, 2.0, 6.0]) / 20.0
    sign = _sign_of_push(task)
    assert lasted(lambda seen: sign * np.clip(seen @ gains, -1, 1)[:, None])[0].all()
    alive, steps = lasted(lambda seen: np.zeros((50, 1)))
    assert not alive.any() and steps < 300


def _sign_of_push(task):
    """+1 if pushing forwards leans the pole backwards, as the gains above suppose."""
    _, v, _ = task.advance(np.zeros(2), np.zeros(2), np.ones(1))
    return -np.sign(v[0] * v[1])


def test_an_arm_reaches_by_resolved_feedback():
    task = reacher()
    envs = RobotVectorEnv(task, 30)
    envs.reset(seed=6)
    robot, tip = task.robot, task.robot.frame("tip")
    plane = np.flatnonzero(np.abs(tip.jacobian(np.array([0.3, 0.4]))[:3]).max(axis=1) > 1e-9)
    start = -envs.step(np.zeros((30, 2)))[1].mean()
    for _ in range(90):
        J = tip.jacobian(envs.q)[:, plane]
        force = 80.0 * (envs.goal - tip.pose(envs.q)[:, plane, 3]) - 30.0 * np.einsum("nij,nj->ni", J, envs.v)
        effort = np.einsum("nij,ni->nj", J, force)
        reward = envs.step(np.clip(effort / (0.5 * robot.limits.effort), -1, 1))[1]
    assert start > 0.8 and np.median(-reward) < 0.1


def test_a_quadruped_stands_by_its_servos_and_falls_when_it_kneels():
    task = quadruped_stand()
    envs = RobotVectorEnv(task, 16)
    envs.reset(seed=3)
    height = envs.q[:, 2]
    for _ in range(240):
        seen, reward, ended, _, _ = envs.step(np.zeros((16, 12)))
        assert not ended.any()
    assert (np.abs(seen[:, 0] - height.mean()) < 0.1).all() and (seen[:, 3] > 0.99).all() and (reward > 0.8).all()
    assert np.abs(envs.v).max() < 0.05
    q, v = envs.q.copy(), envs.v.copy()
    q[:, 3:7] = [1.0, 0.0, 0.0, 0.0]  # on its back
    assert task.judge(q, v, np.zeros((16, 12)), envs.goal)[2].all()


# -- sentences ---------------------------------------------------------------------------------------------------------


def test_wrong_use_is_a_sentence(tasks):
    envs, one = RobotVectorEnv(tasks["CartPole-v0"], 2), RobotEnv(tasks["CartPole-v0"])
    for env, action in ((envs, np.zeros((2, 1))), (one, np.zeros(1))):
        with pytest.raises(kt.ArgumentError, match="called before reset"):
            env.step(action)
    envs.reset(seed=0)
    before = envs.q.copy()
    with pytest.raises(kt.ArgumentError, match=r"action has shape \(2,\); expected \(2, 1\)"):
        envs.step(np.zeros(2))
    with pytest.raises(kt.ArgumentError, match="action has nan"):
        envs.step(np.array([[0.0], [np.nan]]))
    with pytest.raises(kt.ArgumentError, match="reset_mask has shape"):
        envs.reset(options={"reset_mask": [True]})
    assert np.array_equal(envs.q, before)
    with pytest.raises(kt.ArgumentError, match="num_envs is 0"):
        RobotVectorEnv(tasks["CartPole-v0"], 0)
    with pytest.raises(kt.ArgumentError, match="autoreset_mode is 'Never'; expected 'NextStep' or"):
        gymnasium.make_vec("kinetree/CartPole-v0", num_envs=2, autoreset_mode="Never")
    for make in (gymnasium.make, gymnasium.make_vec):
        with pytest.raises(kt.ArgumentError, match="render_mode is 'rgb_array'; expected None: environments"):
            make("kinetree/CartPole-v0", render_mode="rgb_array")
        with pytest.raises(TypeError, match="lenght"):
            make("kinetree/CartPole-v0", lenght=3)


def test_without_gymnasium_a_sentence_says_what_to_install():
    code = "import sys; sys.modules['gymnasium'] = None; import kinetree.environments"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stderr.splitlines()[-1].endswith("the package gymnasium: pip install 'kinetree[gymnasium]'")
