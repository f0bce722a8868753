"""Every conversion against SciPy, for one rotation, for batches and inside compiled functions.

Covers: rotations/checks.py, rotations/scipy.py, spatial/euler.py.
"""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree import rotations as rot
from kinetree.spatial import euler
from peers import close

SOME = ("ZYX", "ZYZ", "xyz", "yxy")
KINDS = ("matrix", "quaternion", "angle_axis", "rotation_vector", "euler")
ANGLES = [0.0, 1e-300, 1e-12, 1e-8, 1e-5, 0.3, 0.499, 0.501, 2.0, np.pi - 1e-5, np.pi - 1e-9, np.pi - 1e-14, np.pi]


def hard_rotations():
    """SciPy's rotations at random, by no angle, by tiny ones and by nearly half a turn, about axes and between them."""
    rng = np.random.default_rng(3)
    axes = [*np.eye(3), *-np.eye(3), *rng.normal(size=(6, 3))]
    vectors = [axis / np.linalg.norm(axis) * angle for axis in axes for angle in ANGLES]
    return Rotation.concatenate([Rotation.from_rotvec(vectors), Rotation.random(100, rng=rng)])


def given_as(rotation: Rotation, kind: str, sequence: str) -> np.ndarray:
    if kind == "euler":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of gimbal lock
            return rotation.as_euler(sequence)
    if kind == "angle_axis":
        vectors = rotation.as_rotvec()
        angles = np.linalg.norm(vectors, axis=-1, keepdims=True)
        axes = np.where(angles > 0, vectors / np.where(angles > 0, angles, 1.0), [0.0, 0.0, 1.0])
        axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
        return np.concatenate([angles, axes], axis=-1)
    return {"matrix": rotation.as_matrix, "quaternion": rotation.as_quat, "rotation_vector": rotation.as_rotvec}[kind]()


def read(values: np.ndarray, kind: str, sequence: str) -> Rotation:
    if kind == "euler":
        return Rotation.from_euler(sequence, values)
    if kind == "angle_axis":
        return Rotation.from_rotvec(values[..., :1] * values[..., 1:])
    make = {"matrix": Rotation.from_matrix, "quaternion": Rotation.from_quat, "rotation_vector": Rotation.from_rotvec}
    return make[kind](values)


def converted(values, source, target, sequence, other="XZY"):
    """The conversion under test; from Euler angles to Euler angles of another sequence."""
    if source == target == "euler":
        return rot.euler_from_euler(values, other, sequence)
    function = getattr(rot, f"{target}_from_{source}")
    return function(values, sequence) if "euler" in (source, target) else function(values)


PAIRS = [pair for pair in itertools.product(KINDS, repeat=2) if pair[0] != pair[1] or pair[0] == "euler"]


@pytest.mark.parametrize("source,target", PAIRS)
@pytest.mark.sampled(10)
def test_every_conversion_is_that_of_scipy(source, target):
    rotation = hard_rotations()
    for sequence in SOME if "euler" in (source, target) else ("ZYX",):
        values = given_as(rotation, source, sequence)
        ours = converted(values, source, target, sequence)
        theirs = read(ours, target, "XZY" if source == target else sequence)
        error = (theirs * read(values, source, sequence).inv()).magnitude()
        assert error.max() < 4e-15
        assert np.array_equal(ours[5], converted(values[5], source, target, sequence))
        assert np.array_equal(
            converted(values.reshape(-1, 2, *values.shape[1:]), source, target, sequence)[3, 1], ours[7]
        )


