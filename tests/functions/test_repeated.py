"""Scenes of equal robots: one formula is compiled for all copies, with the bits of a robot alone.

Covers: compiler/repeated.py, compiler/codegen/copies.py.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.functions.repeated import RepeatedSpecialization
from kinetree.robot import quantity, trees

QUANTITIES = {"inverse_dynamics": 3, "forward_dynamics": 3, "bias_forces": 2, "gravity_forces": 1}
BODY = """
<body name="torso{k}" pos="{k} 0 1"><freejoint/><geom type="capsule" size="0.1 0.2" mass="3"/>
  <body name="leg{k}" pos="0 0 -0.3"><joint name="hip{k}" axis="0 1 0" damping="0.2" stiffness="1"/>
    <geom type="capsule" size="0.05 0.2" pos="0 0 -0.2"/>
    <body name="foot{k}" pos="0 0 -0.4"><joint name="ankle{k}" type="ball"/><geom size="0.05" pos="0.1 0 0"/></body>
  </body>
</body>"""
BOX = """
<body name="box{k}" pos="0 {k} 0"><joint name="lid{k}" axis="1 0 0"/><geom type="box" size="0.1 0.2 {size}"/></body>"""


def scene(*bodies: str) -> str:
    return f'<mujoco><option integrator="Euler"/><worldbody>{"".join(bodies)}</worldbody></mujoco>'


@pytest.fixture(autouse=True)
def small_scenes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MANY_BODIES", 0)


def mixed(**options: Any) -> kt.Robot:
    """Three walkers, two of three boxes alike, in a mixed order."""
    parts = [BODY.format(k=0), BOX.format(k=1, size=0.3), BODY.format(k=2), BOX.format(k=3, size=0.2)]
    return kt.load(scene(*parts, BOX.format(k=4, size=0.3), BODY.format(k=5)), **options)


def states(robot: kt.Robot, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    q = robot.integrate(robot.neutral(), 0.5 * rng.normal(size=(count, robot.nv)))
    return [q, *rng.normal(size=(2, count, robot.nv))]


def shared(robot: kt.Robot, name: str) -> bool:
    function = getattr(type(robot), name)  # by Python, on the class
    declared = quantity.quantities_of(type(robot))[name]
    return callable(function) and isinstance(declared.function(robot, None).specialization(), RepeatedSpecialization)


@pytest.mark.parametrize("name", QUANTITIES)
@pytest.mark.sampled(2)
def test_as_the_textbook_for_one_state_and_batches(name: str) -> None:
    robot = mixed()
    assert shared(robot, name)
    arrays = states(robot, 1100)[: QUANTITIES[name]]  # more than two chunks, and an incomplete block
    compute, textbook = getattr(robot, name), getattr(robot.eager, name)
    found = compute(*arrays)
    for k in (0, 511, 512, 1099):
        one = [array[k].copy() for array in arrays]
        assert compute(*one).tobytes() == found[k].tobytes()
        np.testing.assert_allclose(found[k], textbook(*one), rtol=1e-9, atol=1e-9)
    assert compute(*(np.asfortranarray(array) for array in arrays)).tobytes() == found.tobytes()
    shared_row = [arrays[0], *(array[:1] for array in arrays[1:])]
    again = compute(*shared_row)
    assert again[7].tobytes() == compute(arrays[0][7], *(array[0] for array in arrays[1:])).tobytes()


def test_accelerations_of_mujoco() -> None:
    text = scene(*(BODY.format(k=k) for k in range(3)), BOX.format(k=4, size=0.3), BOX.format(k=5, size=0.3))
    robot, model = kt.load(text), mujoco.MjModel.from_xml_string(text)
    assert shared(robot, "forward_dynamics")
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data = mujoco.MjData(model)
    q, v, tau = (array[0] for array in states(robot, 1))
    data.qpos[:] = kt.convert(robot, "q", q, to="mujoco")
    data.qvel[:] = kt.convert(robot, "v", v, to="mujoco", q=q)
    data.qfrc_applied[:] = kt.convert(robot, "tau", tau, to="mujoco", q=q)
    mujoco.mj_forward(model, data)
    found = kt.convert(robot, "a", robot.forward_dynamics(q, v, tau), to="mujoco", q=q, v=v)
    np.testing.assert_allclose(found, data.qacc, rtol=1e-9, atol=1e-9 * np.abs(data.qacc).max())


def test_bits_of_a_robot_alone() -> None:
    robot, alone = kt.load(scene(*(BODY.format(k=k) for k in range(4)))), kt.load(scene(BODY.format(k=0)))
    arrays = states(robot, 5)
    found = robot.inverse_dynamics(*arrays)
    sizes = (alone.nq, alone.nv, alone.nv)
    for k in range(4):
        own = [array[:, n * k : n * (k + 1)] for array, n in zip(arrays, sizes, strict=True)]
        part = found[:, alone.nv * k : alone.nv * (k + 1)]
        assert part.tobytes() == alone.inverse_dynamics(*map(np.ascontiguousarray, own)).tobytes()


def test_a_refused_state_is_named_whichever_copy_refuses() -> None:
    robot = mixed()
    q, v, a = states(robot, 700)
    at = robot.joint("ankle2").q_slice
    robot.inverse_dynamics(q, v, a)
    q[600, at] *= 1.1
    with pytest.raises(kt.ArgumentError, match=r"q\[600\] has a quaternion .* of norm 1.1"):
        robot.inverse_dynamics(q, v, a)
    for _ in range(2):
        with pytest.raises(kt.ArgumentError, match="q has a quaternion"):
            robot.inverse_dynamics(q[600], v[0], a[0])
    assert np.isfinite(robot.inverse_dynamics(q[:600], v[:600], a[:600])).all()


def test_float32() -> None:
    robot, exact = mixed(dtype="float32"), mixed()
    arrays = states(exact, 50)
    found = robot.inverse_dynamics(*(array.astype("float32") for array in arrays))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, exact.inverse_dynamics(*arrays), rtol=1e-4, atol=1e-3)


def test_wrenches_laws_and_graphs_are_of_the_whole() -> None:
    robot = mixed()
    q, v, a = (array[0] for array in states(robot, 1))
    push = {"foot2": np.arange(6.0)}
    np.testing.assert_allclose(
        robot.inverse_dynamics(q, v, a, wrenches=push), robot.eager.inverse_dynamics(q, v, a, wrenches=push), atol=1e-9
    )
    law = kt.compile(lambda robot, q, v, a: robot.inverse_dynamics(q, v, a))
    np.testing.assert_allclose(law(robot, q, v, a), robot.inverse_dynamics(q, v, a), rtol=1e-12, atol=1e-12)
    graph = quantity.quantities_of(kt.Robot)["gravity_forces"].function(robot, None).specialization().graph
    assert len(graph.outputs) == robot.nv


def test_the_disk_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # while a part of the library is replaced, nothing is read from disk
    text = scene(*(BODY.format(k=k) for k in range(35)))
    robots = kt.load(text), kt.load(text)
    state = [array[0] for array in states(robots[0], 1)]
    first, second = (robot.gravity_forces(state[0]) for robot in robots)
    assert first.tobytes() == second.tobytes()
    made = quantity.quantities_of(kt.Robot)["gravity_forces"].function(robots[1], None).specialization()
    assert isinstance(made, RepeatedSpecialization)
    assert "_repeated" not in vars(made), "it was traced again"


def test_small_robots_are_one_sequence_of_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MANY_BODIES", 100)
    assert not shared(mixed(), "inverse_dynamics")
