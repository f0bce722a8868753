"""All bodies in one call: as their frames one by one, by Pinocchio, and in the sums of the lectures.

Covers: robot/textbook_methods.py.
"""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

import kinetree as kt
import one_of_each
from kinetree import se3
from kinetree.algorithms.arguments.references import ACCELERATION_KINDS, REFERENCES
from peers import close
from states import State, rate_along, states

CONVENTIONS = [
    {"base": base, "base_velocity": velocity, "spatial_order": order}
    for base in ("fixed", "floating")
    for velocity in ("body", "mixed")
    for order in ("linear-first", "angular-first")
]


@pytest.fixture(params=CONVENTIONS, ids=lambda options: " ".join(options.values()))
def robot(request):
    """With one joint of every kind, a mimic joint among them."""
    options = request.param
    model = one_of_each.builder().build(**options)
    return kt.Robot(model).eager


def test_velocities_and_accelerations_are_those_of_frames(robot):
    q, v, a = one_of_each.state(robot)
    for reference in REFERENCES:
        V = robot.body_velocities(q, v, reference)
        assert V.shape == (len(robot.body_names), 6)
        close(V, [robot.frame(name).velocity(q, v, reference) for name in robot.body_names], 1e-13)
        for kind in ACCELERATION_KINDS:
            A = robot.body_accelerations(q, v, a, reference, kind)
            each = [robot.frame(name).acceleration(q, v, a, reference, kind) for name in robot.body_names]
            close(A, each, 1e-12)


def test_jacobians_are_those_of_frames_and_of_centres_of_mass(robot):
    q, v, _ = one_of_each.state(robot)
    order = robot.model.spatial_order
    linear = slice(0, 3) if order == "linear-first" else slice(3, 6)
    for reference in REFERENCES:
        J, dJ = robot.body_jacobians(q, reference), robot.body_jacobian_rates(q, v, reference)
        close(J, [robot.frame(name).jacobian(q, reference) for name in robot.body_names], 1e-13)
        close(dJ, [robot.frame(name).jacobian_rate(q, v, reference) for name in robot.body_names], 1e-12)
    masses = np.array([inertia.mass for inertia in robot.model.inertias[1:]])
    moving = [i - 1 for i in robot.model.moving]
    J_S = robot.body_jacobians(q, point="center-of-mass")[:, linear]
    close(np.einsum("b,bij->ij", masses[moving], J_S[moving]) / robot.mass, robot.center_of_mass_jacobian(q), 1e-12)
    dJ_S = robot.body_jacobian_rates(q, v, point="center-of-mass")[:, linear]
    bias = np.einsum("b,bij,j->i", masses[moving], dJ_S[moving], v) / robot.mass
    close(bias, robot.center_of_mass_acceleration(q, v, np.zeros(robot.nv)), 1e-11)


def test_axes_of_joints(robot):
    """Columns of Jacobians are n × (r - r_i) and n where a velocity turns its body, n and 0 where it slides."""
    q, _, _ = one_of_each.state(robot)
    n, order = robot.joint_axes(q), robot.model.spatial_order
    close(np.linalg.norm(n, axis=1), np.ones(robot.nv), 1e-14)
    slides = {"prismatic": [True], "planar": [True, True, False], "universal": [False] * 2, "spherical": [False] * 3}
    slides |= {"helical": [False], "continuous": [False]}
    six = [True] * 3 + [False] * 3
    slides["free"] = six if order == "linear-first" else six[::-1]
    kinds = {name: kind for name, (kind, _) in one_of_each.KINDS.items()}
    for joint in robot.model.owners:
        body = robot.model.names[robot.model.joints.index(joint)]
        J = robot.frame(body).jacobian(q)
        J = J if order == "linear-first" else np.roll(J, 3, axis=0)
        kind = kinds.get(joint.name, "free")
        for k, sliding in enumerate(slides[kind], start=joint.iv):
            close(J[:3, k] if sliding else J[3:, k], n[k], 1e-13)
            if sliding:
                close(J[3:, k], np.zeros(3), 0.0)


