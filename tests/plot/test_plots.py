"""What plots show: the numbers in their lines, names, units and limits; and that nothing global is touched.

Covers: plot/canvas.py, plot/forces.py, plot/inertia.py, plot/motions.py, plot/reach.py, plot/series.py,
plot/support.py, plot/tree.py.
"""

import io
import subprocess
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.geometry.ground import margin
from kinetree.plot.forces import friction_use
from kinetree.plot.inertia import branch_pattern
from kinetree.plot.reach import manipulabilities

figure_module = pytest.importorskip("matplotlib.figure")


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm6")


@pytest.fixture(scope="module")
def quadruped():
    return kt.load("quadruped", base="floating")


@pytest.fixture(scope="module")
def motion(arm):
    t = np.linspace(0.0, 1.0, 40)
    return t, 0.6 * np.sin(6.0 * t[:, None] + np.arange(6))


def lines(ax):
    return {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}


def texts(ax):
    return [text.get_text() for text in ax.texts]


def drawn(figure):
    """It can be drawn without a window."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()


# -- trees and matrices ------------------------------------------------------------------------------------------


def test_a_tree_has_every_body_and_joint_once(quadruped):
    figure = kt.plot.tree(quadruped)
    shown = texts(figure.axes[0])
    for name in ("world", *quadruped.body_names, *quadruped.joint_names):
        assert sum(text.rstrip("…") == name[: len(text.rstrip("…"))] and len(text) > 3 for text in shown) >= 1, name
    assert {text.get_text() for text in figure.axes[0].get_legend().get_texts()} == {"free", "revolute"}
    assert len(shown) == 1 + 2 * len(quadruped.body_names)
    assert "30" in figure.axes[0].get_title() and drawn(figure)[:4] == b"\x89PNG"


def test_no_two_bodies_of_a_tree_are_at_one_place():
    for robot in (kt.load("humanoid"), kt.Robot(kt.random_model(3, bodies=15))):
        ax = kt.plot.tree(robot, joints=False).axes[0]
        places = [text.get_position() for text in ax.texts]
        assert len(set(places)) == len(places) == len(robot.body_names) + 1


@pytest.mark.parametrize("seed", range(4))
def test_the_pattern_of_branches_is_that_of_m(seed):
    robot = kt.Robot(kt.random_model(seed, bodies=9, joints="revolute"))
    rng = np.random.default_rng(seed)
    largest = np.abs(robot.mass_matrix(robot.random(rng, 20))).max(axis=0)
    pattern = branch_pattern(robot)
    assert not largest[~pattern].any(), "zero wherever branches say so"
    assert (largest[pattern] > 1e-9).mean() > 0.9, "and hardly anywhere else"


def test_sparsity_shows_zeros_as_gaps(quadruped):
    figure = kt.plot.sparsity(quadruped)
    image = figure.axes[0].images[0].get_array()
    assert image.shape == (18, 18)
    np.testing.assert_array_equal(np.ma.getmaskarray(np.ma.masked_invalid(image)), ~branch_pattern(quadruped))
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels[0] == "base 1" and labels[6:] == list(quadruped.joint_names)
    assert "33 % zero" in figure.axes[0].get_title()
    assert drawn(figure)


# -- over time ---------------------------------------------------------------------------------------------------


def test_torques_are_drawn_as_they_are(arm, motion):
    t, q = motion
    tau = arm.inverse_dynamics(q, np.zeros((40, 6)), np.zeros((40, 6)))
    figure = kt.plot.torques(arm, t, tau)
    ax = figure.axes[0]
    for k, name in enumerate(arm.joint_names):
        np.testing.assert_allclose(lines(ax)[name].get_xydata(), np.column_stack([t, tau[:, k]]))
    assert ax.get_ylabel() == "effort [N m]" and ax.get_xlabel() == "time [s]"
    limits = arm.limits.effort
    part = lines(kt.plot.torques(arm, t, tau, relative=True, joints="elbow").axes[0])["elbow"]
    np.testing.assert_allclose(part.get_ydata(), tau[:, 2] / limits[2])
    near = kt.plot.torques(arm, t, tau * 0.8 * limits[1] / tau[:, 1].max(), joints=["shoulder_lift"]).axes[0]
    assert limits[1] in [line.get_ydata()[0] for line in near.lines], "a limit that is near is drawn"
    assert len(kt.plot.torques(arm, t, 1e-3 * tau, joints=["shoulder_lift"]).axes[0].lines) == 1, "others are not"
    assert len(lines(kt.plot.torques(arm, t, tau[:-1]).axes[0])["elbow"].get_xdata()) == 39, "controls of a rollout"


def test_of_many_joints_the_hardest_working_have_names():
    humanoid = kt.load("humanoid", base="floating")
    tau = np.zeros((5, humanoid.nv))
    tau[:, 6 + 3] = 100.0
    figure = kt.plot.torques(humanoid, np.arange(5.0), tau)
    named = lines(figure.axes[0])
    assert humanoid.joint_names[3] in named and "others" in named and len(named) == 11
    assert len([line for line in figure.axes[0].lines if len(line.get_xdata()) == 5]) == 31


def test_tracking_shows_reference_actual_and_error(motion):
    t, q = motion
    actual = q + 0.01 * np.cos(t)[:, None]
    figure = kt.plot.tracking(t, q[:, :2], actual[:, :2], names=["a", "b"])
    above, below = figure.axes
    np.testing.assert_allclose(lines(above)["a"].get_ydata(), actual[:, 0])
    np.testing.assert_allclose(lines(above)["reference"].get_ydata(), q[:, 0])
    np.testing.assert_allclose(below.lines[1].get_ydata(), -0.01 * np.cos(t))
    assert below.get_ylabel() == "error [rad]" and "largest 0.01 rad" in below.get_title()
    assert kt.plot.tracking(t, q[:, 0], actual[:, 0], unit="m").axes[1].get_ylabel() == "error [m]"


def test_manipulability_is_that_of_the_jacobian(arm, motion):
    t, q = motion
    J = arm.frame("tool0").jacobian(q)
    ax = kt.plot.manipulability(arm, "tool0", t, q).axes[0]
    expected = np.sqrt(np.abs(np.linalg.det(J @ np.swapaxes(J, 1, 2))))
    np.testing.assert_allclose(ax.lines[0].get_ydata(), expected, atol=1e-12)
    np.testing.assert_allclose(ax.lines[1].get_ydata(), np.linalg.svd(J, compute_uv=False)[:, -1])
    np.testing.assert_allclose(manipulabilities(arm, "tool0", q), expected, atol=1e-9)


def test_contact_forces_and_the_friction_they_use(quadruped):
    t = np.linspace(0.0, 1.0, 5)
    forces = {"a": np.tile([3.0, 4.0, 10.0], (5, 1)), "b": np.tile([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], (5, 1))}
    figure = kt.plot.contact_forces(t, forces, friction=0.5)
    above, below = figure.axes
    np.testing.assert_allclose(lines(above)["a"].get_ydata(), 10.0)
    np.testing.assert_allclose(below.lines[0].get_ydata(), 1.0)
    assert np.isnan(below.lines[1].get_ydata()).all(), "what does not press uses no friction"
    tilted = kt.plot.contact_forces(t, {"a": np.tile([0.0, 5.0, 5.0], (5, 1))}, normal=[0.0, 1.0, 1.0])
    np.testing.assert_allclose(tilted.axes[0].lines[0].get_ydata(), 5.0 * np.sqrt(2.0))
    np.testing.assert_allclose(tilted.axes[1].lines[0].get_ydata(), 0.0, atol=1e-12)
    assert np.isnan(friction_use(np.array([-1.0]), np.array([1.0]), 0.5))[0]


# -- in space ----------------------------------------------------------------------------------------------------


def test_a_workspace_is_where_the_frame_gets(arm):
    figure = kt.plot.workspace(arm, "tool0", samples=500, seed=7)
    side, above = (ax.collections[0].get_offsets().data for ax in figure.axes[:2])
    points = arm.frame("tool0").pose(arm.random(7, 500))[:, :3, 3]
    for shown, columns in ((side, [0, 2]), (above, [0, 1])):
        np.testing.assert_allclose(np.sort(shown, axis=0), np.sort(points[:, columns], axis=0))
    assert [ax.get_ylabel() for ax in figure.axes[:2]] == ["z [m]", "y [m]"]
    colors = figure.axes[0].collections[0].get_array()
    assert np.all(np.diff(colors) >= 0.0), "the best are drawn last"
    assert len(kt.plot.workspace(arm, "tool0", samples=10, color_by=None).axes) == 2


def test_the_centre_of_mass_over_the_support_polygon(quadruped):
    q = quadruped.neutral()
    feet = [name for name in quadruped.frame_names if name.endswith("foot")]
    figure = kt.plot.support(quadruped, q, contacts=feet)
    ax = figure.axes[0]
    corners = np.array([quadruped.frame(name).pose(q)[:2, 3] for name in feet])
    assert {tuple(np.round(p, 6)) for p in lines(ax)["support"].get_xydata()} == {
        tuple(p) for p in np.round(corners, 6)
    }
    np.testing.assert_allclose(lines(ax)["centre of mass"].get_xydata()[0], quadruped.center_of_mass(q)[:2])
    assert ax.get_title().startswith("margin")
    assert kt.plot.support(quadruped, q, points=corners + 5.0).axes[0].get_title().startswith("outside by")
    humanoid = kt.load("humanoid", base="floating")
    way = np.tile(humanoid.neutral(), (5, 1))
    way[:, 1] = np.linspace(0.0, 0.5, 5)
    moving = kt.plot.support(humanoid, way).axes[0]
    np.testing.assert_allclose(lines(moving)["centre of mass"].get_xydata(), humanoid.center_of_mass(way)[:, :2])
    assert moving.get_title().startswith("outside")


def test_margins_of_a_square():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert margin(square, np.array([0.5, 0.3])) == pytest.approx(0.3)
    assert margin(square, np.array([1.5, 0.5])) == pytest.approx(-0.5)
    assert margin(square, np.array([4.0, 5.0])) == pytest.approx(-5.0)


# -- manners -----------------------------------------------------------------------------------------------------


def test_all_draw_into_axes_that_are_given(arm, quadruped, motion):
    t, q = motion
    tau = np.zeros((40, 6))
    single = [
        lambda ax: kt.plot.tree(arm, ax),
        lambda ax: kt.plot.sparsity(arm, ax=ax),
        lambda ax: kt.plot.torques(arm, t, tau, ax),
        lambda ax: kt.plot.manipulability(arm, "tool0", t, q, ax),
        lambda ax: kt.plot.support(quadruped, quadruped.neutral(), ax),
    ]
    double = [
        lambda ax: kt.plot.tracking(t, q, q, ax),
        lambda ax: kt.plot.contact_forces(t, {"a": np.ones((40, 3))}, ax),
        lambda ax: kt.plot.workspace(arm, "tool0", ax, samples=10),
    ]
    for draw in single:
        figure = figure_module.Figure()
        assert draw(figure.subplots()) is figure
    for draw in double:
        figure = figure_module.Figure()
        assert draw(figure.subplots(1, 2)) is figure
        with pytest.raises(kt.ArgumentTypeError, match="expected 2 axes"):
            draw(figure_module.Figure().subplots())
    with pytest.raises(kt.ArgumentTypeError, match="ax is 3; expected axes of matplotlib"):
        kt.plot.tree(arm, 3)


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (lambda arm: kt.plot.torques(arm, [0.0, 1.0], np.zeros((5, 6))), r"tau has shape \(5, 6\)"),
        (lambda arm: kt.plot.torques(arm, [0.0, 1.0], np.zeros((2, 6)), joints=["elbw"]), "did you mean 'elbow'"),
        (lambda arm: kt.plot.tracking([0.0, 1.0], np.zeros((2, 2)), np.zeros((2, 3))), "actual has shape"),
        (lambda arm: kt.plot.tracking([0.0, 1.0], np.zeros(2), np.zeros(2), names=["a", "b"]), "names has 2"),
        (lambda arm: kt.plot.contact_forces([0.0], {"a": np.zeros((2, 3))}), r"forces\['a'\] has shape"),
        (lambda arm: kt.plot.contact_forces([0.0], {"a": np.zeros((1, 3))}, friction=0.0), "friction is 0"),
        (lambda arm: kt.plot.workspace(arm, "tool1"), "did you mean 'tool0'"),
        (lambda arm: kt.plot.workspace(arm, "tool0", color_by="x"), "color_by is 'x'"),
        (lambda arm: kt.plot.support(arm, np.zeros(6), points=np.zeros(3)), "points has shape"),
        (lambda arm: kt.plot.support(arm, np.zeros(6), points=[[np.nan, 0.0]]), "points are not finite"),
        (lambda arm: kt.plot.support(arm, np.zeros(6), points="here"), "points is 'here'"),
        (lambda arm: kt.plot.support(arm, np.zeros(6), contacts=3), "contacts is 3; expected names"),
        (lambda arm: kt.plot.support(arm, np.zeros(6), contacts=["tool0"], points=[[0, 0]]), "are both given"),
        (lambda arm: kt.plot.support(arm, np.full(6, np.nan)), "q is not finite"),
        (lambda arm: kt.plot.torques(arm, [0.0, 1.0], np.zeros((2, 6)), joints=3), "joints is 3; expected names"),
        (lambda arm: kt.plot.torques(arm, [0.0, np.nan], np.zeros((2, 6))), r"t\[1\] is not finite"),
        (lambda arm: kt.plot.torques(arm, [], np.zeros((0, 6))), r"t has shape \(0,\)"),
        (lambda arm: kt.plot.tracking([0.0, 1.0], np.zeros((2, 1)), np.zeros((2, 1)), names=3), "names is 3"),
        (lambda arm: kt.plot.tracking([0.0, 1.0], np.zeros((2, 0)), np.zeros((2, 0))), "reference has shape"),
        (lambda arm: kt.plot.tracking([0.0, 1.0], "there", np.zeros((2, 2))), "reference is 'there'"),
        (lambda arm: kt.plot.workspace(arm, "tool0", samples=0), "samples is 0; expected 1 to"),
        (lambda arm: kt.plot.workspace(arm, "tool0", samples=10**12), "samples is 1000000000000; expected 1 to"),
        (lambda arm: kt.plot.manipulability(arm, "tool0", [0.0], np.full((1, 6), np.nan)), "q is not finite"),
        (lambda arm: kt.plot.sparsity(arm, np.zeros((2, 6))), r"q has shape \(2, 6\)"),
        (lambda arm: kt.plot.sparsity(kt.load('<robot name="r"><link name="a"/></robot>')), "no joint that moves"),
        (lambda arm: kt.plot.contact_forces([0.0], 3), "forces is 3; expected a dictionary"),
        (lambda arm: kt.plot.contact_forces([0.0], {"a": np.zeros((1, 3))}, normal=[0, 0, 0]), "normal is"),
    ],
    ids=range(27),
)
def test_what_is_wrong_is_said(arm, draw, sentence):
    with pytest.raises((kt.ArgumentError, kt.ArgumentTypeError), match=sentence):
        draw(arm)


def test_a_name_is_no_robot():
    some = [0.0, 1.0]
    for draw in (
        kt.plot.tree,
        kt.plot.sparsity,
        lambda name: kt.plot.workspace(name, "tool0"),
        lambda name: kt.plot.torques(name, some, np.zeros((2, 6))),
        lambda name: kt.plot.manipulability(name, "tool0", some, np.zeros((2, 6))),
        lambda name: kt.plot.support(name, np.zeros(6)),
    ):
        with pytest.raises(kt.ArgumentTypeError, match="robot is 'arm6'; expected a robot"):
            draw("arm6")


@pytest.mark.sweep
def test_pyplot_is_never_imported_and_notebooks_get_a_picture():
    code = (
        "import sys, kinetree as kt; assert 'matplotlib' not in sys.modules; f = kt.plot.tree(kt.load('planar2'));"
        "assert f._repr_png_()[:4] == b'\\x89PNG'; print('matplotlib.pyplot' in sys.modules, 'viser' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]
