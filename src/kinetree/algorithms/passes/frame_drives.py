"""What actuators do to frames: lengths, and the efforts R of a unit of force.

Force f and moment n on a frame at x, on body b, are the spatial force w = (f, n + x × f); with a reference at y, on
body r, the opposite of (f, n + y × f) acts there. So R_k = ± S_k · w, with + and the first on the way to b, with - and
the second on the way to r; joints that move both do not count. Where f and n are the derivatives of a length, R v is
its rate.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinetree.algorithms.passes.common_frame import CommonFrame
from kinetree.algorithms.passes.tendon_paths import between, placed
from kinetree.model.actuators import Drive, FrameDrive, SliderCrank
from kinetree.model.tree import Model
from kinetree.ops import Array, Scalar, cross, divide, less, sqrt, where, zeros
from kinetree.spatial import Force, Transform
from kinetree.spatial.exponential import log_quaternion
from kinetree.spatial.rotation import quaternion_from_matrix


def drive_states(model: Model, drives: tuple[Drive, ...], q: Array) -> Iterator[tuple[Scalar, Array]]:
    """The length of each drive, and its R, (nv,)."""
    if not drives:
        return
    common = CommonFrame.of(model, q)
    for drive in drives:
        (body, X), *others = [placed(model, common, name) for name in drive.frames]
        other, Y = others[0] if others else (0, None)
        if isinstance(drive, FrameDrive):
            length, on_body, on_other = _frame_drive(drive, X, Y, common)
        else:
            assert Y is not None
            length, on_body, on_other = _slider_crank(drive, X, Y)
        R = zeros(model.nv, q)
        for k, s, sign in between(model, common, other, body):
            R[k] += s.dot(on_body) if sign > 0.0 else -s.dot(on_other)
        yield length, R


def _frame_drive(
    drive: FrameDrive, X: Transform, Y: Transform | None, common: CommonFrame
) -> tuple[Scalar, Force, Force]:
    """ℓ, and the forces at the common origin; ^F X_C and ^reference X_C are given."""
    of_reference = common.R.T if Y is None else Y.R
    axes = X.R if drive.axes == "frame" else of_reference
    gear, turn = np.array(drive.force), np.array(drive.moment)
    f, n = axes.T @ gear, axes.T @ turn
    on_frame = Force(f, n + cross(X.p, f))
    if Y is None:
        return 0.0, on_frame, on_frame
    length: Scalar = gear @ (axes @ (X.p - Y.p))
    if turn.any():
        length = length + turn @ log_quaternion(quaternion_from_matrix(Y.R @ X.R.T))
    return length, on_frame, Force(f, n + cross(Y.p, f))


def _slider_crank(drive: SliderCrank, X: Transform, Y: Transform) -> tuple[Scalar, Force, Force]:
    """ℓ, and its derivatives as forces on crank and slider at the common origin, the latter opposite."""
    d, z = X.p - Y.p, Y.R[2]
    along = z @ d
    square = along * along + drive.rod**2 - d @ d
    reaches = less(0.0, square)
    root = sqrt(where(reaches, square, 1.0))
    share = where(reaches, 1.0 - divide(along, root), 1.0)
    f = drive.gear * (z * share + d * where(reaches, divide(1.0, root), 0.0))
    turn = cross(z, d) * (drive.gear * share)  # with the slider, its axis turns
    length = drive.gear * (along - where(reaches, root, 0.0))
    return length, Force(f, cross(X.p, f)), Force(f, cross(Y.p, f) - turn)
