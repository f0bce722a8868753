"""Trajectories as MCAP files, which Foxglove and others read: messages in JSON, after Foxglove's schemas.

    /tf                      foxglove.FrameTransforms   bodies in the world at every time; other frames once
    /scene                   foxglove.SceneUpdate       the visual shapes, once: they move with their bodies
    /joint_states            foxglove.JointStates       joints with one coordinate
    /series/q, /series/v, …  every series, a number for each of its names

The first three need the robot.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from heapq import merge
from typing import Any

import numpy as np

from kinetree.base.files import replaced
from kinetree.base.lazy_imports import extra
from kinetree.errors import ArgumentError
from kinetree.robot import Robot
from kinetree.simulation.trajectory import Trajectory
from kinetree.viewer.recorded_scene import WORLD, RecordedScene, Series, checked_path

STAMP, VALUE = "timestamp", "value"
Message = tuple[int, str, dict[str, Any]]
"""Time [ns], topic, content."""


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _list_of(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


NUMBER, WORD, WHOLE = {"type": "number"}, {"type": "string"}, {"type": "integer"}
TIME = _object(sec=WHOLE, nsec=WHOLE)
VECTOR, QUATERNION = _object(x=NUMBER, y=NUMBER, z=NUMBER), _object(x=NUMBER, y=NUMBER, z=NUMBER, w=NUMBER)
COLOR = _object(r=NUMBER, g=NUMBER, b=NUMBER, a=NUMBER)
POSE = _object(position=VECTOR, orientation=QUATERNION)
TRIANGLES = _object(pose=POSE, points=_list_of(VECTOR), color=COLOR, colors=_list_of(COLOR), indices=_list_of(WHOLE))
TRANSFORM = _object(timestamp=TIME, parent_frame_id=WORD, child_frame_id=WORD, translation=VECTOR, rotation=QUATERNION)
OTHER_PRIMITIVES = ("arrows", "cubes", "spheres", "cylinders", "lines", "texts", "models")
ENTITY = _object(
    timestamp=TIME,
    frame_id=WORD,
    id=WORD,
    lifetime=TIME,
    frame_locked={"type": "boolean"},
    metadata=_list_of(_object(key=WORD, value=WORD)),
    triangles=_list_of(TRIANGLES),
    **{name: _list_of(_object()) for name in OTHER_PRIMITIVES},
)
JOINT = _object(name=WORD, position=NUMBER, velocity=NUMBER, effort=NUMBER)
SCHEMAS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "/tf": ("foxglove.FrameTransforms", _object(transforms=_list_of(TRANSFORM))),
    "/scene": ("foxglove.SceneUpdate", _object(deletions=_list_of(_object()), entities=_list_of(ENTITY))),
    "/joint_states": ("foxglove.JointStates", _object(timestamp=TIME, joints=_list_of(JOINT))),
}
"""The name and the JSON schema of the messages of a topic."""


def write(trajectory: Trajectory, path: str | os.PathLike[str], robot: Robot | None = None) -> None:
    """Writes the file; one of that name is replaced at once or not at all."""
    file, scene = checked_path(path, ".mcap"), RecordedScene(trajectory, robot)
    with extra("mcap", "MCAP is written by the package mcap"):
        from mcap.writer import Writer  # noqa: PLC0415
    with replaced(file) as temporary, open(temporary, "wb") as stream:
        writer = Writer(stream)
        writer.start(library="kinetree")
        channels = {topic: _channel(writer, topic, name, schema) for topic, (name, schema) in _topics(scene).items()}
        for count, (time, topic, content) in enumerate(_messages(scene)):
            data = json.dumps(content, allow_nan=False).encode()
            writer.add_message(channels[topic], log_time=time, publish_time=time, sequence=count, data=data)
        writer.finish()


def _channel(writer: Any, topic: str, name: str, schema: dict[str, Any]) -> int:
    number = writer.register_schema(name, "jsonschema", json.dumps(schema | {"title": name}).encode())
    return int(writer.register_channel(topic, "json", number))


def _topics(scene: RecordedScene) -> dict[str, tuple[str, dict[str, Any]]]:
    topics = dict(SCHEMAS) if scene.robot is not None else {}
    for series in scene.series():
        if STAMP in series.labels:
            raise ArgumentError(f"an entry of {series.name!r} is called {STAMP!r}, as the time of a message is")
        columns = {label or VALUE: NUMBER for label in series.labels}
        topics[f"/series/{series.name}"] = (f"kinetree.{series.name}", _object(**{STAMP: TIME, **columns}))
    return topics


def _messages(scene: RecordedScene) -> Iterator[Message]:
    """All messages in the order of their times; shapes and fixed frames come first."""
    sources = [_first(scene), _moving(scene), *(_numbers(series) for series in scene.series())]
    if scene.robot is not None:
        sources.append(_joint_states(scene, scene.robot))
    return merge(*sources, key=lambda message: message[0])


def _first(scene: RecordedScene) -> Iterator[Message]:
    start = _nanoseconds(scene.t[0])
    fixed = [_transform(start, *frame) for frame in scene.fixed_frames()]
    if fixed:
        yield start, "/tf", {"transforms": fixed}
    entities = [_entity(start, *shape) for shape in scene.shapes()]
    if entities:
        yield start, "/scene", {"deletions": [], "entities": entities}


def _moving(scene: RecordedScene) -> Iterator[Message]:
    bodies = [(name, p.tolist(), r.tolist()) for name, p, r in scene.bodies()]
    for k, t in enumerate(scene.t if bodies else ()):
        time = _nanoseconds(t)
        yield time, "/tf", {"transforms": [_transform(time, WORLD, name, p[k], r[k]) for name, p, r in bodies]}


def _numbers(series: Series) -> Iterator[Message]:
    for t, row in zip(series.t, series.values.tolist(), strict=True):
        values = {label or VALUE: _finite(number) for label, number in zip(series.labels, row, strict=True)}
        yield _nanoseconds(t), f"/series/{series.name}", {STAMP: _stamp(_nanoseconds(t)), **values}


def _joint_states(scene: RecordedScene, robot: Robot) -> Iterator[Message]:
    joints = [joint for joint in robot.model.owners if joint.nq == joint.nv == 1]
    kinds = {"position": ("q", robot.nq), "velocity": ("v", robot.nv), "effort": ("tau", robot.nv)}
    series = {each.name: each.values for each in scene.series()}
    known = {key: series[name] for key, (name, _) in kinds.items() if name in series}
    known = {key: values for key, values in known.items() if values.shape[1] == kinds[key][1]}
    for k, t in enumerate(scene.t if joints else ()):
        time, states = _nanoseconds(t), list[dict[str, Any]]()
        for joint in joints:
            states.append({"name": joint.name})
            for key, values in known.items():
                here = k - (len(scene.t) - len(values))  # what belongs to steps begins later
                value = float(values[here, joint.iq if key == "position" else joint.iv]) if here >= 0 else np.nan
                states[-1] |= {key: value} if np.isfinite(value) else {}
        yield time, "/joint_states", {"timestamp": _stamp(time), "joints": states}


def _entity(time: int, body: str, name: str, surface: Any, color: Any) -> dict[str, Any]:
    triangles = {
        "pose": {"position": _vector(np.zeros(3)), "orientation": _vector(np.array([0.0, 0.0, 0.0, 1.0]))},
        "points": [_vector(point) for point in surface.vertices],
        "color": dict(zip("rgba", map(float, color), strict=True)),
        "colors": [],
        "indices": surface.triangles.reshape(-1).tolist(),
    }
    placed = {"timestamp": _stamp(time), "frame_id": body, "id": name, "lifetime": _stamp(0), "frame_locked": True}
    return {**placed, "metadata": [], "triangles": [triangles], **{kind: [] for kind in OTHER_PRIMITIVES}}


def _transform(time: int, parent: str, child: str, position: Any, quaternion: Any) -> dict[str, Any]:
    frames = {"timestamp": _stamp(time), "parent_frame_id": parent, "child_frame_id": child}
    return {**frames, "translation": _vector(position), "rotation": _vector(quaternion)}


def _vector(numbers: Any) -> dict[str, float]:
    return dict(zip("xyzw", map(float, numbers), strict=False))


def _finite(number: float) -> float | None:
    """JSON knows no infinite numbers."""
    return number if np.isfinite(number) else None


def _nanoseconds(t: float) -> int:
    return round(float(t) * 1e9)


def _stamp(time: int) -> dict[str, int]:
    return dict(zip(("sec", "nsec"), divmod(time, 10**9), strict=True))
