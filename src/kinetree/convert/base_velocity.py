"""The same robot with its base velocity in other axes: as it is loaded with base_velocity="body" or "mixed"."""

from __future__ import annotations

from kinetree.convert.coordinates import Coordinates, Same
from kinetree.convert.free import FreeBody
from kinetree.convert.peer import Peer
from kinetree.model.joints import Free, Joint


def _peer(name: str) -> Peer:
    def coordinates(joint: Joint) -> Coordinates:
        if not isinstance(joint, Free):
            return Same(joint)
        in_parent = name == "mixed"
        return FreeBody(
            joint,
            quaternion="xyzw",
            position_first=True,
            linear_in_parent=in_parent,
            angular_in_parent=in_parent,
            order=joint.order,
        )

    return Peer(name, coordinates, spatial_order=None, same_joints=True)


BODY, MIXED = _peer("body"), _peer("mixed")
