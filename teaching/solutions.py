"""Solutions of the exercises of `kinetree.course`, by number: functions of what is asked for, or of what is given."""

import numpy as np

G = 9.81


def rot(axis, angle):
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], float)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def place(R, p):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def log(R):
    angle = np.arccos((np.trace(R) - 1) / 2)
    w = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return angle / (2 * np.sin(angle)) * w


X, Y, Z = np.eye(3)
AXES = (Z, Y, Y, X, Y, X)
OFFSETS = ((0, 0, 0.145), (0, 0, 0.145), (0, 0, 0.27), (0.134, 0, 0.07), (0.168, 0, 0), (0.072, 0, 0))


def irb_frames(q):
    T, frames = np.eye(4), []
    for axis, offset, angle in zip(AXES, OFFSETS, q, strict=True):
        T = T @ place(rot(axis, angle), offset)
        frames.append(T)
    return frames


def irb_jacobian(q):
    frames = irb_frames(q)
    r = frames[-1][:3, 3]
    n = [T[:3, :3] @ axis for T, axis in zip(frames, AXES, strict=True)]
    return np.vstack(
        [np.transpose([np.cross(a, r - T[:3, 3]) for a, T in zip(n, frames, strict=True)]), np.transpose(n)]
    )


def quaternion(R):
    w = np.sqrt(1 + np.trace(R)) / 2
    return np.append(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w), w)


def euler_rates(angles):
    z, y, _ = angles
    return np.column_stack([Z, rot(Z, z) @ Y, rot(Z, z) @ rot(Y, y) @ X])


def analytic(robot, q):
    frame = robot.frame("tool0")
    J, R = frame.jacobian(q), frame.pose(q)[:3, :3]
    angles = np.arctan2(R[1, 0], R[0, 0]), -np.arcsin(R[2, 0]), np.arctan2(R[2, 1], R[2, 2])
    return np.vstack([J[:3], np.linalg.inv(euler_rates(angles)) @ J[3:]])


def bias(robot, q, v, h=1e-6):
    J = [robot.frame("tool0").jacobian(robot.integrate(q, s * h * v)) for s in (1, -1)]
    return (J[0] - J[1]) @ v / (2 * h)


def adjoint(T):
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, skew(p) @ R], [np.zeros((3, 3)), R]])


def two_links(target):
    q2 = np.arccos((target @ target - 1.25) / 1.0)
    return np.array([np.arctan2(target[1], target[0]) - np.arctan2(0.5 * np.sin(q2), 1 + 0.5 * np.cos(q2)), q2])


def error(pose, target):
    return np.concatenate([target[:3, 3] - pose[:3, 3], log(target[:3, :3] @ pose[:3, :3].T)])


def step(robot, q, target):
    frame = robot.frame("tool0")
    return np.linalg.pinv(frame.jacobian(q)) @ error(frame.pose(q), target)


def priorities(robot, q, first, second):
    J1, J2 = robot.frame("tool0").jacobian(q), robot.frame("forearm_link").jacobian(q)[:3]
    start = np.linalg.pinv(J1) @ first
    N = np.eye(7) - np.linalg.pinv(J1) @ J1
    return start + np.linalg.pinv(J2 @ N, rcond=1e-9) @ (second - J2 @ start)


def tracking(robot, q, target, twist, k_PP, k_PR):
    frame = robot.frame("tool0")
    gains = np.repeat([k_PP, k_PR], 3)
    return np.linalg.pinv(frame.jacobian(q)) @ (twist + gains * error(frame.pose(q), target))


def cube(mass, side):
    return mass * side**2 * (2 / 3 * np.eye(3) - 0.25 * (np.ones((3, 3)) - np.eye(3)))


M1, M2, L1, L2, I1, I2 = 2.0, 1.0, 1.0, 0.5, 0.002, 0.001  # of planar2


def two_link_terms(q):
    i1, i2 = I1, I2
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    a = M2 * L1 * L2
    M = np.array(
        [
            [M1 * L1**2 + i1 + M2 * (L1**2 + L2**2) + 2 * a * c2 + i2, M2 * L2**2 + a * c2 + i2],
            [M2 * L2**2 + a * c2 + i2, M2 * L2**2 + i2],
        ]
    )
    return M, a * s2


def planar_coriolis(q, v):
    h = two_link_terms(q)[1]
    return np.array([[-h * v[1], -h * (v[0] + v[1])], [h * v[0], 0.0]])


def planar_gravity(q):
    second = M2 * G * L2 * np.cos(q[0] + q[1])
    return np.array([(M1 + M2) * G * L1 * np.cos(q[0]) + second, second])


def planar_torques(q, v, a):
    return two_link_terms(q)[0] @ a + planar_coriolis(q, v) @ v + planar_gravity(q)


