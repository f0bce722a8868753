"""Base parameters explain all torques, are as many as the regressor's rank, and match what books say of small arms."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kinetree as kt
from peers import close
from states import state_of


@given(st.integers(0, 2**32 - 1), st.sampled_from(["fixed", "floating"]))
@pytest.mark.sweep
def test_they_explain_all_torques_and_are_as_many_as_the_rank(seed, base):
    rng = np.random.default_rng(seed)
    robot = kt.Robot(kt.random_model(rng, 4, base=base)).eager
    assume(robot.nv)
    found = kt.identification.base_parameters(robot)
    Y = np.concatenate([robot.regressor(*(getattr(state_of(robot, rng), x) for x in "qva")) for _ in range(40)])
    assert len(found) == np.linalg.matrix_rank(Y / np.maximum(1e-12, np.linalg.norm(Y, axis=0)), tol=1e-7)
    phi = robot.parameters
    close(found.columns(Y) @ found.of(phi), Y @ phi, 1e-8)


def test_a_floating_body_shows_all_ten():
    builder = kt.ModelBuilder("box")
    builder.link("box", kt.solids.box((1, 2, 3), mass=2.0))
    found = kt.identification.base_parameters(kt.Robot(builder.build("floating")))
    assert len(found) == 10 and found.unidentifiable == ()
    assert found.describe()[0] == "box.mass"


def test_a_pendulum_shows_three():
    """About y in gravity along z: m c_x, m c_z and Iyy."""
    builder = kt.ModelBuilder("pendulum")
    builder.link("stand")
    builder.link("rod", kt.solids.box((0.1, 0.1, 1.0), mass=1.0).shifted((0, 0, -0.5)))
    builder.joint("hinge", "revolute", "stand", "rod", axis=(0, 1, 0))
    found = kt.identification.base_parameters(kt.Robot(builder.build()))
    assert found.describe() == ["rod.mx", "rod.mz", "rod.Iyy"]
    assert "rod.mass" in found.unidentifiable


def test_a_planar_arm_of_two_links():
    """Six in a vertical plane; to the first link the second is a point mass at its end."""
    found = kt.identification.base_parameters(kt.load("planar2"))
    words = found.describe()
    assert len(words) == 6
    assert "upper_arm_link.Iyy + forearm_link.mass" in words  # its length is 1 m
    assert "upper_arm_link.mx + forearm_link.mass" in words


def test_friction_and_rotors_are_parameters_too():
    puma = kt.load("puma560")
    plain = kt.load("puma560", passive=False)
    assert len(kt.identification.base_parameters(puma)) == len(kt.identification.base_parameters(plain)) + 12


def test_what_cannot_be_asked():
    builder = kt.ModelBuilder("stone")
    builder.link("stone")
    with pytest.raises(kt.ArgumentError, match="'stone' has no joint that moves"):
        kt.identification.base_parameters(kt.Robot(builder.build()))
    with pytest.raises(kt.ArgumentTypeError, match=r"robot is 'arm6'; expected a robot, such as kt"):
        kt.identification.base_parameters("arm6")
