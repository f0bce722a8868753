"""The kinds of joints by name: a joint that is registered here is known everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeVar

from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.model.joints.fixed import Fixed
from kinetree.model.joints.free import Free
from kinetree.model.joints.helical import Helical
from kinetree.model.joints.joint import Joint
from kinetree.model.joints.planar import Planar
from kinetree.model.joints.prismatic import Prismatic
from kinetree.model.joints.revolute import Continuous, Revolute
from kinetree.model.joints.spherical import Spherical
from kinetree.model.joints.universal import Universal

J = TypeVar("J", bound=type[Joint])

_registered: dict[str, type[Joint]] = {}  # results do not depend on it: a model has the classes of its joints
JOINTS: Mapping[str, type[Joint]] = MappingProxyType(_registered)
"""All kinds, by what `ModelBuilder.joint` calls them."""


def register(joint: J) -> J:
    """The class of joints, after its kind has become one that models can have; also a decorator."""
    if not (isinstance(joint, type) and issubclass(joint, Joint)):
        raise ArgumentTypeError(f"the joint to register is {short(joint)}; expected a class derived from Joint")
    kind = getattr(joint, "kind", None)
    if not isinstance(kind, str) or not kind:
        raise ArgumentTypeError(f"kind of {joint.__name__} is {short(kind)}; expected a name")
    if kind in _registered:
        raise ArgumentError(f"kind of {joint.__name__} is {kind!r}, which is taken by {_registered[kind].__name__}")
    if len(joint.q_labels) != joint.nq:
        raise ArgumentError(f"q_labels of {joint.__name__} has {len(joint.q_labels)} entries; expected {joint.nq}")
    turns = joint.motion_subspace_rate is not Joint.motion_subspace_rate
    if turns and not joint.is_series and not issubclass(joint, Free):
        raise ArgumentError(
            f"the motion subspace of {joint.__name__} depends on q; derivatives know this only of a series of joints "
            "with one coordinate each, is_series = True"
        )
    _registered[kind] = joint
    return joint


def unregister(joint: type[Joint]) -> None:
    """Takes back `register`; models that have such joints stay as they are."""
    if _registered.get(joint.kind) is not joint:
        raise ArgumentError(f"{joint.__name__} is not registered")
    del _registered[joint.kind]


def kinds_by_word(language: Literal["urdf", "mjcf"]) -> dict[str, str]:
    """The kinds that a file format has a word for, by that word; of several, the first."""
    found: dict[str, str] = {}
    for kind, joint in _registered.items():
        word = joint.urdf if language == "urdf" else joint.mjcf
        if word is not None:
            found.setdefault(word, kind)
    return found


for _joint in (Revolute, Continuous, Prismatic, Helical, Universal, Spherical, Planar, Fixed, Free):
    register(_joint)
