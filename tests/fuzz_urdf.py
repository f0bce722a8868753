"""A fuzzer of the URDF reader: real documents, damaged in ways that people and programs damage them.

Whatever comes out is a robot that can compute, or an error of this library that says so in one sentence.

    python tests/fuzz_urdf.py 60      for a minute; shows the seed that it is at
"""

from __future__ import annotations

import collections
import copy
import pickle
import random
import sys
import time
import warnings
from functools import cache
from importlib import resources
from xml.etree import ElementTree

import numpy as np

import kinetree as kt

GOOD_NUMBERS = ("0", "-0.0", "1", "-1", "1e308", "-1e308", "1e-320", "+3", ".5", "5.")
BAD_NUMBERS = ("1e400", "nan", "inf", "-inf", "0x10", "1_000", "1,5", "1e", "3.4.5", "--1", "١٢", "true", "None", "1;2")
NUMBERS = GOOD_NUMBERS + BAD_NUMBERS
WORDS = (
    "",
    " ",
    "world",
    "floating_base",
    "universe",
    "\u00e9\u4e2d",
    "a" * 5000,
    "{name}",
    "%s",
    "<&>\"'",
    "../..",
    "\n",
)
COMPLETE = """<robot name="complete">
  <material name="blue"><color rgba="0 0 1 1"/></material>
  <link name="base"><visual name="seen"><origin xyz="0 0 1" rpy="1 2 3"/><geometry><box size="1 2 3"/></geometry>
    <material name="blue"/></visual><collision><geometry><capsule radius="1" length="2"/></geometry></collision></link>
  <link name="arm"><inertial><origin xyz="0 0 0.5" rpy="0.1 0 0"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="package://none/arm.stl" scale="1 1 -1"/></geometry></visual></link>
  <link name="hand"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tip"/>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5" friction="0.1"/>
    <safety_controller soft_lower_limit="-0.9" soft_upper_limit="1.9" k_position="10" k_velocity="5"/></joint>
  <joint name="slide" type="prismatic"><parent link="arm"/><child link="hand"/><origin xyz="0 0 1"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/><mimic joint="hinge" multiplier="0.5" offset="0.1"/></joint>
  <joint name="mount" type="fixed"><parent link="hand"/><child link="tip"/><origin xyz="0 0 1" rpy="0 0 1.5"/></joint>
</robot>"""


@cache
def documents() -> list[str]:
    """One with everything, and the small ones of the bundled robots."""
    folder = resources.files("kinetree") / "robots"
    return [COMPLETE, *((folder / f"{name}.urdf").read_text() for name in ("planar2", "cartpole", "arm6"))]


def damaged(text: str, rng: random.Random) -> str | bytes:
    """The document with a few of its elements, attributes and bytes changed."""
    root = ElementTree.fromstring(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        rng.choice(ELEMENTS)(root, rng)
    result: str | bytes = ElementTree.tostring(root, encoding="unicode")
    if rng.random() < 0.15:
        result = _damaged_bytes(bytearray(result, "utf-8"), rng)
    return result


# -- elements and attributes ----------------------------------------------------------------------------------------


def _inside(root: ElementTree.Element, rng: random.Random) -> tuple[ElementTree.Element, ElementTree.Element]:
    """An element that has a parent, and that parent."""
    pairs = [(parent, child) for parent in root.iter() for child in parent]
    return rng.choice(pairs) if pairs else (root, root)


def _delete(root: ElementTree.Element, rng: random.Random) -> None:
    parent, child = _inside(root, rng)
    if parent is not child:
        parent.remove(child)


def _double(root: ElementTree.Element, rng: random.Random) -> None:
    parent, child = _inside(root, rng)
    parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(child))


def _move(root: ElementTree.Element, rng: random.Random) -> None:
    other = rng.choice(list(root.iter()))
    other.append(copy.deepcopy(_inside(root, rng)[1]))


def _rename(root: ElementTree.Element, rng: random.Random) -> None:
    tags = [element.tag for element in root.iter()]
    rng.choice(list(root.iter())).tag = rng.choice([*tags, "xacro:if", "gazebo"])


def _say(root: ElementTree.Element, rng: random.Random) -> None:
    rng.choice(list(root.iter())).text = rng.choice(WORDS).replace("\n", " ")


def _attribute(root: ElementTree.Element, rng: random.Random) -> tuple[ElementTree.Element, str]:
    places = [(element, key) for element in root.iter() for key in element.attrib]
    return rng.choice(places) if places else (root, "name")


def _drop(root: ElementTree.Element, rng: random.Random) -> None:
    element, key = _attribute(root, rng)
    element.attrib.pop(key, None)


def _number(root: ElementTree.Element, rng: random.Random) -> None:
    element, key = _attribute(root, rng)
    words = element.get(key, "").split() or ["0"]
    words[rng.randrange(len(words))] = rng.choice(NUMBERS)
    element.set(key, " ".join(words))


