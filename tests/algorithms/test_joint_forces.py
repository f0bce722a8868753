"""Rotors, damping, friction and springs of joints, in every quantity they enter."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.algorithms import aba, factorization
from kinetree.algorithms.joint_forces import passive_forces
from kinetree.model.joints import AxisJoint
from kinetree.model.random import EVERY_JOINT
from peers import close
from states import linear_first, state_of

KINDS = tuple(kind for kind in EVERY_JOINT if kind != "mimic")


@st.composite
def geared(draw, joints=EVERY_JOINT):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    options = {
        "base": draw(st.sampled_from(["fixed", "floating"])),
        "spatial_order": draw(st.sampled_from(["linear-first", "angular-first"])),
        "base_velocity": draw(st.sampled_from(["body", "mixed"])),
    }
    model = kt.random_model(rng, draw(st.integers(1, 8)), joints, joint_dynamics=True, **options)
    return state_of(kt.Robot(model), rng)


def by_hand(s):
    """The same, joint by joint in its own coordinates, and through the ratios of mimic joints."""
    rotors, coriolis, tau, energy = *np.zeros((3, s.robot.nv)), 0.0
    for joint in s.robot.model.joints[1:]:
        own, r, at = joint.dynamics, getattr(joint, "ratio", 1.0), joint.v_slice
        speed = r * s.v[at]
        rotors[at] += r * r * np.asarray(own.armature)
        if joint.nv == 6 and joint.frame == "body":  # the momentum p of a linear armature turns with the body
            p, v = linear_first(own.armature * s.v[at], joint.order)[:3], linear_first(s.v[at], joint.order)
            coriolis[at] = linear_first(np.concatenate([np.cross(v[3:], p), np.cross(v[:3], p)]), joint.order)
        tau[at] += r * np.asarray(own.damping) * speed
        tau[at] += r * np.asarray(own.friction) * np.sin(np.arctan2(speed, s.robot.model.friction_width))
        tau[at] += r * slope(lambda dv, j=joint: spring_energy(j, s, dv), joint.nv)
        energy += spring_energy(joint, s, np.zeros(joint.nv))
    return rotors, coriolis, tau, energy


def spring_energy(joint, s, dv):
    """½ Σ k (x - rest)² after the joint alone has moved by dv; rotations by Pinocchio's logarithm."""
    k = np.broadcast_to(joint.dynamics.stiffness, joint.nv)
    rest = np.broadcast_to(joint.dynamics.rest, joint.nv)
    if isinstance(joint, AxisJoint):
        x = joint.ratio * s.q[joint.q_slice] + joint.offset + dv - rest
    elif joint.nq == joint.nv:
        x = s.q[joint.q_slice] + dv - rest
    else:
        v = np.zeros(s.robot.nv)
        v[joint.v_slice] = dv
        moved = s.robot.eager.integrate(s.q, v)[joint.q_slice]
        if joint.nv == 6:
            k, rest = (linear_first(six, joint.order) for six in (k, rest))
        turned = pin.exp3(rest[-3:].copy()).T @ pin.Quaternion(moved[-4:]).toRotationMatrix()
        x = np.concatenate([moved[:-4] - rest[:-3], pin.log3(turned)])
    return x @ (k * x) / 2


def slope(energy, n, h=1e-5):
    return np.array([(energy(h * e) - energy(-h * e)) / (2 * h) for e in np.eye(n)])


def without(model: kt.Model) -> kt.Robot:
    """The same robot with nothing but its bodies."""
    builder = kt.ModelBuilder.of(model.description)
    for name, joint in list(builder.joints.items()):
        builder.joints[name] = type(joint)(**{**joint.__dict__, "dynamics": kt.JointDynamics()})
    options = model.options
    return kt.Robot(
        builder.build(options.base, spatial_order=options.spatial_order, base_velocity=options.base_velocity)
    )


@given(geared())
def test_every_quantity_has_its_share(s):
    rotors, coriolis, tau, energy = by_hand(s)
    bare = without(s.robot.model)
    expected = bare.eager.inverse_dynamics(s.q, s.v, s.a) + rotors * s.a + coriolis + tau
    close(s.robot.eager.inverse_dynamics(s.q, s.v, s.a), expected, 1e-8)
    close(s.robot.eager.mass_matrix(s.q), bare.eager.mass_matrix(s.q) + np.diag(rotors))
    close(s.robot.eager.bias_forces(s.q, s.v), bare.eager.bias_forces(s.q, s.v) + coriolis)
    close(s.robot.eager.gravity_forces(s.q), bare.eager.gravity_forces(s.q))
    close(s.robot.eager.potential_energy(s.q), bare.eager.potential_energy(s.q) + energy)
    M = s.robot.eager.mass_matrix(s.q)
    close(s.robot.eager.kinetic_energy(s.q, s.v), 0.5 * s.v @ M @ s.v)


@given(geared())
def test_forward_dynamics_undoes_inverse_dynamics(s):
    tau = s.robot.eager.inverse_dynamics(s.q, s.v, s.a)
    close(s.robot.eager.forward_dynamics(s.q, s.v, tau), s.a, 1e-8)


@given(geared(KINDS))
def test_both_algorithms_of_forward_dynamics_agree(s):
    by_recursion = aba.forward_dynamics(s.robot.model, s.q, s.v, s.a)
    close(by_recursion, factorization.forward_dynamics(s.robot.model, s.q, s.v, s.a), 1e-8)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_compiled_as_by_the_textbook(base):
    rng = np.random.default_rng(4)
    robot = kt.Robot(kt.random_model(rng, 6, joint_dynamics=True, base=base))
    s = state_of(robot, rng)
    for name, arguments in [
        ("inverse_dynamics", (s.q, s.v, s.a)),
        ("forward_dynamics", (s.q, s.v, s.a)),
        ("mass_matrix", (s.q,)),
        ("kinetic_energy", (s.q, s.v)),
        ("potential_energy", (s.q,)),
    ]:
        expected = getattr(robot.eager, name)(*arguments)
        close(getattr(robot, name)(*arguments), expected, 1e-11)
        batch = [np.tile(array, (9, 1)) for array in arguments]
        close(getattr(robot, name)(*batch)[4], expected, 1e-11)


