"""Scenes of equal trees: quantities of the whole are put together from those of each tree, with the numbers that the
textbook has for the whole."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.robot import trees
from kinetree.robot.quantity import quantities_of

ARGUMENTS = {
    "poses": "q", "mass_matrix": "q", "inverse_mass_matrix": "q", "coriolis_matrix": "qv", "mass_matrix_rate": "qv",
    "gravity_forces_derivative": "q", "inverse_dynamics_derivatives": "qva", "forward_dynamics_derivatives": "qva",
    "joint_reactions": "qva", "static_reactions": "q", "kinetic_energy": "qv", "passive_forces": "qv",
}  # fmt: skip
WALKER = """
<body name="torso{k}" pos="{k} 0.5 1" euler="0 30 0"><freejoint/><geom type="capsule" size="0.1 0.2" mass="3"/>
  <body name="leg{k}" pos="0 0 -0.3"><joint name="hip{k}" axis="0 1 0" damping="0.2" stiffness="1"/>
    <geom type="capsule" size="0.05 0.2" pos="0 0 -0.2"/>
    <body name="foot{k}" pos="0 0 -0.4"><joint name="ankle{k}" type="ball"/><geom size="0.05" pos="0.1 0 0"/></body>
  </body>
</body>"""
DOOR = (
    '<body name="door{k}" pos="0 {k} 2"><joint name="lid{k}" axis="1 0 0"/><geom type="box" size="0.1 0.2 {z}"/></body>'
)


def scene() -> str:
    """Walkers, and doors of two kinds, in a mixed order."""
    bodies = [WALKER.format(k=0), DOOR.format(k=1, z=0.3), WALKER.format(k=2), DOOR.format(k=3, z=0.2)]
    return f"<mujoco><worldbody>{''.join([*bodies, DOOR.format(k=4, z=0.3), WALKER.format(k=5)])}</worldbody></mujoco>"


@pytest.fixture
def robot(monkeypatch: pytest.MonkeyPatch) -> kt.Robot:
    monkeypatch.setattr(trees, "MANY_BODIES", 0)
    return kt.load(scene())


def states(robot: kt.Robot, *batch: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    q = robot.integrate(robot.neutral(), 0.5 * rng.normal(size=(*batch, robot.nv)))
    return {"q": q, "v": rng.normal(size=(*batch, robot.nv)), "a": rng.normal(size=(*batch, robot.nv))}


def test_all_that_is_declared_is_tested_here_or_with_kernels():
    declared = {name for name, each in quantities_of(kt.Robot).items() if each.by_trees}
    assert declared == {*ARGUMENTS, "inverse_dynamics", "forward_dynamics", "bias_forces", "gravity_forces"}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_as_the_textbook(robot, name):
    given = states(robot, 2, 3)
    arrays = [given[each] for each in ARGUMENTS[name]]
    found, expected = getattr(robot, name)(*arrays), getattr(robot.eager, name)(*arrays)
    several = isinstance(found, tuple)
    for ours, theirs in zip(found if several else [found], expected if several else [expected], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
    one = getattr(robot, name)(*(array[1, 2] for array in arrays))
    for whole, part in zip(found if several else [found], one if several else [one], strict=True):
        assert np.array_equal(whole[1, 2], part)
        assert np.shape(part) == whole.shape[2:]
        assert not part.shape or part.flags.writeable


def test_code_for_the_whole_is_not_made(robot, monkeypatch):
    def refuse(*_):
        raise AssertionError("compiled for the whole")

    function = quantities_of(kt.Robot)["mass_matrix"].function(robot, None)
    monkeypatch.setattr(function, "_specialized", refuse)
    robot.prepare("mass_matrix", batch=True)
    assert robot.mass_matrix(robot.neutral()).shape == (robot.nv, robot.nv)


def test_axes_broadcast_and_out_is_filled(robot):
    given = states(robot, 3)
    found = robot.coriolis_matrix(given["q"][:, None], given["v"])
    assert found.shape == (3, 3, robot.nv, robot.nv)
    assert np.array_equal(found[1, 2], robot.coriolis_matrix(given["q"][1], given["v"][2]))
    out = np.full((3, robot.nv, robot.nv), np.nan)
    assert robot.mass_matrix(given["q"], out=out) is out
    assert np.array_equal(out, robot.mass_matrix(given["q"]))
    assert robot.mass_matrix(given["q"][:0]).shape == (0, robot.nv, robot.nv)
    with pytest.raises(kt.ArgumentError, match="out has shape"):
        robot.mass_matrix(given["q"], out=out[0])


def test_a_refused_state_is_named_as_in_the_whole(robot):
    q = states(robot, 4)["q"]
    q[2, robot.joint("ankle2").q_slice] *= 1.1
    with pytest.raises(kt.ArgumentError, match=r"q\[2\] has a quaternion .* of norm 1.1"):
        robot.mass_matrix(q)
    assert np.isfinite(robot.mass_matrix(q[3])).all()


def test_a_singular_mass_matrix_names_the_joint_of_the_scene(monkeypatch):
    monkeypatch.setattr(trees, "MANY_BODIES", 0)
    builder = kt.ModelBuilder("row")
    builder.link("base")
    for k in range(3):
        builder.link(f"rod{k}", kt.Inertia.from_com(1.0, [0, 0, 0], np.diag([0.1, 0.1, 0.0])))
        builder.joint(f"spin{k}", "revolute", "base", f"rod{k}", axis=[0, 0, 1], xyz=[k, 0, 0])
    robot = kt.Robot(builder.build())
    with pytest.raises(kt.SingularMassMatrixError, match=r"joint .spin\d. can move"):
        robot.inverse_mass_matrix(np.zeros(3))


def test_wrenches_laws_and_float32(robot, monkeypatch):
    given = {name: array[0] for name, array in states(robot, 1).items()}
    push = {"foot2": np.arange(6.0)}
    ours = robot.inverse_dynamics_derivatives(*given.values(), wrenches=push)
    for found, expected in zip(
        ours, robot.eager.inverse_dynamics_derivatives(*given.values(), wrenches=push), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    law = kt.compile(lambda robot, q: robot.mass_matrix(q) @ np.ones(robot.nv))
    np.testing.assert_allclose(law(robot, given["q"]), robot.mass_matrix(given["q"]).sum(axis=1), rtol=1e-12)
    found = robot.astype("float32").mass_matrix(given["q"].astype("float32"))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, robot.mass_matrix(given["q"]), rtol=1e-4, atol=1e-4)


def test_bodies_that_do_not_move_are_in_poses_too(monkeypatch):
    monkeypatch.setattr(trees, "MANY_BODIES", 0)
    builder = kt.ModelBuilder("row")
    builder.link("base")
    for k in range(3):
        builder.link(f"rod{k}", kt.Inertia.from_com(1.0, [0, 0, 0], 0.1 * np.eye(3)))
        builder.joint(f"spin{k}", "fixed" if k == 1 else "revolute", "base", f"rod{k}", axis=[0, 0, 1], xyz=[k, 0, 0])
    robot = kt.Robot(builder.build(keep_fixed=["spin1"]))
    assert robot.model.copies
    np.testing.assert_allclose(robot.poses(np.zeros(2))[:, 0, 3], [0.0, 1.0, 2.0])
