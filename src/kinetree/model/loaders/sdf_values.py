"""Values in the text of elements, as SDFormat has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.errors import short
from kinetree.model.builder import ModelBuilder
from kinetree.model.loaders.reading import Reading
from kinetree.model.loaders.xml import Element
from kinetree.ops import Array
from kinetree.spatial.rotation import matrix_from_quaternion, matrix_from_rpy, normalized

TRUE = ("true", "1")
FALSE = ("false", "0")


class Values(Reading):
    """Numbers, words and poses, or one sentence that says where there is none."""

    def __init__(self, builder: ModelBuilder) -> None:
        super().__init__(builder, {}, {})

    def note_others(self, element: Element, known: Sequence[str]) -> None:
        """Counts the children that nobody reads."""
        for child in element.children:
            if child.tag not in known:
                self.ignore(f"{element.tag}/{child.tag}", child)

    def numbers(self, label: str, element: Element, *counts: int) -> list[float]:
        """As many numbers as one of the counts."""
        words = element.text.split()
        count = len(words) if len(words) in counts else counts[0]
        return self.parsed(label, element, "text", element.text, count)

    def numbers_in(self, label: str, element: Element, tag: str, default: Sequence[float]) -> Sequence[float]:
        """Those in a child, as many as by default."""
        child = self.single(label, element, tag)
        return default if child is None else self.numbers(label, child, len(default))

    def value(self, label: str, element: Element | None, tag: str, default: float) -> float:
        """The number in a child."""
        return default if element is None else self.numbers_in(label, element, tag, [default])[0]

    def word(self, element: Element, tag: str, default: str = "") -> str:
        """The text of a child."""
        found = element.all(tag)
        return found[0].text.strip() if found else default

    def flag(self, element: Element, tag: str, default: bool = False) -> bool:
        found = self.word(element, tag)
        if found and found.lower() not in (*TRUE, *FALSE):
            self.doubt(
                f"<{element.tag}>", f"<{tag}> is {short(found)}; expected true or false, and it is false", element
            )
        return found.lower() in TRUE if found else default

    def pose(self, label: str, element: Element) -> Array:
        """That of its <pose>, (4, 4); the identity without one."""
        child = self.single(label, element, "pose")
        T = np.eye(4)
        if child is None or not child.text.strip():
            return T
        form = child.attributes.get("rotation_format", "euler_rpy")
        if form not in ("euler_rpy", "quat_xyzw"):
            raise self.error(label, f"rotation_format is {short(form)}; expected 'euler_rpy' or 'quat_xyzw'", child)
        given = np.array(self.numbers(label, child, 7 if form == "quat_xyzw" else 6))
        if not np.isfinite(given).all():
            raise self.error(label, "its <pose> is not finite", child)
        T[:3, 3] = given[:3]
        if form == "quat_xyzw" and not given[3:].any():
            raise self.error(label, "its <pose> has a quaternion of zeros", child)
        if form == "quat_xyzw":
            T[:3, :3] = matrix_from_quaternion(normalized(given[3:]))
        else:
            degrees = child.attributes.get("degrees", "").lower() in TRUE
            T[:3, :3] = matrix_from_rpy(np.radians(given[3:]) if degrees else given[3:])
        return T

    def relative_to(self, element: Element) -> str:
        """The frame its <pose> is given in, empty if it says none; `frame` is the name of it before SDFormat 1.7."""
        for child in element.all("pose"):
            return child.attributes.get("relative_to") or child.attributes.get("frame", "")
        return ""
