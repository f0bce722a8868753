"""What another library does differently; what it does with a joint, the class of the joint knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.model.joints import Free, Joint
from kinetree.model.joints.coordinates import Coordinates
from kinetree.model.tree import Model
from kinetree.spatial.packing import SpatialOrder


@dataclass(frozen=True)
class Peer:
    """A library, and the coordinates it gives to our joints."""

    name: str
    """As the `peers` of joints have it."""
    spatial_order: SpatialOrder | None
    """Of its 6-vectors and the rows of its Jacobians; None for that of the robot."""
    siblings_by_name: bool = False
    """Joints of one link are ordered by name, not as the file has them."""
    same_joints: bool = False
    """It has our joints in our order, and no coordinates for mimic joints."""
    free_pose_in_world: bool = False
    """A free joint's position is a pose in the world, wherever in the tree it is."""

    def coordinates(self, joint: Joint) -> Coordinates:
        """Those that it gives to a joint, or an error if it has no such joint."""
        form = joint.peers.get(self.name, Coordinates if self.same_joints else None)
        if form is None:
            raise ArgumentError(f"joint {joint.name!r} is {joint.kind}, and {self.name} has no coordinates for that")
        return form(joint)

    def joints(self, model: Model) -> Iterator[Joint]:
        """The joints with coordinates there, in the order it gives them by itself; a floating base first."""
        if self.same_joints:
            yield from model.owners
            return
        base = model.floating_base
        by_name = joints_by_name(model)
        if base is not None:
            yield base
        children: dict[str, list[tuple[str, str]]] = {}
        for edge in model.edges:
            children.setdefault(edge.parent, []).append((edge.joint, edge.child))
        waiting = [("", model.frames[0].name)]
        while waiting:
            name, link = waiting.pop()
            if name in by_name:
                yield by_name[name]
            below = children.get(link, [])
            waiting.extend(reversed(sorted(below) if self.siblings_by_name else below))

    def check(self, model: Model) -> None:
        """Raises where a joint's coordinates there do not follow from ours of the same joint."""
        if not self.free_pose_in_world:
            return
        for i, p in model.root_to_tips():
            X, joint = model.placements[i], model.joints[i]
            if isinstance(joint, Free) and (p != 0 or X.p.any() or not np.array_equal(X.R, np.eye(3))):
                raise ArgumentError(
                    f"free joint {joint.name!r} is not at the origin of the world; there its position would be a pose "
                    "in the world, so it cannot be converted joint by joint"
                )


def joints_by_name(model: Model) -> dict[str, Joint]:
    """Every joint that a peer may give coordinates to, the floating base left out."""
    movable = (joint for joint in model.joints if joint.nv and joint is not model.floating_base)
    return {joint.name: joint for joint in (*movable, *model.frozen)}


PEERS = {
    peer.name: peer
    for peer in (
        Peer("pinocchio", "linear-first", siblings_by_name=True),
        Peer("mujoco", "linear-first", free_pose_in_world=True),
        Peer("drake", "angular-first"),
        Peer("body", None, same_joints=True),
        Peer("mixed", None, same_joints=True),
    )
}
"""Libraries, and the same robot as it is loaded with base_velocity="body" or "mixed"."""
