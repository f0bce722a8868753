"""What the sheet of a closed loop shows: the numbers of the recording."""

import io

import numpy as np
import pytest

import kinetree as kt
from kinetree.simulation import Push
from kinetree.simulation.recording import Recording

pytest.importorskip("matplotlib")
WEIGHT = 9.81


@pytest.fixture(scope="module")
def recording():
    """A quadruped that sinks by 2 cm and turns its feet's load from front to back."""
    robot = kt.load("quadruped", base="floating")
    feet = [name for name in robot.frame_names if name.endswith("_foot")]
    q = robot.neutral()
    q[8::3], q[9::3] = 0.6, -1.2
    n = 50
    t, part = 0.02 * np.arange(n), np.linspace(0.0, 1.0, n)
    way = np.tile(q, (n, 1))
    way[:, 2] -= 0.02 * part
    forces = {foot: np.zeros((n, 6)) for foot in feet}
    for foot in feet:
        share = part if foot.startswith("hind") else 1.0 - part
        forces[foot][:, 2] = 0.5 * robot.mass * WEIGHT * share
        forces[foot][:, 0] = 0.3 * forces[foot][:, 2]
        forces[foot][:, 3:5] = forces[foot][:, 2:3] * [0.01, 0.02]  # it pushes at (-0.02, 0.01) from the foot
    tau = np.zeros((n, robot.nv))
    tau[:, 6:] = 0.25 * robot.limits.effort[6:]
    return Recording(robot, t, way, np.zeros((n, robot.nv)), tau, forces, np.zeros(n), {})


def lines(ax):
    return {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}


def test_every_plot_has_its_numbers(recording):
    wanted = recording.center_of_mass + np.array([0.001, 0.0, -0.002])
    figure = kt.plot.closed_loop(recording, wanted, friction=0.6, pushes=Push("base_link", [0.0, 1.0, 0.0], 0.2, 0.4))
    above, error, heights, normal, used, effort = figure.axes
    feet = list(recording.forces)
    np.testing.assert_allclose(lines(above)["centre of mass"].get_xydata(), recording.center_of_mass[:, :2])
    for foot in feet:
        shown, place = lines(above)[f"pressure, {foot}"].get_xydata(), recording.poses(foot)[:, :2, 3]
        pressed = recording.force(foot)[:, 2] > 0.05 * WEIGHT * recording.robot.mass
        assert np.isnan(shown[~pressed]).all() and 0 < pressed.sum() < len(pressed)
        np.testing.assert_allclose((shown - place)[pressed], [[-0.02, 0.01]] * pressed.sum(), atol=1e-12)
        np.testing.assert_allclose(lines(normal)[foot].get_ydata(), recording.force(foot)[:, 2])
        np.testing.assert_allclose(lines(heights)[foot].get_ydata()[-1], -20.0, atol=1e-9)
    np.testing.assert_allclose(lines(error)["x"].get_ydata(), -1.0, atol=1e-9)
    np.testing.assert_allclose(lines(error)["z"].get_ydata(), 2.0, atol=1e-9)
    np.testing.assert_allclose(used.lines[0].get_ydata()[1:-1], 0.5)
    assert effort.get_ylabel() == "effort / limit"
    assert all(np.allclose(line.get_ydata(), 0.25) for label, line in lines(effort).items() if label != "others")
    for ax in (error, heights, normal, used, effort):
        (span,) = [patch for patch in ax.patches if patch.get_x() == 0.2]
        assert span.get_width() == pytest.approx(0.2)
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    assert picture.getvalue()[:4] == b"\x89PNG"


def test_without_a_plan_the_error_is_from_where_it_began(recording):
    error = kt.plot.closed_loop(recording).axes[1]
    np.testing.assert_allclose(lines(error)["z"].get_ydata()[-1], -20.0, atol=1e-9)


def test_mistakes_are_named(recording):
    with pytest.raises(kt.ArgumentError, match=r"wanted has shape \(7, 3\); expected \(50, 3\)"):
        kt.plot.closed_loop(recording, np.zeros((7, 3)))
    with pytest.raises(kt.KinetreeError, match="expected 6 axes"):
        kt.plot.closed_loop(recording, ax=[1, 2])
