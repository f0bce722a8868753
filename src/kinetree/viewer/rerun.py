"""Trajectories as files of Rerun, .rrd: poses of bodies, their shapes, and every series as curves."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from kinetree.base.files import replaced
from kinetree.base.lazy_imports import extra
from kinetree.robot import Robot
from kinetree.simulation.trajectory import Trajectory
from kinetree.viewer.recorded_scene import WORLD, RecordedScene, checked_path

TIMELINE = "time"


def write(trajectory: Trajectory, path: str | os.PathLike[str], robot: Robot | None = None) -> None:
    """Writes the file; one of that name is replaced at once or not at all.

    Bodies are entities below "world", shapes and other frames below their bodies; the series are below "series".
    """
    file, scene = checked_path(path, ".rrd"), RecordedScene(trajectory, robot)
    with extra("rerun", "Rerun's files are written by the package rerun-sdk"):
        import rerun as rr  # noqa: PLC0415
    with replaced(file) as temporary:
        recording = rr.RecordingStream("kinetree" if robot is None else f"kinetree {robot.name}")
        try:
            recording.save(str(temporary))
            _log(rr, recording, scene)
        finally:
            recording.disconnect()


def _log(rr: Any, recording: Any, scene: RecordedScene) -> None:
    def entity(*parts: str) -> str:
        return str(rr.new_entity_path([*filter(None, parts)]))

    def below(body: str) -> str:
        return "" if body == WORLD else body

    if scene.robot is not None:
        recording.log(WORLD, rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    for body, name, surface, color in scene.shapes():
        mesh = rr.Mesh3D(
            vertex_positions=surface.vertices,
            triangle_indices=surface.triangles,
            vertex_normals=_normals(surface.vertices, surface.triangles),
            albedo_factor=[round(255.0 * part) for part in color],
        )
        recording.log(entity(WORLD, below(body), "visual", name), mesh, static=True)
    for body, name, position, quaternion in scene.fixed_frames():
        placed = rr.Transform3D(translation=position, quaternion=rr.Quaternion(xyzw=quaternion))
        recording.log(entity(WORLD, below(body), name), placed, static=True)
    for name, positions, quaternions in scene.bodies():
        columns = rr.Transform3D.columns(translation=positions, quaternion=quaternions)
        times = [rr.TimeColumn(TIMELINE, duration=scene.t)]
        rr.send_columns(entity(WORLD, name), indexes=times, columns=columns, recording=recording)
    for series in scene.series():
        for k, label in enumerate(series.labels):
            times = [rr.TimeColumn(TIMELINE, duration=series.t)]
            values = rr.Scalars.columns(scalars=series.values[:, k])
            rr.send_columns(entity("series", series.name, label), indexes=times, columns=values, recording=recording)


def _normals(vertices: Any, triangles: Any) -> Any:
    """Of every vertex the mean direction of its triangles, (n, 3)."""
    corners = vertices[triangles]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sums = np.zeros_like(vertices)
    np.add.at(sums, triangles, areas[:, None, :])
    return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-30)
