"""Lengths and moment arms of tendons along sites, pulleys, spheres and cylinders, beside MuJoCo and by differences.

Covers: algorithms/passes/taut_strings.py, algorithms/passes/tendon_paths.py, model/loaders/mujoco_tendons.py,
robot/tendons.py.
"""

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.joint_forces import passive_force_derivatives
from kinetree.algorithms.passes.taut_strings import straight, wrapped
from kinetree.spatial import Transform
from mujoco_peer import MujocoPeer
from peers import close
from states import rate_along, state_of

WORLD = """<site name="w0" pos="0.1 0.3 0.5"/><site name="w1" pos="-0.2 0.1 0.6"/><site name="w2" pos="0.15 0.5 0.15"/>
  <geom name="drum" type="cylinder" size="0.08 0.3" pos="0.1 0.25 0.2" euler="0.3 0.2 0.1" contype="0" conaffinity="0"/>
  <site name="drum_side" pos="0.3 0.4 0.2"/><site name="drum_inside" pos="0.12 0.27 0.2"/>"""
BODIES = """<body name="a" pos="0 0 0.1">{root}<geom size="0.1" pos="0.2 0 0"/><site name="a0" pos="0.1 0.12 0.03"/>
  <site name="near" pos="0.465 0 0"/>
  <body name="b" pos="0.4 0 0" euler="0.2 0.1 -0.3"><joint name="knee" axis="0 1 0.2"/>
    <geom name="ball" size="0.07" pos="0.02 0.01 -0.01"/><site name="ball_side" pos="0.02 0.01 0.2"/>
    <site name="ball_inside" pos="0.03 0.02 0.01"/>
    <site name="b0" pos="0.2 0.05 -0.02"/>
  <body name="c" pos="0.4 0 0"><joint name="socket" type="ball"/><geom size="0.1" pos="0.2 0.05 0"/>
    <site name="c0" pos="0.2 -0.06 0.05"/><site name="c1" pos="-0.05 0.1 0.1"/></body></body></body>"""
TENDONS = {
    "line": '<site site="a0"/><site site="b0"/><site site="c0"/>',
    "to the world": '<site site="w0"/><site site="c0"/><site site="w1"/><site site="a0"/>',
    "pulleys": '<site site="w0"/><site site="a0"/><pulley divisor="2"/><site site="a0"/><site site="c0"/>'
    '<pulley divisor="3"/><site site="b0"/><site site="c1"/>',
    "sphere": '<site site="a0"/><geom geom="ball"/><site site="b0"/>',
    "side": '<site site="a0"/><geom geom="ball" sidesite="ball_side"/><site site="b0"/>',
    "cylinder": '<site site="w2"/><geom geom="drum"/><site site="a0"/>',
    "drum side": '<site site="w1"/><geom geom="drum" sidesite="drum_side"/><site site="c0"/><site site="a0"/>',
    "both": '<site site="c1"/><geom geom="ball"/><site site="a0"/>'
    '<geom geom="drum" sidesite="drum_side"/><site site="w0"/>',
}
THROUGH = {
    "ring": '<site site="a0"/><geom geom="ball" sidesite="ball_inside"/><site site="b0"/>',
    "tube": '<site site="w1"/><geom geom="drum" sidesite="drum_inside"/><site site="c0"/><site site="a0"/>',
    "moving side": '<site site="a0"/><geom geom="ball" sidesite="near"/><site site="b0"/>',
}
"""Around the inside of a geom, always or where a side on another body gets in there."""
HIP, FREE = '<joint name="hip" axis="1 0 0.3"/>', '<freejoint name="base"/>'


def text(names=tuple(TENDONS), root=HIP, terms='stiffness="30" damping="2" springlength="0.1 0.2"'):
    written = "".join(f'<spatial name="{name}" {terms}>{(TENDONS | THROUGH)[name]}</spatial>' for name in names)
    return f"""<mujoco><worldbody>{WORLD}{BODIES.format(root=root)}</worldbody><tendon>{written}</tendon></mujoco>"""


def wide_state(robot, rng):
    s = state_of(robot, rng)
    for joint in robot.model.joints:
        if isinstance(joint, kt.model.joints.Free):
            s.q[joint.iq : joint.iq + 3] *= 0.3
    return s


