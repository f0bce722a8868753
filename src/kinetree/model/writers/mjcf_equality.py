"""Constraints as MJCF has them: joints and sites that are held to each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from kinetree.model.constraints import Contact, Coupling, Loop
from kinetree.model.description import free_name
from kinetree.model.joints import AxisJoint
from kinetree.model.loaders.xml import Element, numbers
from kinetree.model.tree import Model
from kinetree.model.writers.losses import loop_name
from kinetree.model.writers.mjcf_geometry import pose
from kinetree.spatial import Transform

MOST_COEFFICIENTS = 5
HELD = {"point": "connect", "rigid": "weld", "surface": "weld"}


class EqualityWriter:
    """Writes <equality>, and the sites that it needs besides those of the robot."""

    def __init__(self, model: Model, body: Callable[[str | None], Element]) -> None:
        """`body` finds the element of a link, or of the world for None."""
        self.model, self.body = model, body
        self.lost: list[str] = []
        self.sites = {} if model.description is None else dict(model.description.sites)

    def elements(self) -> Iterator[Element]:
        """Mimic joints, then loops."""
        for joint in self.model.joints:
            if isinstance(joint, AxisJoint) and joint.leader is not None:
                yield _joint(joint.name, joint.leader, (joint.offset, joint.ratio))
        for constraint in self.model.loops:
            match constraint:
                case Coupling(joint=name, leader=leader, coefficients=coefficients) if _fits(coefficients):
                    yield _joint(name, leader, coefficients)
                case Loop(frame_a=a, frame_b=b, kind=kind):
                    yield Element(HELD[kind], {"site1": self._site(a), "site2": self._site(b)})
                case Contact(frame=frame, kind=kind, target=target) if kind in HELD and target is not None:
                    yield Element(HELD[kind], {"site1": self._site(frame), "site2": self._new_site(None, target)})
                case _:
                    self.lost.append(f"the {type(constraint).__name__.lower()} {loop_name(constraint)}")

    def _site(self, frame: str) -> str:
        """The site of a frame; a link gets one."""
        return frame if frame in self.sites else self._new_site(frame, Transform.identity())

    def _new_site(self, link: str | None, X: Transform) -> str:
        name = free_name(f"{link or 'world'}_held", self.sites)
        self.sites[name] = (link or "", X)
        self.body(link).children.append(Element("site", {"name": name} | pose(X)))
        return name


def _fits(coefficients: tuple[float, ...]) -> bool:
    return not np.any(coefficients[MOST_COEFFICIENTS:])


def _joint(name: str, leader: str | None, coefficients: tuple[float, ...]) -> Element:
    """MuJoCo's default is the identity, so all five are written."""
    law = (*coefficients, *[0.0] * MOST_COEFFICIENTS)[:MOST_COEFFICIENTS]
    ends = {"joint1": name} | ({} if leader is None else {"joint2": leader})
    return Element("joint", ends | {"polycoef": numbers(law)})