def test_the_geometric_jacobian_of_the_lecture():
    """[n_i × (r_e - r_i); n_i], column by column."""
    robot = kt.load("arm6").eager
    q = robot.random(0, 4)
    n, r = robot.joint_axes(q), robot.poses(q)[..., :3, 3]
    r_e = robot.frame("tool0").pose(q)[..., :3, 3]
    columns = np.concatenate([np.cross(n, r_e[:, None] - r), n], axis=-1)
    close(np.swapaxes(columns, 1, 2), robot.frame("tool0").jacobian(q), 1e-13)


def test_composite_inertias(robot):
    """Σ over the subtree of X* I X, and ½ vᵀ M v of all joints behind locked: the first of a floating base is M_b."""
    q, _, _ = one_of_each.state(robot)
    order, poses, composites = robot.model.spatial_order, robot.poses(q), robot.composite_inertias(q)
    for i, composite in enumerate(composites, start=1):
        total = np.zeros((6, 6))
        for j in robot.model.subtree(i):
            X = se3.adjoint(np.linalg.inv(poses[j - 1]) @ poses[i - 1], order)  # ^jX_i
            total += X.T @ robot.model.inertias[j].matrix(order) @ X
        close(composite, total, 1e-11)
    if robot.model.floating_base is not None and robot.model.floating_base.frame == "body":
        close(composites[0], robot.mass_matrix(q)[:6, :6], 1e-12)


def test_links_move_as_newton_and_euler_say(robot):
    q, v, a = one_of_each.state(robot)
    omega, omega_rate, v_rate, center_rate, F, N = robot.newton_euler(q, v, a)
    R = robot.poses(q)[:, :3, :3]
    linear, angular = (slice(0, 3), slice(3, 6))[:: 1 if robot.model.spatial_order == "linear-first" else -1]
    close(np.einsum("bij,bj->bi", R, omega), robot.body_velocities(q, v)[:, angular], 1e-12)
    A = robot.body_accelerations(q, v, a)
    close(np.einsum("bij,bj->bi", R, omega_rate), A[:, angular], 1e-12)
    close(np.einsum("bij,bj->bi", R, v_rate), A[:, linear] - robot.model.gravity, 1e-11)
    J_S, dJ_S = (
        robot.body_jacobians(q, point="center-of-mass"),
        robot.body_jacobian_rates(q, v, point="center-of-mass"),
    )
    close(np.einsum("bij,bj->bi", R, center_rate), (J_S @ a + dJ_S @ v)[:, linear] - robot.model.gravity, 1e-11)
    for i, inertia in enumerate(robot.model.inertias[1:]):
        close(F[i], inertia.mass * center_rate[i], 1e-12)
        I_C = inertia.about_com
        close(N[i], I_C @ omega_rate[i] + np.cross(omega[i], I_C @ omega[i]), 1e-12)
    projected = np.einsum("bij,bi->j", J_S[:, linear], np.einsum("bij,bj->bi", R, F))
    projected += np.einsum("bij,bi->j", J_S[:, angular], np.einsum("bij,bj->bi", R, N))
    close(projected + robot.model.armature * a + robot.passive_forces(q, v), robot.inverse_dynamics(q, v, a), 1e-11)


def test_mass_matrix_and_bias_by_all_three_methods(robot):
    q, v, _ = one_of_each.state(robot)
    M, b = robot.mass_matrix(q), robot.bias_forces(q, v)
    close(robot.mass_matrix_by_rnea(q), M, 1e-12)
    close(robot.mass_matrix_by_jacobians(q), M, 1e-12)
    close(robot.bias_forces_by_newton_euler(q, v), b, 1e-11)
    close(robot.bias_forces_by_jacobians(q, v), b, 1e-11)
    wrenches = {robot.body_names[-1]: np.arange(6.0)}
    close(robot.bias_forces_by_newton_euler(q, v, wrenches), robot.bias_forces(q, v, wrenches), 1e-11)
    close(robot.bias_forces_by_jacobians(q, v, wrenches), robot.bias_forces(q, v, wrenches), 1e-11)


