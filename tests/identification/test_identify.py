"""Parameters that made the torques are found again: of arms, floating bases, payloads, rotors, friction, offsets."""

import numpy as np
import pytest

import kinetree as kt
from recorded_motions import exact, other_than, waves

ARM = kt.load("planar2")
identify = kt.identification.identify


def test_base_parameters_of_another_robot_are_found():
    truth = other_than(ARM, np.random.default_rng(0))
    result = identify(ARM, exact(truth, noise=1e-6), friction=False)
    expected = result.base.of(truth.parameters)
    assert np.allclose(result.base_parameters, expected, atol=1e-4 * np.abs(expected).max())
    assert not np.allclose(result.base.of(ARM.parameters), expected, rtol=0.02)
    assert result.identifiable.all() and result.findings == () and result.inconsistent == ()
    _, q, v, a = waves(ARM, seed=9)
    assert np.allclose(result.robot.inverse_dynamics(q, v, a), truth.inverse_dynamics(q, v, a), atol=1e-3)
    assert np.allclose(result.predict(q, v, a), truth.inverse_dynamics(q, v, a), atol=1e-3)


def test_friction_rotors_and_offsets():
    t, q, v, a = waves(ARM, duration=20.0, rate=100.0)
    added = 0.6 * a + 0.4 * v + 0.3 * v / np.sqrt(v**2 + 0.01**2) + [1.0, -2.0]
    tau = ARM.inverse_dynamics(q, v, a) + added * [1.0, 0.5]
    recording = {"t": t, "q": q, "v": v, "a": a, "tau": tau + 1e-4 * np.random.default_rng(0).normal(size=tau.shape)}
    result = identify(ARM, recording, armature=True, offset=True)
    first, second = ARM.joint_names
    expected = {"damping": (0.4, 0.2), "friction": (0.3, 0.15), "offset": (1.0, -1.0)}
    for name, value in (
        (f"{joint}.{term}", x)
        for term, pair in expected.items()
        for joint, x in zip((first, second), pair, strict=True)
    ):
        assert result[name] == pytest.approx(value, abs=2e-3), name
    robot = result.robot
    assert robot.model.passive and robot.model.joints[1].dynamics.friction == pytest.approx(0.3, abs=2e-3)
    assert np.allclose(robot.inverse_dynamics(q, v, a) - tau, [-1.0, 1.0], atol=5e-3)
    with pytest.raises(kt.UnknownNameError, match=r"parameter 'elbow\.dampng' does not exist"):
        result["elbow.dampng"]


def test_stribeck_friction():
    t, q, v, a = waves(ARM, duration=40.0, amplitude=0.3)
    step = v / np.sqrt(v**2 + 0.01**2)
    tau = ARM.inverse_dynamics(q, v, a) + step * (0.5 + 0.2 * np.exp(-((v / 0.1) ** 2)))
    result = identify(ARM, {"t": t, "q": q, "v": v, "a": a, "tau": tau}, friction=["coulomb", "stribeck"])
    assert result[f"{ARM.joint_names[0]}.stribeck"] == pytest.approx(0.2, abs=1e-3)
    assert np.allclose(result.predict(q, v, a), tau, atol=1e-3)


def test_positions_and_torques_are_enough():
    pytest.importorskip("scipy")
    truth = other_than(ARM, np.random.default_rng(2))
    recording = exact(truth, rate=500.0)
    result = identify(ARM, {name: recording[name] for name in ("t", "q", "tau")}, friction=False)
    expected = result.base.of(truth.parameters)
    assert result.cutoff is not None and np.abs(result.base_parameters - expected).max() < 0.02 * np.abs(expected).max()


