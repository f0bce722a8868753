"""Numbers of a robot as inputs: beside robots that are built with those numbers, Pinocchio, regressors, differences."""

import pickle
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.control import ComputedTorque
from kinetree.model.random import random_inertia
from kinetree.robot import Robot
from kinetree.robot.quantity import program_of, quantities_of
from kinetree.spatial import Transform
from one_of_each import builder, state
from peers import close, pin_from_urdf, urdf

pytestmark = pytest.mark.calls
INERTIAL = ("inertial",)
ALL = ("inertial", "joint", "placement")


@pytest.fixture
def rng():
    return np.random.default_rng(24)


def springy():
    """A robot with every kind of joint and every kind of parameter that is not zero."""
    chain = builder()
    for name, joint in chain.joints.items():
        dynamics = kt.JointDynamics(armature=0.1, damping=0.2, friction=0.3, stiffness=2.0, rest=0.125)
        chain.joints[name] = replace(joint, dynamics=dynamics)
    chain.frame("tip", "ball_link", xyz=(0.1, 0.2, 0.3), rpy=(0.3, -0.2, 0.1))
    return chain


def redrawn(model, rng):
    """The model with other inertias, joints and placements, and the parameters that say so."""
    moved = [i for i, joint in enumerate(model.joints) if i and joint is not model.floating_base]
    inertias = [random_inertia(rng) if i else inertia for i, inertia in enumerate(model.inertias)]
    kinds = ("armature", "damping", "friction", "stiffness", "rest")
    drawn = [{kind: rng.uniform(0.1, 1.0, joint.nv) for kind in kinds} for joint in model.joints]
    dynamics = [kt.JointDynamics(**{kind: numbers[kind].tolist() or 0.0 for kind in kinds}) for numbers in drawn]
    joints = [replace(joint, dynamics=dynamics[i]) if i else joint for i, joint in enumerate(model.joints)]
    positions, vectors = rng.normal(size=(2, len(model.joints), 3))
    rotations = [kt.rotations.matrix_from_rotation_vector(vector) for vector in vectors]
    placements = [
        Transform(rotations[i].T, positions[i]) if i in moved else model.placements[i] for i in range(len(model.joints))
    ]
    parameters = [
        *(inertia.parameters() for inertia in inertias[1:]),
        *(numbers[kind] for kind in kinds for numbers in drawn[1:]),
        *(np.concatenate([positions[i], vectors[i]]) for i in moved),
    ]
    other = replace(model, inertias=tuple(inertias), joints=tuple(joints), placements=tuple(placements))
    return Robot(replace(other, parametric=None)), np.concatenate(parameters)


def drawn(robot, rng, count):
    """Parameters of so many robots near this one."""
    return robot.parameters * rng.uniform(0.8, 1.25, (count, len(robot.parameters)))


@pytest.mark.parametrize("base", [pytest.param("fixed", marks=pytest.mark.sweep), "floating"])
def test_all_parameters_of_every_joint_against_a_robot_that_has_them(base, rng):
    model = springy().build(base, parametric=ALL)
    robot, (q, v, a) = Robot(model), state(Robot(model))
    other, parameters = redrawn(model, rng)
    assert len(robot.parameter_names) == len(robot.parameters) == len(parameters)
    tip = robot.frame("ball_link")
    for call, ours, arguments in (
        (other.inverse_dynamics, robot.inverse_dynamics, (q, v, a)),
        (other.forward_dynamics, robot.forward_dynamics, (q, v, a)),
        (other.potential_energy, robot.potential_energy, (q,)),
        (other.center_of_mass, robot.center_of_mass, (q,)),
        (other.frame("ball_link").acceleration, tip.acceleration, (q, v, a)),
    ):
        close(ours(*arguments, parameters=parameters), call(*arguments), 1e-10)
    close(robot.inverse_dynamics(q, v, a), Robot(springy().build(base)).inverse_dynamics(q, v, a), 1e-10)
    close(robot.eager.inverse_dynamics(q, v, a, parameters=parameters), other.inverse_dynamics(q, v, a), 1e-10)


