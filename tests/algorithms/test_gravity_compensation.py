"""Forces that hold bodies up, beside MuJoCo and by differences; written, edited, switched off.

Covers: algorithms/passes/torque_derivatives.py.
"""

import mujoco
import numpy as np
import pytest

import kinetree as kt
from mujoco_peer import MujocoPeer
from peers import close
from states import rate_along, state_of

ROOTS = {"fixed": '<joint name="hip" axis="0 1 0.2"/>', "floating": '<freejoint name="base"/>'}


def text(root="fixed", outer=0.6):
    return f"""<mujoco><option gravity="1 0.5 -9.81"/><worldbody>
  <body name="a" gravcomp="1.0">{ROOTS[root]}<geom size="0.1" pos="0.2 0 0.03"/>
  <body name="b" pos="0.4 0 0" gravcomp="{outer}"><joint name="knee" axis="0.3 1 0"/><geom size="0.1" pos="0.2 0.1 0"/>
  <body name="welded" pos="0.1 0 0.2" gravcomp="2"><geom size="0.05" pos="0.02 0.1 0"/></body>
  <body name="c" pos="0.4 0 0"><joint name="ball" type="ball"/><geom size="0.1" pos="0 0.1 0.1"/></body>
  </body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("root", [*ROOTS])
def test_forces_are_mujocos(root):
    robot, model = kt.load(text(root)), mujoco.MjModel.from_xml_string(text(root))
    peer, rng = MujocoPeer(robot, model), np.random.default_rng(0)
    for _ in range(20):
        s = state_of(robot.eager, rng)
        peer.set(s.q, s.v, s.a)
        assert np.abs(peer.passive_forces()).max() > 1.0
        close(robot.eager.passive_forces(s.q, s.v), peer.passive_forces(), 1e-11)
        close(robot.eager.inverse_dynamics(s.q, s.v, s.a), peer.inverse_dynamics(), 1e-11)
        close(robot.inverse_dynamics(s.q, s.v, s.a), peer.inverse_dynamics(), 1e-11)  # in frames of its own


@pytest.mark.parametrize("base_velocity", ["body", "mixed"])
@pytest.mark.parametrize("root", [*ROOTS])
def test_energy_and_derivatives(root, base_velocity):
    robot = kt.load(text(root), base=root, base_velocity=base_velocity).eager
    rng, h = np.random.default_rng(1), 1e-6
    for _ in range(5):
        s = state_of(robot, rng)
        tau = robot.inverse_dynamics(s.q, s.v, s.a)
        close(tau @ s.v, rate_along(s, lambda q, v: robot.kinetic_energy(q, v) + robot.potential_energy(q)), 1e-5)
        by_q, _ = robot.inverse_dynamics_derivatives(s.q, s.v, s.a)
        for k, e in enumerate(h * np.eye(robot.nv)):
            up, down = (robot.inverse_dynamics(robot.integrate(s.q, d), s.v, s.a) for d in (e, -e))
            close((up - down) / (2 * h), by_q[:, k], 1e-5)
        close(robot.forward_dynamics(s.q, s.v, tau), s.a, 1e-9)


def test_whole_compensation_holds_a_robot_at_rest():
    everything = text(outer=1.0).replace('gravcomp="2"', 'gravcomp="1"')
    everything = everything.replace('<body name="c"', '<body name="c" gravcomp="1"')
    robot = kt.load(everything)
    q = robot.random(np.random.default_rng(2))
    close(robot.forward_dynamics(q, np.zeros(robot.nv), np.zeros(robot.nv)), np.zeros(robot.nv), 1e-12)
    assert np.abs(kt.load(everything, passive=False).forward_dynamics(q, np.zeros(5), np.zeros(5))).max() > 1.0


def test_written_and_edited():
    robot = kt.load(text())
    s = state_of(robot.eager, np.random.default_rng(3))

    def same(other, factor=1.0):
        close(other.eager.passive_forces(s.q, s.v), factor * robot.eager.passive_forces(s.q, s.v), 1e-12)

    same(kt.load(robot.to_mjcf()))
    off = kt.load(kt.load(text(), passive=False).to_mjcf())
    assert not off.eager.passive_forces(s.q, s.v).any()
    same(kt.edit.merge_fixed(robot))
    same(kt.edit.rename(robot, links={"a": "first"}))
    same(kt.edit.scale(robot, 2.0), 16.0)
    heavier = kt.edit.set_mass(robot, "a", 2.0 * robot.model.description.links["a"].inertia.mass)
    close(heavier.model.compensated[1].mass, 2.0 * robot.model.compensated[1].mass, 1e-15)
    with pytest.raises(kt.ModelError, match="URDF cannot express the gravity compensation of link 'a'"):
        kt.edit.remove(robot, "c").to_urdf()
    with pytest.raises(kt.ModelError, match="the gravity compensation of link 'b', which is not at its centre"):
        kt.edit.merge_fixed(robot).to_mjcf()
    assert robot.model != kt.load(text(outer=0.5)).model


def test_switched_off_as_in_mujoco():
    flags = "<mujoco><option><flag spring='disable' damper='disable'/></option>"
    content = text().replace("<mujoco>", flags)
    robot, model = kt.load(content), mujoco.MjModel.from_xml_string(content)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert not data.qfrc_passive.any()
    assert not robot.eager.passive_forces(robot.neutral(), np.zeros(robot.nv)).any()


def test_in_code():
    builder = kt.ModelBuilder("one")
    with pytest.raises(kt.ModelError, match="gravity_compensation is nan; expected a finite share"):
        builder.link("a", gravity_compensation=np.nan)
