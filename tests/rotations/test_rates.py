"""Every E_R and E_P, its inverse and both rates, against difference quotients of the conversions.

Covers: spatial/angle_axis.py, spatial/coordinates.py, spatial/parameterization.py, spatial/rotation_vector.py.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree import positions as pos
from kinetree import rotations as rot
from kinetree.spatial.parameterization import POSITIONS, ROTATIONS
from peers import close

H = 1e-6
COMPILED = ("matrix", "quaternion", "angle-axis", "rotation-vector", "ZYX", "zxz")


def parameters_of(rotation: Rotation, name: str) -> np.ndarray:
    """The parameters of a rotation, by SciPy."""
    if name == "matrix":
        return rotation.as_matrix().reshape(9)
    if name == "quaternion":
        return rotation.as_quat()
    vector = rotation.as_rotvec()
    if name == "rotation-vector":
        return vector
    angle = np.linalg.norm(vector)
    return np.array([angle, *vector / angle]) if name == "angle-axis" else rotation.as_euler(name)


@pytest.mark.parametrize("name", ROTATIONS)
@pytest.mark.sampled(3)
def test_rotations(name):
    """As it is written for every parameterisation, compiled for some."""
    rng, by, seen = np.random.default_rng(6), ROTATIONS[name], 0
    for k in range(12):
        start = Rotation.from_rotvec(rng.normal(size=3) * (1.0 if k else 1e-3))
        w = rng.normal(size=3)

        def at(t, start=start, w=w):
            return parameters_of(Rotation.from_rotvec(w * t) * start, name)

        chi, rates = at(0.0), (at(H) - at(-H)) / (2 * H)
        if np.abs(rates).max() > 100.0:
            continue  # too close to a singularity for difference quotients
        seen += 1
        size = 1.0 + np.abs(rates).max() ** 3
        E, inverse = by.E(chi), by.inverse(chi)
        close(E @ rates, w, 1e-8 * size)
        close(inverse @ w, rates, 1e-8 * size)
        close(E @ inverse, np.eye(3), 1e-12 * size)
        exact = inverse @ w
        close(by.E_rate(chi, exact), (by.E(at(H)) - by.E(at(-H))) / (2 * H), 1e-7 * size)
        close(by.E_inverse_rate(chi, exact), (by.inverse(at(H)) - by.inverse(at(-H))) / (2 * H), 1e-7 * size)
        if name in COMPILED:
            close(rot.E_R(chi, name), E, 1e-13 * size)
            close(rot.E_R_inverse(chi, name), inverse, 1e-13 * size)
            close(rot.E_R_rate(chi, exact, name), by.E_rate(chi, exact), 1e-13 * size)
            close(rot.E_R_inverse_rate(chi, exact, name), by.E_inverse_rate(chi, exact), 1e-13 * size)
            close(rot.angular_velocity(chi, exact, name), w, 1e-12 * size)
            close(rot.parameter_rates(chi, w, name), exact, 1e-13 * size)
    assert seen > 9


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 0.1, 0.4999, 0.5001, 1.0, 3.0, np.pi, 5.0])
def test_rotation_vectors_of_every_length(size):
    rng = np.random.default_rng(7)
    chi = np.array([0.6, -0.48, 0.64]) * size
    for rates in rng.normal(size=(5, 3)):

        def matrix(t, rates=rates):
            return Rotation.from_rotvec(chi + t * rates).as_matrix()

        turn = (matrix(H) - matrix(-H)) / (2 * H) @ matrix(0.0).T
        close(rot.angular_velocity(chi, rates, "rotation-vector"), [turn[2, 1], turn[0, 2], turn[1, 0]], 1e-8)
        difference = rot.E_R(chi + H * rates, "rotation-vector") - rot.E_R(chi - H * rates, "rotation-vector")
        close(rot.E_R_rate(chi, rates, "rotation-vector"), difference / (2 * H), 1e-8)
        close(rot.E_R(chi, "rotation-vector") @ rot.E_R_inverse(chi, "rotation-vector"), np.eye(3), 1e-13)


@pytest.mark.parametrize("name", POSITIONS)
def test_positions(name):
    rng = np.random.default_rng(8)
    read = {"cartesian": lambda x: x, "cylindrical": pos.cylindrical_from_cartesian}
    read["spherical"] = pos.spherical_from_cartesian
    write = {"cartesian": lambda x: x, "cylindrical": pos.cartesian_from_cylindrical}
    write["spherical"] = pos.cartesian_from_spherical
    for _ in range(20):
        point, v = rng.normal(size=3), rng.normal(size=3)
        chi = read[name](point)
        close(write[name](chi), point, 1e-15)
        exact = pos.coordinate_rates(chi, v, name)
        size = 1.0 + np.abs(exact).max() ** 3
        close(exact, (read[name](point + H * v) - read[name](point - H * v)) / (2 * H), 1e-8 * size)
        close(pos.linear_velocity(chi, exact, name), v, 1e-13 * size)
        close(pos.E_P(chi, name) @ pos.E_P_inverse(chi, name), np.eye(3), 1e-13 * size)
        step = H * exact
        difference = pos.E_P(chi + step, name) - pos.E_P(chi - step, name)
        close(pos.E_P_rate(chi, exact, name), difference / (2 * H), 1e-7 * size)
        difference = pos.E_P_inverse(chi + step, name) - pos.E_P_inverse(chi - step, name)
        close(pos.E_P_inverse_rate(chi, exact, name), difference / (2 * H), 1e-6 * size)


def test_coordinates_are_those_of_the_textbook():
    close(pos.cartesian_from_cylindrical([2.0, np.pi / 6, 3.0]), [np.sqrt(3.0), 1.0, 3.0], 1e-15)
    close(pos.cartesian_from_spherical([2.0, np.pi / 2, np.pi / 6]), [0.0, 1.0, np.sqrt(3.0)], 1e-15)
    assert np.array_equal(pos.cylindrical_from_cartesian([0.0, 0.0, 2.0]), [0.0, 0.0, 2.0])
    assert np.array_equal(pos.spherical_from_cartesian([0.0, 0.0, -2.0]), [2.0, 0.0, np.pi])
    assert np.array_equal(pos.spherical_from_cartesian(np.zeros(3)), np.zeros(3))
    points = np.random.default_rng(0).normal(size=(6, 3))
    cylindrical = pos.cylindrical_from_cartesian(points)
    close(pos.spherical_from_cylindrical(cylindrical), pos.spherical_from_cartesian(points), 1e-15)
    close(pos.cylindrical_from_spherical(pos.spherical_from_cartesian(points)), cylindrical, 1e-15)


def test_quaternion_rates_are_those_of_seed_and_scalar_last():
    x, y, z, w = rot.random(1)
    H_scalar_first = np.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]])
    close(rot.E_R([x, y, z, w], "quaternion"), 2.0 * H_scalar_first[:, [1, 2, 3, 0]], 1e-15)


SINGULAR = {
    "angle-axis": [0.0, 0.0, 0.0, 1.0],
    "rotation-vector": [0.0, 2.0 * np.pi, 0.0],
    "ZYX": [0.1, np.pi / 2, 0.2],
    "xyz": [0.1, -np.pi / 2, 0.2],
    "ZYZ": [0.1, 0.0, 0.2],
    "zxz": [0.1, np.pi, 0.2],
}


@pytest.mark.parametrize("name", SINGULAR)
def test_where_there_are_no_rates_they_are_refused(name):
    chi, w = np.array(SINGULAR[name]), np.ones(3)
    assert np.isfinite(rot.E_R(chi, name)).all()
    with pytest.raises(kt.ArgumentError, match=f"{name} parameters have no rates here: "):
        rot.E_R_inverse(chi, name)
    near = chi.copy()
    near[0 if name == "angle-axis" else 1] += 1e-3
    assert np.isfinite(rot.parameter_rates(near, w, name)).all()
    with pytest.raises(kt.ArgumentError, match=r"in state \[1\] of the batch"):
        rot.parameter_rates(np.array([near, chi]), w, name)

    law = kt.compile(lambda chi, w: rot.parameter_rates(chi, w, name), shapes={"chi": chi.shape, "w": (3,)})
    close(law(near, w), rot.parameter_rates(near, w, name), 1e-12)
    with pytest.raises(kt.ArgumentError, match="have no rates here"):
        law(chi, w)


def test_positions_without_rates_are_refused():
    for name, chi in (("cylindrical", [0.0, 0.3, 1.0]), ("spherical", [1.0, 0.3, 0.0]), ("spherical", np.zeros(3))):
        assert np.isfinite(pos.E_P(chi, name)).all()
        with pytest.raises(kt.ArgumentError, match=f"{name} coordinates have no rates here: on the z-axis"):
            pos.coordinate_rates(chi, np.ones(3), name)
    with pytest.raises(kt.UnknownNameError, match="position 'spheric' does not exist; did you mean 'spherical'"):
        pos.E_P(np.zeros(3), "spheric")
    with pytest.raises(kt.UnknownNameError, match="rotation 'quaternions' does not exist; did you mean 'quaternion'"):
        rot.E_R(np.zeros(4), "quaternions")


def test_parameters_that_are_no_rotation_are_refused():
    for name, chi in (("quaternion", np.full(4, 0.6)), ("angle-axis", np.ones(4)), ("matrix", np.ones(9))):
        with pytest.raises(kt.ArgumentError, match="parameters"):
            rot.E_R(chi, name)
