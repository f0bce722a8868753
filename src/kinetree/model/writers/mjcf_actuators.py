"""Actuators and tendons as MJCF has them: <general> on a joint or on a tendon, <fixed> tendons over joints, <spatial>
ones along sites, pulleys and geoms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from kinetree.model.actuators import Actuator
from kinetree.model.bounds import written_bound
from kinetree.model.description import free_name
from kinetree.model.loaders.xml import Element, number, numbers
from kinetree.model.muscles import Muscle
from kinetree.model.tendons import UNLIMITED, Pulley, Tendon, Wrap

RANGES = {"ctrlrange": "control_range", "forcerange": "force_range", "actrange": "activation_range"}


class Places(Protocol):
    """The names of sites at frames, and of geoms that are wrapped around."""

    def site(self, frame: str) -> str: ...
    def geom(self, wrap: Wrap) -> str: ...


def actuator_elements(
    actuators: Iterable[Actuator], pulling: Iterable[Tendon], places: Places, lost: list[str]
) -> tuple[list[Element], list[Element]]:
    """Those of <tendon> and of <actuator>."""
    tendons = []
    for tendon in pulling:
        if tendon.path and tendon.joints:
            lost.append(f"the tendon {tendon.name!r}, which has joints and a path")
        elif tendon.path:
            attributes = {"name": tendon.name} | _terms(tendon)
            tendons.append(Element("spatial", attributes, children=[*_path(tendon, places)]))
        else:
            tendons.append(_fixed(tendon.name, tendon.joints, _terms(tendon)))
    written: list[Element] = []
    for actuator in actuators:
        if actuator.tendons and len((*actuator.joints, *actuator.tendons)) > 1:
            lost.append(f"the actuator {actuator.name!r}, which moves a tendon and more")
            continue
        if not actuator.tendons and len(actuator.joints) > 1:
            name, gear = free_name(actuator.name, [each.attributes["name"] for each in tendons]), 1.0
            tendons.append(_fixed(name, actuator.joints, {}))
        else:
            ((name, gear),) = actuator.joints or actuator.tendons
        moved = "joint" if len(actuator.joints) == 1 else "tendon"
        written.append(Element("general", {"name": actuator.name, moved: name, "gear": number(gear)} | _own(actuator)))
    return tendons, written


def _own(actuator: Actuator) -> dict[str, str]:
    """Gain, bias, ranges and dynamics."""
    values = {"gaintype": "affine", "gainprm": numbers(actuator.gain)}
    values |= {"biastype": "affine", "biasprm": numbers(actuator.bias)}
    if actuator.muscle is not None:
        values = _muscle(actuator.muscle)
    for attribute, field in RANGES.items():
        bounds = getattr(actuator, field)
        if bounds != UNLIMITED:
            values[attribute] = numbers(map(written_bound, bounds))
            values[attribute.replace("range", "limited")] = "true"
    if actuator.activation in ("integrator", "filter"):
        values |= {"dyntype": actuator.activation, "dynprm": number(actuator.time_constant)}
    return values


def _fixed(name: str, joints: Iterable[tuple[str, float]], terms: dict[str, str]) -> Element:
    parts = [Element("joint", {"joint": joint, "coef": number(gear)}) for joint, gear in joints]
    return Element("fixed", {"name": name} | terms, children=parts)


def _path(tendon: Tendon, places: Places) -> Iterator[Element]:
    for item in tendon.path:
        if isinstance(item, Pulley):
            yield Element("pulley", {"divisor": number(item.divisor)})
        elif isinstance(item, Wrap):
            side = {} if item.side is None else {"sidesite": places.site(item.side)}
            yield Element("geom", {"geom": places.geom(item)} | side)
        else:
            yield Element("site", {"site": places.site(item)})


def _terms(tendon: Tendon) -> dict[str, str]:
    terms = {"stiffness": tendon.stiffness, "damping": tendon.damping, "frictionloss": tendon.friction}
    written = {name: number(value) for name, value in terms.items() if value}
    if tendon.stiffness:
        written["springlength"] = numbers(tendon.rest)
    if tendon.length_range != UNLIMITED:
        written |= {"range": numbers(map(written_bound, tendon.length_range)), "limited": "true"}
    return written


def _muscle(muscle: Muscle) -> dict[str, str]:
    curves = (muscle.l_min, muscle.l_max, muscle.v_max, muscle.fp_max, muscle.fv_max)
    parameters = numbers([*muscle.relative_range, muscle.force, 1.0, *curves])
    kinds = {f"{what}type": "muscle" for what in ("gain", "bias", "dyn")}
    return kinds | {
        "gainprm": parameters,
        "biasprm": parameters,
        "dynprm": numbers([*muscle.time_constants, muscle.smoothing]),
        "lengthrange": numbers(muscle.length_range),
    }