@pytest.mark.long
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_every_quantity_takes_parameters(base, rng):
    model = springy().build(base, parametric=ALL)
    robot, (q, v, a) = Robot(model), state(Robot(model))
    other, parameters = redrawn(model, rng)
    given = {"q": q, "v": v, "a": a, "tau": a, "restitution": np.zeros(1)}
    feet = [kt.Contact("ball_link", "surface"), kt.Contact("follower_link")]
    subjects = [(robot, other), (robot.frame("thread_link"), other.frame("thread_link"))]
    subjects.append((robot.constrained(feet), other.constrained(feet)))
    count = 0
    for ours, theirs in subjects:
        for quantity in quantities_of(type(ours)).values():
            if not quantity.takes_parameters or quantity.refusal(model):
                continue
            arguments = [given[name] for name in quantity.inputs]
            eager = [getattr(each, quantity.method.__name__) for each in (ours, theirs)]
            found, wanted = eager[0](*arguments, parameters=parameters), eager[1](*arguments)
            for x, y in zip(*(z if isinstance(z, tuple) else (z,) for z in (found, wanted)), strict=True):
                close(x, y, 1e-7)
            count += 1
    assert count > 70


@pytest.mark.sweep
def test_methods_that_combine_quantities_take_parameters(rng):
    robot = kt.load("quadruped", "floating", parametric={"inertial": ["base_link", "front_left_thigh_link"]})
    P = robot.parameters * rng.uniform(0.5, 1.5, (3, 1))
    q, (v, a) = robot.random(rng, 3), rng.normal(size=(2, 3, robot.nv))
    wrenches = {"front_left_foot": rng.normal(size=(3, 6))}
    calls = {
        "average_angular_velocity": lambda each, k, **n: each.average_angular_velocity(q[k], v[k], **n),
        "locked_velocity": lambda each, k, **n: each.locked_velocity(q[k], v[k], **n),
        "momentum": lambda each, k, **n: each.momentum(q[k], v[k], "base", **n),
        "angular_momentum_parts": lambda each, k, **n: each.angular_momentum_parts(q[k], v[k], **n),
        "kinetic_energy_parts": lambda each, k, **n: each.kinetic_energy_parts(q[k], v[k], **n),
        "floating_base_blocks": lambda each, k, **n: (
            each.floating_base_blocks(q[k], v[k], **n).centroidal_momentum_bias
        ),
        "one_body_motion": lambda each, k, **n: each.one_body_motion(
            q[k], v[k], a[k], {"front_left_foot": wrenches["front_left_foot"][k]}, **n
        ).about_point(np.zeros(3)),
        "single_rigid_body": lambda each, k, **n: each.single_rigid_body(q[k], **n).forward_dynamics(
            np.zeros(3), np.eye(3), np.ones(3), np.ones((1, 3)), np.zeros((1, 3))
        ),
    }
    for name, call in calls.items():
        found = call(robot, slice(None), parameters=P)
        for k in range(3):
            wanted = call(robot.with_parameters(P[k]).baked, k)
            one = call(robot, k, parameters=P[k])
            for x, y, z in zip(*(u if isinstance(u, tuple) else (u,) for u in (found, wanted, one)), strict=True):
                close(x[k], y, 1e-9)
                close(z, y, 1e-9)
        assert np.abs(np.stack(call(robot, 0)) - np.stack(call(robot, 0, parameters=P[0]))).max() > 1e-3, name
    with pytest.raises(kt.ArgumentError, match="takes no parameters"):
        robot.baked.momentum(q, v, parameters=P)
    with pytest.raises(kt.ArgumentError, match=r"parameters has shape \(3,\); expected"):
        robot.single_rigid_body(q, parameters=np.zeros(3))


