"""Closed chains of MJCF: accelerations beside those of MuJoCo, where it holds its constraints nearly hard.

Covers: model/loaders/mujoco_equality.py, model/writers/mjcf_equality.py, algorithms/passes/coupling_rows.py.
"""

import mujoco
import numpy as np
import pytest

import kinetree as kt
from peers import close

HARD = 'solimp="0.9999 0.9999 0.001 0.5 2"'
"""As hard as MuJoCo allows: forces are off by about 1e-4."""
SOFT = 2e-3


PLACES = {"a": "0 0 0", "b": "0.3 0.1 0.4", "c": "0.5 0 -0.1", "d": "0 1 0", "e": "0.4 -0.3 0.2", "f": "0.3 0 0.3"}
"""Of bodies in those before them: c_tip is at (1.3, 0.1, 0.3) in the world."""


def link(name, joint, inside="", pos=None):
    return (
        f'<body name="{name}" pos="{pos or PLACES[name]}">{joint}<site name="{name}_tip" pos="0.5 0 0"/>'
        f'<inertial mass="1.2" pos="0.2 0.05 0.1" diaginertia="0.02 0.03 0.04"/>{inside}</body>'
    )


def hinge(name, axis="0 1 0", **more):
    others = " ".join(f'{key}="{value}"' for key, value in more.items())
    return f'<joint name="{name}" axis="{axis}" {others}/>'


def chain(*names, axis="0 1 0", tail=""):
    text = tail
    for k, name in reversed(list(enumerate(names))):
        text = link(name, hinge(f"{name}_j", axis, damping=0.1 * (k + 1), armature=0.05), text)
    return text


def mujoco_text(bodies, equality):
    worldbody = f"<worldbody>{bodies}</worldbody>"
    return f"<mujoco><compiler angle='radian'/>{worldbody}<equality>{equality}</equality></mujoco>"


def tendons(equality, bodies=None, start="ground"):
    """Fixed tendons over joints, straight ones between sites, one around a cylinder."""
    fixed = (
        '<fixed name="sum"><joint joint="a_j" coef="1"/><joint joint="b_j" coef="-0.6"/></fixed>'
        '<fixed name="one"><joint joint="c_j" coef="2"/></fixed>'
    )
    spatial = (
        '<spatial name="long"><site site="START"/><site site="b_tip"/><site site="c_tip"/></spatial>'
        '<spatial name="round"><site site="high"/><geom geom="post" sidesite="side"/><site site="a_tip"/></spatial>'
    )
    world = (
        '<site name="ground" pos="0.1 -0.7 0.2"/><site name="high" pos="0.2 0 1.5"/><site name="side" pos="0.6 0 1.5"/>'
        '<geom name="post" type="cylinder" size="0.1 1" pos="0.35 0 0.9" euler="1.5 0 0" contype="0" conaffinity="0"/>'
    )
    bodies = world + (bodies or chain("a", "b", "c", axis="0.2 1 0.1"))
    spatial = spatial.replace("START", start)
    return mujoco_text(bodies, equality).replace("</mujoco>", f"<tendon>{fixed}{spatial}</tendon></mujoco>")


