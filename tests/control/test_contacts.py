"""Cones of contacts: against friction at corners and ends, found by linear programs.

Covers: control/whole_body/contacts.py.
"""

import numpy as np
import pytest
from scipy.optimize import linprog

import kinetree as kt
from kinetree.control import LineContact, PointContact, SurfaceContact


def corners(contact):
    X = 0.5 * contact.length
    if isinstance(contact, LineContact):
        return [np.array([x, 0.0, 0.0]) for x in (X, -X)]
    Y = 0.5 * contact.width
    return [np.array([x, y, 0.0]) for x in (X, -X) for y in (Y, -Y)]


def can_be_had(contact, f):
    """Whether forces in pyramids at corners or ends sum up to f."""
    mu = contact.friction / np.sqrt(2.0)
    points = corners(contact)
    G = np.concatenate([np.concatenate([np.eye(3), kt.skew(p)]) for p in points], axis=1)[list(contact.rows)]
    pyramid = np.array([[1, 0, -mu], [-1, 0, -mu], [0, 1, -mu], [0, -1, -mu]])
    A = np.kron(np.eye(len(points)), pyramid)
    return linprog(np.zeros(G.shape[1]), A, np.zeros(len(A)), G, f, bounds=(None, None)).status == 0


@pytest.mark.parametrize(
    "contact", [SurfaceContact("foot", length=0.3, width=0.1, friction=0.8), LineContact("toe", length=0.2)]
)
def test_cones_are_those_of_forces_at_the_corners(contact):
    rng = np.random.default_rng(0)
    found = {True: 0, False: 0}
    size = np.array([0.4, 0.4, 1.0, 0.04, 0.1, 0.05])[list(contact.rows)]
    for _ in range(300):
        f = size * rng.normal(size=contact.size)
        f[2] = 1.0
        margin = (contact.cone @ f).min()
        if abs(margin) > 1e-6:
            assert can_be_had(contact, f) == (margin > 0.0)
            found[bool(margin > 0.0)] += 1
    assert min(found.values()) > 30


@pytest.mark.parametrize("edges", [4, 6, 16])
def test_pyramids_are_inside_the_friction_cone_and_touch_it(edges):
    contact = PointContact("foot", friction=0.5, edges=edges)
    angles = np.linspace(0.0, 2.0 * np.pi, 721)
    for angle in angles:
        direction = np.array([np.cos(angle), np.sin(angle), 0.0])
        slopes = -contact.cone @ direction
        farthest = (contact.cone[:, 2][slopes > 1e-9] / slopes[slopes > 1e-9]).min()
        assert 0.5 * np.cos(np.pi / edges) - 1e-9 <= farthest <= 0.5 + 1e-9
    assert len(contact.cone) == edges


def test_a_point_has_the_axes_of_the_ground():
    n = np.array([0.3, -0.2, 0.9])
    axes = PointContact("foot", normal=tuple(n)).axes(np.eye(3))
    np.testing.assert_allclose(axes[:, 2], n / np.linalg.norm(n))
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-15)
    assert np.linalg.det(axes) > 0.0


def test_motion_is_that_of_the_point_where_it_touches():
    """J and J̇ v of a contact away from its frame, turned: by differences of poses."""
    robot, rng = kt.load("arm7"), np.random.default_rng(1)
    at = np.eye(4)
    at[:3, :3], at[:3, 3] = _turn(0.4), (0.1, -0.05, 0.2)
    contact = SurfaceContact("tool0", at=at)
    q, v, h = robot.random(rng), rng.normal(size=7), 1e-5
    J, drift = contact.motion(robot.eager, q, v)

    def point(q):
        return (robot.frame("tool0").pose(q) @ at)[:3, 3]

    axes = robot.frame("tool0").pose(q)[:3, :3] @ at[:3, :3]
    ahead, behind = point(robot.integrate(q, h * v)), point(robot.integrate(q, -h * v))
    np.testing.assert_allclose(J[:3] @ v, axes.T @ (ahead - behind) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(-drift[:3], axes.T @ (ahead - 2 * point(q) + behind) / h**2, atol=1e-3)
    f = rng.normal(size=6)
    wrench = contact.wrench(robot, q, f)
    np.testing.assert_allclose(robot.frame("tool0").jacobian(q).T @ wrench, J.T @ f, atol=1e-12)


def _turn(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


@pytest.mark.parametrize(
    ("made", "word"),
    [
        (lambda: PointContact("foot", friction=-1.0), "friction"),
        (lambda: SurfaceContact("foot", length=0.0), "length"),
        (lambda: PointContact("foot", normal=(0, 0, 0)), "normal"),
        (lambda: PointContact("foot", edges=3), "edges"),
        (lambda: PointContact("foot", min_force=5.0, max_force=1.0), "min_force"),
        (lambda: SurfaceContact("foot", at=2.0 * np.eye(4)), "pose"),
        (lambda: PointContact("foot", at=np.eye(4)), "point"),
    ],
)
def test_refusals(made, word):
    with pytest.raises(kt.ArgumentError, match=word):
        made()