def test_the_coriolis_matrix_of_the_lecture(robot):
    """Σ Jᵀ (I J̇ + I V× J + V×* I J) from the public parts, C v, and Ṁ - 2C skew-symmetric."""
    q, v, _ = one_of_each.state(robot)
    order = robot.model.spatial_order
    C = robot.coriolis_matrix_by_jacobians(q, v)
    J, dJ = robot.body_jacobians(q, "local"), robot.body_jacobian_rates(q, v, "local")
    total = np.zeros_like(C)
    for i, V in enumerate(robot.body_velocities(q, v, "local")):
        inertia = robot.model.inertias[i + 1].matrix(order)
        cross, cross_force = se3.cross_matrix(V, order), se3.cross_force_matrix(V, order)
        total += J[i].T @ (inertia @ dJ[i] + inertia @ cross @ J[i] + cross_force @ inertia @ J[i])
    close(C, total, 1e-11)
    close(C @ v, robot.coriolis_matrix(q, v) @ v, 1e-11)
    skew = robot.mass_matrix_rate(q, v) - 2 * C
    close(skew, -skew.T, 1e-11)


@given(states())
def test_on_random_trees(s: State):
    robot = s.robot.eager
    M = robot.mass_matrix(s.q)
    close(robot.mass_matrix_by_jacobians(s.q), M, 1e-12)
    V = robot.body_velocities(s.q, s.v)
    close(robot.body_jacobians(s.q) @ s.v, V, 1e-12)
    close(robot.body_accelerations(s.q, s.v, s.a), rate_along(s, s.robot.eager.body_velocities), 1e-6)
    C = robot.coriolis_matrix_by_jacobians(s.q, s.v)
    close(C @ s.v, robot.bias_forces(s.q, s.v) - robot.gravity_forces(s.q), 1e-10)


def test_beside_pinocchio():
    robot = kt.load("arm7").eager
    q, v, a = robot.random(5), *np.random.default_rng(5).normal(size=(2, robot.nv))
    model = pin.buildModelFromXML(robot.to_urdf())
    data = model.createData()
    pin.forwardKinematics(model, data, q, v, a)
    pin.centerOfMass(model, data, q, v)
    pin.crba(model, data, q)
    aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    V, A = robot.body_velocities(q, v), robot.body_accelerations(q, v, a)
    for i, name in enumerate(robot.joint_names):
        at = model.getJointId(name)
        close(V[i], pin.getVelocity(model, data, at, aligned).vector, 1e-12)
        close(A[i], pin.getClassicalAcceleration(model, data, at, aligned).vector, 1e-11)
        close(robot.composite_inertias(q)[i], data.Ycrb[at].matrix(), 1e-11)


def test_compiled_in_batches_and_prepared():
    robot, rng = kt.load("arm6"), np.random.default_rng(0)
    q, v, a = robot.random(rng, (3, 2)), rng.normal(size=(3, 2, 6)), rng.normal(size=(3, 2, 6))
    robot.prepare("body_velocities", "body_accelerations", reference="local", kind="spatial", batch=True)
    for call, eager in (
        (robot.body_velocities(q, v, "local"), robot.eager.body_velocities(q, v, "local")),
        (
            robot.body_accelerations(q, v, a, "local", "spatial"),
            robot.eager.body_accelerations(q, v, a, "local", "spatial"),
        ),
        (robot.joint_axes(q), robot.eager.joint_axes(q)),
        (robot.passive_forces(q, v), robot.eager.passive_forces(q, v)),
    ):
        assert call.shape[:2] == (3, 2)
        close(call, eager, 1e-12)
    out = np.empty((3, 2, 6, 6))
    assert robot.body_velocities(q, v, out=out) is out
    close(out, robot.eager.body_velocities(q, v), 1e-12)
    with pytest.raises(kt.ArgumentError, match="reference is 'global'"):
        robot.body_velocities(q, v, "global")
    with pytest.raises(kt.ArgumentError, match="point is 'tip'"):
        robot.body_jacobians(q, point="tip")
    with pytest.raises(kt.ArgumentError, match="kind is 'fast'"):
        robot.prepare("body_accelerations", kind="fast")


