"""Rollouts of scenes of equal trees, beside those of code for the whole."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.model import forest
from kinetree.robot import trees

ARM = """
<body name="upper{k}" pos="{k} 0 1"><joint name="shoulder{k}" axis="0 1 0" damping="0.1"/>
  <geom type="capsule" size="0.1 0.2"/>
  <body name="hand{k}" pos="0 0 -0.4"><joint name="wrist{k}" type="ball"/><geom size="0.05" pos="0.1 0 0"/></body>
</body>"""
TEXT = f"""<mujoco><worldbody>{ARM.format(k=0)}<body name="box"><freejoint name="float"/><geom size="0.1"/></body>
{ARM.format(k=1)}{ARM.format(k=2)}</worldbody></mujoco>"""


@pytest.fixture
def robots(monkeypatch: pytest.MonkeyPatch) -> tuple[kt.Robot, kt.Robot]:
    """A scene that is compiled by trees, and the same compiled as a whole."""
    monkeypatch.setattr(trees, "MANY_BODIES", 0)
    whole = kt.load(TEXT)
    monkeypatch.setattr(
        type(whole.model), "copies", property(lambda model: () if model is whole.model else trees_of(model))
    )
    return kt.load(TEXT), whole


def trees_of(model):
    return forest.copies(model)


def start(robot: kt.Robot, *batch: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    q = robot.integrate(robot.neutral(), 0.3 * rng.normal(size=(*batch, robot.nv)))
    return q, rng.normal(size=(*batch, robot.nv))


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "rk4", "dormand-prince"])
def test_as_the_whole(robots, integrator):
    scene, whole = robots
    q, v = start(scene, 2)
    ours, theirs = (robot.rollout(q, v, None, 1e-2, 20, integrator, every=2) for robot in (scene, whole))
    assert ours.q.shape == theirs.q.shape == (2, 11, scene.nq)
    np.testing.assert_allclose(ours.q, theirs.q, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(ours.v, theirs.v, rtol=1e-7, atol=1e-6)
    assert np.array_equal(ours.t, theirs.t)
    assert (ours.names, ours.units) == (theirs.names, theirs.units)
    assert ours.diverged.shape == ours.steps.shape == (2,)


@pytest.mark.parametrize("shape", [(), (20,), (1,), (3, 20), (3, 1)])
def test_controls_of_every_shape(robots, shape):
    scene, whole = robots
    controls = 1e-3 * np.random.default_rng(2).normal(size=(*shape, scene.nv))
    q, v = start(scene)
    ours, theirs = (robot.rollout(q, v, controls, 1e-2, 20, record=("tau", "q")) for robot in (scene, whole))
    for name in ("tau", "q"):
        assert ours[name].shape == theirs[name].shape
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-9, atol=1e-9)


def test_wrong_arguments_are_said_of_the_whole(robots):
    scene, _ = robots
    q, v = start(scene)
    with pytest.raises(kt.ArgumentError, match=r"q0 has shape \(21,\); expected \(…, 22\)"):
        scene.rollout(q[:-1], v, None, 1e-2, 5)
    with pytest.raises(kt.ArgumentError, match="controls"):
        scene.rollout(q, v, np.zeros(3), 1e-2, 5)
    q[scene.joint("wrist2").q_slice] *= 1.1
    with pytest.raises(kt.ArgumentError, match="q0 has a quaternion"):
        scene.rollout(q, v, None, 1e-2, 5)


def test_one_tree_diverges_alone(robots):
    scene, _ = robots
    q, v = start(scene)
    controls = np.zeros(scene.nv)
    controls[scene.joint("wrist1").v_slice] = 1e160
    with pytest.warns(kt.DivergenceWarning, match="other trees of the scene go on"):
        motion = scene.rollout(q, v, controls, 1e-2, 20)
    assert motion.diverged
    assert motion.steps < 20
    assert np.isfinite(motion.q).all()
    assert not np.array_equal(motion.q[-1, scene.joint("wrist2").q_slice], motion.q[-2, scene.joint("wrist2").q_slice])


def test_laws_forces_and_contacts_are_of_the_whole(robots):
    scene, whole = robots
    q, v = start(scene)
    law = kt.compile(lambda robot, q, v: -0.1 * v)
    ours, theirs = (robot.rollout(q, v, law, 1e-2, 5) for robot in (scene, whole))
    np.testing.assert_allclose(ours.q, theirs.q, rtol=1e-10, atol=1e-10)
