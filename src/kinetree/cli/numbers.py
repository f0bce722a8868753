"""Numbers as they are typed: vectors, angles in degrees, configurations by joint, arrays in files."""

from __future__ import annotations

import io
import json
import math
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import typer

import kinetree as kt
from kinetree.base.typed_numbers import typed_number
from kinetree.errors import short, unknown
from kinetree.ops import Array

STATE_HELP = "numbers, joint=value pairs, 'neutral', a posture, 'random:SEED', or a .npy, .npz, .json or .csv file"
FILES = (".npy", ".npz", ".json", ".csv", ".txt", ".parquet")
NUMERIC = re.compile(r"[\s\[(]*([-+.\d]|pi\b|nan\b|inf\b|$)")
"""How numbers begin."""


def number(text: str, option: str) -> float:
    """0.5, 1e-3, 30deg or pi/2."""
    value = typed_number(text)
    if value is None:
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
    """Positions, (…, nq), or those of a posture; neutral where nothing is given, or for joints that are not named."""
    if text is None or text == "neutral":
        return robot.neutral()
    if text in robot.postures:
        return robot.postures[text]
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
    if "=" not in text or text.lower().endswith(FILES):
        given = array_from(text, option, key, STATE_HELP)
        if given.shape[-1:] != rest.shape:
            found = given.shape[-1] if given.ndim else 1
            raise kt.ArgumentError(f"{option} has {found} numbers; expected {len(rest)}")
        return given
    places = dict(_places(robot, len(rest)))
    values = rest.copy()
    for pair in filter(None, (word.strip() for word in text.split(","))):
        name, _, value = pair.partition("=")
        if name.strip() not in places:
            raise _no_place(name.strip(), places)
        values[places[name.strip()]] = number(value, option)
    return values


def _no_place(name: str, places: Iterable[str]) -> kt.KinetreeError:
    """The error that there is no coordinate of this name; or several, if it is that of a joint."""
    several = [place for place in places if place.startswith(f"{name}[")]
    if several:
        return kt.ArgumentError(
            f"joint {name!r} has {len(several)} coordinates; expected {several[0]} to {several[-1]}"
        )
    return unknown("joint", name, places)


def _places(robot: kt.Robot, size: int) -> Iterator[tuple[str, int]]:
    """Every coordinate by name: the joint's own, with [k] where it has several."""
    in_q = size == robot.nq and any(joint.nq != joint.nv for joint in robot.model.owners)
    for joint in robot.model.owners:
        first, count = (joint.iq, joint.nq) if in_q else (joint.iv, joint.nv)
        for k in range(count):
            yield (joint.name if count == 1 else f"{joint.name}[{k}]"), first + k


def coordinate_names(robot: kt.Robot) -> list[str]:
    """The name of every velocity."""
    return [name for name, _ in _places(robot, -1)]


def position_names(robot: kt.Robot) -> list[str]:
    """The name of every position."""
    return [name for name, _ in _places(robot, robot.nq)]


def one_state(values: Array, option: str) -> Array:
    """The state, where there may be no more than one."""
    if values.ndim > 1:
        raise kt.ArgumentError(f"{option} has states of shape {values.shape[:-1]}; expected one state")
    return values


def array_from(text: str, option: str, key: str, expected: str = f"numbers, or a {', '.join(FILES)} file") -> Array:
    """Numbers, or an array from a file."""
    if text == "-" or text.lower().endswith(FILES):
        return _from_file(text, option, key)
    if not NUMERIC.match(text):
        raise typer.BadParameter(f"{short(text)}; expected {expected}", param_hint=option)
    return vector(text, option)


def _from_file(name: str, option: str, key: str) -> Array:
    source = "stdin" if name == "-" else name
    try:
        content = _content(name)
        if isinstance(content, dict):
            if "error" in content and key not in content:
                raise kt.ArgumentError(f"{option}: {source} has the error of another command: {content['error']}")
            if key not in content:
                raise unknown(f"{option}: in {source}, the key", key, content)
            content = content[key]
        return np.asarray(content, dtype=np.float64)
    except FileNotFoundError:
        raise kt.ArgumentError(f"{option}: {source} does not exist; expected a file with {key}") from None
    except IsADirectoryError:
        raise kt.ArgumentError(f"{option}: {source} is a folder; expected a file with {key}") from None
    except OSError as problem:
        raise kt.ArgumentError(f"{option}: {source} cannot be read: {problem.strerror or problem}") from None
    except UnicodeDecodeError:
        raise kt.ArgumentError(f"{option}: {source} is not a text; expected numbers") from None
    except json.JSONDecodeError as problem:
        found = f"{problem.msg}, line {problem.lineno}" if problem.doc.strip() else "it is empty"
        raise kt.ArgumentError(f"{option}: {source} is no JSON document: {found}") from None
    except (ValueError, TypeError) as problem:
        if isinstance(problem, kt.KinetreeError):
            raise
        raise kt.ArgumentError(f"{option}: {source} cannot be read: {problem}") from None


def _content(name: str) -> Any:
    """What a file or stdin holds: an array, or several by name."""
    kind = Path(name).suffix.lower()
    if name == "-" or kind == ".json":
        return json.loads(sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8"))
    if kind in (".csv", ".txt"):
        text = Path(name).read_text(encoding="utf-8")
        if not text.strip():
            raise ValueError("it is empty; expected numbers")
        delimiter = "," if "," in text else None
        return _table(text) if text.startswith("t,") else np.loadtxt(io.StringIO(text), delimiter=delimiter)
    if kind == ".parquet":
        path = kt.Trajectory.load(name)
        return {"t": path.t, **path.series}
    with open(name, "rb") as file:
        if file.read(6) != b"\x93NUMPY" if kind == ".npy" else not zipfile.is_zipfile(file):
            raise ValueError(f"it is not a {kind} file")
    try:
        loaded = np.load(name)
        if kind == ".npy":
            return loaded
        with loaded as arrays:
            return {found.removeprefix("series."): arrays[found] for found in arrays.files}  # as rollouts save
    except (EOFError, zipfile.BadZipFile):
        raise ValueError(f"it is only the beginning of a {kind} file") from None


def _table(text: str) -> dict[str, Array]:
    """Columns below titles such as t, q:elbow and v:elbow, as `simulate` writes them, by what is before the colon."""
    titles = text.partition("\n")[0].split(",")
    rows = np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1, ndmin=2)
    kinds = [title.partition(":")[0].strip() for title in titles]
    columns = {kind: [k for k, each in enumerate(kinds) if each == kind] for kind in kinds}
    return {kind: rows[:, 0] if kind == "t" else rows[:, found] for kind, found in columns.items()}


def fixed(value: float) -> str:
    """The number with four digits after the point, or as a power of ten where that would be long."""
    return f"{value + 0.0:.4f}" if abs(value) < 1e6 or not math.isfinite(value) else f"{value:.4e}"


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
