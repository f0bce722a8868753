"""Dormand and Prince's steps: order, accuracy, states in between, every state by itself, and events.

Covers: simulation/adaptive_rollout.py, simulation/events.py.
"""

import numpy as np
import pytest

import kinetree as kt
from kinetree.simulation.adaptive import BETWEEN, DORMAND_PRINCE, ERROR, Attempts
from kinetree.simulation.dynamics import own_dynamics
from kinetree.simulation.efforts import as_efforts
from linkages import four_bar, four_bar_at
from peers import close

BY_ITSELF = "dormand-prince"


@pytest.fixture(scope="module")
def ball():
    builder = kt.ModelBuilder("ball")
    builder.link("rail")
    builder.link("ball", kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3)))
    builder.joint("height", "prismatic", "rail", "ball", axis=(0, 0, 1))
    return kt.Robot(builder.build())


@pytest.fixture(scope="module")
def pendulum():
    builder = kt.ModelBuilder("pendulum")
    builder.link("stand")
    builder.link("bob", kt.Inertia.from_com(1.0, (0, 0, -1.0), 1e-12 * np.eye(3)))
    builder.joint("hinge", "revolute", "stand", "bob", axis=(0, 1, 0))
    return kt.Robot(builder.build())


def period(amplitude):
    """4 K(sin²(θ₀/2)) √(l/g), by the arithmetic-geometric mean."""
    a, b = 1.0, np.cos(amplitude / 2)
    for _ in range(6):
        a, b = (a + b) / 2, np.sqrt(a * b)
    return 2 * np.pi / a / np.sqrt(9.81)


def test_its_coefficients():
    """c and b are row sums and conditions of order; the polynomial ends where the step does, with its slopes."""
    a = [np.array(row) for row in DORMAND_PRINCE.a]
    b, c = np.array(DORMAND_PRINCE.b), np.array(DORMAND_PRINCE.c)
    close(np.array([row.sum() for row in a]), c, 1e-14)
    for k in range(5):
        close(b @ c**k, 1.0 / (k + 1), 1e-14)
    close(np.sum(ERROR), 0.0, 1e-14)
    between = np.array(BETWEEN)
    close(between.sum(axis=1), b, 1e-12)
    close(between @ np.arange(1, 5), np.eye(7)[6], 1e-11)
    close(between[:, 0], np.eye(7)[0], 1e-14)


@pytest.mark.parametrize("base_velocity", ["body", pytest.param("mixed", marks=pytest.mark.long)])
def test_one_step_is_of_order_five_and_what_is_between_of_order_four(base_velocity):
    """Errors of one step, h⁶ at its end and h⁵ inside, also where a free body turns."""
    options = {"base": "floating", "base_velocity": base_velocity}
    robot = kt.Robot(kt.random_model(4, 1, ("spherical",), **options))
    rng = np.random.default_rng(0)
    now = {"q": robot.random(rng)[None], "v": rng.normal(size=(1, robot.nv)), "t": np.zeros(1)}
    attempts = Attempts(as_efforts(robot, None, 1), own_dynamics(robot), (1,), 1e-8)
    found = {"end": [], "inside": []}
    for h in (0.08, 0.04, 0.02):
        exact = robot.rollout(now["q"][0], now["v"][0], None, h / 400, 400, "rk4")
        attempt = attempts.make(now, np.array([0]), np.array([h]), np.array([0]))
        inside = attempt.at(np.array([0]), np.array([0.3]))
        for name, q, v, k in (("end", attempt.q[0], attempt.v[0], 400), ("inside", inside[0][0], inside[1][0], 120)):
            apart = np.concatenate([robot.difference(exact.q[k], q), v - exact.v[k]])
            found[name].append(np.abs(apart).max())
    for name, order in (("end", 6), ("inside", 5)):
        first, second, third = found[name]
        assert order - 0.7 < np.log2(first / second) and order - 0.5 < np.log2(second / third) < order + 1.2