@pytest.mark.parametrize("sequence", rot.SEQUENCES)
def test_every_sequence_of_euler_angles(sequence):
    """As it is written for every sequence, compiled for some."""
    rng = np.random.default_rng(4)
    angles = rng.uniform(-3.0, 3.0, size=(120, 3))
    angles[60:, 1] = rng.choice([0.0, np.pi / 2, -np.pi / 2, np.pi], size=60)  # gimbal lock, in half of them
    angles[90:, 1] += rng.choice([1e-16, 1e-15, 1e-13, 1e-9, 1e-7, 1e-4], size=30)
    theirs = Rotation.from_euler(sequence, angles)
    R, quaternions = theirs.as_matrix(), theirs.as_quat()
    close(np.array([euler.matrix_from_euler(row, sequence) for row in angles]), R, 1e-15)
    q = np.array([euler.quaternion_from_euler(row, sequence) for row in angles])
    close(q * np.sign((q * quaternions).sum(axis=1, keepdims=True)), quaternions, 1e-15)
    back = np.array([euler.euler_from_quaternion(row, sequence) for row in q])
    close(back[:60], theirs[:60].as_euler(sequence), 1e-13)
    if sequence in SOME:
        close(rot.euler_from_matrix(R, sequence)[:60], back[:60], 1e-13)
        close(rot.euler_from_quaternion(q, sequence)[:60], back[:60], 1e-13)
        back = np.concatenate([back, rot.euler_from_matrix(R, sequence), rot.euler_from_quaternion(q, sequence)])
    close(Rotation.from_euler(sequence, back).as_matrix(), np.tile(R, (len(back) // 120, 1, 1)), 5e-15)
    assert np.all(np.abs(back[:, [0, 2]]) <= np.pi)
    low, high = (0.0, np.pi) if sequence[0] == sequence[2] else (-np.pi / 2, np.pi / 2)
    assert np.all((back[:, 1] >= low - 1e-15) & (back[:, 1] <= high + 1e-15))


@pytest.mark.parametrize("sequence", rot.SEQUENCES)
def test_in_gimbal_lock_the_last_angle_is_zero(sequence):
    locks = (0.0, np.pi) if sequence[0] == sequence[2] else (-np.pi / 2, np.pi / 2)
    for middle in locks:
        for first, last in [(0.3, -0.8), (-2.0, 2.5), (0.0, 0.0)]:
            rotation = Rotation.from_euler(sequence, [first, middle, last])
            R = rotation.as_matrix()
            found = [euler.euler_from_quaternion(rotation.as_quat(), sequence)]
            found += [rot.euler_from_matrix(R, sequence)] if sequence in SOME else []
            for angles in found:
                assert angles[2] == 0.0
                close(angles[1], middle, 2e-15)
                close(Rotation.from_euler(sequence, angles).as_matrix(), R, 2e-15)


@given(st.integers(0, 2**32 - 1), st.sampled_from(SOME), st.floats(-16.0, 0.49))
def test_round_trips(seed, sequence, exponent):
    """Through every parameterisation and back, for rotations near no turn, near half a turn, and between."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    w = axis / np.linalg.norm(axis) * 10.0**exponent
    for vector in (w, w * (np.pi / np.linalg.norm(w) - 1.0)):
        q = rot.quaternion_from_rotation_vector(vector)
        back = rot.rotation_vector_from_quaternion(q)
        if np.linalg.norm(vector) > np.pi - 1e-15:
            back *= np.sign(back @ vector)  # of half a turn there are two
        np.testing.assert_allclose(back, vector, rtol=1e-14, atol=1e-15)
        R = rot.matrix_from_quaternion(q)
        close(Rotation.from_rotvec(rot.rotation_vector_from_matrix(R)).as_matrix(), R, 2e-15)
        close(rot.matrix_from_angle_axis(rot.angle_axis_from_matrix(R)), R, 2e-15)
        close(rot.matrix_from_euler(rot.euler_from_matrix(R, sequence), sequence), R, 5e-15)
        close(np.abs(rot.quaternion_from_matrix(R) @ q), 1.0, 2e-15)


def test_small_angles_keep_all_their_digits():
    for size in (1e-300, 1e-200, 1e-30, 1e-8, 1e-3):
        w = np.array([0.6, -0.48, 0.64]) * size
        q = rot.quaternion_from_rotation_vector(w)
        np.testing.assert_allclose(rot.rotation_vector_from_quaternion(q), w, rtol=2e-15)
        angle, *axis = rot.angle_axis_from_quaternion(q)
        np.testing.assert_allclose(angle, size, rtol=1e-15)
        close(np.array(axis), w / size, 1e-15)


def test_no_rotation_has_the_x_axis():
    assert np.array_equal(rot.angle_axis_from_matrix(np.eye(3)), [0.0, 1.0, 0.0, 0.0])
    assert np.array_equal(rot.angle_axis_from_quaternion([0.0, 0.0, 0.0, -1.0])[:2], [0.0, -1.0])
    assert np.array_equal(rot.rotation_vector_from_matrix(np.eye(3)), np.zeros(3))


def test_inside_a_compiled_function():
    @kt.compile(shapes={"angles": (3,)})
    def all_of_them(angles):
        q = rot.quaternion_from_euler(angles, "ZYX")
        R = rot.matrix_from_quaternion(q)
        fixed = rot.matrix_from_euler([0.1, 0.2, 0.3], "xyz")  # numbers stay numbers
        return (
            rot.euler_from_matrix(fixed @ R, "ZYZ"),
            rot.rotation_vector_from_matrix(R),
            rot.angle_axis_from_matrix(R),
        )

    angles = np.random.default_rng(0).uniform(-1.5, 1.5, size=(50, 3))
    zyz, vectors, angle_axes = all_of_them(angles)
    theirs = Rotation.from_euler("ZYX", angles)
    close(zyz, (Rotation.from_euler("xyz", [0.1, 0.2, 0.3]) * theirs).as_euler("ZYZ"), 1e-13)
    close(vectors, theirs.as_rotvec(), 1e-14)
    close(angle_axes[:, :1] * angle_axes[:, 1:], theirs.as_rotvec(), 1e-14)
    assert np.array_equal(all_of_them(angles[3])[0], zyz[3])


def test_what_is_no_rotation_is_refused():
    with pytest.raises(kt.ArgumentError, match=r"quaternion has norm 0.975; expected a unit quaternion"):
        rot.matrix_from_quaternion([0.0, 0.0, 0.0, 0.975])
    batch = np.tile([0.0, 0.0, 0.0, 1.0], (4, 2, 1))
    batch[2, 1] *= 1.1
    with pytest.raises(kt.ArgumentError, match=r"norm 1.1; .* in state \[2, 1\] of the batch"):
        rot.rotation_vector_from_quaternion(batch)
    for wrong, sentence in ((np.eye(3) * 1.01, "not orthonormal"), (-np.eye(3), "mirrors")):
        with pytest.raises(kt.ArgumentError, match=sentence):
            rot.quaternion_from_matrix(wrong)
    with pytest.raises(kt.ArgumentError, match="the axis of angle_axis has norm 2; expected a unit vector"):
        rot.matrix_from_angle_axis([0.1, 2.0, 0.0, 0.0])
    with pytest.raises(kt.UnknownNameError, match="sequence 'ZYY' does not exist; did you mean"):
        rot.matrix_from_euler(np.zeros(3), "ZYY")
    with pytest.raises(kt.UnknownNameError, match="sequence"):
        rot.matrix_from_euler(np.zeros(3), ["Z", "Y", "X"])
    with pytest.raises(kt.ArgumentTypeError, match="matrix_from_euler: missing a required argument: 'sequence'"):
        rot.matrix_from_euler(np.zeros(3))
    with pytest.raises(kt.ArgumentError, match=r"quaternion has shape \(3,\); expected \(…, 4\)"):
        rot.matrix_from_quaternion(np.zeros(3))

    @kt.compile(shapes={"q": (4,)})
    def turned(q):
        return rot.matrix_from_quaternion(q)[0]

    with pytest.raises(kt.ArgumentError, match="quaternion has norm 2"):
        turned([0.0, 0.0, 0.0, 2.0])


def test_arguments_by_name_and_into_a_given_array():
    out = np.empty((3, 3))
    assert rot.matrix_from_euler(sequence="zyx", angles=[0.1, 0.2, 0.3], out=out) is out
    close(out, Rotation.from_euler("zyx", [0.1, 0.2, 0.3]).as_matrix(), 1e-15)
    assert np.array_equal(rot.matrix_from_euler([0.1, 0.2, 0.3], np.str_("zyx")), out)
    assert rot.matrix_from_quaternion(np.zeros((0, 4))).shape == (0, 3, 3)
    assert np.isnan(rot.matrix_from_quaternion([np.nan, 0.0, 0.0, 1.0])).any()


def test_to_and_from_scipy():
    rotation = Rotation.random(5, rng=np.random.default_rng(1))
    q = rot.from_scipy(rotation)
    close(rot.matrix_from_quaternion(q), rotation.as_matrix(), 1e-15)
    close(rot.to_scipy(q).as_matrix(), rotation.as_matrix(), 1e-15)
    close(rot.from_scipy(rot.to_scipy(q[0])), q[0], 1e-15)
    with pytest.raises(kt.ArgumentTypeError, match=r"rotation is 3.0; expected a scipy"):
        rot.from_scipy(3.0)
    with pytest.raises(kt.ArgumentError, match="norm 2"):
        rot.to_scipy([0.0, 0.0, 0.0, 2.0])