@pytest.mark.sweep
def test_a_payload_on_a_known_arm():
    arm = kt.load("arm6")
    load = kt.solids.box((0.1, 0.2, 0.1), mass=1.7).shifted((0.02, -0.01, 0.12))
    carrying = kt.edit.attach(arm, "tool0", load)
    result = kt.identification.identify_payload(arm, exact(carrying, noise=1e-3, duration=4.0), "tool0")
    found = result.inertias["payload"]
    assert found.mass == pytest.approx(1.7, rel=1e-3) and np.allclose(found.com, load.com, atol=1e-3)
    assert np.allclose(found.I, load.I, atol=2e-3)
    assert result.names == tuple(
        f"payload.{name}" for name in ("mass", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
    )
    q, v, a = arm.random(1), np.ones(6), np.ones(6)
    assert np.allclose(result.robot.inverse_dynamics(q, v, a), carrying.inverse_dynamics(q, v, a), atol=0.05)


def test_priors_of_payloads():
    recording = exact(ARM, duration=1.0)
    with pytest.raises(kt.ArgumentTypeError, match=r"prior is 'model'; expected a kt\.Inertia"):
        kt.identification.identify_payload(ARM, recording, "tip", prior="model")
    with pytest.raises(kt.UnknownNameError, match="frame 'tool' does not exist"):
        kt.identification.identify_payload(ARM, recording, "tool")
    none = kt.identification.identify_payload(ARM, recording, "tip").inertias["payload"]
    assert 0.0 < none.mass < 0.2, "nothing is there, and the prior of a kilogram does not hold against the data"


def test_contact_wrenches_are_part_of_the_data():
    t, q, v, a = waves(ARM)
    wrench = np.stack([np.sin(t + k) * 5.0 for k in range(6)], axis=1)
    tau = ARM.inverse_dynamics(q, v, a, {"forearm_link": wrench})
    recording = {"t": t, "q": q, "v": v, "a": a, "tau": tau}
    told, untold = (identify(ARM, recording | more, friction=False) for more in ({"wrench.forearm_link": wrench}, {}))
    expected = told.base.of(ARM.parameters)
    assert np.allclose(told.base_parameters, expected, atol=1e-5) and told.residuals.max() < 1e-5
    assert np.abs(untold.base_parameters - expected).max() > 1e-2


@pytest.mark.sweep
def test_a_floating_base():
    """A body in free flight, pushed: without torques of motors its base shows the inertia."""
    robot = kt.load("quadruped", "floating")
    rng = np.random.default_rng(0)
    n = 600
    phase = 0.02 * np.arange(n)[:, None] * rng.uniform(0.5, 2.0, robot.nv)
    v, a = np.cos(phase), rng.normal(size=(n, robot.nv))
    q = robot.random(rng, n)
    push = 20.0 * rng.normal(size=(n, 6))
    recording = {"t": 1e-2 * np.arange(n), "q": q, "v": v, "a": a, "wrench.base_link": push}
    recording["tau"] = robot.inverse_dynamics(q, v, a, {"base_link": push})
    with pytest.raises(kt.ArgumentError, match="is not the rate of its q"):
        identify(robot, recording, friction=False)
    heavier = kt.edit.attach(robot, "base_link", kt.solids.box((0.1, 0.1, 0.1), mass=3.0))
    steady = np.tile(robot.neutral(), (n, 1))
    recording["q"] = steady
    recording["tau"] = heavier.inverse_dynamics(steady, v, a, {"base_link": push})
    result = identify(robot, recording, friction=False, bodies=["base_link"])
    assert result["base_link.mass"] == pytest.approx(heavier.model.inertias[1].mass, rel=1e-4)


def test_plain_least_squares_give_inertias_that_no_body_has():
    truth = kt.load("arm6")
    recording = exact(truth, noise=2.0, duration=4.0)
    plain, sound = (identify(truth, recording, friction=False, consistent=flag) for flag in (False, True))
    assert plain.inconsistent and not sound.inconsistent
    with pytest.raises(kt.ModelError, match="expected parameters that were identified with consistent=True"):
        _ = plain.robot
    assert "no body has the inertia of" in plain.report() and sound.robot.check() is not None
    assert np.allclose(plain.base_parameters, plain.base_estimate, atol=1e-8)
    _, q, v, a = waves(truth, seed=5)
    errors = [np.abs(each.predict(q, v, a) - truth.inverse_dynamics(q, v, a)).mean() for each in (plain, sound)]
    assert errors[1] < errors[0], "what is impossible also predicts worse"


def test_priors():
    recording = exact(ARM, noise=1e-6)
    other = other_than(ARM, np.random.default_rng(3))
    by_model, by_robot, by_array = (
        identify(ARM, recording, friction=False, prior=prior) for prior in ("model", other, other.parameters)
    )
    assert np.array_equal(by_robot.parameters, by_array.parameters)
    assert not np.allclose(by_robot.parameters, by_model.parameters)
    assert np.allclose(by_robot.base_parameters, by_model.base_parameters, atol=1e-5), "the data decide on these"
    shortest = identify(ARM, recording, friction=False, prior=None, consistent=False)
    assert np.linalg.norm(shortest.parameters) < np.linalg.norm(by_model.parameters)
    with pytest.raises(kt.ArgumentError, match="prior is None; a consistent estimate needs one"):
        identify(ARM, recording, prior=None)
    with pytest.raises(kt.ArgumentError, match="expected a robot with the bodies and joints of"):
        identify(ARM, recording, prior=kt.load("cartpole"))


def test_both_metrics():
    pytest.importorskip("clarabel")
    recording = exact(other_than(ARM, np.random.default_rng(4)), noise=1e-3)
    one, two = (identify(ARM, recording, friction=False, metric=metric) for metric in ("entropic", "pullback"))
    assert np.allclose(one.base_parameters, two.base_parameters, atol=1e-3) and not two.inconsistent


def test_what_the_data_cannot_see_is_told():
    t, q, v, a = (x if k == 0 else x * ([1.0, 1.0] if k == 0 else [1.0, 0.0]) for k, x in enumerate(waves(ARM)))
    tau = ARM.inverse_dynamics(q, v, a) + 0.01 * np.random.default_rng(0).normal(size=q.shape)
    result = identify(ARM, {"t": t, "q": q, "v": v, "a": a, "tau": tau})
    second = ARM.joint_names[1]
    assert any(sentence.startswith("the data cannot see") for sentence in result.findings)
    assert any(f"{second} does not move" in sentence for sentence in result.findings)
    assert f"{second}.damping" in result.unseen and not result.identifiable.all()
    assert np.isinf(result.base_standard_errors).any() and "not identifiable" in result.report()
    assert np.isfinite(result.parameters).all() and not result.inconsistent, "the prior has the rest"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "best"}, "method is 'best'; expected 'ordinary' or 'weighted' or 'huber'"),
        ({"metric": "flat"}, "metric is 'flat'; expected 'entropic' or 'pullback'"),
        ({"spread": 0.0}, "spread is 0; expected a positive number"),
        ({"cutoff": -1.0}, "cutoff is -1; expected a positive number"),
        ({"armature": "yes"}, "armature is 'yes'; expected True or False"),
        ({"prior": np.zeros(3)}, r"prior has shape \(3,\); expected \(24,\)"),
        ({"prior": "none"}, "prior is 'none'; expected 'model'"),
        ({"bodies": ["hand"]}, "body 'hand' does not exist"),
    ],
)
def test_what_cannot_be_asked(options, sentence):
    with pytest.raises((kt.ArgumentError, kt.ArgumentTypeError), match=sentence):
        identify(ARM, exact(ARM, duration=1.0), **options)


def test_float32_robots_are_identified_in_float64():
    result = identify(ARM.astype("float32"), exact(ARM), friction=False)
    assert np.allclose(result.base_parameters, result.base.of(ARM.parameters), atol=1e-5)


def test_few_samples_and_far_data():
    recording = exact(ARM)
    with pytest.raises(kt.ArgumentError, match="8 samples are too few for 10 base parameters; expected 10"):
        identify(ARM, {name: column[:8] for name, column in recording.items()})
    for factor in (1e3, 1e-3):
        result = identify(ARM, recording | {"tau": factor * recording["tau"]}, friction=False)
        assert np.allclose(
            result.base_parameters, factor * result.base.of(ARM.parameters), rtol=0.05, atol=0.01 * factor
        )
        assert "are they in N m and N?" in result.findings[0] and not result.inconsistent