def test_springs_are_the_slope_of_their_energy_and_friction_takes_power_away():
    rng = np.random.default_rng(1)
    for _ in range(10):
        s = state_of(kt.Robot(kt.random_model(rng, 5, EVERY_JOINT, joint_dynamics=True)), rng)
        slope = kt.gradient(kt.compile(lambda robot, q: robot.potential_energy(q)))(s.robot, s.q)
        at_rest = passive_forces(s.robot.model, s.q, np.zeros(s.robot.nv))
        close(slope, s.robot.gravity_forces(s.q) + at_rest)
        assert (passive_forces(s.robot.model, s.q, s.v) - at_rest) @ s.v > 0


def hinge(passive=True, **options):
    builder = kt.ModelBuilder("hinge")
    builder.link("stand")
    builder.link("rod", kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3)))
    dynamics = kt.JointDynamics(armature=0.5, damping=0.2, friction=3.0, stiffness=10.0, rest=0.1)
    builder.joint("hinge", "revolute", "stand", "rod", dynamics=dynamics)
    return kt.Robot(builder.build(passive=passive, **options))


def test_the_width_of_friction():
    robot = hinge(friction_width=0.1)
    at = [robot.inverse_dynamics([0.1], [v], [0.0])[0] - 0.2 * v for v in (-1e3, -0.1, 0.0, 0.1, 1e3)]
    close(at, [-3.0, -3.0 / np.sqrt(2), 0.0, 3.0 / np.sqrt(2), 3.0], 1e-7)


def test_passive_forces_can_be_switched_off_and_rotors_stay():
    close(hinge(passive=False).inverse_dynamics([0.3], [1.0], [2.0]), [2.0 * 1.5])
    close(hinge().inverse_dynamics([0.3], [0.0], [2.0]), [2.0 * 1.5 + 10.0 * 0.2])


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"armature": -1.0}, "armature is -1; expected zero or more, and finite"),
        ({"damping": np.nan}, "damping is nan; expected zero or more, and finite"),
        ({"rest": np.inf}, "rest is inf; expected a finite number"),
        ({"friction": "much"}, "friction is 'much'; expected a number"),
    ],
)
def test_numbers_no_joint_can_have(wrong, sentence):
    with pytest.raises(kt.KinetreeError, match=sentence):
        kt.JointDynamics(**wrong)


def test_a_width_of_zero():
    with pytest.raises(kt.ArgumentError, match="friction_width is 0; expected a speed above zero"):
        hinge(friction_width=0.0)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["fixed", "floating"]),
    st.sampled_from(["body", "mixed"]),
    st.sampled_from(["linear-first", "angular-first"]),
)
def test_linear_armature_of_a_free_joint_is_a_mass_without_weight(seed, base, base_velocity, order):
    """Where there is no gravity, it is a point mass at the origin of the body."""
    rng = np.random.default_rng(seed)

    def robot(armature, mass):
        rng = np.random.default_rng(seed)
        builder = kt.ModelBuilder("two")
        parameters = (kt.random_model(rng, 2, "revolute").inertias[i] for i in (1, 2))
        inertias = [inertia + kt.Inertia.from_com(mass, np.zeros(3), np.zeros((3, 3))) for inertia in parameters]
        if base == "fixed":
            builder.link("world")
        builder.link("trunk", inertias[0])
        builder.link("arm", inertias[1] - kt.Inertia.from_com(mass, np.zeros(3), np.zeros((3, 3))))
        both = (armature,) * 3 + (0.0,) * 3
        dynamics = kt.JointDynamics(armature=both if order == "linear-first" else both[::-1])
        if base == "fixed":
            builder.joint("free", "free", "world", "trunk", dynamics=dynamics)
        else:
            builder.base_dynamics = dynamics
        builder.joint("hinge", "revolute", "trunk", "arm", xyz=(0.1, 0.2, 0.3), axis=(0, 1, 0))
        options = {"gravity": np.zeros(3), "base_velocity": base_velocity, "spatial_order": order}
        return kt.Robot(builder.build(base, **options)).eager

    geared, heavy = robot(0.7, 0.0), robot(0.0, 0.7)
    s = state_of(geared, rng)
    for name, arguments in (
        ("mass_matrix", (s.q,)),
        ("bias_forces", (s.q, s.v)),
        ("inverse_dynamics", (s.q, s.v, s.a)),
        ("forward_dynamics", (s.q, s.v, s.a)),
        ("kinetic_energy", (s.q, s.v)),
        ("inverse_dynamics_derivatives", (s.q, s.v, s.a)),
    ):
        ours, theirs = getattr(geared, name)(*arguments), getattr(heavy, name)(*arguments)
        close(np.array(ours), np.array(theirs), 1e-10)
    C = geared.coriolis_matrix(s.q, s.v)
    close(C @ s.v, geared.bias_forces(s.q, s.v), 1e-10)
    close(geared.mass_matrix_rate(s.q, s.v), C + C.T, 1e-12)
    close(np.einsum("ijk,k->ij", geared.christoffel_symbols(s.q), s.v), C, 1e-10)
    close(geared.regressor(s.q, s.v, s.a) @ geared.parameters, geared.inverse_dynamics(s.q, s.v, s.a), 1e-10)