def test_errors_follow_the_tolerance(pendulum):
    for tolerance in (1e-6, 1e-10):
        path = pendulum.rollout([2.0], [0.0], None, period(2.0) / 4, 40, BY_ITSELF, tolerance=tolerance)
        error = np.abs(path.q[::4] - 2.0).max()
        assert error < 100 * tolerance
    assert error < 1e-8
    assert path.t.shape == (41,) and path.steps == 40 and not path.diverged


def test_every_state_goes_by_its_own_steps(pendulum):
    """Fast and slow ones together, with laws, parameters and efforts that are held, as each alone."""
    law = kt.compile(lambda robot, q, v, t, gain: -gain * q + kt.sin(t) + 0.0 * v, shapes={"t": (), "gain": ()})
    gains = np.array([[0.0, 10.0, 1e4]])
    q0 = np.array([[0.1], [1.0]])[:, None]
    path = pendulum.rollout(q0, [0.0], law, 0.1, 20, BY_ITSELF, parameters={"gain": gains})
    assert path.q.shape == (2, 3, 21, 1)
    for i, k in ((0, 0), (1, 2)):
        alone = pendulum.rollout(q0[i, 0], [0.0], law, 0.1, 20, BY_ITSELF, parameters={"gain": gains[0, k]})
        assert np.array_equal(path.q[i, k], alone.q) and np.array_equal(path.v[i, k], alone.v)
        fine = pendulum.rollout(q0[i, 0], [0.0], law, 1e-4, 20_000, "rk4", every=1000, parameters={"gain": gains[0, k]})
        close(alone.q, fine.q, 1e-5)
    u = np.random.default_rng(0).normal(size=(3, 20, 1))
    held = pendulum.rollout([0.5], [0.0], u, 0.1, 20, BY_ITSELF, tolerance=1e-10)
    fine = pendulum.rollout([0.5], [0.0], np.repeat(u, 100, axis=1), 1e-3, 2000, "rk4", every=100)
    close(held.q, fine.q, 1e-9)


@pytest.mark.sweep
def test_a_free_body_by_its_own_steps():
    robot = kt.Robot(kt.random_model(1, 1, ("revolute",), base="floating"))
    rng = np.random.default_rng(0)
    q0, v0 = robot.random(rng, 3), rng.normal(size=(3, robot.nv))
    path = robot.rollout(q0, v0, None, 0.05, 10, BY_ITSELF, tolerance=1e-10)
    fine = robot.rollout(q0, v0, None, 5e-4, 1000, "rk4", every=100)
    close(path.v, fine.v, 1e-6)
    close(np.linalg.norm(path.q[..., 3:7], axis=-1), np.ones((3, 11)), 1e-12)


def test_a_ball_bounces(ball):
    """Dropped from h it lands at √(2h/g), flies for 2 e v/g after a bounce with restitution e, and e² h high."""
    e, heights = 0.8, np.array([0.5, 1.0, 2.0])
    ground = kt.Event(lambda robot, q: q[0], -1, effect=lambda robot, q, v: (q, -e * v), name="ground")
    path = ball.rollout(heights[:, None], [0.0], None, 0.01, 200, BY_ITSELF, tolerance=1e-10, events=ground)
    assert path.q.min() > -1e-12
    for k, height in enumerate(heights):
        times = [event.t for event in path.events if event.index == (k,)]
        first = np.sqrt(2 * height / 9.81)
        flights = 2 * np.sqrt(2 * height / 9.81) * e ** np.arange(1, 20)
        expected = first + np.concatenate([[0.0], np.cumsum(flights)])
        expected = expected[expected < 2.0]
        assert len(times) == len(expected) >= 2
        close(np.array(times), expected, 1e-9)
        top = first + flights[0] / 2
        near = np.argmin(np.abs(path.t - top))
        close(path.q[k, near, 0], e**2 * height - 0.5 * 9.81 * (path.t[near] - top) ** 2, 1e-9)
    assert path.state(1).events[0].index == () and path.state(1).events[0].v[0] < 0.0