FREE = '<joint type="free" damping="0.2" armature="0.3"/>'
BALL = '<joint name="ball" type="ball" damping="0.1"/>'
TWO_ARMS = chain("a", "b", "c", axis="1 0.2 0.3") + link("d", BALL, chain("e", "f", axis="0.3 1 0"))
CHAINS = {
    "four bars, by a connect": mujoco_text(
        chain("a", "b", "c"), f'<connect name="close" body1="c" anchor="0.5 0 0" {HARD}/>'
    ),
    "two arms that meet in space": mujoco_text(
        TWO_ARMS, f'<connect name="meet" body1="c" body2="f" anchor="0.5 0.1 0" {HARD}/>'
    ),
    "sites": mujoco_text(
        TWO_ARMS.replace('<site name="f_tip" pos="0.5 0 0"/>', '<site name="f_tip" pos="0.6 -0.6 -0.2"/>'),
        f'<connect site1="c_tip" site2="f_tip" {HARD}/>',
    ),
    "a weld": mujoco_text(TWO_ARMS, f'<weld name="w" body1="c" body2="f" {HARD}/>'),
    "a weld with an anchor": mujoco_text(
        TWO_ARMS, f'<weld body1="c" body2="f" anchor="0.1 0.2 0.3" relpose="-0.1 0.6 0.2 0.98 0.1 0.1 0.1" {HARD}/>'
    ),
    "a weld of sites": mujoco_text(
        TWO_ARMS.replace('<site name="f_tip" pos="0.5 0 0"/>', '<site name="f_tip" pos="0.6 -0.6 -0.2"/>'),
        f'<weld site1="c_tip" site2="f_tip" {HARD}/>',
    ),
    "a parabola": mujoco_text(
        chain("a", "b", "c"), f'<joint joint1="b_j" joint2="a_j" polycoef="0.1 0.5 0.3 -0.2 0.1" {HARD}/>'
    ),
    "a parabola about other references": mujoco_text(
        chain("a", "b", "c")
        .replace('name="a_j"', 'name="a_j" ref="0.3"')
        .replace('name="b_j"', 'name="b_j" ref="-0.2"'),
        f'<joint joint1="b_j" joint2="a_j" polycoef="0.1 0.5 0.3 -0.2 0.1" {HARD}/>',
    ),
    "a joint that is held": mujoco_text(chain("a", "b", "c"), f'<joint joint1="b_j" polycoef="0.4 0 0 0 0" {HARD}/>'),
    "tendons over joints": tendons(f'<tendon tendon1="sum" tendon2="one" polycoef="0.1 0.5 0 0 0" {HARD}/>'),
    "tendons over joints, a parabola": tendons(
        f'<tendon tendon1="sum" tendon2="one" polycoef="0 0.5 0.3 0 0.1" {HARD}/>'
    ),
    "a tendon that is held": tendons(f'<tendon tendon1="sum" polycoef="0.2 0.7 0 0 0" {HARD}/>'),
    "a path that is held, a rope": tendons(f'<tendon tendon1="long" polycoef="0.02 0 0 0 0" {HARD}/>'),
    "a rope to one around a post": tendons(f'<tendon tendon1="long" tendon2="round" polycoef="0 -0.5 0 0 0" {HARD}/>'),
    "a rope and a parabola of joints": tendons(f'<tendon tendon1="sum" tendon2="long" polycoef="0 1 2 0 0" {HARD}/>'),
    "a rope on a free body": tendons(
        f'<tendon tendon1="long" polycoef="0.05 0 0 0 0" {HARD}/>',
        link("trunk", FREE.replace("<joint", '<joint name="trunk_j"'), chain("a", "b", "c", axis="0.2 1 0.1"), "0 0 1"),
        start="trunk_tip",
    ),
    "a leg on a free body, held to the world": mujoco_text(
        link("trunk", FREE, chain("a", "b"), pos="0 0 1"), f'<connect body1="b" anchor="0.5 0 0" {HARD}/>'
    ),
    "a free body welded to what is fixed": mujoco_text(
        link("trunk", FREE, chain("a", "b"), pos="0 0 1") + link("stand", "", pos="0.3 0.2 0.1"),
        f'<weld body1="stand" body2="b" {HARD}/>',
    ),
}


def closed(robot, rng):
    """A state that the constraints allow, some way from where the file has it."""
    held = robot.constrained()
    q, v = robot.neutral(), rng.normal(size=robot.nv)
    for _ in range(20):
        q, v = held.projected(q, v)
        q = robot.integrate(q, 0.03 * v / max(1.0, np.abs(v).max()))
    for _ in range(10):
        q, v = held.projected(q, v)
    v = held.projected(q, v)[1]
    assert np.abs(held.position_error(q)).max() < 1e-9 and np.abs(held.jacobian(q) @ v).max() < 1e-8
    return held, q, v


def forwarded(robot, model, q, v, tau):
    """MuJoCo at this state."""
    data = mujoco.MjData(model)
    data.qpos = kt.convert(robot, "q", q, to="mujoco")
    data.qvel = kt.convert(robot, "v", v, to="mujoco", q=q)
    data.qfrc_applied = kt.convert(robot, "tau", tau, to="mujoco", q=q)
    mujoco.mj_forward(model, data)
    return data


BASES = [(case, base) for case in CHAINS for base in ("fixed", "floating") if base == "fixed" or "free" in case]


