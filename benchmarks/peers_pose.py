"""The search for a pose in Robotics Toolbox for Python (its C++ `ik_LM`) and as a loop over Pinocchio, for `ik.py`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
import roboticstoolbox as rtb

import kinetree as kt

Solve = Callable[[np.ndarray], tuple[np.ndarray, bool]]


def of_toolbox(robot: kt.Robot, frame: str, position: float) -> Solve:
    """Levenberg-Marquardt with Chan's damping, within limits, a hundred restarts: the fastest of its methods.

    Its tolerance is of ½ ‖e‖² with metres and radians alike, so that the position is as good as asked for.
    """
    chain = _chain(robot, frame)
    tolerance = 0.5 * position**2

    def solve(target: np.ndarray) -> tuple[np.ndarray, bool]:
        solution = chain.ik_LM(target, ilimit=30, slimit=100, tol=tolerance, joint_limits=True, method="chan")
        return solution.q, solution.success

    return solve


def _chain(robot: kt.Robot, frame: str) -> rtb.ETS:
    """The joints from the base to the frame as a sequence of elementary transforms."""
    still = robot.neutral()
    poses, steps, before = robot.poses(still), [], np.eye(4)
    lower, upper = robot.limits.lower, robot.limits.upper
    for k, joint in enumerate(robot.model.owners):
        letter = "xyz"[int(np.argmax(np.abs(joint.axis)))]
        flip = float(joint.axis["xyz".index(letter)]) < 0.0
        at = poses[k] @ np.linalg.inv(_turn(joint.axis, still[k]))
        steps.append(rtb.ET.SE3(np.linalg.inv(before) @ at))
        steps.append(getattr(rtb.ET, f"R{letter}")(flip=flip, qlim=[lower[k], upper[k]]))
        before = at
    steps.append(rtb.ET.SE3(np.linalg.inv(before) @ robot.frame(frame).pose(still)))
    return rtb.ETS(steps)


def _turn(axis: np.ndarray, angle: float) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = kt.rotations.matrix_from_rotation_vector(np.asarray(axis, dtype=float) * angle)
    return T


def of_pinocchio(robot: kt.Robot, urdf: str, frame: str, locked: list[str], position: float, rotation: float) -> Solve:
    """Closed-loop inverse kinematics as its own example has it: damped steps along J⁺ log₆, restarts at random."""
    model = pin.buildModelFromXML(urdf)
    if locked:
        model = pin.buildReducedModel(model, [model.getJointId(name) for name in locked], pin.neutral(model))
    data, index, rng = model.createData(), model.getFrameId(frame), np.random.default_rng(0)
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit

    def solve(target: np.ndarray) -> tuple[np.ndarray, bool]:
        wanted = pin.SE3(target)
        for _ in range(100):
            q = rng.uniform(lower, upper)
            for _ in range(60):
                pin.framesForwardKinematics(model, data, q)
                gap = data.oMf[index].actInv(wanted)
                e = pin.log6(gap).vector
                if np.linalg.norm(gap.translation) <= position and np.linalg.norm(e[3:]) <= rotation:
                    if (q >= lower).all() and (q <= upper).all():
                        return q, True
                    break
                J = -pin.Jlog6(gap.inverse()) @ pin.computeFrameJacobian(model, data, q, index, pin.LOCAL)
                v = -J.T @ np.linalg.solve(J @ J.T + 1e-6 * np.eye(6), e)
                q = np.clip(pin.integrate(model, q, v * min(1.0, 1.0 / np.abs(v).max())), lower, upper)
        return q, False

    return solve
