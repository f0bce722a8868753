"""Where IK finds no solution, what it returns is a local minimum of the residual within limits, the one that q0 leads
to: who follows a target out of reach and back does not jump.

Covers: ik/descent.py, ik/local_minimum.py.
"""

import numpy as np
import pytest

import kinetree as kt

TOOLS = {"planar2": "tip", "arm6": "tool0", "arm7": "tool0", "puma560": "tool0", "panda": "tool"}


def load(name):
    return panda() if name == "panda" else kt.load(name)


def panda():
    """Franka Emika's arm by its published modified Denavit-Hartenberg parameters and limits."""
    a, d = (0, 0, 0, 0.0825, -0.0825, 0, 0.088), (0.333, 0, 0.316, 0, 0.384, 0, 0)
    alpha = np.array((0, -1, 1, 1, -1, 1, 1)) * np.pi / 2
    lower = (-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973)
    upper = (2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973)
    builder = kt.ModelBuilder("panda")
    builder.link("link_0", kt.solids.sphere(0.1, mass=1.0))
    for k in range(7):
        builder.link(f"link_{k + 1}", kt.solids.sphere(0.1, mass=1.0))
        c, s = np.cos(alpha[k]), np.sin(alpha[k])
        xyz = (a[k], -s * d[k], c * d[k])
        builder.joint(f"joint_{k + 1}", "revolute", f"link_{k}", f"link_{k + 1}", axis=(0, 0, 1), xyz=xyz,
                      rpy=(alpha[k], 0, 0), lower=lower[k], upper=upper[k])  # fmt: skip
    builder.frame("tool", "link_7", xyz=(0, 0, 0.107))
    return kt.Robot(builder.build())


def residual2(robot, frame, q, target):
    """gap² + θ², by matrix logarithms that are no part of the search."""
    T = robot.frame(frame).pose(q)
    if target.ndim == 1:
        return ((T[..., :3, 3] - target) ** 2).sum(-1)
    D = np.swapaxes(T[..., :3, :3], -1, -2) @ target[:3, :3]
    sine = np.stack([D[..., 2, 1] - D[..., 1, 2], D[..., 0, 2] - D[..., 2, 0], D[..., 1, 0] - D[..., 0, 1]], -1)
    angle = np.arctan2(np.linalg.norm(sine, axis=-1), np.trace(D, axis1=-2, axis2=-1) - 1.0)
    return ((T[..., :3, 3] - target[:3, 3]) ** 2).sum(-1) + angle**2


def assert_is_local_minimum(robot, frame, q, target):
    """First order: the projected gradient vanishes. Second order: on joints off their limits the Hessian is positive,
    and no configuration of many nearby is better."""
    low, high = robot.limits.lower, robot.limits.upper
    f0, h, n = residual2(robot, frame, q, target), 1e-4, robot.nv
    plus, minus = (residual2(robot, frame, q + sign * h * np.eye(n), target) for sign in (1.0, -1.0))
    gradient = (plus - minus) / (2.0 * h)
    projected = q - np.clip(q - gradient, low, high)
    assert np.abs(projected).max() < 1e-5 * (1.0 + f0)
    free = np.flatnonzero((q > low) & (q < high))
    pairs = [
        q + h * (si * np.eye(n)[i] + sj * np.eye(n)[j]) for i in free for j in free for si in (1, -1) for sj in (1, -1)
    ]
    if len(free):
        values = residual2(robot, frame, np.array(pairs), target).reshape(len(free), len(free), 2, 2)
        H = (values[..., 0, 0] - values[..., 0, 1] - values[..., 1, 0] + values[..., 1, 1]) / (4.0 * h * h)
        assert np.linalg.eigvalsh(0.5 * (H + H.T)).min() > -1e-4 * (1.0 + f0)
    rng = np.random.default_rng(0)
    near = np.clip(q + 10.0 ** rng.uniform(-4, -1.5, (400, 1)) * rng.normal(size=(400, n)), low, high)
    assert residual2(robot, frame, near, target).min() > f0 * (1.0 - 1e-9) - 1e-12