@pytest.mark.parametrize(
    ("kind", "base", "name"),
    [("placement", "fixed", "forward_dynamics"), ("joint", "floating", "inverse_dynamics_derivatives")],
)
def test_inputs_of_one_kind(kind, base, name, rng):
    robot = kt.load("planar2", base, parametric=kind, passive=True)
    P, q, (v, a) = drawn(robot, rng, 1)[0] + 0.1, robot.random(rng), rng.normal(size=(2, robot.nv))
    found = getattr(robot, name)(q, v, a, parameters=P)
    wanted = getattr(robot.with_parameters(P).baked, name)(q, v, a)
    close(np.stack(found), np.stack(wanted), 1e-8)
    assert np.abs(np.stack(found) - np.stack(getattr(robot, name)(q, v, a))).max() > 1e-3


@pytest.mark.sweep
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("kind", ALL)
def test_every_quantity_can_be_traced_with_inputs_of_one_kind(kind, base):
    """Numbers of the other kinds are constants beside symbols."""
    robot = kt.load("planar2", base, parametric=kind, passive=True)
    for subject in (robot, robot.frame("tip"), robot.constrained([kt.Contact("tip")])):
        for name, quantity in quantities_of(type(subject)).items():
            if not quantity.refusal(robot.model):
                assert program_of(subject, name).outputs, name


@pytest.mark.parametrize("name", ["ur_description/ur5_robot.urdf", "anymal_b_simple_description/anymal.urdf"])
def test_inertial_parameters_against_pinocchio(name, rng):
    base = "fixed" if "ur5" in name else "floating"
    robot = kt.load(urdf(name), base, parametric=INERTIAL)
    peer = pin_from_urdf(robot, urdf(name), base == "floating")
    q, v, a = robot.random(rng), *rng.normal(size=(2, robot.nv))
    parameters = np.concatenate([random_inertia(rng).parameters() for _ in robot.body_names])
    bodies = {body: parameters[10 * k : 10 * k + 10] for k, body in enumerate(robot.body_names)}
    for body, phi in bodies.items():
        joint = peer.model.frames[peer.model.getFrameId(body)].parentJoint
        peer.model.inertias[joint] = pin.Inertia.FromDynamicParameters(phi)
    data = peer.model.createData()
    theirs = peer.G.T @ pin.rnea(peer.model, data, peer.q(q), peer.G @ v, peer.G @ a)
    close(robot.inverse_dynamics(q, v, a, parameters=parameters), theirs, 1e-9)
    close(robot.forward_dynamics(q, v, theirs, parameters=parameters), a, 1e-8)
    close(robot.regressor(q, v, a) @ parameters, theirs, 1e-9)


def test_every_state_of_a_batch_has_its_own_robot(rng):
    robot = kt.load("arm6", parametric=INERTIAL)
    P, q = drawn(robot, rng, 21), robot.random(rng, 21)
    v, a = rng.normal(size=(2, 21, 6))
    whole = robot.inverse_dynamics(q, v, a, parameters=P)
    for k in (0, 7, 20):
        assert (robot.inverse_dynamics(q[k], v[k], a[k], parameters=P[k]) == whole[k]).all()
    assert robot.mass_matrix(q[:3], parameters=P[:4, None]).shape == (4, 3, 6, 6)
    assert robot.mass_matrix(q[0], parameters=P[:0]).shape == (0, 6, 6)
    assert (robot.inverse_dynamics(q, v, a) == robot.inverse_dynamics(q, v, a, parameters=robot.parameters)).all()
    one = robot.inverse_dynamics(q, v, a, parameters=P[3])  # the same for all states, packed once
    assert (one == robot.inverse_dynamics(q, v, a, parameters=np.tile(P[3], (21, 1)))).all()


