"""Two robots that are the same in joint space, at frames and in the world."""

import numpy as np

import kinetree as kt
from kinetree.robot import Robot
from kinetree.robot.frame import Frame
from kinetree.robot.quantity import quantities_of

OF_ROBOT, OF_FRAME = quantities_of(Robot), quantities_of(Frame)


def state(robot, names, rng):
    return [robot.random(rng) if name.startswith("q") else rng.normal(size=robot.nv) for name in names]


def results(call, *arguments):
    found = call(*arguments)
    return found if isinstance(found, tuple) else (found,)


def agree(one, other, rng, large=True, tolerance=1e-10):
    """All quantities that may use other frames are the same, those of frames and those pushed at frames included."""
    model = one.model
    frame = str(rng.choice(one.frame_names))
    push = {frame: kt.Wrench(rng.normal(size=6), "local"), one.frame_names[-1]: rng.normal(size=6)}
    for declared in OF_ROBOT.values():
        if not declared.any_frames or declared.refusal(model) or (declared.is_large and not large):
            continue
        values = state(one, declared.inputs, rng)
        calls = [values, [*values, push]] if declared.takes_wrenches else [values]
        for arguments in calls:
            same(one, other, declared.method.__name__, arguments, tolerance)
    for name, declared in OF_FRAME.items():
        if declared.lacks_rank is None and (large or not declared.is_large):
            same(one.frame(frame), other.frame(frame), name, state(one, declared.inputs, rng), tolerance)


def same(one, other, name, arguments, tolerance):
    try:
        expected = results(getattr(one, name), *arguments)
    except kt.SingularMassMatrixError:
        return
    for x, y in zip(results(getattr(other, name), *arguments), expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=tolerance * max(1.0, np.abs(y).max(initial=0.0)), err_msg=name)
