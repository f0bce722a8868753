"""Constraints as MJCF has them: joints and sites that are held to each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.polynomial import Polynomial

from kinetree.model.constraints import Contact, Coupling, Loop, TendonCoupling
from kinetree.model.description import free_name
from kinetree.model.joints import AxisJoint
from kinetree.model.loaders.xml import Element, numbers
from kinetree.model.tree import Model
from kinetree.model.writers.losses import loop_kind, loop_name
from kinetree.model.writers.mjcf_geometry import pose
from kinetree.spatial import Transform

MOST_COEFFICIENTS = 5
HELD = {"point": "connect", "rigid": "weld", "surface": "weld"}


class EqualityWriter:
    """Writes <equality>, and the sites that it needs besides those of the robot."""

    def __init__(self, model: Model, body: Callable[[str | None], Element], lengths: Mapping[str, float]) -> None:
        """`body` finds the element of a link, or of the world for None; `lengths` are those of tendons in the file."""
        self.model, self.body, self.lengths = model, body, lengths
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
                case TendonCoupling(coefficients=coefficients) if _fits(coefficients):
                    yield self._tendons(constraint)
                case Loop(frame_a=a, frame_b=b, kind=kind):
                    yield Element(HELD[kind], {"site1": self._site(a), "site2": self._site(b)})
                case Contact(frame=frame, kind=kind, target=target) if kind in HELD and target is not None:
                    yield Element(HELD[kind], {"site1": self._site(frame), "site2": self._new_site(None, target)})
                case _:
                    self.lost.append(f"the {loop_kind(constraint)} {loop_name(constraint)}")

    def _tendons(self, held: TendonCoupling) -> Element:
        """MuJoCo's polynomial is of the differences from the lengths that tendons have in the file."""
        x, y = (self.lengths.get(name, 0.0) for name in (held.tendon, str(held.leader)))
        law = Polynomial(held.coefficients)(Polynomial([y, 1.0])) - x
        ends = {"tendon1": held.tendon} | ({} if held.leader is None else {"tendon2": held.leader})
        return Element("tendon", ends | {"polycoef": _polynomial(tuple(law.coef))})

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
    ends = {"joint1": name} | ({} if leader is None else {"joint2": leader})
    return Element("joint", ends | {"polycoef": _polynomial(coefficients)})


def _polynomial(coefficients: tuple[float, ...]) -> str:
    """MuJoCo's default is the identity, so all five are written."""
    return numbers((*coefficients, *[0.0] * MOST_COEFFICIENTS)[:MOST_COEFFICIENTS])