@pytest.mark.parametrize("root", [HIP, FREE], ids=["hinge", "free"])
@pytest.mark.sampled(2)
def test_lengths_moments_and_forces_are_mujocos(root):
    robot, model = kt.load(text(root=root)), mujoco.MjModel.from_xml_string(text(root=root))
    assert robot.tendons.names == tuple(TENDONS)
    peer, rng, eager = MujocoPeer(robot, model), np.random.default_rng(0), robot.eager
    touched = np.zeros(len(TENDONS), dtype=int)
    for _ in range(100):
        s = wide_state(eager, rng)
        peer.set(s.q, s.v, s.a)
        touched += peer.data.ten_wrapnum > [sum("<site" in part for part in TENDONS[n].split("/>")) for n in TENDONS]
        close(eager.tendons.lengths(s.q), peer.data.ten_length, 1e-9)
        close(eager.tendons.jacobian(s.q), peer.tendon_jacobian() @ peer.T, 1e-9)
        close(eager.passive_forces(s.q, s.v), peer.passive_forces(), 1e-9)
        close(eager.inverse_dynamics(s.q, s.v, s.a), peer.inverse_dynamics(), 1e-9)
    assert (touched[3:] > 5).all() and (touched[3:5] < 100).all()


def test_through_surfaces_and_with_sides_that_move():
    """MuJoCo stops looking for the point of a bend at 1e-6; the slope of its own lengths is exact to more digits."""
    document = text(THROUGH)
    robot, model = kt.load(document), mujoco.MjModel.from_xml_string(document)
    assert robot.tendons.names == tuple(THROUGH) and robot.to_mjcf().count("sidesite") == 3
    peer, rng, eager, h = MujocoPeer(robot, model), np.random.default_rng(0), robot.eager, 1e-6
    bent, entered = np.zeros(3, dtype=int), 0
    for k in range(100):
        s = wide_state(eager, rng)

        def lengths(q, s=s):
            peer.set(q, s.v, s.a)
            return np.array(peer.data.ten_length)

        close(eager.tendons.lengths(s.q), lengths(s.q), 1e-9)
        bent += peer.data.ten_wrapnum > [2, 3, 2]
        entered += np.linalg.norm(peer.data.site("near").xpos - peer.data.geom("ball").xpos) < 0.07
        for i, e in enumerate(h * np.eye(robot.nv)) if k < 20 else ():
            up, down = (lengths(robot.integrate(s.q, d)) for d in (e, -e))
            close((up - down) / (2 * h), eager.tendons.jacobian(s.q)[:, i], 1e-6)
    assert (bent > 5).all() and (bent < 100).all() and 10 < entered < 90
    s = wide_state(eager, rng)
    close(robot.tendons.lengths(s.q), eager.tendons.lengths(s.q), 1e-12)


@pytest.mark.parametrize("name", [*TENDONS, *THROUGH])
@pytest.mark.parametrize("options", [dict(), dict(base="floating"), dict(base="floating", base_velocity="mixed")])
@pytest.mark.sampled(3)
def test_energy_and_derivatives(name, options):
    robot = kt.load(text([name], FREE if options else HIP), **options).eager
    if not robot.tendons.names:
        assert "is not part of the robot" in "\n".join(map(str, robot.check()))
        return
    rng, h = np.random.default_rng(1), 1e-6
    for _ in range(3):
        s = wide_state(robot, rng)
        power = (robot.passive_forces(s.q, s.v) - robot.passive_forces(s.q, 0.0 * s.v)) @ s.v
        tau = robot.inverse_dynamics(s.q, s.v, s.a)
        energy = rate_along(s, lambda q, v: robot.kinetic_energy(q, v) + robot.potential_energy(q))
        close(tau @ s.v - energy, power, 1e-5)
        close(rate_along(s, lambda q, v: robot.tendons.lengths(q)), robot.tendons.jacobian(s.q) @ s.v, 1e-7)
        by_q, by_v = passive_force_derivatives(robot.model, s.q, s.v)
        for k, e in enumerate(h * np.eye(robot.nv)):
            up, down = (robot.passive_forces(robot.integrate(s.q, d), s.v) for d in (e, -e))
            close((up - down) / (2 * h), by_q[:, k], 1e-5)
            up, down = (robot.passive_forces(s.q, s.v + d) for d in (e, -e))
            close((up - down) / (2 * h), by_v[:, k], 1e-5)


