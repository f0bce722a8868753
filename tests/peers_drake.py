"""A tree in Drake, built joint by joint by its own functions; needs the package `drake`, which the tests do without."""

from __future__ import annotations

import numpy as np
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    BallRpyJoint,
    FixedOffsetFrame,
    PlanarJoint,
    PrismaticJoint,
    QuaternionFloatingJoint,
    RevoluteJoint,
    ScrewJoint,
    SpatialInertia,
    UnitInertia,
    UniversalJoint,
)

import kinetree as kt
from kinetree.model.joints import Joint
from peers import in_plane


def drake_from_tree(model: kt.Model) -> MultibodyPlant:
    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(np.array(model.gravity))
    bodies = {0: plant.world_body()}
    for i, p in model.root_to_tips():
        inertia, X, joint = model.inertias[i], model.placements[i], model.joints[i]
        m, c, I = float(inertia.mass), inertia.h / inertia.mass, inertia.I / inertia.mass  # noqa: E741
        about_origin = UnitInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        bodies[i] = plant.AddRigidBody(model.names[i], SpatialInertia(m, c, about_origin, skip_validity_check=True))
        turned = joint_axes(joint)
        pose = RigidTransform(RotationMatrix(X.R.T.copy()), X.p) @ RigidTransform(RotationMatrix(turned), np.zeros(3))
        on_parent = plant.AddFrame(FixedOffsetFrame(f"{joint.name} on parent", bodies[p].body_frame(), pose))
        turn = RigidTransform(RotationMatrix(turned), np.zeros(3))
        on_child = plant.AddFrame(FixedOffsetFrame(f"{joint.name} on child", bodies[i].body_frame(), turn))
        plant.AddJoint(drake_joint(joint, on_parent, on_child))
    plant.Finalize()
    return plant


def joint_axes(joint: Joint) -> np.ndarray:
    """Drake's planar joint is about z, its universal joint about x and y: the axes of their frames, by columns."""
    match type(joint).__name__:
        case "Planar":
            return np.column_stack([*in_plane(joint.axis), joint.axis])
        case "Universal":
            return np.column_stack([joint.axis, joint.axis2, np.cross(joint.axis, joint.axis2)])
        case _:
            return np.eye(3)


def drake_joint(joint: Joint, F: FixedOffsetFrame, M: FixedOffsetFrame):
    match type(joint).__name__:
        case "Free":
            return QuaternionFloatingJoint(joint.name, F, M)
        case "Spherical":
            return BallRpyJoint(joint.name, F, M)
        case "Planar":
            return PlanarJoint(joint.name, F, M)
        case "Universal":
            return UniversalJoint(joint.name, F, M)
        case "Helical":  # its pitch is the advance of a full turn
            return ScrewJoint(joint.name, F, M, joint.axis, 2 * np.pi * joint.pitch, 0.0)
        case "Prismatic":
            return PrismaticJoint(joint.name, F, M, joint.axis)
        case _:
            return RevoluteJoint(joint.name, F, M, joint.axis)
