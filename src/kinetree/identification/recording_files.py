"""Recordings on disk: NPZ, Parquet and CSV with named columns, and ROS bags.

Parquet and NPZ that `kt.Trajectory.save` wrote are read as trajectories. Other tables have a column for each number, as
"t", "q.elbow", "v.elbow", "tau.elbow"; of a ROS bag the messages JointState of one topic are read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.base.lazy_imports import extra
from kinetree.errors import ArgumentError, KinetreeError, short
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.simulation.trajectory import Trajectory

TABLES = (".npz", ".parquet", ".csv", ".txt", ".tsv")
BAGS = (".bag", ".db3", ".mcap")
TOPIC = "/joint_states"


def read_file(robot: Robot, path: str | os.PathLike[str]) -> Any:
    """What a file holds: a trajectory, or columns by name."""
    source = Path(path)
    if not source.exists():
        raise ArgumentError(f"recording is {str(source)!r}; there is no such file")
    kind = source.suffix.lower()
    if source.is_dir() or kind in BAGS:
        return read_bag(robot, source.parent if kind in (".db3", ".mcap") else source)
    readers = {".npz": _npz, ".parquet": _parquet, ".csv": _text, ".txt": _text, ".tsv": _text}
    if kind not in readers:
        raise ArgumentError(
            f"recording is {source.name!r}; expected a name that ends with {', '.join((*TABLES, *BAGS))}, or a folder"
        )
    return readers[kind](source)


def _npz(source: Path) -> Any:
    try:
        with np.load(source, allow_pickle=False) as file:
            if "head" in file.files:
                return Trajectory.load(source)
            return {name: file[name] for name in file.files}
    except (ValueError, OSError, EOFError) as problem:
        raise ArgumentError(f"{source} is not a recording: {problem}") from None


def _parquet(source: Path) -> Any:
    with extra("recording", "Parquet is read by the package pyarrow"):
        import pyarrow  # noqa: PLC0415 - an extra
        import pyarrow.parquet  # noqa: PLC0415
    try:
        schema = pyarrow.parquet.read_schema(source)
        if b"kinetree" in (schema.metadata or {}):
            return Trajectory.load(source)
        table = pyarrow.parquet.read_table(source)
    except pyarrow.ArrowException as problem:
        raise ArgumentError(f"{source} is not a Parquet file: {problem}") from None
    return {name: table[name].to_numpy() for name in table.column_names}


def _text(source: Path) -> dict[str, Array]:
    """A table of numbers with a line of titles, separated by commas, semicolons or tabs."""
    with open(source, encoding="utf-8-sig") as file:
        first = file.readline().strip()
        separator = max(",;\t", key=first.count)
        titles = [title.strip().strip('"') for title in first.lstrip("#").split(separator)]
        try:
            numbers = np.loadtxt(file, delimiter=separator, ndmin=2)
        except ValueError as problem:
            raise ArgumentError(f"{source} is not a table of numbers: {problem}") from None
    twice = next((title for title in titles if titles.count(title) > 1), None)
    if twice is not None:
        raise ArgumentError(f"{source} has two columns {short(twice)}; expected different titles in its first line")
    if numbers.size == 0 or numbers.shape[1] != len(titles):
        raise ArgumentError(f"{source} has {len(titles)} titles and {numbers.shape[1]} columns; expected as many")
    return {title: numbers[:, k] for k, title in enumerate(titles)}


def read_bag(robot: Robot, source: Path, topic: str = TOPIC) -> dict[str, Array]:
    """Positions, velocities and efforts of JointState messages, by the names of joints (`pip install
    'kinetree[identification]'`); the times are those of their headers."""
    with extra("identification", "ROS bags are read by the package rosbags"):
        from rosbags.highlevel import AnyReader  # noqa: PLC0415 - an extra
        from rosbags.typesys import Stores, get_typestore  # noqa: PLC0415
    rows: list[tuple[Any, ...]] = []
    joints = robot.joint_names
    try:
        with AnyReader([source], default_typestore=get_typestore(Stores.LATEST)) as reader:
            topics = [each.topic for each in reader.connections]
            chosen = [each for each in reader.connections if each.topic == topic]
            if not chosen:
                raise ArgumentError(f"{source} has no topic {topic}; it has {short(', '.join(topics))}")
            for connection, _, raw in reader.messages(connections=chosen):
                message = reader.deserialize(raw, connection.msgtype)
                rows.append(_joint_state(message, joints, source))
    except KinetreeError:
        raise
    except Exception as problem:  # a damaged bag can make readers raise anything
        raise ArgumentError(f"{source} is not a ROS bag: {problem}") from problem
    if not rows:
        raise ArgumentError(f"{source} has no messages of {topic}")
    times, *series = (np.array(column) for column in zip(*rows, strict=True))
    recording = {"t": times - times[0]}
    for name, array in zip(("q", "v", "tau"), series, strict=True):
        if not np.isnan(array).all():
            recording |= {f"{name}.{joint}": array[:, k] for k, joint in enumerate(joints)}
    return recording


def _joint_state(message: Any, joints: tuple[str, ...], source: Path) -> tuple[Any, ...]:
    """The time of a message, and its positions, velocities and efforts in the order of the joints."""
    order = {name: k for k, name in enumerate(message.name)}
    missing = [joint for joint in joints if joint not in order]
    if missing:
        raise ArgumentError(f"{source} has no joint {missing[0]!r}; it has {short(', '.join(order))}")
    places = [order[joint] for joint in joints]
    stamp = message.header.stamp
    series = (message.position, message.velocity, message.effort)
    read = (np.asarray(each)[places] if len(each) else np.full(len(joints), np.nan) for each in series)
    return (stamp.sec + 1e-9 * stamp.nanosec, *read)
