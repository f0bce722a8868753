"""Reading elements and attributes: each value is what it should be, or one sentence says where it is not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from kinetree.errors import ModelError, short
from kinetree.model.builder import ModelBuilder
from kinetree.model.joints import JointDynamics
from kinetree.model.loaders.xml import Element

ZERO = (0.0, 0.0, 0.0)
MOMENTS = ((0, 0, "ixx"), (0, 1, "ixy"), (0, 2, "ixz"), (1, 1, "iyy"), (1, 2, "iyz"), (2, 2, "izz"))
"""Entries of an inertia, and what URDF and SDFormat call them."""
HARMLESS = {"material", "color", "texture", "limit", "safety_controller", "geometry"}
"""Elements without a part in the dynamics: of several, the first counts."""


class Reading:
    """The builder that takes what is read, and the record of what was not.

    children     the tags that are read, by the tag of the element they stand in
    attributes   the attributes that are read, by the tag of their element
    """

    def __init__(
        self, builder: ModelBuilder, children: Mapping[str, Collection[str]], attributes: Mapping[str, Collection[str]]
    ) -> None:
        self.builder = builder
        self.known_children = children
        self.known_attributes = attributes
        self.ignored: Counter[str] = Counter()
        self.first_line: dict[str, int] = {}
        self._tolerates = False

    def error(self, label: str, message: str, element: Element) -> ModelError:
        return self.builder.error(label, message, element.line)

    def note(self, label: str, message: str, element: Element) -> None:
        self.builder.note(label, message, element.line)

    def doubt(self, label: str, message: str, element: Element) -> None:
        """Record what breaks the rules of the format, or is not what its author meant."""
        self.builder.note(label, message, element.line, "warning")

    def fault(self, label: str, message: str, element: Element, assumed: str) -> None:
        """Refuse what decides the dynamics, unless it is repaired; `tolerating`, raise in any case."""
        if self._tolerates:
            raise self.error(label, message, element)
        self.builder.fault(label, message, element.line, assumed)

    @contextmanager
    def tolerating(self, consequence: str) -> Iterator[None]:
        """Where the dynamics are not concerned: a fault ends the block, and is recorded with what follows from it."""
        before, self._tolerates = self._tolerates, True
        try:
            yield
        except ModelError as problem:
            if not problem.findings:
                raise
            fault = problem.findings[-1]
            self.builder.note(fault.element, f"{fault.message}; {consequence}", fault.line, "warning")
        finally:
            self._tolerates = before

    # -- elements ----------------------------------------------------------------------------------------------

    def single(self, label: str, element: Element, tag: str) -> Element | None:
        """The child with this tag, if there is one."""
        found = None
        for child in element.children:
            if child.tag == tag:
                if found is not None:
                    message = f"it has {len(element.all(tag))} <{tag}> elements; expected one"
                    if tag in HARMLESS:
                        self.doubt(label, f"{message}, and the first counts", child)
                    else:
                        self.fault(label, message, child, "the first counts")
                    return found
                found = child
        return found

    def note_unread(self, label: str, element: Element) -> None:
        """Record everything in an element that nobody reads; the children of the root do so themselves."""
        tag, known = element.tag, self.known_attributes[element.tag]
        unread = [key for key in element.attributes if key not in known and key[:5] != "xmlns"]
        if unread:
            listed = ", ".join(unread[:8]) + (", …" if len(unread) > 8 else "")
            self.note(label, f"<{tag}> has {listed}, which was ignored", element)
        if element.text:
            self.note(label, f"<{tag}> contains the text {short(element.text.strip())}, which was ignored", element)
        read = self.known_children.get(tag, ())
        for child in element.children:
            if child.tag.startswith("xacro:"):
                message = "this is xacro, a program to be expanded first; if you trust it, give xacro_args={}"
                raise self.error(f"<{child.tag}>", message, child)
            if child.tag not in read:
                self.ignore(child.tag if tag == "robot" else f"{tag}/{child.tag}", child)
            elif tag != "robot":
                self.note_unread(label, child)

    def ignore(self, place: str, element: Element) -> None:
        """Counts an element that nobody reads."""
        self.ignored[place] += 1
        self.first_line.setdefault(place, element.line)

    def note_ignored(self) -> None:
        """Says of every tag that nobody reads how often it was met, and where first."""
        for tag, count in (+self.ignored).items():
            plural = "s were" if count > 1 else " was"
            self.builder.note(f"<{tag}>", f"{count} element{plural} ignored", self.first_line[tag], count=count)

    # -- attributes --------------------------------------------------------------------------------------------

    def required(self, element: Element, attribute: str, label: str) -> str:
        value = element.attributes.get(attribute)
        if not value:
            raise self.error(label, f"it has no {attribute}", element)
        return value

    def number(self, label: str, element: Element, attribute: str, default: float | None = None) -> float:
        text = element.attributes.get(attribute)
        if text is None:
            if default is None:
                self.fault(label, f"<{element.tag}> has no {attribute}", element, "it counts as 0")
                return 0.0
            return default
        return self.parsed(label, element, attribute, text, 1)[0]

    def triple(
        self, label: str, element: Element, attribute: str, default: tuple[float, float, float] | None = ZERO
    ) -> tuple[float, float, float]:
        text = element.attributes.get(attribute)
        if text is None:
            if default is None:
                raise self.error(label, f"<{element.tag}> has no {attribute}", element)
            return default
        x, y, z = self.parsed(label, element, attribute, text, 3)
        return x, y, z

    def parsed(self, label: str, element: Element, attribute: str, text: str, count: int) -> list[float]:
        """As many numbers as expected, none of them NaN."""
        try:
            values = [float(word) for word in text.split(maxsplit=count)]
        except ValueError:
            values = []
        # Python also takes 1_000 and digits of other scripts; no other reader of such files does
        if len(values) != count or "_" in text or not text.isascii() or any(map(math.isnan, values)):
            expected = "a number" if count == 1 else f"{count} numbers"
            message = f"<{element.tag}> {attribute} is {short(text)}; expected {expected}"
            self.fault(label, message, element, "it counts as 0")
            return [0.0] * count
        return values

    def origin(self, label: str, element: Element) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """Position and roll, pitch, yaw of an <origin>."""
        origin = self.single(label, element, "origin")
        if origin is None:
            return ZERO, ZERO
        return self.triple(label, origin, "xyz"), self.triple(label, origin, "rpy")

    def dynamics(self, label: str, element: Element) -> JointDynamics:
        """Damping and friction of a <dynamics>."""
        damping, friction = self.number(label, element, "damping", 0.0), self.number(label, element, "friction", 0.0)
        with self.builder.located(f"{label}, <dynamics>", element.line):
            return JointDynamics(damping=damping, friction=friction)
