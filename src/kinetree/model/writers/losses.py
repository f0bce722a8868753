"""What a format cannot say: joints that become series of others, and losses that are refused unless wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from kinetree.errors import ModelError
from kinetree.model.constraints import Constraint, Coupling, TendonCoupling
from kinetree.model.description import Description, JointDescription, LinkDescription, free_name
from kinetree.model.joints.dynamics import NONE
from kinetree.model.tree import Model
from kinetree.spatial import Inertia, Transform


def check_losses(form: str, lost: Sequence[str], lossy: bool) -> None:
    """Raises if there is any, and names the first."""
    if lost and not lossy:
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        raise ModelError(f"{form} cannot express {lost[0]}{more}; lossy=True leaves it out")


def common_losses(description: Description) -> Iterator[str]:
    """What no format but MJCF has words for."""
    yield from (f"the tendon {tendon.name!r}" for tendon in description.tendons)
    yield from (f"the {loop_kind(each)} {loop_name(each)}" for each in description.loops)
    if description.base_dynamics != NONE:
        yield "armature, damping or friction of the floating base"
    if description.fluid.is_present:
        yield "the fluid around the robot"
    for name, link in description.links.items():
        if link.compensated is not None:
            yield f"the gravity compensation of link {name!r}"


def loop_kind(constraint: Constraint) -> str:
    """The kind of a constraint, in a word."""
    return "coupling" if isinstance(constraint, TendonCoupling) else type(constraint).__name__.lower()


def loop_name(constraint: Constraint) -> str:
    """A constraint in words."""
    if isinstance(constraint, TendonCoupling):
        return f"of tendon{'s' if constraint.leader else ''} {' and '.join(map(repr, constraint.tendons))}"
    if isinstance(constraint, Coupling):
        return f"of joint{'s' if constraint.leader else ''} {' and '.join(map(repr, constraint.joints))}"
    return f"of frame{'s' if len(constraint.frames) > 1 else ''} {' and '.join(map(repr, constraint.frames))}"


def description_of(model: Model) -> Description:
    """What a document is written from; raises if there is none, and for names that no XML document can have."""
    description = model.description
    if description is None:
        raise ModelError(f"model {model.name!r} was made without a description, so it cannot be written")
    for kind, names in (
        ("link", description.links),
        ("joint", description.joints),
        ("frame", description.sites),
        ("robot", [description.name]),
    ):
        for name in names:
            if any(ord(character) < 32 for character in name):
                raise ModelError(f"{kind} {name!r} has a control character in its name, which XML cannot express")
    return description


def split(description: Description, has_words: Callable[[JointDescription], bool]) -> Description:
    """With a series of joints and massless links between them in place of each joint that a format cannot express."""
    links, joints = dict(description.links), {}
    taken = {*description.joints, *description.links, *description.sites}
    for name, joint in description.joints.items():
        parts = [joint] if has_words(joint) else joint.series()
        parent, placement = joint.parent, joint.placement
        for k, part in enumerate(parts or [joint], 1):
            own = name if k == 1 else free_name(f"{name}_{k}", taken)
            child = joint.child if k >= len(parts) else free_name(f"{name}_cross", taken)
            taken |= {own, child}
            links.setdefault(child, LinkDescription(Inertia.zero()))
            joints[own] = replace(part, name=own, parent=parent, child=child, placement=placement)
            parent, placement = child, Transform.identity()
    return replace(description, links=links, joints=joints)