def _more_or_fewer(root: ElementTree.Element, rng: random.Random) -> None:
    element, key = _attribute(root, rng)
    words = element.get(key, "").split()
    element.set(key, " ".join(rng.choice([words[:-1], [*words, "1"], words * 2, []])))


def _word(root: ElementTree.Element, rng: random.Random) -> None:
    element, key = _attribute(root, rng)
    element.set(key, rng.choice(WORDS))


def _swap(root: ElementTree.Element, rng: random.Random) -> None:
    (first, key), (second, other) = _attribute(root, rng), _attribute(root, rng)
    if key in first.attrib and other in second.attrib:
        first.attrib[key], second.attrib[other] = second.attrib[other], first.attrib[key]


def _kind(root: ElementTree.Element, rng: random.Random) -> None:
    joints = root.findall("joint")
    if joints:
        kinds = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "ball")
        rng.choice(joints).set("type", rng.choice(kinds))


def _follow(root: ElementTree.Element, rng: random.Random) -> None:
    joints = root.findall("joint")
    if joints:
        leader = rng.choice([*(joint.get("name", "") for joint in joints), "nobody"])
        ratio = {"multiplier": rng.choice(NUMBERS)} if rng.random() < 0.5 else {}
        rng.choice(joints).append(ElementTree.Element("mimic", {"joint": leader, **ratio}))


def _rewire(root: ElementTree.Element, rng: random.Random) -> None:
    ends, links = [*root.iter("parent"), *root.iter("child")], [link.get("name", "") for link in root.iter("link")]
    if ends and links:
        rng.choice(ends).set("link", rng.choice(links))


ELEMENTS = (
    _delete, _double, _move, _rename, _say, _drop, _number, _number, _number, _more_or_fewer, _word, _swap, _kind,
    _follow, _rewire,
)  # fmt: skip


# -- bytes ----------------------------------------------------------------------------------------------------------


def _damaged_bytes(text: bytearray, rng: random.Random) -> bytes:
    kind = rng.randrange(5)
    at = rng.randrange(len(text))
    if kind == 0:
        text[at] = rng.randrange(256)
    elif kind == 1:
        del text[at:]
    elif kind == 2:
        del text[at : at + rng.randrange(1, 40)]
    elif kind == 3:
        text[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9)))
    else:
        return text.decode().encode(rng.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7")), "replace")
    return bytes(text)


# -- what must hold -------------------------------------------------------------------------------------------------


def check(document: str | bytes, base: str) -> str:
    """Loads it and computes with it; says what became of it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", kt.ModelWarning)
        try:
            robot = kt.load(document, base).eager
        except kt.KinetreeError as problem:
            sentence = str(problem)
            assert sentence and "\n" not in sentence and len(sentence) < 2000, sentence
            return "refused"
        computes(robot)
    return "loaded"


def computes(robot: kt.Robot) -> None:
    """Every kind of quantity has a value of the right shape, and of finite numbers unless the file's are enormous."""
    assert all(str(finding) for finding in robot.check())
    assert pickle.loads(pickle.dumps(robot)) == robot
    q, v, n = robot.random(0), np.ones(robot.nv), robot.nv
    results = {
        (n,): robot.inverse_dynamics(q, v, v),
        (n, n): robot.mass_matrix(q),
        (len(robot.body_names), 4, 4): robot.poses(q),
        (6, n): robot.frame(robot.frame_names[-1]).jacobian(q),
        (robot.nq,): robot.integrate(q, v),
    }
    for shape, result in results.items():
        assert result.shape == shape
        assert np.isfinite(result).all() or not ordinary(robot.model, q)
    try:
        robot.forward_dynamics(q, v, v)
        robot.center_of_mass(q)
    except kt.KinetreeError:
        pass  # some of it has no mass


def ordinary(model: kt.Model, q: np.ndarray) -> bool:
    """Whether no number in it is so large that products of a few of them might be too large for a float."""
    numbers = [q, *(X.p for X in model.placements), *(frame.X.p for frame in model.frames)]
    numbers += [part for inertia in model.inertias for part in (inertia.mass, inertia.h, inertia.I)]
    numbers += [number for joint in model.joints for number in (joint.lever, getattr(joint, "offset", 0.0))]
    return all(np.abs(number).max(initial=0.0) < 1e12 for number in map(np.asarray, numbers))


def run(rng: random.Random) -> str:
    """One damaged document."""
    return check(damaged(rng.choice(documents()), rng), rng.choice(("fixed", "floating")))


if __name__ == "__main__":
    end, outcomes = time.monotonic() + float(sys.argv[1]), collections.Counter[str]()
    while time.monotonic() < end:
        seed = outcomes.total()
        print(f"\r{seed}", end="")
        outcomes[run(random.Random(seed))] += 1
    print(f"\r{dict(outcomes)}")