def test_directions_and_ends(pendulum, ball):
    """A pendulum passes its lowest point twice in a period; a terminal event ends a state there and no other."""
    down = [kt.Event(lambda robot, q: q[0], direction, name=name) for direction, name in ((1, "up"), (-1, "down"))]
    either = kt.Event(lambda robot, q, v, t: q[0] + 0.0 * t, name="either")
    path = pendulum.rollout([1.0], [0.0], None, 0.05, 100, BY_ITSELF, events=[*down, either])
    T = period(1.0)
    times = {name: np.array([x.t for x in path.events if x.name == name]) for name in ("up", "down", "either")}
    close(times["down"], T / 4 + T * np.arange(len(times["down"])), 1e-6)
    close(times["up"], 3 * T / 4 + T * np.arange(len(times["up"])), 1e-6)
    assert np.array_equal(np.sort(np.concatenate([times["down"], times["up"]])), times["either"])
    ground = kt.Event(lambda robot, q: q[0], terminal=True, name="ground")
    path = ball.rollout([[1.0], [100.0]], [0.0], None, 0.1, 20, BY_ITSELF, events=ground)
    assert path.steps.tolist() == [4, 20] and not path.diverged.any() and len(path.events) == 1
    close(path.q[0, 5:], np.zeros((16, 1)), 1e-10)
    close(path.v[0, 5:], np.full((16, 1), -np.sqrt(2 * 9.81)), 1e-7)
    close(path.q[1, :, 0], 100.0 - 0.5 * 9.81 * path.t**2, 1e-9)


def test_a_ball_that_would_bounce_for_ever_stops(ball):
    ground = kt.Event(lambda robot, q: q[0], -1, effect=lambda robot, q, v: (0.0 * q, -0.5 * v))
    with pytest.warns(kt.DivergenceWarning, match="the state diverged after 13 of 30 steps"):
        path = ball.rollout([1.0], [0.0], None, 0.1, 30, BY_ITSELF, events=ground)
    assert path.diverged and 20 < len(path.events) < 60
    close(path.events[-1].t, 3 * np.sqrt(2 / 9.81), 1e-6)


def test_events_at_equal_intervals_go_on(ball):
    """A step as long as the last interval ends where the next event is, but for rounding."""
    top = kt.Event(lambda robot, q: q[0] - 1e-4, effect=lambda robot, q, v: (0.0 * q, v))
    path = ball.rollout([0.0], [1.0], [ball.mass * 9.81], 1e-3, 4, BY_ITSELF, events=top)
    assert not path.diverged
    close(np.array([event.t for event in path.events]), 1e-4 * np.arange(1, 41), 1e-12)


def test_a_law_of_time_is_not_stepped_over(ball):
    """A push to and fro every half second, between which the motion is a parabola that any step would do for."""

    @kt.compile(shapes={"t": ()})
    def to_and_fro(robot, q, v, t):
        return robot.gravity_forces(q) + kt.where(kt.less(kt.sin(2.0 * np.pi * t), 0.0), -1.0, 1.0) * robot.mass

    path = ball.rollout([0.0], [0.0], to_and_fro, 0.05, 80, BY_ITSELF)
    close(path.q[-1], np.array([4 * 0.25]), 1e-3)
    close(path.v[-1], np.zeros(1), 1e-3)


def test_a_motion_that_begins_at_an_event(ball):
    """Thrown at the ground it lies on, a ball bounces; thrown away from it, it comes back."""
    ground = kt.Event(lambda robot, q: q[0], -1, effect=lambda robot, q, v: (q, -0.5 * v))
    path = ball.rollout([[0.0], [0.0]], [[-2.0], [1.0]], None, 0.01, 15, BY_ITSELF, events=ground)
    close(path.q[..., 0], np.tile(path.t - 0.5 * 9.81 * path.t**2, (2, 1)), 1e-9)
    assert [(event.index, event.t < 1e-12) for event in path.events] == [((0,), True)]