@pytest.mark.parametrize(("case", "base"), BASES)
@pytest.mark.sampled(3)
def test_accelerations_are_mujocos(case, base):
    """Of welds and parabolas MuJoCo leaves J̇ v out, and lets its springs make up for it: they are compared at rest."""
    text = CHAINS[case]
    robot, model = kt.load(text, base).eager, mujoco.MjModel.from_xml_string(text)
    assert len(robot.loops) == 1
    rng = np.random.default_rng(len(case))
    held, q, v = closed(robot, rng)
    v = v * (not any(word in case for word in ("weld", "parabola", "rope")))
    tau = rng.normal(size=robot.nv)
    a, _ = held.forward_dynamics(q, v, tau)
    data = forwarded(robot, model, q, v, tau)
    theirs = kt.convert(robot, "a", data.qacc, source="mujoco", q=data.qpos, v=data.qvel)
    scale = max(1.0, np.abs(theirs).max())
    soft = softness(robot, data, q, v, tau) if "weld" in case else 0.0  # there it is the larger part
    assert np.abs(a - theirs - soft).max() < (1e-6 if "weld" in case else SOFT) * scale
    without = robot.forward_dynamics(q, v, tau)
    assert np.abs(without - theirs).max() > 10 * SOFT * scale  # the tree alone moves otherwise


def softness(robot, data, q, v, tau):
    """How much MuJoCo's regularization adds to the accelerations that its own constraints have at rest, less theirs."""
    T = np.column_stack([kt.convert(robot, "v", unit, to="mujoco", q=q) for unit in np.eye(robot.nv)])
    J, M = data.efc_J.reshape(data.nefc, -1) @ T, robot.mass_matrix(q)
    free = robot.forward_dynamics(q, v, tau)
    push = np.linalg.solve(M, J.T)
    hard, soft = np.linalg.pinv(J @ push), np.linalg.inv(J @ push + np.diag(data.efc_R))
    return push @ ((soft @ (J @ free - data.efc_aref)) - hard @ (J @ free))


@pytest.mark.parametrize("case", CHAINS)
@pytest.mark.sampled(3)
def test_what_is_written_holds_as_well(case):
    robot = kt.load(CHAINS[case]).eager
    text = robot.to_mjcf()
    again, model = kt.load(text).eager, mujoco.MjModel.from_xml_string(text)
    assert len(again.loops) == 1 and model.neq == 1
    held, q, v = closed(robot, np.random.default_rng(0))
    both = (
        held.forward_dynamics(q, v, np.ones(robot.nv))[0],
        again.constrained().forward_dynamics(q, v, np.ones(robot.nv))[0],
    )
    close(*both, 1e-9)
    with pytest.raises(kt.ModelError, match=r"URDF cannot express the (loop|coupling)"):
        kt.Robot(kt.ModelBuilder.of(kt.load(CHAINS["a parabola"]).model.description).build()).to_urdf()


def test_straight_lines_are_mimic_joints_and_further_ties_are_couplings():
    bodies = chain("a", "b", "c")
    ties = '<joint joint1="b_j" joint2="a_j" polycoef="0.1 2 0 0 0"/>'
    ties += '<joint joint1="b_j" joint2="c_j" polycoef="0 1 0 0 0"/>'
    robot = kt.load(mujoco_text(bodies, ties))
    assert robot.joint_names == ("a_j", "c_j") and robot.loops == (kt.Coupling("b_j", "c_j", (0, 1)),)
    held = robot.constrained()
    q = np.array([0.2, 0.3])
    close(held.position_error(q), [0.1 + 2 * 0.2 - 0.3], 1e-15)
    close(held.jacobian(q), [[2.0, -1.0]], 1e-15)


def test_what_is_switched_off_is_noted():
    text = CHAINS["a weld"].replace('name="w"', 'name="w" active="false"')
    robot = kt.load(text)
    assert not robot.loops and "<weld> 'w' of <equality>: it is switched off" in "\n".join(map(str, robot.check()))


