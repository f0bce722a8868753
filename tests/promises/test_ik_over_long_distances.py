"""IK reaches what can be reached, however far: rails, gantries, planar and free joints, floating bases, any scale."""

import numpy as np
import pytest

import kinetree as kt

SOLID = kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3))


def chain(*joints, tool=(0.2, 0.1, 0.3), **options):
    """A robot whose joints follow each other."""
    builder = kt.ModelBuilder("chain")
    builder.link("base", SOLID)
    previous = "base"
    for k, (kind, settings) in enumerate(joints):
        builder.link(f"link_{k}", SOLID)
        builder.joint(f"joint_{k}", kind, previous, f"link_{k}", **settings)
        previous = f"link_{k}"
    builder.frame("tool", previous, xyz=tool)
    return kt.Robot(builder.build(**options))


def rail(axis, lower=-500.0, upper=500.0):
    return "prismatic", dict(axis=axis, lower=lower, upper=upper)


def arm(scale=1.0):
    axes = ((0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0))
    return [("revolute", dict(axis=axis, xyz=(0, 0, 0.4 * scale), lower=-2.5, upper=2.5)) for axis in axes]


X, Y, Z = np.eye(3).tolist()
FAR = dict(lower=(*[-300.0] * 3, *[-np.inf] * 4), upper=(*[300.0] * 3, *[np.inf] * 4))
ROBOTS = {
    "gantry": lambda: chain(rail(X), rail(Y), rail(Z)),
    "gantry with an arm": lambda: chain(rail(X), rail(Y), rail(Z), *arm()),
    "rail without limits": lambda: chain(rail(X, -np.inf, np.inf), *arm()),
    "rail with one limit": lambda: chain(rail(X, -1.0, np.inf), *arm()),
    "prismatic chain": lambda: chain(rail(X), rail((1, 1, 0)), rail(Y), rail((1, 1, 1))),
    "planar": lambda: chain(("planar", dict(axis=Z)), *arm()),
    "planar within limits": lambda: chain(
        ("planar", dict(axis=Z, lower=(-300, -300, -1), upper=(300, 300, 1))), *arm()
    ),
    "free within limits": lambda: chain(("free", FAR), *arm()[:3]),
    "free, mixed velocity": lambda: chain(
        ("free", FAR), *arm()[:3], base_velocity="mixed", spatial_order="angular-first"
    ),
    "polar": lambda: chain(("revolute", dict(axis=Z)), ("revolute", dict(axis=Y)), rail(X, 0.5, 500.0)),
    "floating": lambda: chain(*arm(), base="floating"),
    "arm of micrometres": lambda: chain(*arm(1e-5), tool=(2e-6, 1e-6, 3e-6)),
    "arm of kilometres": lambda: chain(*arm(1e3), tool=(200.0, 100.0, 300.0)),
}


def far_away(robot, rng, count):
    """Configurations within limits; lengths without limits go up to 100 km."""
    q = robot.random(rng, count)
    for joint in robot.model.owners:
        lengths = {"Free": 3, "Planar": 2, "Prismatic": 1}.get(type(joint).__name__, 0)
        for k in range(joint.iq, joint.iq + lengths):
            if not np.isfinite(robot.limits.upper[k]):
                least = robot.limits.lower[k] if np.isfinite(robot.limits.lower[k]) else -np.inf
                q[:, k] = np.maximum(least, rng.choice([-1.0, 1.0], count) * 10.0 ** rng.uniform(0.0, 5.0, count))
    return q


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.sampled(15)
def test_a_target_that_can_be_reached_is_reached(name):
    robot, rng = ROBOTS[name](), np.random.default_rng(0)
    size = {"arm of micrometres": 1e-5, "arm of kilometres": 1e3}.get(name, 1.0)
    targets = robot.frame("tool").pose(far_away(robot, rng, 200))
    for given in (targets, targets[:, :3, 3]):
        solution = robot.ik("tool", given, position_tolerance=1e-6 * size)
        assert solution.success.all()
        assert (solution.q >= robot.limits.lower).all() and (solution.q <= robot.limits.upper).all()
        reached = robot.frame("tool").pose(solution.q)
        assert np.abs(reached[:, :3, 3] - targets[:, :3, 3]).max() < 1.1e-6 * size
    assert robot.ik("tool", targets[0], position_tolerance=1e-6 * size).success


def test_a_floating_humanoid_goes_to_where_its_hand_is_wanted():
    robot = kt.load("humanoid", base="floating")
    target = robot.frame("left_hand").pose(robot.neutral())
    target[:3, 3] += [30.0, -1000.0, 5.0]
    solution = robot.ik("left_hand", target)
    assert solution.success and solution.attempts < 20
    assert np.abs(robot.frame("left_hand").pose(solution.q) - target).max() < 2e-6


@pytest.mark.parametrize("velocity", ["body", "mixed"])
def test_limits_of_a_free_joint_hold(velocity):
    """The frame is 0.37 m from a body that may go to 0.1 m on every side: what lies further is not reached."""
    box = dict(lower=(*[-0.1] * 3, *[-np.inf] * 4), upper=(*[0.1] * 3, *[np.inf] * 4))
    robot = chain(("free", box), base_velocity=velocity)
    rng = np.random.default_rng(1)
    inside = robot.frame("tool").pose(robot.random(rng, 100))
    solution = robot.ik("tool", inside)
    assert solution.success.all() and (np.abs(solution.q[:, :3]) <= 0.1).all()
    corner = robot.ik("tool", [1.0, 1.0, 1.0])
    length = np.linalg.norm([0.2, 0.1, 0.3])
    assert not corner.success and (corner.q[:3] == 0.1).all()
    assert corner.position_error == pytest.approx(np.sqrt(3) * 0.9 - length, abs=1e-9)
    assert "out of reach; 'joint_0' at its upper limit 0.1" in corner.reason
