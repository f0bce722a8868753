"""Actuators and tendons as MJCF has them: <general> on a joint, or on a <fixed> tendon over several."""

from __future__ import annotations

from collections.abc import Iterable

from kinetree.model.actuators import UNLIMITED, Actuator
from kinetree.model.bounds import written_bound
from kinetree.model.description import free_name
from kinetree.model.loaders.xml import Element, number, numbers
from kinetree.model.tendons import Tendon

RANGES = {"ctrlrange": "control_range", "forcerange": "force_range", "actrange": "activation_range"}


def actuator_elements(actuators: Iterable[Actuator], pulling: Iterable[Tendon]) -> tuple[list[Element], list[Element]]:
    """Those of <tendon> and of <actuator>."""
    tendons = [_fixed(tendon.name, tendon.joints, _terms(tendon)) for tendon in pulling]
    written: list[Element] = []
    for actuator in actuators:
        values = {"name": actuator.name}
        if len(actuator.joints) == 1:
            ((joint, gear),) = actuator.joints
            values |= {"joint": joint, "gear": number(gear)}
        else:
            name = free_name(actuator.name, [each.attributes["name"] for each in tendons])
            tendons.append(_fixed(name, actuator.joints, {}))
            values["tendon"] = name
        values |= {"gaintype": "affine", "gainprm": numbers(actuator.gain)}
        values |= {"biastype": "affine", "biasprm": numbers(actuator.bias)}
        for attribute, field in RANGES.items():
            bounds = getattr(actuator, field)
            if bounds != UNLIMITED:
                values[attribute] = numbers(map(written_bound, bounds))
                values[attribute.replace("range", "limited")] = "true"
        if actuator.activation != "none":
            values |= {"dyntype": actuator.activation, "dynprm": number(actuator.time_constant)}
        written.append(Element("general", values))
    return tendons, written


def _fixed(name: str, joints: Iterable[tuple[str, float]], terms: dict[str, str]) -> Element:
    parts = [Element("joint", {"joint": joint, "coef": number(gear)}) for joint, gear in joints]
    return Element("fixed", {"name": name} | terms, children=parts)


def _terms(tendon: Tendon) -> dict[str, str]:
    terms = {"stiffness": tendon.stiffness, "damping": tendon.damping, "frictionloss": tendon.friction}
    written = {name: number(value) for name, value in terms.items() if value}
    return written | ({"springlength": numbers(tendon.rest)} if tendon.stiffness else {})