def cart_pole(q, v, a):
    m, length, inertia = 0.2, 0.5, 0.0166717
    s, c = np.sin(q[1]), np.cos(q[1])
    M = np.array([[1.0 + m, m * length * c], [m * length * c, inertia + m * length**2]])
    return M @ a + m * length * s * np.array([-(v[1] ** 2), -G])


def contact_rows(robot, q, feet):
    return np.vstack([robot.frame(foot).jacobian(q)[:3] for foot in feet])


def support_projector(robot, q, feet):
    J, W = contact_rows(robot, q, feet), np.linalg.inv(robot.mass_matrix(q))
    return np.eye(18) - W @ J.T @ np.linalg.inv(J @ W @ J.T) @ J


def contact_forces(robot, q, v, tau, feet):
    J, W = contact_rows(robot, q, feet), np.linalg.inv(robot.mass_matrix(q))
    rate = np.concatenate([robot.frame(foot).bias_acceleration(q, v)[:3] for foot in feet])
    free = W @ (np.concatenate([np.zeros(6), tau]) - robot.bias_forces(q, v))
    return -np.linalg.solve(J @ W @ J.T, J @ free + rate)


def impact(robot, q, v, feet):
    return support_projector(robot, q, feet) @ v


def com_jacobian(robot, q):
    return robot.centroidal_momentum_matrix(q)[:3] / robot.mass


def average(robot, q, v):
    return np.linalg.solve(robot.locked_inertia(q), robot.centroidal_momentum(q, v)[3:])


def cat(robot, q, v_joints):
    A = robot.centroidal_momentum_matrix(q)
    return -np.linalg.inv(A[:, :6]) @ A[:, 6:] @ v_joints


def wrench(robot, q, v, a):
    force = robot.inverse_dynamics(q, v, a)[:6]  # on the base, in its axes
    T = robot.frame("base_link").pose(q)
    f, m = T[:3, :3] @ force[:3], T[:3, :3] @ force[3:]
    return np.concatenate([f, m + np.cross(T[:3, 3] - robot.center_of_mass(q), f)])


def operational_space(robot, q, v, acceleration):
    J, W = robot.frame("tool0").jacobian(q), np.linalg.inv(robot.mass_matrix(q))
    L = np.linalg.inv(J @ W @ J.T)
    missing = acceleration - robot.frame("tool0").bias_acceleration(q, v) + J @ W @ robot.bias_forces(q, v)
    return J.T @ L @ missing


def program(H, g, A, b):
    y = np.linalg.solve(A @ np.linalg.inv(H) @ A.T, A @ np.linalg.inv(H) @ g + b)
    return np.linalg.solve(H, A.T @ y - g)


def flat_attitude(acceleration, yaw):
    z = acceleration + np.array([0, 0, G])
    z = z / np.linalg.norm(z)
    y = np.cross(z, [np.cos(yaw), np.sin(yaw), 0])
    y = y / np.linalg.norm(y)
    return np.column_stack([np.cross(y, z), y, z])


def density(height):
    T = 288.15 - 0.0065 * height
    return 101325 * (T / 288.15) ** (9.80665 / (287.05287 * 0.0065)) / (287.05287 * T)


def glide(drag, induced, area, weight, density):
    C_L = np.sqrt(drag / induced)
    return np.array([np.sqrt(2 * weight / (density * area * C_L)), C_L / (2 * drag)])


def guidance(position, velocity, target):
    away = target - position
    L, V = np.linalg.norm(away), np.linalg.norm(velocity)
    sine = (velocity[0] * away[1] - velocity[1] * away[0]) / (L * V)
    return 2 * V**2 / L * sine