def test_inside_compiled_functions_and_differentiated():
    robot = kt.load("arm6")

    @kt.compile
    def speeds(robot, q, v):
        return robot.body_velocities(q, v, "local"), robot.joint_axes(q)

    q, v = robot.random(1), np.arange(6.0)
    V, n = speeds(robot, q, v)
    close(V, robot.eager.body_velocities(q, v, "local"), 1e-12)
    close(n, robot.eager.joint_axes(q), 1e-12)
    J = kt.jacobian(robot.body_velocities, wrt="v")(q, v)
    close(J, robot.eager.body_jacobians(q), 1e-12)


@pytest.mark.sweep
def test_every_kind_of_joint_compiled_as_by_the_textbook():
    """All of these in one function, for one state and for a batch, on a mixed base in Featherstone's order."""
    model = one_of_each.builder().build(base="floating", base_velocity="mixed", spatial_order="angular-first")
    robot = kt.Robot(model)

    @kt.compile
    def everything(robot, q, v, a):
        return (
            robot.body_velocities(q, v, "local"),
            robot.body_accelerations(q, v, a),
            robot.body_jacobians(q, point="center-of-mass"),
            robot.joint_axes(q),
            robot.composite_inertias(q),
            robot.newton_euler(q, v, a),
            robot.passive_forces(q, v),
            robot.bias_forces_by_newton_euler(q, v),
            robot.bias_forces_by_jacobians(q, v, {robot.body_names[-1]: v[:6]}),
        )

    rng = np.random.default_rng(4)
    q, v, a = robot.random(rng, 3), rng.normal(size=(3, robot.nv)), rng.normal(size=(3, robot.nv))
    batch, eager = everything(robot, q, v, a), everything.bind(robot.eager)
    for k in range(3):
        one, expected = everything(robot, q[k], v[k], a[k]), eager(q[k], v[k], a[k])
        for many, single, by_textbook in zip(flat(batch), flat(one), flat(expected), strict=True):
            assert np.array_equal(many[k], single)
            close(single, by_textbook, 1e-11)


def flat(results):
    """Arrays of nested tuples, one after the other."""
    for each in results:
        yield from flat(each) if isinstance(each, tuple) else (each,)


@pytest.mark.parametrize("base_velocity", ["body", "mixed"])
def test_a_floating_base_beside_pinocchio(base_velocity):
    robot = kt.load("quadruped", base="floating", base_velocity=base_velocity).eager
    rng = np.random.default_rng(6)
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    model = pin.buildModelFromXML(robot.to_urdf(), pin.JointModelFreeFlyer())
    data = model.createData()
    x, w = kt.convert(robot, "q", q, to="pinocchio"), kt.convert(robot, "v", v, to="pinocchio", q=q)
    pin.forwardKinematics(model, data, x, w, kt.convert(robot, "a", a, to="pinocchio", q=q, v=v))
    pin.crba(model, data, x)
    V, A, composites = robot.body_velocities(q, v), robot.body_accelerations(q, v, a), robot.composite_inertias(q)
    aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for k, joint in enumerate(["root_joint", *robot.joint_names]):
        number = model.getJointId(joint)
        close(V[k], pin.getVelocity(model, data, number, aligned).vector, 1e-12)
        close(A[k], pin.getClassicalAcceleration(model, data, number, aligned).vector, 1e-11)
        close(composites[k], data.Ycrb[number].matrix(), 1e-11)
