"""Numbers as they are typed: vectors, angles in degrees, configurations by joint, arrays in files."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import typer

import kinetree as kt
from kinetree.errors import short, unknown
from kinetree.ops import Array

PI = re.compile(r"([+-]?)(?:(\d+(?:\.\d*)?)\*?)?pi(?:/(\d+(?:\.\d*)?))?")
STATE_HELP = "numbers, joint=value pairs, 'neutral', 'random:SEED', or a .npy, .npz, .json or .csv file"
FILES = (".npy", ".npz", ".json", ".csv", ".txt")


def number(text: str, option: str) -> float:
    """0.5, 1e-3, 30deg or pi/2."""
    word = text.strip()
    if word.endswith("deg"):
        return math.radians(number(word.removesuffix("deg"), option))
    if match := PI.fullmatch(word):
        sign, times, over = match.groups()
        return float(f"{sign}1") * float(times or 1) * math.pi / float(over or 1)
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise typer.BadParameter(f"{short(text)}; expected a number, as 0.5, 30deg or pi/2", param_hint=option)
    return value


def vector(text: str, option: str, size: int | None = None) -> Array:
    """Numbers between commas or spaces."""
    words = [word for word in re.split(r"[,\s]+", text.strip().strip("[]()")) if word]
    values = np.array([number(word, option) for word in words])
    if size is not None and len(values) != size:
        raise typer.BadParameter(f"{short(text)}; expected {size} numbers", param_hint=option)
    return values


def configuration(robot: kt.Robot, text: str | None, option: str, key: str = "q") -> Array:
    """Positions, (…, nq); neutral where nothing is given, or for joints that are not named."""
    if text is None or text == "neutral":
        return robot.neutral()
    if text.partition(":")[0] == "random":
        seed = text.partition(":")[2] or "0"
        if not seed.isdecimal():
            raise typer.BadParameter(f"{short(text)}; expected random or random:SEED", param_hint=option)
        return robot.random(int(seed))
    return _state(robot, text, option, key, robot.neutral())


def velocities(robot: kt.Robot, text: str | None, option: str, key: str) -> Array:
    """Velocities, accelerations or efforts, (…, nv); zero where nothing is given."""
    if text is None or text == "zero":
        return np.zeros(robot.nv)
    return _state(robot, text, option, key, np.zeros(robot.nv))


def _state(robot: kt.Robot, text: str, option: str, key: str, rest: Array) -> Array:
    if text == "-" or text.lower().endswith(FILES):
        return _checked(_from_file(text, option, key), rest, option)
    if "=" not in text:
        return _checked(vector(text, option), rest, option)
    places = dict(_places(robot, len(rest)))
    values = rest.copy()
    for pair in filter(None, (word.strip() for word in text.split(","))):
        name, _, value = pair.partition("=")
        if name.strip() not in places:
            raise unknown("joint", name.strip(), places)
        values[places[name.strip()]] = number(value, option)
    return values


def _places(robot: kt.Robot, size: int) -> Iterator[tuple[str, int]]:
    """Every coordinate by name: the joint's own, with [k] where it has several."""
    in_q = size == robot.nq and any(joint.nq != joint.nv for joint in robot.model.owners)
    for joint in robot.model.owners:
        first, count = (joint.iq, joint.nq) if in_q else (joint.iv, joint.nv)
        for k in range(count):
            yield (joint.name if count == 1 else f"{joint.name}[{k}]"), first + k


def coordinate_names(robot: kt.Robot) -> list[str]:
    """Of every velocity."""
    return [name for name, _ in _places(robot, -1)]


def position_names(robot: kt.Robot) -> list[str]:
    """Of every position."""
    return [name for name, _ in _places(robot, robot.nq)]


def _checked(values: Array, rest: Array, option: str) -> Array:
    if values.ndim == 0 or values.shape[-1] != len(rest):
        found = values.shape[-1] if values.ndim else 1
        raise kt.ArgumentError(f"{option} has {found} numbers; expected {len(rest)}")
    return values


def array_from(text: str, option: str, key: str) -> Array:
    """Numbers, or an array from a file."""
    if text == "-" or text.lower().endswith(FILES):
        return _from_file(text, option, key)
    return vector(text, option)


def _from_file(name: str, option: str, key: str) -> Array:
    try:
        if name == "-":
            content: Any = json.load(sys.stdin)
        elif name.lower().endswith(".npy"):
            content = np.load(name)
        elif name.lower().endswith(".npz"):
            with np.load(name) as arrays:
                content = {found.removeprefix("series."): arrays[found] for found in arrays.files}  # as rollouts save
        elif name.lower().endswith(".json"):
            content = json.loads(Path(name).read_text(encoding="utf-8"))
        else:
            content = np.loadtxt(name, delimiter="," if "," in Path(name).read_text(encoding="utf-8") else None)
        if isinstance(content, dict):
            if key not in content:
                raise unknown(f"{option}: in {'stdin' if name == '-' else name}, the key", key, content)
            content = content[key]
        return np.asarray(content, dtype=np.float64)
    except (ValueError, TypeError) as problem:
        if isinstance(problem, kt.KinetreeError):
            raise
        raise kt.ArgumentError(f"{option}: {'stdin' if name == '-' else name} cannot be read: {problem}") from None


def plain(value: Any) -> Any:
    """Arrays as lists and numbers, for JSON; what is not finite as null."""
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value
