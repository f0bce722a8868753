"""External wrenches, given at named frames, as forces on bodies in body coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.arguments.one_state import Push
from kinetree.algorithms.arguments.references import localized
from kinetree.algorithms.kinematics import world_transforms
from kinetree.model.tree import Model
from kinetree.ops import Array
from kinetree.spatial import Force


def external_forces(model: Model, q: Array, wrenches: Sequence[Push]) -> dict[int, Force]:
    """The sum of the wrenches on each body that has any, in its own coordinates."""
    if not wrenches:
        return {}
    X = world_transforms(model, q)
    f_ext: dict[int, Force] = {}
    for frame, reference, six in wrenches:
        at_frame = localized(Force.from_vector(six, model.spatial_order), frame.X * X[frame.body], reference)
        on_body = frame.X.transpose() * at_frame
        f_ext[frame.body] = f_ext.get(frame.body, Force.zero()) + on_body
    return f_ext
