"""Actuators and tendons as MJCF has them: <general> on a joint, a tendon or sites, <fixed> tendons over joints,
<spatial> ones along sites, pulleys and geoms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np

from kinetree.model.actuators import Actuator, Drive, FrameDrive, SliderCrank
from kinetree.model.bounds import written_bound
from kinetree.model.description import free_name
from kinetree.model.loaders.xml import Element, number, numbers
from kinetree.model.muscles import Muscle
from kinetree.model.tendons import UNLIMITED, Pulley, Tendon, Wrap

RANGES = {"ctrlrange": "control_range", "forcerange": "force_range", "actrange": "activation_range"}


class Places(Protocol):
    """The names of sites at frames, of geoms that are wrapped around, and of joints that move a link."""

    def site(self, frame: str) -> str: ...
    def geom(self, wrap: Wrap) -> str: ...
    def moved_by(self, link: str, kind: str) -> str | None: ...
    def is_base_of(self, joint: str, frame: str) -> bool: ...


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
        if actuator.drives:
            target = None if actuator.joints or actuator.tendons else _target(actuator.drives, places)
            if target is None:
                lost.append(f"the actuator {actuator.name!r}, which acts on frames as no element of MJCF does")
            else:
                written.append(Element("general", {"name": actuator.name} | target | _own(actuator)))
            continue
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


def _target(drives: tuple[Drive, ...], places: Places) -> dict[str, str] | None:
    """The transmission; None if MJCF has none for it."""
    match drives:
        case [SliderCrank(crank, slider, rod, gear)]:
            ends = {"cranksite": places.site(crank), "slidersite": places.site(slider)}
            return ends | {"cranklength": number(rod), "gear": number(gear)}
        case [FrameDrive(frame, force, moment, reference=None, axes="frame")]:
            return {"site": places.site(frame), "gear": numbers((*force, *moment))}
        case [FrameDrive(frame, force, moment, reference, axes)] if reference is not None:
            ball = places.moved_by(frame, "ball")
            if ball is not None and not any(force) and places.is_base_of(ball, reference):
                return {"joint" if axes == "frame" else "jointinparent": ball, "gear": numbers(moment)}
            if axes == "reference":
                ends = {"site": places.site(frame), "refsite": places.site(reference)}
                return ends | {"gear": numbers((*force, *moment))}
    return _on_free_joint(drives, places)


def _on_free_joint(drives: tuple[Drive, ...], places: Places) -> dict[str, str] | None:
    """Forces in the axes of the world, and moments in those of the link or of the world."""
    first, *others = (frame for drive in drives for frame in drive.frames)
    joint = None if {*others} - {first} else places.moved_by(first, "free")
    if joint is None:
        return None
    gear, turned = np.zeros(6), set[str]()
    for drive in drives:
        if not isinstance(drive, FrameDrive) or (any(drive.force) and drive.axes == "frame"):
            return None
        gear += (*drive.force, *drive.moment)
        turned |= {drive.axes} if any(drive.moment) else set()
    if len(turned) > 1:
        return None
    return {"jointinparent" if "reference" in turned else "joint": joint, "gear": numbers(gear)}


def _own(actuator: Actuator) -> dict[str, str]:
    """Gain, bias, ranges and dynamics."""
    values = {"gaintype": "affine" if any(actuator.gain[1:]) else "fixed", "gainprm": numbers(actuator.gain)}
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
