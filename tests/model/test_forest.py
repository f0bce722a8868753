"""Trees on the world, and which of them are copies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.builder import ModelBuilder


def forest(turns: list[float], **changed: float) -> ModelBuilder:
    """Arms of a hinge and a slide on one base, one beside the other and turned about x."""
    builder = ModelBuilder("forest")
    builder.link("base")
    for k, turn in enumerate(turns):
        for link, mass in (("upper", 1.0 + changed.get(f"mass{k}", 0.0)), ("lower", 0.5)):
            builder.link(f"{link}{k}", kt.Inertia.from_com(mass, [0.1, 0.0, 0.2], 0.01 * np.eye(3)))
        builder.joint(f"shoulder{k}", "revolute", "base", f"upper{k}", axis=[0, 1, 0], xyz=[k, 0, 0], rpy=[turn, 0, 0])
        builder.joint(f"slide{k}", "prismatic", f"upper{k}", f"lower{k}", axis=[0, 0, 1], xyz=[0, 0, 0.5])
    return builder


def places(builder: ModelBuilder) -> list[tuple[tuple[int, int], ...]]:
    return [each.places for each in builder.build("fixed").copies]


def test_copies_stand_anywhere_and_have_other_names():
    assert places(forest([0.0, 0.0, 0.0])) == [((0, 0), (2, 2), (4, 4))]


def test_other_trees_are_apart():
    assert places(forest([0.0, 0.3, 0.0])) == [((0, 0), (4, 4)), ((2, 2),)]
    assert places(forest([0.0, 0.0, 0.0], mass1=0.1)) == [((0, 0), (4, 4)), ((2, 2),)]


@pytest.mark.parametrize("builder", [forest([]), forest([0.0]), forest([0.0, 0.3])], ids=["none", "one", "different"])
def test_nothing_to_share(builder):
    assert places(builder) == []


def test_trees_that_are_connected_are_not_copies():
    mimic = forest([0.0, 0.0])
    mimic.link("tip", kt.Inertia.from_com(0.1, [0, 0, 0], 1e-3 * np.eye(3)))
    mimic.joint("finger", "revolute", "lower1", "tip", axis=[0, 1, 0], mimic=kt.Mimic("shoulder0"))
    assert places(mimic) == []
    tendon = forest([0.0, 0.0])
    tendon.tendon(kt.model.tendons.Tendon("cord", (("shoulder0", 1.0), ("shoulder1", 1.0)), stiffness=1.0))
    assert places(tendon) == []


def test_mimics_and_tendons_within_a_tree_are_copied():
    builder = forest([0.0, 0.0])
    for k in range(2):
        builder.link(f"tip{k}", kt.Inertia.from_com(0.1, [0, 0, 0.1], 1e-3 * np.eye(3)))
        builder.joint(f"finger{k}", "revolute", f"lower{k}", f"tip{k}", axis=[0, 1, 0], mimic=kt.Mimic(f"shoulder{k}"))
        builder.tendon(kt.model.tendons.Tendon(f"cord{k}", ((f"shoulder{k}", 1.0), (f"slide{k}", 2.0)), stiffness=1.0))
    (found,) = builder.build("fixed", passive=True).copies
    assert found.places == ((0, 0), (2, 2))
    assert found.model.has_mimics
    assert len(found.model.tendons) == 1


def test_numbers_that_are_inputs_are_not_shared():
    assert forest([0.0, 0.0]).build("fixed", parametric=("inertial",)).copies == ()


def test_forces_that_hold_a_copy_up_are_its_own():
    builder = forest([0.0, 0.0, 0.0])
    builder.links["upper1"] = replace(builder.links["upper1"], compensated=builder.links["upper1"].inertia)
    assert [each.places for each in builder.build("fixed", passive=True).copies] == [((0, 0), (4, 4)), ((2, 2),)]


def test_tendons_that_go_by_frames_are_not_copied():
    builder = forest([0.0, 0.0])
    for k in range(2):
        builder.tendon(kt.Tendon(f"cord{k}", path=("base", f"lower{k}"), stiffness=1.0))
    assert places(builder) == []
