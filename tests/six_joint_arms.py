"""Arms of six revolute joints made in code, and a search for all their solutions that knows nothing of their kind."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.spatial.rotation import matrix_from_quaternion, random_quaternion

KINDS = {
    "wrist": "general axes 1, 2, 3",
    "wrist 1x2": "axes 1 and 2 meet",
    "wrist 1|2": "axes 1 and 2 are parallel",
    "wrist 2|3": "axes 2 and 3 are parallel",
    "shoulder": "the first three axes meet",
    "2|3|4": "three parallel axes, the last two meet",
    "3|4|5": "the same from the hand",
}


def arm_of_kind(kind: str, seed: int, **limits: float) -> kt.Robot:
    """With random axes but for what its kind asks for; the frame 'tool' is its hand."""
    rng = np.random.default_rng(seed)
    h, o = rng.normal(size=(6, 3)), 0.4 * rng.normal(size=(6, 3))
    h /= np.linalg.norm(h, axis=1)[:, None]
    if "wrist" in kind:
        o[3:] = o[3]
    if "shoulder" in kind:
        o[:3] = o[0]
    if "1x2" in kind:
        o[1] = o[0]
    for pair in ("1|2", "2|3", "3|4", "4|5"):
        if pair in kind:
            h[int(pair[2]) - 1] = h[int(pair[0]) - 1] * rng.choice([-1.0, 1.0])
    if kind == "2|3|4":
        o[5] = o[4]
    if kind == "3|4|5":
        o[1] = o[0]
    points = o + h * (0.3 * rng.normal(size=(6, 1)))  # anywhere on the axes
    turn = matrix_from_quaternion(random_quaternion(rng))
    return arm_about(h, points, limits, 0.2 * rng.normal(size=3), turn)


def arm_about(h, points, limits=None, tool=(0.0, 0.0, 0.1), turn=None) -> kt.Robot:
    """Joints about given axes through given points."""
    builder = kt.ModelBuilder("arm")
    builder.link("link0")
    before = np.zeros(3)
    for k, (axis, point) in enumerate(zip(np.asarray(h, float), np.asarray(points, float), strict=True), start=1):
        builder.link(f"link{k}")
        builder.joint(
            f"joint{k}", "revolute", f"link{k - 1}", f"link{k}", axis=axis, xyz=point - before, **(limits or {})
        )
        before = point
    builder.frame("tool", f"link{len(h)}", xyz=tool, rotation=np.eye(3) if turn is None else turn)
    return kt.Robot(builder.build())


def angles_apart(a, b):
    """The largest difference of angles, whole turns aside, over the last axis."""
    return np.abs((a - b + np.pi) % (2 * np.pi) - np.pi).max(axis=-1)


def searched(robot: kt.Robot, frame: str, target, rng, starts: int = 600, steps: int = 50):
    """Different solutions that Levenberg-Marquardt finds from many starts, (k, 6)."""
    hand = robot.frame(frame)
    q, damping = rng.uniform(-np.pi, np.pi, size=(starts, 6)), np.full(starts, 1e-2)

    def error(q):
        T = hand.pose(q)
        R = target[:3, :3] @ T[:, :3, :3].swapaxes(1, 2)
        w = np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
        sine = np.linalg.norm(w, axis=1) / 2
        angle = np.arctan2(sine, (np.trace(R, axis1=1, axis2=2) - 1) / 2)
        return np.concatenate([target[:3, 3] - T[:, :3, 3], w * (angle / np.maximum(2 * sine, 1e-300))[:, None]], 1)

    e = error(q)
    for _ in range(steps):
        J = hand.jacobian(q)
        normal = J.swapaxes(1, 2) @ J + damping[:, None, None] * np.eye(6)
        moved = q + np.linalg.solve(normal, J.swapaxes(1, 2) @ e[..., None])[..., 0]
        e_moved = error(moved)
        better = np.linalg.norm(e_moved, axis=1) < np.linalg.norm(e, axis=1)
        q, e = np.where(better[:, None], moved, q), np.where(better[:, None], e_moved, e)
        damping = np.where(better, 0.2 * damping, 4.0 * damping).clip(1e-12, 1e6)
    different: list[np.ndarray] = []
    for each in q[np.linalg.norm(e, axis=1) < 1e-10]:
        if not different or angles_apart(np.array(different), each).min() > 1e-4:
            different.append(each)
    return np.array(different)