@pytest.mark.parametrize("turns", [True, False], ids=["pose", "position"])
@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.sampled(12)
def test_the_best_configuration_is_a_local_minimum(name, turns):
    robot, tool = load(name), TOOLS[name]
    rng = np.random.default_rng(5)
    targets = robot.frame(tool).pose(robot.random(rng, 8))
    targets[:4, :3, 3] *= rng.uniform(2.0, 5.0, (4, 1))
    targets[4:, :3, 3] += 0.5 * rng.normal(size=(4, 3))
    targets[4:, :3, :3] = targets[:4, :3, :3]
    given = targets if turns else targets[:, :3, 3]
    together = robot.ik(tool, given, attempts=40)
    followed = robot.ik(tool, given, robot.random(rng, 8), attempts=40)
    assert (~together.success).sum() >= 4
    for solution in (together, followed):
        for k in np.flatnonzero(~solution.success):
            assert_is_local_minimum(robot, tool, solution.q[k], given[k])
            assert solution.residual[k] ** 2 == pytest.approx(residual2(robot, tool, solution.q[k], given[k]), rel=1e-9)


def test_a_stretched_arm_is_as_near_as_it_can_be():
    robot = kt.load("planar2")
    assert robot.ik("tip", [3.0, 0.0, 4.0]).position_error == pytest.approx(3.5, abs=1e-12)
    angles = np.linspace(-3.0, 3.0, 41)
    targets = 9.0 * np.stack([np.sin(angles), 0.0 * angles, np.cos(angles)], -1)
    np.testing.assert_allclose(robot.ik("tip", targets).position_error, 7.5, atol=1e-12)


@pytest.mark.parametrize("q0", [[0.0, 0.0], [0.0, np.pi], [np.pi, 0.0]])
def test_a_start_where_the_error_is_greatest_is_left(q0):
    """Stretched away from the target, and folded: the gradient vanishes there too."""
    robot = kt.load("planar2")
    for height in (-4.0, 4.0):
        assert robot.ik("tip", [0.0, 0.0, height], q0).position_error == pytest.approx(2.5, abs=1e-9)


def test_several_frames_share_the_error():
    """The sum of squares over all frames has no descent left."""
    robot = kt.load("humanoid")
    names = ["left_hand", "right_hand"]
    targets = np.array([robot.frame(name).pose(robot.neutral())[:3, 3] for name in names])
    targets[:, 0] += 2.0
    solution = robot.ik(names, targets, robot.neutral())
    assert not solution.success

    def total(q):
        return sum(((robot.frame(n).pose(q)[..., :3, 3] - t) ** 2).sum(-1) for n, t in zip(names, targets, strict=True))

    rng = np.random.default_rng(0)
    near = solution.q + 1e-3 * rng.normal(size=(2000, robot.nv))
    near = np.clip(near, robot.limits.lower, robot.limits.upper)
    assert total(near).min() > total(solution.q) * (1.0 - 1e-9)


@pytest.mark.parametrize("turns", [True, False], ids=["pose", "position"])
@pytest.mark.parametrize(("name", "seed"), [("planar2", 0), ("arm6", 0), ("arm6", 1), ("arm7", 0), ("arm7", 2)])
def test_a_follower_does_not_jump(name, seed, turns):
    """The target leaves the workspace and comes back, a centimetre a step; q0 is always the last answer. At the border
    joints move like the square root of that."""
    robot, tool, rng = kt.load(name), TOOLS[name], np.random.default_rng(seed)
    q = np.array([0.4, 0.7]) if name == "planar2" else 0.5 * robot.random(rng)
    start = robot.frame(tool).pose(q)
    direction = start[:3, 3] / np.linalg.norm(start[:3, 3])
    outside, leaving, was = [], [], True
    for distance in np.concatenate([np.arange(0.0, 1.5, 0.01), np.arange(1.5, 0.0, -0.01)]):
        target = start.copy()
        target[:3, 3] += distance * direction
        solution = robot.ik(tool, target if turns else target[:3, 3], q)
        step = np.abs(solution.q - q).max()
        if not solution.success:
            (leaving if was else outside).append(step)
        q, was = solution.q, solution.success
    assert len(outside) > 100 and max(leaving) < 1.0
    assert max(outside) < 0.3 and np.median(outside) < 0.02
    assert solution.success or (name == "planar2" and turns)


def test_a_target_out_of_reach_takes_few_attempts():
    robot = kt.load("arm7")
    far = robot.ik("tool0", [5.0, 0.0, 0.0])
    assert far.attempts <= 8 and robot.ik("tool0", [5.0, 0.0, 0.0], robot.neutral()).attempts == 1
    both = robot.ik("tool0", [[5.0, 0.0, 0.0], [0.3, 0.1, 0.5]])
    assert both.success.tolist() == [False, True] and both.attempts[0] <= 8
