"""Writes what Drake makes of the files in tests/model/sdf: python tests/model/sdf_record.py, with the package drake."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import MultibodyForces

FOLDER = Path(__file__).parent / "sdf"


def recorded(file: Path) -> dict[str, object]:
    """At a random state, joints by name: efforts of inverse dynamics, the mass matrix, poses of all bodies."""
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    parser.package_map().Add("hand", str(FOLDER / "hand"))
    parser.AddModels(str(file))
    plant.Finalize()
    rng = np.random.default_rng(len(file.name))
    context = plant.CreateDefaultContext()
    joints = [plant.get_joint(index) for index in plant.GetJointIndices()]
    q, v, a = (
        np.zeros(plant.num_positions()),
        rng.normal(size=plant.num_velocities()),
        rng.normal(size=plant.num_velocities()),
    )
    for joint in joints:
        if joint.type_name() != "ball_rpy":  # at zero its angular velocity is in the axes of both bodies
            q[joint.position_start() : joint.position_start() + joint.num_positions()] = 0.7 * rng.normal(
                size=joint.num_positions()
            )
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    bodies = [plant.get_body(index) for index in plant.GetBodyIndices(joints[0].model_instance())]
    moving = [joint for joint in joints if joint.num_velocities()]
    return {
        "joints": {
            each.name(): [each.position_start(), each.num_positions(), each.velocity_start(), each.num_velocities()]
            for each in moving
        },
        "q": q.tolist(), "v": v.tolist(), "a": a.tolist(),
        "tau": plant.CalcInverseDynamics(context, a, forces).tolist(),
        "mass_matrix": plant.CalcMassMatrix(context).tolist(),
        "poses": {body.name(): plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4().tolist() for body in bodies},
    }  # fmt: skip


if __name__ == "__main__":
    record = {file.name: recorded(file) for file in sorted(FOLDER.glob("*.sdf"))}
    FOLDER.with_name("sdf_drake.json").write_text(json.dumps(record, indent=1) + "\n")
