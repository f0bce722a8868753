"""The faster of two algorithms, which agree."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms import aba, factorization
from kinetree.algorithms.forward_dynamics import FEW_JOINTS, forward_dynamics


@pytest.mark.parametrize(("name", "chosen"), [("arm6", factorization), ("humanoid", aba)])
def test_the_one_with_fewer_operations_is_chosen(name, chosen, monkeypatch):
    model = kt.load(name, base="floating" if name == "humanoid" else "fixed").model
    assert (model.nv <= FEW_JOINTS) == (chosen is factorization)
    rng = np.random.default_rng(0)
    q, v, tau = kt.Robot(model).random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    a = forward_dynamics(model, q, v, tau)
    assert np.array_equal(a, chosen.forward_dynamics(model, q, v, tau))
    for other in (aba, factorization):
        np.testing.assert_allclose(other.forward_dynamics(model, q, v, tau), a, rtol=1e-8, atol=1e-8)
