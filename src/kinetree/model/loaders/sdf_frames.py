"""Frames of an SDFormat document: each has a pose in another, and moves with a link.

Names are those of the document with the names of all models around in front, such as arm::hand::palm. The frame of a
model is called __model__, that of all models world.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kinetree.errors import ModelError
from kinetree.ops import Array

WORLD = "world"
MODEL = "__model__"


@dataclass
class Frames:
    """Poses at which all joints are at zero; `error` makes an error of a sentence."""

    error: Callable[[str], ModelError]
    given: dict[str, tuple[str, Array]] = field(default_factory=dict)
    """Of every frame the one that its pose is given in, and that pose, (4, 4)."""
    carriers: dict[str, str] = field(default_factory=dict)
    """What each frame is attached to, itself if it is a link."""
    placed_by: dict[str, str] = field(default_factory=dict)
    """Of a model, the frame inside of it that its pose is that of."""
    _links: dict[str, str] = field(default_factory=dict)
    _solved: dict[str, Array] = field(default_factory=lambda: {WORLD: np.eye(4)})

    def add(self, name: str, relative_to: str, pose: Array, attached_to: str) -> None:
        if name in self.given or name == WORLD:
            raise self.error(f"frame {name!r}: the name is taken by another link, joint, frame or model")
        self.given[name], self.carriers[name] = (relative_to, pose), attached_to

    def pose(self, name: str) -> Array:
        """In the world, (4, 4)."""
        way = dict[str, None]()
        while name not in self._solved:
            if name not in self.given:
                raise self.error(f"frame {name!r} does not exist")
            if name in way:
                raise self.error(f"the pose of frame {name!r} is given in itself")
            way[name] = None
            name = self.given[name][0]
        for each in reversed(way):
            inner = self.placed_by.get(each)
            local = self.given[each][1] @ (np.eye(4) if inner is None else np.linalg.inv(self._within(inner, each)))
            with np.errstate(all="ignore"):
                self._solved[each] = self._solved[self.given[each][0]] @ local
            if not np.isfinite(self._solved[each]).all():
                raise self.error(f"the pose of frame {each!r} is not finite")
        return self._solved[next(iter(way), name)]

    def _within(self, name: str, model: str) -> Array:
        """The pose of a frame in the model that it belongs to."""
        pose, seen = np.eye(4), 0
        while name != model:
            if name not in self.given or seen > len(self.given):
                raise self.error(f"frame {name!r}, which places {model!r}, is none of it")
            name, local = self.given[name]
            pose, seen = local @ pose, seen + 1
        return pose

    def link(self, name: str) -> str:
        """The link that a frame moves with, or the world."""
        way = dict[str, None]()
        while name not in self._links:
            if name == WORLD or self.carriers.get(name) == name:
                self._links[name] = name
                break
            if name not in self.carriers:
                raise self.error(f"frame {name!r} does not exist")
            if name in way:
                raise self.error(f"frame {name!r} is attached to itself")
            way[name] = None
            name = self.carriers[name]
        self._links |= dict.fromkeys(way, self._links[name])
        return self._links[name]