SOLUTIONS = {
    "1.1": lambda chi: np.array([chi[0] * np.cos(chi[1]), chi[0] * np.sin(chi[1]), chi[2]]),
    "1.2": lambda chi: np.column_stack([rot(Z, chi[1]) @ X, chi[0] * rot(Z, chi[1]) @ Y, Z]),
    "1.3": lambda angles: rot(Z, angles[0]) @ rot(Y, angles[1]) @ rot(X, angles[2]),
    "1.4": quaternion,
    "1.5": euler_rates,
    "1.6": log,
    "2.1": lambda T: place(T[:3, :3].T, -T[:3, :3].T @ T[:3, 3]),
    "2.2": lambda theta, d, a, alpha: place(rot(Z, theta), d * Z) @ place(rot(X, alpha), a * X),
    "2.3": lambda q: irb_frames(q)[-1],
    "2.4": adjoint,
    "3.1": lambda q: np.array([np.cos(q[0]) + 0.5 * np.cos(q.sum()), np.sin(q[0]) + 0.5 * np.sin(q.sum())]),
    "3.2": lambda q: np.array(
        [
            [-np.sin(q[0]) - 0.5 * np.sin(q.sum()), -0.5 * np.sin(q.sum())],
            [np.cos(q[0]) + 0.5 * np.cos(q.sum()), 0.5 * np.cos(q.sum())],
        ]
    ),
    "3.3": irb_jacobian,
    "3.4": lambda robot, q, v: robot.frame("tool0").jacobian(q) @ v,
    "3.5": analytic,
    "3.6": bias,
    "3.7": lambda robot, q, F: robot.frame("tool0").jacobian(q).T @ F,
    "4.1": lambda J: J.T @ np.linalg.inv(J @ J.T),
    "4.2": lambda J, damping: np.linalg.inv(J.T @ J + damping**2 * np.eye(7)) @ J.T,
    "4.3": lambda J: np.eye(7) - J.T @ np.linalg.inv(J @ J.T) @ J,
    "4.4": two_links,
    "4.5": step,
    "4.6": priorities,
    "4.7": tracking,
    "5.1": cube,
    "5.2": lambda q: two_link_terms(q)[0],
    "5.3": planar_coriolis,
    "5.4": planar_gravity,
    "5.5": planar_torques,
    "5.6": cart_pole,
    "5.7": lambda robot, q, v: 0.5 * v @ robot.mass_matrix(q) @ v,
    "5.8": lambda robot, q: robot.inverse_dynamics(q, 0 * q, np.eye(6)[2]) - robot.inverse_dynamics(q, 0 * q, 0 * q),
    "5.9": lambda robot, q, v, tau: np.linalg.solve(robot.mass_matrix(q), tau - robot.bias_forces(q, v)),
    "5.10": lambda q, a: np.array([[G * np.sin(q), a]]),
    "6.1": lambda robot: np.eye(18)[6:],
    "6.2": contact_rows,
    "6.3": support_projector,
    "6.4": contact_forces,
    "6.5": lambda robot, q, feet: 6.0,
    "6.6": impact,
    "7.1": com_jacobian,
    "7.2": lambda robot, q, v: robot.centroidal_momentum_matrix(q) @ v,
    "7.3": average,
    "7.4": cat,
    "7.5": wrench,
    "8.1": lambda robot, q, stiffness: robot.inverse_dynamics(q, 0 * q, 0 * q) / stiffness,
    "8.2": lambda robot, q, v, target, k, d: k * (target - q) - d * v + robot.gravity_forces(q),
    "8.3": lambda robot, q, v, target, k, d: (
        robot.mass_matrix(q) @ (k * (target - q) - d * v) + robot.bias_forces(q, v)
    ),
    "8.4": lambda stiffness: 2 * np.sqrt(stiffness),
    "8.5": lambda robot, q: np.linalg.inv(
        robot.frame("tool0").jacobian(q) @ np.linalg.solve(robot.mass_matrix(q), robot.frame("tool0").jacobian(q).T)
    ),
    "8.6": operational_space,
    "8.7": lambda R: np.eye(3) - np.outer(R[:, 2], R[:, 2]),
    "8.8": program,
    "9.1": lambda mass, k_T: np.full(4, np.sqrt(mass * G / 4 / k_T)),
    "9.2": lambda places, senses, ratio: np.transpose(
        [[1.0, y, -x, -s * ratio] for (x, y), s in zip(places, senses, strict=True)]
    ),
    "9.3": lambda mass, radius, density: 4 * (mass * G / 4) ** 1.5 / np.sqrt(2 * density * np.pi * radius**2),
    "9.4": flat_attitude,
    "9.5": lambda R, R_d: 0.5 * np.array([(R_d.T @ R - R.T @ R_d)[i, j] for i, j in ((2, 1), (0, 2), (1, 0))]),
    "9.6": lambda B, weight: np.insert(np.linalg.solve(B[:3, [0, 1, 3]], [weight, 0, 0]), 2, 0.0),
    "10.1": density,
    "10.2": lambda weight, area, density, speed, lift, slope: (2 * weight / (density * speed**2 * area) - lift) / slope,
    "10.3": glide,
    "10.4": lambda alpha, lift, drag: (
        np.array([[np.cos(alpha), -np.sin(alpha)], [np.sin(alpha), np.cos(alpha)]]) @ [-drag, -lift]
    ),
    "10.5": lambda speed, radius: np.array([np.arctan(speed**2 / G / radius), np.hypot(1.0, speed**2 / G / radius)]),
    "10.6": lambda phi, theta, turn_rate: (
        turn_rate * np.array([-np.sin(theta), np.sin(phi) * np.cos(theta), np.cos(phi) * np.cos(theta)])
    ),
    "10.7": lambda speed: np.sqrt(2) * G / speed,
    "10.8": lambda a_1, a_2, frequency, damping: np.array([frequency**2, 2 * damping * frequency - a_1]) / a_2,
    "10.9": guidance,
}
