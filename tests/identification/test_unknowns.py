"""Torques are linear in what is sought, whatever is known beside it; the robot with other values has their torques."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification.unknowns import Unknowns
from peers import close
from states import state_of

TERMS = ("armature", "damping", "friction", "stribeck", "offset")


def random_states(robot, count, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(rng, count), *rng.normal(size=(2, count, robot.nv))


def sprung():
    """An arm with springs, friction and rotors of its own."""
    builder = kt.ModelBuilder("sprung")
    builder.link("stand")
    dynamics = kt.JointDynamics(armature=0.3, damping=0.2, friction=0.1, stiffness=4.0, rest=0.2)
    before = "stand"
    for k, axis in enumerate([(0, 1, 0), (1, 0, 0), (0, 0, 1)]):
        builder.link(f"link{k}", kt.solids.box((0.1, 0.2, 0.3 + 0.1 * k), mass=1.0 + k).shifted((0.1, 0.05, 0.1)))
        builder.joint(f"joint{k}", "revolute", before, f"link{k}", axis=axis, xyz=(0, 0.1, 0.3), dynamics=dynamics)
        before = f"link{k}"
    return builder


@pytest.mark.parametrize("passive", [True, False])
def test_what_is_sought_and_what_is_known_are_all_torques(passive):
    robot = kt.Robot(sprung().build(passive=passive))
    q, v, a = random_states(robot, 20)
    wrenches = {"link2": np.random.default_rng(1).normal(size=(20, 6))}
    for bodies, terms in ((None, TERMS), (["link1"], ()), ([], ("damping",)), (None, ("armature", "friction"))):
        unknowns = Unknowns.of(robot, bodies, terms, 0.1)
        sought = unknowns.whole(q, v, a) @ unknowns.active
        close(sought + unknowns.known(q, v, a, {}), robot.inverse_dynamics(q, v, a), 1e-9)
        close(sought + unknowns.known(q, v, a, wrenches), robot.inverse_dynamics(q, v, a, wrenches), 1e-9)


def test_the_robot_with_other_values_has_their_torques():
    robot = kt.Robot(sprung().build(passive=True))
    unknowns = Unknowns.of(robot, None, ("armature", "damping", "friction"), 0.1)
    theta = 1.3 * unknowns.values
    other = unknowns.robot_with(theta)
    q, v, a = random_states(robot, 20)
    close(unknowns.whole(q, v, a) @ theta + unknowns.known(q, v, a, {}), other.inverse_dynamics(q, v, a), 1e-9)
    assert other.body_names == robot.body_names and other.to_mjcf()


def test_friction_of_a_model_that_leaves_it_out_is_not_added_to_what_is_found():
    robot = kt.Robot(sprung().build(passive=False))
    unknowns = Unknowns.of(robot, None, ("damping",), 0.1)
    theta = unknowns.values.copy()
    theta[unknowns.n_inertial :] = 0.7
    q, v, a = random_states(robot, 5)
    other = unknowns.robot_with(theta)
    close(unknowns.whole(q, v, a) @ theta + unknowns.known(q, v, a, {}), other.inverse_dynamics(q, v, a), 1e-9)


def test_links_that_are_fixed_together_are_one_body():
    arm = kt.edit.attach(kt.load("planar2"), "forearm_link", kt.solids.box((0.1, 0.1, 0.1), mass=2.0), xyz=(0.5, 0, 0))
    unknowns = Unknowns.of(arm, None, (), 0.1)
    q, v, a = random_states(arm, 5)
    close(unknowns.robot_with(unknowns.values).inverse_dynamics(q, v, a), arm.inverse_dynamics(q, v, a), 1e-9)


def test_a_floating_base_has_no_friction():
    robot = kt.load("quadruped", "floating")
    unknowns = Unknowns.of(robot, ["base_link"], ("damping",), 0.1)
    assert len(unknowns.names) == 10 + 12
    state = state_of(robot, np.random.default_rng(0))
    q, v, a = (getattr(state, x)[None] for x in "qva")
    close(
        unknowns.whole(q, v, a) @ unknowns.active + unknowns.known(q, v, a, {}), robot.inverse_dynamics(q, v, a), 1e-9
    )


def test_base_parameters_with_rotors():
    """A rotor about the vertical cannot be told from the link it turns; those of other joints can."""
    arm = kt.load("arm6")
    plain, geared = (len(Unknowns.of(arm, None, terms, 0.1).base) for terms in ((), ("armature",)))
    assert plain < geared <= plain + 6
    words = Unknowns.of(arm, None, ("armature",), 0.1).base.describe()
    assert any(f"{arm.joint_names[0]}.armature" in word and "+" in word for word in words)


def test_names_and_refusals():
    robot = kt.load("planar2")
    unknowns = Unknowns.of(robot, ["forearm_link"], ("damping",), 0.1)
    assert unknowns.names[0] == "forearm_link.mass"
    assert unknowns.names[-1] == f"{robot.joint_names[-1]}.damping"
    with pytest.raises(kt.UnknownNameError, match="body 'forarm_link' does not exist; did you mean 'forearm_link'"):
        Unknowns.of(robot, ["forarm_link"], (), 0.1)
    with pytest.raises(kt.ArgumentError, match="bodies is empty, and neither friction nor armature is sought"):
        Unknowns.of(robot, [], (), 0.1)
    wrong = unknowns.values.copy()
    wrong[0] = -1.0
    with pytest.raises(kt.ModelError, match=r"body 'forearm_link' would have mass -1 kg"):
        unknowns.robot_with(wrong)
