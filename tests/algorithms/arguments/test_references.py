"""The three references of motions and wrenches."""

import numpy as np
import pytest

from kinetree.algorithms.arguments.references import REFERENCES, expressed, localized
from kinetree.spatial import Force, Motion, Transform
from kinetree.spatial.rotation import matrix_from_quaternion, random_quaternion
from peers import close

rng = np.random.default_rng(2)
X_F0 = Transform(matrix_from_quaternion(random_quaternion(rng)).T, rng.normal(size=3))
V = Motion(rng.normal(size=3), rng.normal(size=3))


def test_a_motion_in_each_reference():
    R, p = X_F0.R.T, X_F0.p  # from F's axes to the world's; the origin of F
    close(expressed(V, X_F0, "local").vector(), V.vector(), 0.0)
    aligned = np.concatenate([R @ V.linear, R @ V.angular])
    close(expressed(V, X_F0, "world-aligned").vector(), aligned, 1e-14)
    at_world = np.concatenate([aligned[:3] - np.cross(aligned[3:], p), aligned[3:]])
    close(expressed(V, X_F0, "world").vector(), at_world, 1e-14)


@pytest.mark.parametrize("reference", REFERENCES)
def test_the_power_of_a_wrench_does_not_depend_on_the_reference(reference):
    w = Force(rng.normal(size=3), rng.normal(size=3))
    close(expressed(V, X_F0, reference).dot(w), V.dot(localized(w, X_F0, reference)), 1e-14)
