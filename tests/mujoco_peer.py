"""A robot beside the MuJoCo model it came from, with the maps between their coordinates written out by hand."""

from __future__ import annotations

import mujoco
import numpy as np

import kinetree as kt
from kinetree.model.joints import AxisJoint, Free


def rotation(xyzw: np.ndarray) -> np.ndarray:
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, np.roll(xyzw, 1))
    return R.reshape(3, 3)


class MujocoPeer:
    """v_mujoco = T(q) v. A free body's linear velocity is in world axes there, and in its own here."""

    def __init__(self, robot: kt.Robot, model: mujoco.MjModel) -> None:
        self.robot = robot
        self.model = model
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        self.data = mujoco.MjData(model)
        self.joints = [joint for joint in robot.model.joints if joint.nv]

    def set(self, q, v, a) -> None:
        """Puts MuJoCo into the same state."""
        self.T = np.zeros((self.model.nv, self.robot.nv))
        rate = np.zeros(self.model.nv)
        assert len(self.joints) == self.model.njnt
        for k, joint in enumerate(self.joints):  # both go through the tree in the same order
            there = self.model.joint(k)
            at, dof = int(there.qposadr[0]), int(there.dofadr[0])
            own, v_own = q[joint.q_slice], v[joint.v_slice]
            if isinstance(joint, Free):
                R = rotation(own[3:])
                self.data.qpos[at : at + 7] = np.concatenate([own[:3], np.roll(own[3:], 1)])
                self.T[dof : dof + 6, joint.v_slice] = np.eye(6)
                self.T[dof : dof + 3, joint.iv : joint.iv + 3] = R
                rate[dof : dof + 3] = R @ np.cross(v_own[3:], v_own[:3])
            elif isinstance(joint, AxisJoint):
                self.data.qpos[at] = joint.position(q)
                self.T[dof, joint.iv] = joint.lever
            else:
                self.data.qpos[at : at + 4] = np.roll(own, 1)
                self.T[dof : dof + 3, joint.v_slice] = np.eye(3)
        self.data.qvel = self.T @ v
        mujoco.mj_forward(self.model, self.data)
        self.data.qacc = self.T @ a + rate
        self.rate = rate

    def mass_matrix(self):
        M = np.zeros((self.model.nv, self.model.nv))
        if hasattr(self.data, "qM"):
            mujoco.mj_fullM(self.model, M, self.data.qM)
        else:
            mujoco.mj_fullM(self.model, self.data, M)
        self.M = M
        return self.T.T @ M @ self.T

    def bias_forces(self):
        self.mass_matrix()
        return self.T.T @ (self.data.qfrc_bias + self.M @ self.rate)

    def passive_forces(self, width: float = 0.01):
        """What a motor has to overcome; Coulomb friction, a constraint there, with our width."""
        return self.T.T @ (self.friction(width) - self.data.qfrc_passive)

    def inverse_dynamics(self, width: float = 0.01):
        mujoco.mj_inverse(self.model, self.data)
        return self.T.T @ (self.data.qfrc_inverse + self.friction(width))

    def friction(self, width: float):
        """Coulomb friction of joints and tendons."""
        v, J = self.data.qvel, self.tendon_jacobian()
        own = self.model.dof_frictionloss * v / np.sqrt(v * v + width**2)
        return own + J.T @ (self.model.tendon_frictionloss * (J @ v) / np.sqrt((J @ v) ** 2 + width**2))

    def tendon_jacobian(self):
        """Of lengths by qvel, (ntendon, nv)."""
        model, J = self.model, np.zeros((self.model.ntendon, self.model.nv))
        if self.data.ten_J.size == J.size:
            return self.data.ten_J.reshape(J.shape)
        mujoco.mju_sparse2dense(J, self.data.ten_J, model.ten_J_rownnz, model.ten_J_rowadr, model.ten_J_colind)
        return J