def test_arguments_find_their_places(rng):
    """Options and wrenches by position, parameters by name only, out, other dtypes, and calls without native entry."""
    robot = kt.load("arm6", parametric=INERTIAL)
    q, v, a, w = robot.random(rng), *rng.normal(size=(2, 6)), rng.normal(size=6)
    P, baked = drawn(robot, rng, 1)[0], robot.baked
    pushed = robot.inverse_dynamics(q, v, a, {"tool0": w}, parameters=P)
    free = robot.inverse_dynamics(q, v, a, parameters=P)
    for _ in range(2):  # the second call is native
        close(robot.inverse_dynamics(q, v, a, {"tool0": w}), baked.inverse_dynamics(q, v, a, {"tool0": w}), 1e-12)
        close(robot.inverse_dynamics(q, v, a, {"tool0": w}, parameters=P), pushed, 1e-12)
        close(robot.inverse_dynamics(q, v, a, parameters=P.tolist()), free, 1e-12)
        close(robot.frame("tool0").jacobian(q, "local"), baked.frame("tool0").jacobian(q, "local"), 1e-12)
        out = np.empty(6)
        assert robot.inverse_dynamics(q, v, a, out=out, parameters=P) is out and (out == free).all()
        with pytest.raises(TypeError, match="positional"):
            robot.inverse_dynamics(q, v, a, None, P)
        with pytest.raises(TypeError, match="wrenches"):
            robot.inverse_dynamics(q, v, a, P)
    close(free - pushed, baked.frame("tool0").jacobian(q).T @ w, 1e-9)
    single = kt.load("arm6", parametric=INERTIAL, dtype="float32")
    close(single.gravity_forces([q], parameters=P)[0], robot.gravity_forces(q, parameters=P), 1e-4)


def test_derivatives_by_parameters(rng):
    robot = kt.load("planar2", parametric=ALL, passive=True)
    q, v, a = robot.random(rng), *rng.normal(size=(2, 2))
    P, n = drawn(robot, rng, 1)[0], len(robot.parameters)
    Y = robot.regressor(q, v, a, parameters=P)
    J = kt.jacobian(robot.inverse_dynamics, wrt="parameters")
    close(J(q, v, a, parameters=P)[:, : Y.shape[1]], Y, 1e-9)
    close(J(q, v, a), kt.jacobian(robot.eager.inverse_dynamics, wrt="parameters")(q, v, a), 1e-10)

    @kt.compile
    def effort(robot, q, v, a):
        return robot.inverse_dynamics(q, v, a) @ robot.inverse_dynamics(q, v, a) + robot.potential_energy(q)

    slope = kt.gradient(effort, wrt="parameters")(robot, q, v, a, parameters=P)
    h = 1e-6 * np.eye(n)
    values = effort(robot, q, v, a, parameters=P + np.stack([h, -h]))
    close(slope, (values[0] - values[1]) / 2e-6, 1e-5)
    by_q, by_P = kt.gradient(effort, wrt=("q", "parameters"))(robot, q, v, a, parameters=P)
    close(by_P, slope, 1e-10)
    close(by_q, kt.gradient(effort)(robot.with_parameters(P), q, v, a), 1e-9)
    with pytest.raises(kt.ArgumentError, match="parametric robot"):
        kt.gradient(effort, wrt="parameters")(robot.baked, q, v, a)
    with pytest.raises(kt.UnknownNameError, match="'parameter' does not exist; did you mean 'parameters'"):
        kt.gradient(effort, wrt="parameter")
    with pytest.raises(kt.UnknownNameError, match="'parameter' does not exist; did you mean 'parameters'"):
        robot.rollout(q, v, np.zeros(2), dt=1e-3, steps=2, parameters={"parameter": P})


@pytest.mark.sweep
def test_laws_and_controllers(rng):
    robot = kt.load("arm6", parametric=INERTIAL)
    q, v = robot.random(rng, 5), rng.normal(size=(5, 6))
    P = drawn(robot, rng, 5)

    @kt.compile
    def inner(robot, q):
        return robot.gravity_forces(q) * robot.mass

    @kt.compile(shapes={"payload": ()})
    def law(robot, q, v, payload):
        heavier = robot.with_parameters(robot.parameters * payload)
        return inner(robot, q) + heavier.bias_forces(q, v) + inner(heavier, np.zeros(6))

    found = law(robot, q, v, 2.0, parameters=P)
    control = ComputedTorque(robot, 25.0)
    torques = control(q, v, np.zeros(6), parameters=P)
    for k in range(5):
        other, heavier = (robot.with_parameters(factor * P[k]).baked for factor in (1.0, 2.0))
        wanted = other.gravity_forces(q[k]) * other.mass + heavier.bias_forces(q[k], v[k])
        close(found[k], wanted + heavier.gravity_forces(np.zeros(6)) * heavier.mass, 1e-9)
        close(law(robot.eager, q[k], v[k], 2.0, parameters=P[k]), found[k], 1e-9)
        close(torques[k], ComputedTorque(other, 25.0)(q[k], v[k], np.zeros(6)), 1e-9)
    close(control(q, v, np.zeros(6)), ComputedTorque(robot.baked, 25.0)(q, v, np.zeros(6)), 1e-9)