@pytest.mark.parametrize("case", ["a parabola", "tendons over joints, a parabola"])
def test_derivatives_of_a_coupling(case):
    """By central differences, errors that decay included."""
    robot = kt.load(CHAINS[case]).eager
    held = robot.constrained(frequency=5.0)
    rng = np.random.default_rng(0)
    q, v, tau = rng.normal(size=(3, robot.nv)) * 0.5
    derivatives = held.forward_dynamics_derivatives(q, v, tau)
    h = 1e-6
    for place, (by_a, by_f) in enumerate(zip(derivatives[:3], derivatives[3:], strict=True)):
        for k, e in enumerate(h * np.eye(robot.nv)):
            points = [[x + sign * e * (place == i) for i, x in enumerate((q, v, tau))] for sign in (1.0, -1.0)]
            (a1, f1), (a0, f0) = (held.forward_dynamics(*point) for point in points)
            close((a1 - a0) / (2 * h), by_a[:, k], 1e-6)
            close((f1 - f0) / (2 * h), by_f[:, k], 1e-6)


TIED = [case for case in CHAINS if "rope" in case or "tendon" in case]


@pytest.mark.parametrize("case", ["a parabola", "a parabola about other references", "a joint that is held", *TIED])
def test_couplings_in_compiled_code(case):
    """Whose body frames may be others than the author's, with other zeros of angles."""
    robot = kt.load(CHAINS[case])
    rng = np.random.default_rng(3)
    q, v, tau = robot.random(rng), *rng.normal(size=(2, robot.nv)) * 0.5
    ours, textbook = robot.constrained(frequency=3.0), robot.eager.constrained(frequency=3.0)
    close(ours.position_error(q), textbook.position_error(q), 1e-12)
    close(ours.forward_dynamics(q, v, tau)[0], textbook.forward_dynamics(q, v, tau)[0], 1e-9)


@pytest.mark.parametrize("base_velocity", ["body", "mixed"])
@pytest.mark.parametrize(("case", "base"), [("a parabola", "fixed"), *(each for each in BASES if each[0] in TIED)])
def test_the_rate_of_its_error(case, base, base_velocity):
    robot = kt.load(CHAINS[case], base, base_velocity=base_velocity).eager
    held, rng = robot.constrained(), np.random.default_rng(1)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    h = 1e-6
    ahead, behind = robot.integrate(q, h * v), robot.integrate(q, -h * v)
    rate = (held.position_error(ahead) - held.position_error(behind)) / (2 * h)
    close(held.jacobian(q) @ v, rate, 1e-8)
    second = (held.jacobian(ahead) @ v - held.jacobian(behind) @ v) / (2 * h)
    close(held.bias(q, v), second, 2e-8)


def test_tendons_that_are_coupled():
    robot = kt.load(CHAINS["a rope to one around a post"])
    (tie,) = robot.loops
    assert (
        isinstance(tie, kt.TendonCoupling) and tie.tendons == ("long", "round") and robot.tendons.names == tie.tendons
    )
    with pytest.raises(kt.ArgumentError, match="hold tendon 'long', which has a path; expected tendons over joints"):
        robot.constrained().forward_dynamics_derivatives(robot.neutral(), np.zeros(3), np.zeros(3))
    two = kt.edit.graft(kt.load("arm6"), robot, "tool0", prefix="p_")
    assert two.loops == (kt.TendonCoupling("p_long", "p_round", tie.coefficients),)
    q = robot.random(np.random.default_rng(0))
    larger = kt.edit.scale(robot, 2.0)
    close(larger.constrained().position_error(q), 2.0 * robot.constrained().position_error(q), 1e-12)
    gone = kt.edit.lock(kt.load(CHAINS["tendons over joints"]), ["a_j"])
    assert not gone.loops and "tendon 'sum' does not exist" in "\n".join(map(str, gone.check()))
    with pytest.raises(kt.ModelError, match="URDF cannot express the tendon 'long'"):
        robot.to_urdf()
    floating = kt.load(CHAINS["a rope on a free body"].replace('site="trunk_tip"', 'site="ground"'), "fixed")
    assert len(floating.loops) == 1
    with pytest.warns(kt.ModelWarning, match="a tendon of it was left out"):
        assert not kt.load(
            CHAINS["a rope on a free body"].replace('site="trunk_tip"', 'site="ground"'), "floating"
        ).loops
    with pytest.raises(kt.UnknownNameError, match="tendon 'lon' does not exist; did you mean 'long'"):
        robot.constrained(kt.TendonCoupling("lon"))
    with pytest.raises(kt.ArgumentError, match="a tendon cannot lead itself"):
        robot.constrained(kt.TendonCoupling("long", "long"))
    with pytest.raises(kt.ArgumentError, match=r"coefficients is \(nan,\); expected finite numbers"):
        kt.TendonCoupling("long", None, (np.nan,))
    still = tendons('<tendon tendon1="long" polycoef="0 0 0 0 0"/>').replace('site="b_tip"', 'site="high"')
    assert not kt.load(still.replace('site="c_tip"', 'site="side"')).loops