def test_events_at_one_instant_all_happen(ball):
    """The one that is located first does not hide the others behind its rounding."""
    noted = kt.Event(lambda robot, q: 3.0 * q[0], effect=lambda robot, q, v: (q, v), name="noted")
    ground = kt.Event(lambda robot, q: q[0], effect=lambda robot, q, v: (q, -v), name="ground")
    for events in ([noted, ground], [ground, noted]):
        path = ball.rollout([1.0], [0.0], None, 0.01, 60, BY_ITSELF, events=events)
        assert {event.name for event in path.events} == {"noted", "ground"} and len(path.events) == 2
        assert path.v[-1, 0] > 0.0


@pytest.mark.sweep
def test_an_effect_leaves_a_configuration():
    robot = kt.load("quadruped", base="floating")
    q0 = robot.neutral()
    height = float(q0[2]) - 1e-4
    fall = kt.Event(lambda robot, q: q[2] - height, effect=lambda robot, q, v: (2.0 * q, v), name="fall")
    with pytest.raises(kt.ArgumentError, match=r"q after event 'fall' has a quaternion .* of norm 2; expected"):
        robot.rollout(q0, np.zeros(robot.nv), None, 1e-3, 20, BY_ITSELF, events=fall)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"function": None}, "function is None; expected a function"),
        ({"direction": np.array([1, 0])}, r"direction is array\(\[1, 0\]\); expected -1, 0 or 1"),
        ({"terminal": "yes"}, "terminal is 'yes'; expected True or False"),
        ({"name": 3}, "name is 3; expected a word"),
    ],
)
def test_what_is_no_event(arguments, sentence):
    with pytest.raises(kt.KinetreeError, match=sentence):
        kt.Event(**{"function": lambda robot, q: q[0], **arguments})


def test_constraints_hold_at_its_steps():
    robot = four_bar()
    system = robot.constrained(kt.Loop("coupler_end", "rocker_end"))
    q, v = system.projected(four_bar_at(1.0), np.ones(3))
    path = system.rollout(q, v, None, 0.01, 200, BY_ITSELF)
    fine = system.rollout(q, v, None, 1e-4, 20_000, "rk4", every=100)
    close(path.q, fine.q, 1e-5)
    assert np.abs(system.position_error(path.q)).max() < 1e-6


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"tolerance": 0.0}, "tolerance is 0; expected a number between zero and one"),
        ({"tolerance": 1e-6, "integrator": "rk4"}, "'rk4' has constant steps of dt"),
        ({"law_or_controls": lambda q, v, t: q}, "has adaptive steps; expected efforts as an array"),
        ({"record": ("q", "tau")}, "record is 'tau'; 'dormand-prince' records 'q' and 'v'"),
        ({"events": 3}, "events has 3; expected a kt.Event"),
        ({"events": kt.Event(lambda robot, q: q), "integrator": "rk4"}, "events are looked for by"),
        (
            {"events": kt.Event(lambda robot, q: kt.zeros(2))},
            r"event '<lambda>' gives shape \(2,\); expected one number",
        ),
        ({"events": kt.Event(lambda robot, q, k: q[0])}, "that of an event takes robot, q, v and t|of unknown shape"),
    ],
)
def test_wrong_arguments(ball, arguments, sentence):
    right = {"q0": [1.0], "v0": [0.0], "law_or_controls": None, "dt": 0.1, "steps": 4, "integrator": BY_ITSELF}
    with pytest.raises(kt.KinetreeError, match=sentence):
        ball.rollout(**{**right, **arguments})


def test_wrong_events():
    with pytest.raises(kt.ArgumentError, match="direction is 2; expected -1, 0 or 1"):
        kt.Event(lambda robot, q: q[0], 2)
    with pytest.raises(kt.ArgumentTypeError, match="function is 3; expected a function"):
        kt.Event(3)
