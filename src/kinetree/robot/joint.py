"""A joint of a robot by name: where its coordinates are, its limits, its type, and the frame that it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinetree.errors import unknown
from kinetree.model.tree import Limits
from kinetree.robot.frame import Frame

if TYPE_CHECKING:
    from kinetree.robot import Robot


@dataclass(frozen=True)
class RobotJoint:
    """One joint of a robot."""

    robot: Robot
    name: str
    type: str
    """'revolute', 'prismatic', 'free', … or 'fixed'."""
    q_slice: slice
    """Its entries of q; those of its leader if it is a mimic joint, none if it is fixed."""
    v_slice: slice
    """Its entries of v, a and tau."""
    frame: Frame
    """The link that it moves."""
    follows: str | None = None
    """The joint that it mimics, if it does."""

    def __repr__(self) -> str:
        return f"<Joint {self.name!r} of {self.robot.name!r}: {self.type}>"

    @property
    def limits(self) -> Limits:
        """Its .lower and .upper positions, .velocity and .effort, one number for every coordinate."""
        whole, q, v = self.robot.limits, self.q_slice, self.v_slice
        return Limits(whole.lower[q], whole.upper[q], whole.velocity[v], whole.effort[v])


def joint_of(robot: Robot, name: str) -> RobotJoint:
    """The joint of this name, fixed ones included."""
    model = robot.model
    fixed = {edge.joint: edge.child for edge in model.edges}
    for joint, body in zip(model.joints[1:], model.names[1:], strict=True):
        if joint.name == name:
            moved = robot.frame(body)
            return RobotJoint(robot, name, joint.kind, joint.q_slice, joint.v_slice, moved, joint.follows)
    if not isinstance(name, str) or name not in fixed:
        raise unknown("joint", name, (*(joint.name for joint in model.joints[1:]), *fixed))
    return RobotJoint(robot, name, "fixed", slice(0, 0), slice(0, 0), robot.frame(fixed[name]))