def test_compiled_as_by_the_textbook():
    robot = kt.load(text())
    rng = np.random.default_rng(2)
    q = robot.random(rng, 16)
    v, tau = rng.normal(size=(2, 16, robot.nv))
    lengths, J, a = robot.tendons.lengths(q), robot.tendons.jacobian(q), robot.forward_dynamics(q, v, tau)
    for k in range(16):
        close(robot.eager.tendons.lengths(q[k]), lengths[k], 1e-12)
        close(robot.eager.tendons.jacobian(q[k]), J[k], 1e-11)
        close(robot.eager.forward_dynamics(q[k], v[k], tau[k]), a[k], 1e-9)


@pytest.mark.parametrize("is_sphere", [True, False])
@pytest.mark.sampled(2)
def test_second_derivatives_of_strings(is_sphere):
    rng, h, touched = np.random.default_rng(3), 1e-5, 0
    X = Transform(np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=3))
    if np.linalg.det(X.R) < 0:
        X = Transform(-X.R, X.p)
    for _ in range(80):
        a, b, side = X.p + rng.normal(size=(3, 3))
        for point, inside in ((side, False), (None, False), (side, True)):

            def gradient(a, b, point=point, inside=inside):
                string = wrapped(a, b, X, 0.6, is_sphere, point, inside)
                return np.concatenate([string.by_start, string.by_end])

            def length(x, point=point, inside=inside):
                return wrapped(x[:3], x[3:], X, 0.6, is_sphere, point, inside).length

            x = np.concatenate([a, b])
            touched += length(x) > straight(a, b).length + 1e-9
            H = wrapped(a, b, X, 0.6, is_sphere, point, inside).second().transpose(0, 2, 1, 3).reshape(6, 6)
            close(H, H.T, 1e-12)
            for k, e in enumerate(h * np.eye(6)):
                up, down = (gradient(*np.split(x + d, 2)) for d in (e, -e))
                if np.abs(up - down).max() > 0.1:
                    continue  # it jumps to the other side
                close((up - down) / (2 * h), H[:, k], 1e-4 * (1 + np.abs(H).max()))
                close((length(x + e) - length(x - e)) / (2 * h), gradient(a, b)[k], 1e-6)
    assert touched > 15


def test_points_on_a_line_through_the_centre():
    X, a, b = Transform.identity(), np.array([1.0, 0.0, 0.0]), np.array([-2.0, 0.0, 0.0])
    expected = np.sqrt(0.75) + np.sqrt(3.75) + 0.5 * (np.pi - np.arccos(0.5) - np.arccos(0.25))
    string = wrapped(a, b, X, 0.5, True, None)
    close(string.length, expected, 1e-14)
    assert np.isfinite(string.second()).all() and np.isfinite(string.by_start).all()
    same = straight(a, a)
    assert same.length == 0.0 and not same.by_end.any() and not same.second().any()
    inside = wrapped(0.1 * a, b, X, 0.5, True, None)
    close(inside.length, 2.1, 1e-15)


@pytest.mark.parametrize("root", [HIP, FREE], ids=["hinge", "free"])
def test_written_it_is_the_same(root):
    limits = 'stiffness="30" frictionloss="0.5" springlength="0.1 0.2" range="0.1 3"'
    robot = kt.load(text(root=root, terms=limits))
    close(robot.tendons.upper, [3.0] * len(TENDONS), 0.0)
    again = kt.load(robot.to_mjcf())
    assert again.frame_names == robot.frame_names
    assert [kt.load(again.to_mjcf()).model.tendons] == [robot.model.tendons] == [again.model.tendons]
    s = wide_state(robot.eager, np.random.default_rng(4))
    close(again.eager.tendons.lengths(s.q), robot.eager.tendons.lengths(s.q), 1e-12)
    close(again.eager.inverse_dynamics(s.q, s.v, s.a), robot.eager.inverse_dynamics(s.q, s.v, s.a), 1e-11)
    assert "limits of 8 tendons are held where those of joints are" in "\n".join(map(str, robot.check()))


