"""All bodies in the coordinates of one frame, where sums over subtrees need no transforms.

The frame is that of the first body, if the whole tree hangs on it: then neither the pose of a floating base nor the
first angle of an arm enters, and the origin is never far away. Otherwise it is the world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.model.tree import Model
from kinetree.ops import Array, for_each
from kinetree.spatial import Inertia, Motion, Transform


@dataclass(frozen=True)
class CommonFrame:
    """X[i] = ^i X_C from the common frame C to body i; motion subspaces and inertias are in C."""

    X: dict[int, Transform]
    S: dict[int, tuple[Motion, ...]]
    I: dict[int, Inertia]
    gravity: Array
    R: Array
    """^C R_0, from the world's axes to those of C."""
    p: Array
    """The origin of C in the world."""

    @staticmethod
    def of(model: Model, q: Array) -> CommonFrame:
        root_body = 1 if model.n_bodies and len(model.children(0)) == 1 else 0
        X = {0: Transform.identity()}
        R, origin = np.eye(3), np.zeros(3)
        for i, p in model.root_to_tips():
            up = model.joints[i].transform(q) * model.placements[i]
            if i == root_body:
                X[i], R, origin = Transform.identity(), up.R, up.p
            else:
                X[i] = up * X[p]
        frame = CommonFrame(X, {}, {}, R @ model.gravity, R, origin)
        bodies = [i for i, _ in model.root_to_tips()]
        frame.I.update(zip(bodies, for_each(_inertia, [(X[i], model.inertias[i]) for i in bodies], q), strict=True))
        for i in bodies:
            frame.S[i] = frame.motions(i, model.joints[i].motion_subspace(q))
        return frame

    def motions(self, body: int, motions: Sequence[Motion]) -> tuple[Motion, ...]:
        """Motions that are given in the body's coordinates."""
        back = self.X[body].inverse()
        return tuple(back * motion for motion in motions)


def _inertia(X: Transform, own: Inertia) -> Inertia:
    return X.transpose() * own


def columns(model: Model, motions: Mapping[int, Sequence[Motion]], body: int) -> list[tuple[int, Motion]]:
    """The columns of a body's Jacobian that are not zero, with their places in v, of motions by joint."""
    return [(model.joints[j].iv + k, motion) for j in model.support(body) for k, motion in enumerate(motions[j])]
