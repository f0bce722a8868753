"""What a law carries from step to step in a rollout: `states`."""

import numpy as np
import pytest

import kinetree as kt

DT = 0.01


@pytest.fixture(scope="module")
def rail():
    builder = kt.ModelBuilder("rail")
    builder.link("base")
    builder.link("cart", kt.solids.sphere(0.1, mass=2.0))
    builder.joint("slide", "prismatic", "base", "cart", axis=(1, 0, 0))
    return kt.Robot(builder.build())


@kt.compile(shapes={"integral": (), "table": (2, 3), "goal": ()})
def pid(robot, q, v, integral, table, goal):
    error = goal - q[0]
    tau = np.array([40.0 * error + 30.0 * integral - 15.0 * v[0] - 6.0])  # pushed back by 6 N
    return {"tau": tau, "integral": integral + DT * error, "table": table * 0.5 + 1.0, "error": error}


def test_an_integral_takes_away_what_is_left(rail):
    states = {"integral": 0.0, "table": np.zeros((2, 3))}
    path = rail.rollout(
        [0.0], [0.0], pid, DT, 3000, states=states, parameters={"goal": 1.0}, record=("q", "integral", "table", "error")
    )
    assert path.q[-1, 0] == pytest.approx(1.0, abs=1e-6)
    assert path["integral"][-1] == pytest.approx(0.2, abs=1e-6)  # 30 · 0.2 = 6
    assert path["table"].shape == (3000, 2, 3) and path["table"][:3, 0, 0].tolist() == [1.0, 1.5, 1.75]


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "rk4", "implicit"])
def test_it_is_the_loop_that_a_user_would_write(rail, integrator):
    """A rollout of n steps is n rollouts of one step, each with what the one before it gave."""
    shape = {"integral": 0.3, "table": np.ones((2, 3))}
    options = {"parameters": {"goal": 1.0}, "record": ("q", "v", "integral", "table")}
    whole = rail.rollout([0.2], [0.1], pid, DT, 7, integrator, states=shape, **options)
    q, v = np.array([0.2]), np.array([0.1])
    for _ in range(7):
        one = rail.rollout(q, v, pid, DT, 1, integrator, states=shape, **options)
        q, v, shape = one.q[-1], one.v[-1], {"integral": one["integral"][-1], "table": one["table"][-1]}
    assert np.array_equal(whole.q[-1], q) and np.array_equal(whole["integral"][-1], shape["integral"])
    assert np.array_equal(whole["table"][-1], shape["table"])


def test_batches_of_states_broadcast(rail):
    first = np.linspace(0.0, 1.0, 5)
    options = {"parameters": {"goal": 1.0}, "record": ("q",)}
    together = rail.rollout([0.0], [0.0], pid, DT, 50, states={"integral": first, "table": np.zeros((2, 3))}, **options)
    assert together.q.shape == (5, 51, 1)
    for k in range(5):
        alone = rail.rollout(
            [0.0], [0.0], pid, DT, 50, states={"integral": first[k], "table": np.zeros((2, 3))}, **options
        )
        assert np.array_equal(alone.q, together.q[k])
    none = rail.rollout(
        np.zeros((0, 1)), [0.0], pid, DT, 5, states={"integral": 0.0, "table": np.zeros((2, 3))}, **options
    )
    assert none.q.shape == (0, 6, 1)


def test_beside_contact_that_carries_its_own():
    robot = kt.load("quadruped", base="floating")
    count = kt.compile(
        lambda robot, q, v, n: {"tau": np.concatenate([np.zeros(6), -3.0 * v[6:]]), "n": n + 1.0}, shapes={"n": ()}
    )
    q = robot.neutral()
    q[2] = 0.62
    contact = kt.simulation.RigidContact(["front_left_foot"])
    path = robot.rollout(q, np.zeros(18), count, 2e-3, 5, contact=contact, states={"n": 3.0}, record=("n",))
    assert path["n"].tolist() == [4.0, 5.0, 6.0, 7.0, 8.0]


@pytest.mark.parametrize(
    "states, words",
    [
        ({"integral": 0.0}, "has an argument 'table'"),
        ({"integral": [1.0, np.nan], "table": np.zeros((2, 3))}, r"integral\[1\] is nan"),
        ({"integral": 0.0, "table": np.zeros(3)}, "table has shape"),
        ({"integrl": 0.0}, "'integrl' does not exist; did you mean 'integral'"),
        ({"q": 0.0}, "'q' does not exist"),
        (3.0, "states is 3"),
    ],
)
def test_what_cannot_be_carried_is_refused(rail, states, words):
    with pytest.raises(kt.KinetreeError, match=words):
        rail.rollout([0.0], [0.0], pid, DT, 5, states=states, parameters={"goal": 1.0})


def test_what_is_not_given_on_is_refused(rail):
    forgets = kt.compile(lambda robot, q, v, n: {"tau": -v}, shapes={"n": ()})
    with pytest.raises(kt.ArgumentError, match="returns no 'n'"):
        rail.rollout([0.0], [0.0], forgets, DT, 5, states={"n": 0.0})
    grows = kt.compile(lambda robot, q, v, n: {"tau": -v, "n": np.zeros(2)}, shapes={"n": ()})
    with pytest.raises(kt.ArgumentError, match=r"'n' of shape \(2,\)"):
        rail.rollout([0.0], [0.0], grows, DT, 5, states={"n": 0.0})
    with pytest.raises(kt.ArgumentError, match="states has 'n'"):
        rail.rollout([0.0], [0.0], None, DT, 5, states={"n": 0.0})
    with pytest.raises(kt.ArgumentError, match="'dormand-prince' has no steps"):
        counts = kt.compile(lambda robot, q, v, n: {"tau": -v, "n": n}, shapes={"n": ()})
        rail.rollout([0.0], [0.0], counts, DT, 5, "dormand-prince", states={"n": 0.0})
