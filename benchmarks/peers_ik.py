"""The same step of differential inverse kinematics in Pink, Mink and PlaCo, for `differential_ik.py`.

All get the same robot without its meshes, the same configuration and targets, gain one over a step, weights and limits.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import mink
import mujoco
import numpy as np
import pink
import pinocchio as pin
import placo

import kinetree as kt
from kinetree.cli.measure import Call


@dataclass(frozen=True)
class Setup:
    """A robot, its targets by frame, and the weight of a posture task beside them, if there is one."""

    robot: kt.Robot
    urdf: str
    q: np.ndarray
    targets: Mapping[str, np.ndarray]
    posture: float | None
    dt: float

    @property
    def floats(self) -> bool:
        return self.robot.model.floating_base is not None


def of_kinetree(setup: Setup) -> dict[str, Call]:
    """One object, one call."""
    tasks: list[kt.ik.MotionTask] = [kt.ik.Pose(frame, gain=1.0 / setup.dt) for frame in setup.targets]
    given = {"q": setup.q} | {f"T{k}": T for k, T in enumerate(setup.targets.values())}
    if setup.posture is not None:
        tasks.append(kt.ik.Posture(weight=setup.posture, gain=1.0 / setup.dt))
        given["posture"] = setup.q
    ik = kt.ik.DifferentialIK(setup.robot, tasks, dt=setup.dt, damping=1e-6)
    names = {"velocity": ik.velocity, **given}
    return {"kinetree": Call(f"velocity({', '.join(given)})", names)}


def of_pink(setup: Setup, solvers: tuple[str, ...] = ("quadprog", "daqp", "proxqp")) -> dict[str, Call]:
    """With each of its solvers."""
    root = (pin.JointModelFreeFlyer(),) if setup.floats else ()
    model = pin.buildModelFromXML(setup.urdf, *root)
    q = kt.convert(setup.robot, "q", setup.q, to="pinocchio")
    configuration = pink.Configuration(model, model.createData(), q)
    tasks: list[pink.tasks.Task] = []
    for frame, T in setup.targets.items():
        task = pink.tasks.FrameTask(frame, position_cost=1.0, orientation_cost=1.0)
        task.set_target(pin.SE3(T))
        tasks.append(task)
    if setup.posture is not None:
        posture = pink.tasks.PostureTask(cost=setup.posture)
        posture.set_target(q)
        tasks.append(posture)

    def read(v: np.ndarray) -> np.ndarray:
        return kt.convert(setup.robot, "v", v, source="pinocchio")

    names = {"solve": pink.solve_ik, "configuration": configuration, "tasks": tasks, "dt": setup.dt, "q": q}
    return {
        f"pink, {solver}": Call(
            "configuration.update(q); solve(configuration, tasks, dt, solver=solver)", names | {"solver": solver}, read
        )
        for solver in solvers
    }


def of_mink(setup: Setup, solvers: tuple[str, ...] = ("quadprog", "daqp", "proxqp")) -> dict[str, Call]:
    """With each of its solvers."""
    model = mujoco.MjModel.from_xml_string(setup.robot.to_mjcf(lossy=True))
    q = kt.convert(setup.robot, "q", setup.q, to="mujoco")
    configuration = mink.Configuration(model)
    configuration.update(q)
    tasks: list[mink.Task] = []
    for frame, T in setup.targets.items():
        kind = "body" if mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, frame) >= 0 else "site"
        task = mink.FrameTask(frame, kind, position_cost=1.0, orientation_cost=1.0)
        task.set_target(mink.SE3.from_matrix(T))
        tasks.append(task)
    if setup.posture is not None:
        cost = np.full(model.nv, setup.posture)
        cost[: 6 * setup.floats] = 0.0
        posture = mink.PostureTask(model, cost)
        posture.set_target(q)
        tasks.append(posture)
    speeds = dict(zip(setup.robot.joint_names, setup.robot.limits.velocity[6 * setup.floats :], strict=True))
    limits = [mink.ConfigurationLimit(model, gain=1.0), mink.VelocityLimit(model, speeds)]

    def read(v: np.ndarray) -> np.ndarray:
        return kt.convert(setup.robot, "v", v, q=q, source="mujoco")

    names = {"solve": mink.solve_ik, "configuration": configuration, "tasks": tasks, "dt": setup.dt, "q": q}
    names["limits"] = limits
    return {
        f"mink, {solver}": Call(
            "configuration.update(q); solve(configuration, tasks, dt, solver, limits=limits)",
            names | {"solver": solver},
            read,
        )
        for solver in solvers
    }


def of_placo(setup: Setup) -> dict[str, Call]:
    """State and targets stay in its own memory; their setting is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(setup.urdf)
        robot = placo.RobotWrapper(str(path), placo.Flags.ignore_collisions)
    q_pin = kt.convert(setup.robot, "q", setup.q, to="pinocchio")
    robot.state.q = q_pin if setup.floats else np.concatenate([[0.0, 0, 0, 0, 0, 0, 1], q_pin])
    robot.update_kinematics()
    solver = placo.KinematicsSolver(robot)
    solver.mask_fbase(not setup.floats)
    for frame, T in setup.targets.items():
        solver.add_frame_task(frame, T).configure(frame, "soft", 1.0, 1.0)
    if setup.posture is not None:
        joints = solver.add_joints_task()
        joints.set_joints({name: robot.get_joint(name) for name in robot.joint_names()})
        joints.configure("posture", "soft", setup.posture**2)
    solver.add_regularization_task(1e-12)
    solver.dt = setup.dt
    solver.enable_joint_limits(True)
    solver.enable_velocity_limits(True)

    def read(dq: np.ndarray) -> np.ndarray:
        v = np.asarray(dq) / setup.dt
        return kt.convert(setup.robot, "v", v if setup.floats else v[6:], source="pinocchio")

    return {"placo": Call("robot.update_kinematics(); solver.solve(False)", {"robot": robot, "solver": solver}, read)}
