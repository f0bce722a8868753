"""Operational-space control of a seven-joint arm in one kernel, beside the same law with Pinocchio and NumPy.

Mass matrix, Jacobian, Λ = (J M⁻¹ Jᵀ)⁻¹, bias forces and a posture in the null space (Khatib 1987): written as on paper,
compiled to one function that shares every term. If `pin` is installed, both compute the same torques, timed in turn.
"""

import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

try:
    import pinocchio as pin
except ImportError:
    pin = None

KP, KD = 100.0, 20.0  # of the tool [1/s²], [1/s]
KP_POSTURE, KD_POSTURE = 5.0, 1.0  # of the joints [N m/rad], [N m s/rad]


@kt.compile(shapes={"goal": (4, 4), "posture": "q"})
def operational_space(robot, q, v, goal, posture):
    """τ = Jᵀ Λ (ẍ - J̇ v) + (1 - Jᵀ J̄ᵀ) τ₀ + h, with J̄ = M⁻¹ Jᵀ Λ."""
    tool = robot.frame("tool0")
    M, h = robot.mass_matrix(q), robot.bias_forces(q, v)
    pose, J = tool.pose(q), tool.jacobian(q)
    turn = sum(kt.cross(pose[:3, k], goal[:3, k]) for k in range(3)) / 2.0
    acceleration = KP * np.concatenate([goal[:3, 3] - pose[:3, 3], turn]) - KD * (J @ v)

    M_inv_JT = kt.linalg.solve(M, J.T, positive_definite=True)
    Lambda = kt.linalg.inverse(J @ M_inv_JT, positive_definite=True)
    tau_0 = KP_POSTURE * (posture - q) - KD_POSTURE * v
    force = Lambda @ (acceleration - tool.bias_acceleration(q, v) - M_inv_JT.T @ tau_0)
    return J.T @ force + tau_0 + h


def by_pinocchio(model, data, tool, q, v, goal, posture):
    """The same, one C++ call a quantity: quicker than by crba and np.linalg.solve, or by computeAllTerms."""
    h, M_inv = pin.nonLinearEffects(model, data, q, v), pin.computeMinverse(model, data, q)
    J = pin.computeFrameJacobian(model, data, q, tool, pin.LOCAL_WORLD_ALIGNED)
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    bias = pin.getFrameClassicalAcceleration(model, data, tool, pin.LOCAL_WORLD_ALIGNED).vector
    pose = pin.updateFramePlacement(model, data, tool)
    S = goal[:3, :3] @ pose.rotation.T
    turn = np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]]) / 2.0
    acceleration = KP * np.concatenate([goal[:3, 3] - pose.translation, turn]) - KD * (J @ v)

    M_inv_JT = M_inv @ J.T
    tau_0 = KP_POSTURE * (posture - q) - KD_POSTURE * v
    return J.T @ np.linalg.solve(J @ M_inv_JT, acceleration - bias - M_inv_JT.T @ tau_0) + tau_0 + h


def seconds(call, arguments, repeat=200):
    """Of one call, the mean of many."""
    start = time.perf_counter()
    for _ in range(repeat):
        call(*arguments)
    return (time.perf_counter() - start) / repeat


robot = kt.load("arm7")
tool = robot.frame("tool0")
law = operational_space.bind(robot)
print(f"one kernel of {operational_space.graph.operations()} operations")

# Where the tool is asked to go, it accelerates to; what the posture asks for does not move it.
q, v = np.array([0.4, 0.5, -0.3, 1.2, 0.2, 0.7, 0.1]), np.array([0.3, -0.5, 0.2, 0.4, -0.1, 0.6, 0.2])
goal, posture = tool.pose(q + 0.2), np.zeros(robot.nv)
accelerations = [
    tool.acceleration(q, v, robot.forward_dynamics(q, v, law(q, v, goal, rest))) for rest in (posture, posture + 1.0)
]
print("acceleration of the tool [m/s², rad/s²]:", accelerations[0].round(3))
assert np.allclose(*accelerations, atol=1e-8), "the null space stays null"

if pin is None:
    print("pin is not installed: nothing to compare with")
else:
    model = pin.buildModelFromUrdf(str(Path(kt.__file__).parent / "robots" / "arm7.urdf"))
    peer = (model, model.createData(), model.getFrameId("tool0"))
    rng = np.random.default_rng(0)
    for _ in range(100):
        states = robot.random(rng), rng.normal(size=robot.nv), tool.pose(robot.random(rng)), robot.random(rng)
        ours, theirs = law(*states), by_pinocchio(*peer, *states)
        assert np.abs(ours - theirs).max() <= 1e-9 * max(1.0, np.abs(theirs).max())
    arguments = (q, v, goal, posture)
    rounds = [(seconds(law, arguments), seconds(by_pinocchio, (*peer, *arguments))) for _ in range(20)]
    ours, theirs = np.min(rounds, axis=0) * 1e6
    print(f"kinetree {ours:.2f} µs, pin + NumPy {theirs:.1f} µs: {theirs / ours:.0f} times faster")

# -- picture: the tool goes straight to its goal while the joints go to their posture ----
closed = kt.compile(lambda robot, q, v: operational_space(robot, q, v, goal, posture))
path = robot.rollout(q, np.zeros(robot.nv), closed, dt=1e-3, steps=2000)
places = tool.pose(path.q)[:, :3, 3]
figure = Figure(figsize=(10, 4.2), layout="constrained")
way, joints = figure.subplots(1, 2)
way.plot(path.t, 1e3 * (places - goal[:3, 3]), label=["x", "y", "z"])
way.set(xlabel="time [s]", ylabel="tool to goal [mm]", title="the task")
way.legend()
joints.plot(path.t, path.q, label=robot.joint_names)
joints.set(xlabel="time [s]", ylabel="joints [rad]", title="and what is left to the posture")
joints.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
assert np.linalg.norm(places[-1] - goal[:3, 3]) < 1e-4
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "12_operational_space.png", dpi=120)
print("drawn in", folder / "12_operational_space.png")
