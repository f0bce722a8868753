"""Springs, dampers and friction over several joints, beside MuJoCo and by differences."""

import mujoco
import numpy as np
import pytest

import kinetree as kt
from mujoco_peer import MujocoPeer
from peers import close
from states import rate_along, state_of

TENDONS = """<tendon>
  <fixed name="band" stiffness="30" damping="2" springlength="{}">
    <joint joint="hip" coef="0.5"/><joint joint="slide" coef="-2"/></fixed>
  <fixed name="brake" frictionloss="1.5"><joint joint="hip" coef="1"/><joint joint="tip" coef="0.3"/></fixed>
</tendon>"""
TEXT = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="a"><joint name="hip" axis="0 1 0" ref="0.2"/><geom size="0.1" pos="0.2 0 0"/>
  <body name="b" pos="0.4 0 0"><joint name="slide" type="slide" axis="1 0 0"/><geom size="0.1" pos="0.2 0 0"/>
  <body name="c" pos="0.4 0 0"><joint name="tip" axis="0 0 1" stiffness="2" damping="0.3"/>
  <geom size="0.1" pos="0 0.1 0"/></body></body></body></worldbody>{}{}</mujoco>"""
TIE = '<equality><joint joint1="tip" joint2="hip" polycoef="0.1 1.5 0 0 0"/></equality>'


def text(rest="-0.1 0.1", tie=""):
    return TEXT.format(TENDONS.format(rest), tie)


@pytest.mark.parametrize("tie", ["", TIE], ids=["free", "a mimic joint"])
@pytest.mark.parametrize("rest", ["0.3", "-0.2 0.2"])
def test_efforts_are_mujocos(rest, tie):
    robot, model = kt.load(text(rest, tie)), mujoco.MjModel.from_xml_string(text(rest, tie))
    assert [tendon.name for tendon in robot.model.tendons] == ["band", "brake"]
    peer, rng = MujocoPeer(robot, model), np.random.default_rng(0)
    for _ in range(20):
        s = state_of(robot.eager, rng)
        peer.set(s.q, s.v, s.a)
        close(robot.eager.passive_forces(s.q, s.v), peer.passive_forces(), 1e-10)
        close(robot.eager.inverse_dynamics(s.q, s.v, s.a), peer.inverse_dynamics(), 1e-10)


def test_energy_power_and_derivatives():
    robot, rng = kt.load(text("-0.05 0.05")).eager, np.random.default_rng(1)
    for _ in range(10):
        s = state_of(robot, rng)
        tau = robot.inverse_dynamics(s.q, s.v, s.a)
        energy = rate_along(s, lambda q, v: robot.kinetic_energy(q, v) + robot.potential_energy(q))
        lost = tau @ s.v - energy
        drag = (robot.passive_forces(s.q, s.v) - robot.passive_forces(s.q, 0.0 * s.v)) @ s.v
        close(lost, drag, 1e-6)
        by_q, by_v = robot.inverse_dynamics_derivatives(s.q, s.v, s.a)
        h = 1e-6
        for k, e in enumerate(h * np.eye(robot.nv)):
            up, down = (robot.inverse_dynamics(s.q + d, s.v, s.a) for d in (e, -e))
            close((up - down) / (2 * h), by_q[:, k], 1e-5)
            up, down = (robot.inverse_dynamics(s.q, s.v + d, s.a) for d in (e, -e))
            close((up - down) / (2 * h), by_v[:, k], 1e-5)
        close(robot.forward_dynamics(s.q, s.v, tau), s.a, 1e-9)


def test_compiled_as_by_the_textbook():
    robot, rng = kt.load(text()), np.random.default_rng(2)
    s = state_of(robot, rng)
    close(robot.inverse_dynamics(s.q, s.v, s.a), robot.eager.inverse_dynamics(s.q, s.v, s.a), 1e-12)
    close(robot.forward_dynamics(s.q, s.v, s.a), robot.eager.forward_dynamics(s.q, s.v, s.a), 1e-10)


def test_written_switched_off_and_edited():
    robot = kt.load(text())
    s = state_of(robot.eager, np.random.default_rng(3))
    again = kt.load(robot.to_mjcf()).eager
    close(again.inverse_dynamics(s.q, s.v, s.a), robot.eager.inverse_dynamics(s.q, s.v, s.a), 1e-12)
    off = kt.load(robot.to_mjcf(), passive=False).eager
    assert not off.passive_forces(s.q, s.v).any()
    flagged = kt.load(text().replace("<mujoco>", "<mujoco><option><flag spring='disable'/></option>"))
    assert [tendon.stiffness for tendon in flagged.model.tendons] == [0.0, 0.0]
    renamed = kt.edit.rename(robot, joints={"hip": "h"})
    assert renamed.model.tendons[0].joints == (("h", 0.5), ("slide", -2.0))
    assert len(kt.edit.lock(robot, ["slide"]).model.tendons) == 1
    assert len(kt.edit.graft(robot, robot, "c", prefix="x_").model.tendons) == 4
    with pytest.raises(kt.ModelError, match="URDF cannot express the tendon 'band'"):
        robot.to_urdf()


def test_others_warn():
    content = text().replace('<fixed name="band" stiffness="30"', '<fixed name="band" armature="2" stiffness="30"')
    with pytest.warns(kt.ModelWarning, match="springs, damping, friction or armature of 1 tendon were ignored"):
        kt.load(content)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (dict(joints=()), "joints of tendon 't' is empty"),
        (dict(stiffness=-1), "stiffness is -1; expected zero or more"),
        (dict(rest=(2, 1)), r"rest is \(2, 1\); expected two lengths"),
    ],
)
def test_what_no_tendon_has(options, sentence):
    with pytest.raises(kt.ArgumentError, match=sentence):
        kt.Tendon("t", **({"joints": (("j", 1.0),)} | options))