@pytest.mark.sweep
def test_steps_and_their_derivatives(rng):
    """Laws of the library inside laws, bound ones, and derivatives of derivatives."""
    robot = kt.load("planar2", parametric=INERTIAL)
    P, q, v, tau = drawn(robot, rng, 1)[0], *rng.normal(size=(3, 2))
    other = robot.with_parameters(P).baked
    for step in (kt.simulation.next_state, kt.simulation.linearized_step):
        for x, y in zip(step(robot, q, v, tau, 0.01, parameters=P), step(other, q, v, tau, 0.01), strict=True):
            close(x, y, 1e-10)
        bound = step.bind(robot)
        for _ in range(2):
            close(bound(q, v, tau, 0.01, parameters=P)[0], step(other, q, v, tau, 0.01)[0], 1e-10)
            close(bound(q, v, tau, 0.01)[0], step(robot.baked, q, v, tau, 0.01)[0], 1e-10)
        with pytest.raises(TypeError):
            bound(q, v, tau, 0.01, P)
    slope = kt.jacobian(kt.gradient(kt.Robot.kinetic_energy, wrt="v"), wrt="parameters")(robot, q, v, parameters=P)
    h = 1e-6 * np.eye(len(P))
    ahead, behind = (robot.mass_matrix(q, parameters=P + sign * h) @ v for sign in (1, -1))
    close(slope, (ahead - behind).T / 2e-6, 1e-7)


@pytest.mark.parametrize(
    "integrator",
    ["semi-implicit-euler", *(pytest.param(name, marks=pytest.mark.sweep) for name in ("rk4", "dormand-prince"))],
)
def test_rollouts_of_different_robots(integrator, rng):
    robot = kt.load("planar2", parametric=ALL, passive=True)
    P = drawn(robot, rng, 4)
    q0, v0 = robot.random(rng, 4), rng.normal(size=(4, 2))

    @kt.compile(shapes={"gain": ()})
    def hold(robot, q, v, gain):
        return robot.gravity_forces(q) - gain * v

    arguments = (hold, 1e-3, 40, integrator)
    path = robot.rollout(q0, v0, *arguments, parameters={"parameters": P, "gain": 2.0})
    falling = robot.rollout(q0, v0, None, *arguments[1:], parameters=P)
    for k in range(4):
        other = robot.with_parameters(P[k]).baked
        close(path.q[k], other.rollout(q0[k], v0[k], *arguments, parameters={"gain": 2.0}).q, 1e-8)
        close(falling.q[k], other.rollout(q0[k], v0[k], None, *arguments[1:]).q, 1e-8)
    own = robot.rollout(q0, v0, None, *arguments[1:])
    close(own.q, robot.baked.rollout(q0, v0, None, *arguments[1:]).q, 1e-8)


@pytest.mark.sweep
@pytest.mark.parametrize("integrator", ["implicit", "variational", "compliant", "rigid", "constrained"])
def test_rollouts_of_other_dynamics(integrator, rng):
    robot = kt.load("planar2", parametric=INERTIAL)
    P, q0, v0 = drawn(robot, rng, 3), np.array([0.2, 1.2]), np.zeros(2)
    options, name = {}, "semi-implicit-euler" if integrator in ("compliant", "rigid", "constrained") else integrator
    if integrator in ("compliant", "rigid"):
        kind = kt.simulation.CompliantContact if integrator == "compliant" else kt.simulation.RigidContact
        options["contact"] = kind(["tip"], obstacles=[kt.simulation.Ground(height=0.5)])
    held = [kt.Contact("tip", "sliding")]
    moving = robot.constrained(held) if integrator == "constrained" else robot
    path = moving.rollout(q0, v0, None, 1e-3, 30, name, parameters=P, **options)
    for k in range(3):
        other = robot.with_parameters(P[k]).baked
        other = other.constrained(held) if integrator == "constrained" else other
        close(path.q[k], other.rollout(q0, v0, None, 1e-3, 30, name, **options).q, 1e-7)