def test_edited():
    robot = kt.load(text(["both"]))
    q = robot.random(np.random.default_rng(5))
    renamed = kt.edit.rename(robot, frames={"drum": "d", "a0": "a1"}, joints={"hip": "h"})
    close(renamed.eager.tendons.lengths(q), robot.eager.tendons.lengths(q), 1e-15)
    close(kt.edit.scale(robot, 2.0).eager.tendons.lengths(q), 2.0 * robot.eager.tendons.lengths(q), 1e-14)
    assert kt.edit.graft(robot, robot, "c", prefix="x_").tendons.names == ("both", "x_both")
    assert not len(kt.edit.remove(robot, "c").tendons)
    with pytest.raises(kt.ArgumentError, match="'arm6' has no tendons"):
        kt.load("arm6").tendons.lengths(np.zeros(6))


def test_in_code_at_links():
    builder = kt.ModelBuilder("two")
    builder.link("a")
    builder.link("b", kt.solids.box((1, 1, 1), mass=1.0))
    builder.joint("j", "prismatic", "a", "b", axis=(0, 0, 1))
    builder.frame("f", "a", xyz=(0.3, 0.0, 0.0))
    builder.tendon(kt.Tendon("t", path=("f", "b"), stiffness=10.0, rest=(0.5, 0.5)))
    robot = kt.Robot(builder.build())
    close(robot.tendons.lengths([0.4]), [0.5], 1e-15)
    close(robot.tendons.jacobian([0.4]), [[0.8]], 1e-15)
    again = kt.load(robot.to_mjcf())
    close(again.eager.passive_forces([1.0], [0.0]), robot.eager.passive_forces([1.0], [0.0]), 1e-14)
    assert robot.model.tendons[0].strands == [("f", "b", None, 1.0)]


def test_what_is_not_read_warns():
    with pytest.warns(kt.ModelWarning, match="springs, damping, friction or armature of 1 tendon were ignored"):
        robot = kt.load(text(["to the world"], FREE), base="floating")
    reason = "1 of them (to the world) were left out of robot.tendons: a site of theirs is not part of the robot"
    assert reason in "\n".join(map(str, robot.check()))


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ((), "joints of tendon 't' is empty, and so is its path"),
        ("ab", "path is 'ab'; expected names of frames"),
        ((1, "a"), "path has 1; expected the name of a frame"),
        ((kt.Wrap("s", 1.0), "a"), "expected a frame before and after it"),
        (("a", kt.Wrap("s", 1.0)), "expected a frame before and after it"),
        (("a", kt.Wrap("s", 1.0), kt.Wrap("r", 1.0), "b"), "expected a frame before and after it"),
    ],
)
def test_what_no_path_is(path, sentence):
    with pytest.raises((kt.ArgumentError, kt.ArgumentTypeError), match=sentence):
        kt.Tendon("t", path=path)


def test_what_no_surface_is():
    with pytest.raises(kt.ArgumentError, match="radius is 0; expected a length above zero"):
        kt.Wrap("s", 0.0)
    with pytest.raises(kt.ArgumentError, match="divisor is -1; expected a number above zero"):
        kt.Pulley(-1.0)


@pytest.mark.sweep
def test_differentiated_and_rolled_out():
    robot = kt.load(text(["side", "cylinder", "both"]).replace('name="b"', 'name="b" gravcomp="0.7"'))
    law = kt.compile(lambda robot, q, v: robot.passive_forces(q, v))
    by_q, rng = kt.jacobian(law, wrt="q"), np.random.default_rng(7)
    for _ in range(5):
        s = wide_state(robot.eager, rng)
        close(by_q(robot, s.q, s.v), passive_force_derivatives(robot.model, s.q, s.v)[0], 1e-11)
    lagrange = kt.Lagrange(robot)
    close(lagrange.inverse_dynamics(s.q, s.v, s.a), robot.inverse_dynamics(s.q, s.v, s.a), 1e-9)
    ends = [
        robot.rollout(s.q, 0.3 * s.v, None, 1e-3, 100, integrator=each).q[-1]
        for each in ("rk4", "implicit", "variational")
    ]
    close(ends[1], ends[0], 1e-3)
    close(ends[2], ends[0], 1e-4)