@pytest.mark.parametrize("case", [case for case in TIED if "rope" in case])
def test_rollouts_keep_tendons_coupled(case):
    robot = kt.load(CHAINS[case])
    held, q, v = closed(robot.eager, np.random.default_rng(0))
    motion = robot.rollout(q, v, None, 1e-3, 100)
    assert np.abs(held.position_error(motion.q[-1])).max() < 1e-8


def test_rollouts_keep_loops_closed_by_default():
    robot = kt.load(CHAINS["four bars, by a connect"])
    held, q, v = closed(robot.eager, np.random.default_rng(0))
    motion = robot.rollout(q, v, None, 1e-3, 200)
    assert np.abs(held.position_error(motion.q[-1])).max() < 1e-8
    apart = kt.edit.with_options(robot)
    assert apart.loops == robot.loops
    same = held.rollout(q, v, None, 1e-3, 200)
    close(motion.q, same.q, 1e-9)
    with pytest.raises(kt.ArgumentError, match="variational"):
        robot.rollout(q, v, None, 1e-3, 2, "variational")


def test_mujocos_rollout_is_near():
    """A quarter of a second, with steps of 0.5 ms on both sides."""
    text = CHAINS["two arms that meet in space"]
    robot, model = kt.load(text), mujoco.MjModel.from_xml_string(text)
    _, q, v = closed(robot.eager, np.random.default_rng(5))
    model.opt.timestep = 5e-4
    data = mujoco.MjData(model)
    data.qpos, data.qvel = kt.convert(robot, "q", q, to="mujoco"), kt.convert(robot, "v", 0.1 * v, to="mujoco", q=q)
    for _ in range(500):
        mujoco.mj_step(model, data)
    motion = robot.rollout(q, 0.1 * v, None, 5e-4, 500)
    there = kt.convert(robot, "q", data.qpos, source="mujoco")
    assert np.abs(robot.difference(motion.q[-1], there)).max() < 5e-3
    assert np.abs(robot.difference(q, there)).max() > 0.2


def test_editing_keeps_loops():
    robot = kt.load(CHAINS["sites"])
    renamed = kt.edit.rename(robot, frames={"c_tip": "hand"}, links={"a": "upper"})
    assert renamed.loops == (kt.Loop("hand", "f_tip", "point"),)
    assert kt.edit.remove(robot, "d").loops == ()
    left = "\n".join(map(str, kt.edit.remove(robot, "d").check()))
    assert "loop: it was left out: frame 'f_tip' does not exist" in left
    two = kt.edit.graft(kt.load("arm6"), robot, "tool0", prefix="p_")
    assert two.loops == (kt.Loop("p_c_tip", "p_f_tip", "point"),)
    assert kt.edit.merge_fixed(robot).loops == robot.loops
    bent = kt.edit.rename(kt.load(CHAINS["a parabola"]), joints={"a_j": "lead"})
    assert bent.loops[0].leader == "lead"
    assert kt.edit.scale(kt.load(CHAINS["a parabola"]), 2.0).loops == kt.load(CHAINS["a parabola"]).loops


def test_what_is_refused():
    with pytest.raises(kt.ArgumentError, match="constraints is empty, and 'arm6' has no loops"):
        kt.load("arm6").constrained()
    arm = kt.load("arm6")
    with pytest.raises(kt.UnknownNameError, match="joint 'elbo' does not exist"):
        arm.constrained(kt.Coupling("elbo", "wrist_1"))
    with pytest.raises(kt.ArgumentError, match="a joint cannot lead itself"):
        arm.constrained(kt.Coupling(arm.joint_names[0], arm.joint_names[0]))
    with pytest.raises(kt.ArgumentError, match=r"coefficients is .*; expected finite numbers"):
        kt.Coupling("a", "b", (np.nan,))
    with pytest.raises(kt.ModelError, match=r"expected kt.Contact, kt.Loop, kt.Coupling or kt.TendonCoupling"):
        kt.ModelBuilder("m").loop("a")