def test_other_numbers_compile_nothing(rng):
    robot = kt.load("arm6", parametric=INERTIAL)
    q, v, a = robot.random(rng), *rng.normal(size=(2, 6))
    digest = program_of(robot, "inverse_dynamics").digest
    edited = kt.edit.set_mass(robot, "forearm_link", 2.5)
    other = robot.with_parameters(drawn(robot, rng, 1)[0])
    for changed in (edited, other):
        assert changed != robot and changed.model.structure == robot.model.structure
        close(changed.inverse_dynamics(q, v, a), changed.baked.inverse_dynamics(q, v, a), 1e-10)
        quantity = quantities_of(Robot)["inverse_dynamics"]
        made = quantity.function(changed, None).specialization(quantity.key())
        assert made._program is None  # its record was found: nothing was traced
        assert program_of(changed, "inverse_dynamics").digest == digest
    assert program_of(edited.baked, "inverse_dynamics").digest != program_of(robot.baked, "inverse_dynamics").digest
    assert pickle.loads(pickle.dumps(other)) == other


def test_some_bodies_joints_and_frames(rng):
    chosen = {"inertial": ["forearm_link"], "joint": "elbow", "placement": ["elbow", "tool0"]}
    robot, whole = kt.load("arm6", parametric=chosen, passive=True), kt.load("arm6", passive=True)
    names = robot.parameter_names
    assert len(names) == 10 + 5 + 6 + 6 and names[0] == "forearm_link.mass" and names[-1] == "tool0.rz"
    assert {"elbow.damping", "elbow.rx", "tool0.x"} <= set(names)
    q, v, a = robot.random(rng), *rng.normal(size=(2, 6))
    parameters = dict(zip(names, robot.parameters, strict=True))
    parameters |= {"forearm_link.mass": 4.0, "elbow.damping": 0.5, "elbow.x": 0.1, "tool0.z": 0.25}
    numbers = np.array(list(parameters.values()))
    inertia = whole.model.inertias[whole.model.names.index("forearm_link")]
    heavier = kt.Inertia(4.0, inertia.h, inertia.I)
    changed = kt.edit.set_dynamics(kt.edit.set_inertia(whole, "forearm_link", heavier), "elbow", damping=0.5)
    place = whole.model.placements[whole.model.names.index("forearm_link")].p
    changed = kt.edit.place_joint(changed, "elbow", xyz=(0.1, *place[1:]))
    close(robot.inverse_dynamics(q, v, a, parameters=numbers), changed.inverse_dynamics(q, v, a), 1e-10)
    moved = robot.frame("tool0").pose(q, parameters=numbers)
    body = changed.frame(robot.frame("tool0").body).pose(q)
    X = whole.model.frame("tool0").X
    local = Transform(X.R, np.array([*X.p[:2], 0.25])).pose()
    close(moved, body @ local, 1e-10)
    tool = kt.load("arm6", parametric={"placement": ["tool0"]})  # the only input is a frame
    numbers = tool.parameters + 0.1
    other = tool.with_parameters(numbers).baked.frame("tool0")
    close(tool.frame("tool0").pose(q, parameters=numbers), other.pose(q), 1e-12)
    close(tool.frame("tool0").velocity(q, v, parameters=numbers), other.velocity(q, v), 1e-12)
    locked = kt.edit.lock(robot, {"elbow": 0.5})
    assert locked.parameter_names == ("tool0.x", "tool0.y", "tool0.z", "tool0.rx", "tool0.ry", "tool0.rz")


