"""The same step of whole-body control in TSID and PlaCo, for `whole_body.py`.

TSID has the same tasks, weights and gains, soles as four forces each, and torque bounds. PlaCo has no momentum task; it
is given the others.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import kinetree as kt

WEIGHTS = {"com": 100.0, "posture": 10.0, "momentum": 30.0}
"""Of residuals; momentum divided by mass. Large beside what TSID adds to its Hessian."""
STIFFNESS, DAMPING, RATE = 100.0, 20.0, 10.0
FRICTION, FORCE = 0.5, 1e-3
"""Of the pyramid; and λ of contact forces divided by mass."""


@dataclass(frozen=True)
class Stand:
    """A robot on two soles, what it is asked for, and a sequence of states."""

    robot: kt.Robot
    urdf: str
    feet: tuple[str, str]
    at: tuple[float, float, float]
    length: float
    width: float
    posture: np.ndarray
    com: np.ndarray


def of_tsid(stand: Stand, forces: float = FORCE) -> Any | None:
    """A function from a state to accelerations: one problem, filled and solved. Its `in_our_order` also gives torques,
    and takes and gives all as our robot has it. `forces` is the weight of contact wrenches, divided by mass."""
    try:
        import pinocchio as pin  # noqa: PLC0415

        tsid = import_module("tsid.tsid_pywrap")
    except ImportError:
        return None
    robot = stand.robot
    model = pin.buildModelFromXML(stand.urdf, pin.JointModelFreeFlyer())
    wrapped = tsid.RobotWrapper(model, tsid.FLOATING_BASE_SYSTEM, False)
    formulation = tsid.InverseDynamicsFormulationAccForce("tsid", wrapped, False)
    theirs = [int(model.joints[model.getJointId(name)].idx_v) - 6 for name in robot.joint_names]
    order = np.concatenate([np.arange(6), 6 + np.argsort(theirs)])  # our entries of v in their order
    of_q = np.concatenate([np.arange(7), order[6:] + 1])
    formulation.computeProblemData(0.0, stand.posture[of_q], np.zeros(robot.nv))
    keep = [model, wrapped, *_tsid_contacts(tsid, wrapped, formulation, stand, forces)]  # TSID only borrows them
    keep += _tsid_tasks(tsid, wrapped, formulation, stand, stand.posture[of_q][7:])
    bounds = tsid.TaskActuationBounds("bounds", wrapped)
    effort = robot.limits.effort[order][6:]
    bounds.setBounds(-effort, effort)
    formulation.addActuationTask(bounds, 1.0, 0, 0.0)
    solver = tsid.SolverHQuadProgFast("solver")
    solver.resize(formulation.nVar, formulation.nEq, formulation.nIn)
    keep.append(bounds)

    def solved(q: np.ndarray, v: np.ndarray) -> Any:
        solution = solver.solve(formulation.computeProblemData(0.0, q, v))
        assert solution.status == 0
        return solution

    def accelerations(q: np.ndarray, v: np.ndarray, _: Any = keep) -> np.ndarray:
        return np.array(formulation.getAccelerations(solved(q, v)))

    def in_our_order(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        solution, back = solved(q[of_q], v[order]), np.argsort(order)
        efforts = np.concatenate([np.zeros(6), formulation.getActuatorForces(solution)])
        return np.array(formulation.getAccelerations(solution))[back], efforts[back]

    accelerations.of_q, accelerations.of_v = of_q, order  # type: ignore[attr-defined]
    accelerations.in_our_order = in_our_order  # type: ignore[attr-defined]
    return accelerations


def _tsid_contacts(tsid: Any, wrapped: Any, formulation: Any, stand: Stand, forces: float) -> list[Any]:
    """Soles, as four forces each."""
    X, Y = 0.5 * stand.length, 0.5 * stand.width
    corners = np.array([[-X, -X, X, X], [-Y, Y, -Y, Y], [0, 0, 0, 0]]) + np.array(stand.at)[:, None]
    found = []
    for foot in stand.feet:
        contact = tsid.Contact6d(foot, wrapped, foot, corners, np.array([0.0, 0, 1]), FRICTION, 0.0, 1e5)
        contact.setKp(np.zeros(6))
        contact.setKd(np.zeros(6))
        contact.setReference(wrapped.framePosition(formulation.data(), wrapped.model().getFrameId(foot)))
        contact.setRegularizationTaskWeightVector(np.ones(6))
        formulation.addRigidContact(contact, (forces / stand.robot.mass) ** 2)
        found.append(contact)
    return found


def _tsid_tasks(tsid: Any, wrapped: Any, formulation: Any, stand: Stand, joints: np.ndarray) -> list[Any]:
    """Centre of mass, posture and angular momentum."""
    mass, count = stand.robot.mass, len(joints)
    com = tsid.TaskComEquality("com", wrapped)
    com.setKp(STIFFNESS * np.ones(3))
    com.setKd(DAMPING * np.ones(3))
    com.setReference(tsid.TrajectoryEuclidianConstant("com", stand.com).computeNext())
    formulation.addMotionTask(com, WEIGHTS["com"] ** 2, 1, 0.0)
    posture = tsid.TaskJointPosture("posture", wrapped)
    posture.setKp(STIFFNESS * np.ones(count))
    posture.setKd(DAMPING * np.ones(count))
    posture.setReference(tsid.TrajectoryEuclidianConstant("posture", joints).computeNext())
    formulation.addMotionTask(posture, WEIGHTS["posture"] ** 2, 1, 0.0)
    momentum = tsid.TaskAMEquality("momentum", wrapped)
    momentum.setKp(RATE * np.ones(3))
    momentum.setKd(np.zeros(3))
    momentum.setReference(tsid.TrajectoryEuclidianConstant("momentum", np.zeros(3)).computeNext())
    formulation.addMotionTask(momentum, (WEIGHTS["momentum"] / mass) ** 2, 1, 0.0)
    return [com, posture, momentum]


def of_placo(stand: Stand) -> Any | None:
    """A function from a state to torques."""
    try:
        import placo  # noqa: PLC0415
    except ImportError:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(stand.urdf)
        robot = placo.RobotWrapper(str(path), placo.Flags.ignore_collisions)
    q = stand.posture
    robot.state.q = np.array(q)
    robot.update_kinematics()
    solver = placo.DynamicsSolver(robot)
    solver.dt = 0.001
    for foot in stand.feet:
        task = solver.add_frame_task(foot, robot.get_T_world_frame(foot))
        task.configure(foot, "hard", 1.0)
        contact = solver.add_planar_contact(task)
        contact.length, contact.width, contact.mu = stand.length, stand.width, FRICTION
    solver.add_com_task(stand.com).configure("com", "soft", WEIGHTS["com"])
    joints = solver.add_joints_task()
    names = [joint.name for joint in stand.robot.model.owners][1:]
    joints.set_joints({name: float(q[7 + k]) for k, name in enumerate(names)})
    joints.configure("posture", "soft", WEIGHTS["posture"])
    solver.set_kp(STIFFNESS)
    solver.set_kd(DAMPING)
    solver.enable_torque_limits(True)

    def torques(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        robot.state.q = q
        robot.state.qd = v
        robot.update_kinematics()
        return np.array(solver.solve().tau)

    return torques
