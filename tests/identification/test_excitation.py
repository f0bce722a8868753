"""Motions for identification keep limits, begin and end at rest, and are better conditioned than random ones."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification.excitation import _Search
from kinetree.identification.unknowns import Unknowns

pytest.importorskip("scipy")
ARM = kt.load("planar2")


@pytest.mark.sweep
def test_limits_hold_and_it_rests_at_both_ends():
    arm = kt.load("arm6")
    motion = kt.identification.excitation(arm, 8.0, iterations=30, starts=1, margin=0.2, friction=False)
    t = np.linspace(0.0, 8.0, 1601)
    q, v, a = motion(t)
    limits = arm.limits
    room = 0.2 * (limits.upper - limits.lower)
    assert np.all(q >= limits.lower + room - 1e-6) and np.all(q <= limits.upper - room + 1e-6)
    assert np.all(np.abs(v) <= 0.8 * limits.velocity * (1 + 1e-6))
    assert np.all(np.abs(arm.inverse_dynamics(q, v, a)) <= 0.8 * limits.effort * (1 + 1e-3))
    for end in (0, -1):
        assert np.allclose(v[end], 0.0, atol=1e-9) and np.allclose(a[end], 0.0, atol=1e-9)
    assert np.allclose(np.gradient(q, t, axis=0)[5:-5], v[5:-5], atol=1e-3)
    unknowns = Unknowns.of(arm, None, (), 0.1)
    rng = np.random.default_rng(0)
    search = _Search(unknowns, 8.0, 5, 0.2)
    random = [search.condition(search.run(rng, 0)) for _ in range(5)]
    assert motion.condition < 0.75 * min(random)


def test_gradients_are_those_of_the_value():
    search = _Search(Unknowns.of(ARM, None, ("armature", "damping", "friction"), 0.1), 5.0, 3, 0.1)
    search.effort = np.array([5.0, 2.0])  # so that some efforts are beyond
    z = np.random.default_rng(1).normal(size=(5, 2)).ravel()
    value, slope = search.value_and_gradient(z)
    finite = [
        (search.value_and_gradient(z + h)[0] - search.value_and_gradient(z - h)[0]) / 2e-6
        for h in 1e-6 * np.eye(len(z))
    ]
    assert np.allclose(slope, finite, rtol=1e-4, atol=1e-5 * np.abs(slope).max()) and value > 0.0


def test_it_shows_what_it_is_for():
    motion = kt.identification.excitation(ARM, 5.0, iterations=40)
    t = np.arange(0.0, 10.0, 0.01)
    q, v, a = motion(t)
    assert np.allclose(q[500:], q[:500]), "periodic"
    tau = ARM.inverse_dynamics(q, v, a) + 0.01 * np.random.default_rng(0).normal(size=q.shape)
    result = kt.identification.identify(ARM, {"t": t, "q": q, "v": v, "a": a, "tau": tau})
    assert result.identifiable.all() and result.condition == pytest.approx(motion.condition, rel=1.0)


def test_what_cannot_be_asked():
    with pytest.raises(kt.ArgumentError, match="expected one whose joints all have a motor and plain coordinates"):
        kt.identification.excitation(kt.load("quadruped", "floating"))
    with pytest.raises(kt.ArgumentError, match=r"margin is 0.5; expected a number from 0 to below 0.5"):
        kt.identification.excitation(ARM, margin=0.5)
    with pytest.raises(kt.ArgumentError, match="harmonics is 1; expected at least 2"):
        kt.identification.excitation(ARM, harmonics=1)
    with pytest.raises(kt.ArgumentError, match="duration is 0; expected a time above zero"):
        kt.identification.excitation(ARM, 0.0)
