"""What planners know of a robot beside its links and joints: groups, end effectors, pairs of links that may touch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import final


@final
@dataclass(frozen=True)
class EndEffector:
    """A hand or tool: the link that it is mounted on, the group of its own joints, and the group that moves it."""

    link: str
    group: str
    parent_group: str = ""


@dataclass(frozen=True)
class Semantics:
    """By names of links and joints; what a robot no longer has is left out where it is asked for."""

    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The joints of each group."""
    end_effectors: Mapping[str, EndEffector] = field(default_factory=dict)
    disabled_collisions: tuple[tuple[str, str], ...] = ()
    """Links that may touch each other, each pair once and in alphabetical order."""

    def renamed(self, link: Callable[[str], str], joint: Callable[[str], str]) -> Semantics:
        """With other names of links and joints; groups and end effectors are called like joints."""
        return Semantics(
            {joint(name): tuple(map(joint, joints)) for name, joints in self.groups.items()},
            {
                joint(name): EndEffector(
                    link(each.link), joint(each.group), each.parent_group and joint(each.parent_group)
                )
                for name, each in self.end_effectors.items()
            },
            pairs((link(one), link(other)) for one, other in self.disabled_collisions),
        )

    def joined(self, other: Semantics) -> Semantics:
        """With those of another robot; where both have a group of a name, its joints are those of both."""
        groups = dict(self.groups)
        for name, joints in other.groups.items():
            groups[name] = tuple(dict.fromkeys((*groups.get(name, ()), *joints)))
        tools = {**other.end_effectors, **self.end_effectors}
        return Semantics(groups, tools, pairs((*self.disabled_collisions, *other.disabled_collisions)))


def pairs(given: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Each pair once, in alphabetical order; a link is no pair with itself."""
    ordered = ((min(pair), max(pair)) for pair in given)
    return tuple(dict.fromkeys(pair for pair in ordered if pair[0] != pair[1]))
