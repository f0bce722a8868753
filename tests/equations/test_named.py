"""The numbers of a model by their names: putting the values back gives the model.

Covers: equations/derive.py.
"""

import numpy as np
import pytest

import kinetree as kt
from kinetree.equations.derive import derive, parallel
from kinetree.equations.named import as_kinds, renamed
from peers import close
from textbook import furuta, scara


@pytest.mark.parametrize("seed", range(5))
def test_values_in_place_give_the_model(seed):
    model = kt.random_model(seed, 6)
    again = renamed(model, lambda parameter: parameter.value)
    for ours, theirs in zip(again.inertias[1:], model.inertias[1:], strict=True):
        close(ours.parameters().astype(float), theirs.parameters(), 1e-13)
    for ours, theirs in zip(again.placements, model.placements, strict=True):
        assert np.array_equal(ours.p.astype(float), theirs.p)
    assert np.array_equal(again.gravity.astype(float), model.gravity)


def test_names_are_those_of_textbooks():
    named = {parameter.name: parameter for parameter in derive(furuta().model).parameters}
    assert {"m1", "m2", "l1", "lc1", "lc2", "I1zz", "I2xx", "g"} <= set(named)
    assert named["lc2"].value == 0.15  # though it points down
    assert named["l1"].latex == "l_{1}" and named["lc1"].latex == "l_{c1}" and named["I2xx"].latex == "I_{2xx}"


def test_components_and_children_have_names_of_their_own():
    builder = kt.ModelBuilder("fork")
    builder.link("base")
    builder.link("stem", kt.Inertia.from_com(1.0, (0.1, 0.0, -0.2), np.eye(3)))
    builder.joint("turn", "revolute", "base", "stem")
    for k, xyz in enumerate([(0, 0.3, 0), (0.1, -0.3, 0)]):
        builder.link(f"prong{k}", kt.Inertia.from_com(0.5, (0, 0, 0), np.eye(3)))
        builder.joint(f"bend{k}", "revolute", "stem", f"prong{k}", axis=(1, 0, 0), xyz=xyz)
    names = [parameter.name for parameter in derive(builder.build(), ("length",)).parameters]
    assert sorted(names) == ["l1_2", "l1x_3", "l1y_3", "lc1x", "lc1z"]


def test_point_masses_have_no_inertia_of_their_own():
    builder = kt.ModelBuilder("pendulum")
    builder.link("base")
    builder.link("bob", kt.Inertia.from_com(0.3, (0.1, 0.2, -0.7), np.zeros((3, 3))))
    builder.joint("pivot", "revolute", "base", "bob", axis=(1, 0, 0))
    assert not derive(builder.build(), ("inertia",)).parameters


def test_kinds():
    assert as_kinds(True) == ("mass", "length", "inertia", "gravity")
    assert as_kinds(False) == () == as_kinds([])
    assert as_kinds("length") == ("length",)
    assert as_kinds(["gravity", "mass"]) == ("mass", "gravity")


def test_parallel_axes_make_groups():
    first, second, _, last = parallel(scara().model)
    assert first == second == last  # the quill between slides, and does not turn
    assert len(set(parallel(furuta().model))) == 2
    q1, q2, q3, q4, q5, q6 = parallel(kt.load("arm6").model)
    assert q2 == q3 == q4
    assert len({q1, q2, q5, q6}) == 4