def test_a_robot_with_other_parameters_can_be_edited_and_written(rng):
    model = springy().build(parametric={"inertial": True, "joint": True, "placement": ["hinge", "slide", "tip"]})
    robot, (q, v, a) = Robot(model, textbook=True), state(Robot(model))
    other = robot.with_parameters(drawn(robot, rng, 1)[0])
    again = kt.edit.with_options(other, parametric=None)
    close(again.inverse_dynamics(q, v, a), other.inverse_dynamics(q, v, a), 1e-9)
    close(again.frame("tip").pose(q), other.frame("tip").pose(q), 1e-10)
    arm = kt.load("arm6", parametric=INERTIAL)
    heavier = arm.with_parameters(2.0 * arm.parameters)
    written = kt.load(heavier.to_urdf())
    close(written.mass_matrix(np.ones(6)), 2.0 * arm.mass_matrix(np.ones(6)), 1e-9)


def test_what_is_refused(rng):
    robot = kt.load("arm6", parametric=INERTIAL)
    q, P = robot.random(rng), robot.parameters
    with pytest.raises(kt.ArgumentError, match="takes no parameters"):
        robot.baked.mass_matrix(q, parameters=P)
    with pytest.raises(kt.ArgumentError, match="takes no parameters"):
        robot.baked.with_parameters(P)
    with pytest.raises(kt.ArgumentError, match=r"parameters has shape \(59,\); expected \(…, 60\)"):
        robot.mass_matrix(q, parameters=P[1:])
    with pytest.raises(kt.ArgumentError, match=r"'upper_arm_link.mx' is not finite"):
        robot.with_parameters(np.where(np.arange(60) == 11, np.nan, P))
    assert np.isnan(robot.gravity_forces(q, parameters=np.full(60, np.nan))).any()
    with pytest.raises(kt.ArgumentError, match="parametric is 'inertia'; expected 'inertial' or 'joint'"):
        kt.load("arm6", parametric="inertia")
    with pytest.raises(kt.UnknownNameError, match="did you mean 'forearm_link'"):
        kt.load("arm6", parametric={"inertial": ["forearm"]})
    with pytest.raises(kt.UnknownNameError, match="joint or frame"):
        kt.load("arm6", parametric={"placement": "elbo"})
    with pytest.raises(kt.ArgumentTypeError, match="expected True, or names"):
        kt.load("arm6", parametric={"placement": 3})
    assert kt.load("arm6", parametric=()).model.parametric is None
    assert kt.load("arm6", parametric={"joint": False}).model.parametric is None
    massless = np.where(np.arange(60) < 50, P, 0.0)
    with pytest.raises(kt.SingularMassMatrixError, match="'wrist_3' can move without moving any mass"):
        robot.forward_dynamics(q, np.zeros(6), np.zeros(6), parameters=massless)

    @kt.compile(shapes={"parameters": (60,)})
    def own(robot, q, parameters):
        return robot.gravity_forces(q) + parameters[0]

    with pytest.raises(kt.ArgumentError, match="another name"):
        own(robot, q, P)
    assert own(robot.baked, q, P).shape == (6,)

    @kt.compile
    def both(first, second, q):
        return first.gravity_forces(q) + second.gravity_forces(q)

    with pytest.raises(kt.ArgumentError, match="two parametric robots"):
        both(robot, kt.load("arm6", parametric="joint"), q)
    close(both(robot, robot.baked, q, parameters=2.0 * P), 3.0 * robot.gravity_forces(q), 1e-10)


def test_results_that_are_objects_or_pairs(rng):
    robot = kt.load("planar2", "floating", parametric=INERTIAL).eager
    q, v = robot.random(rng), rng.normal(size=8)
    P = drawn(robot, rng, 1)[0]
    other = robot.with_parameters(P)
    for name in ("centroidal_coordinates", "diagonalized_coordinates"):
        close(getattr(robot, name)(q, v, parameters=P).M, getattr(other, name)(q, v).M, 1e-10)
    held = [kt.Contact("tip")]
    found, wanted = robot.constrained(held).impact(q, v, parameters=P), other.constrained(held).impact(q, v)
    for x, y in zip(found, wanted, strict=True):
        close(x, y, 1e-10)
    assert np.abs(found[1] - robot.constrained(held).impact(q, v)[1]).max() > 1e-3
