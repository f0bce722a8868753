"""A fuzzer of recordings, NPZ and Parquet: `python tests/fuzz_recordings.py SECONDS [SEED]`.

Bytes of good files are damaged, and so are arrays and texts inside of files that are good archives. Whatever comes out
is a trajectory that can be looked at and saved, or an error of this library that says so in one sentence.
"""

from __future__ import annotations

import io
import json
import random
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np

import kinetree as kt
from fuzzing import check_sentence, damaged_bytes, damaged_words, main

DTYPES = ("f8", "f4", "i8", "u1", "c16", "U3", "S5", "?", "M8[s]", "m8[s]", ">f8", "f2", "V8", "f8,i4", "g")


@cache
def recordings() -> dict[str, bytes]:
    """Good files, by their kind."""
    robot = kt.load("planar2")
    batch = robot.rollout(np.zeros((3, 2)), np.zeros((3, 2)), None, 0.01, 6)
    single = robot.rollout(np.zeros(2), np.zeros(2), None, 0.01, 4)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, trajectory in (("single", single), ("batch", batch)):
            for suffix in (".npz", ".parquet"):
                path = Path(folder) / f"{name}{suffix}"
                trajectory.save(path)
                found[path.name] = path.read_bytes()
    return found


def damaged_archive(data: bytes, rng: random.Random) -> bytes:
    """A good NPZ file with some of its arrays or its text changed, lost or doubled."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice(list(members))
        kind = rng.randrange(6)
        if kind == 0:
            del members[name]
        elif kind == 1:
            members[name] = damaged_bytes(members[name], rng)
        elif kind == 2:
            members[rng.choice(list(members))] = members[name]
        elif kind == 3:
            shape = rng.choice(((), (0,), (1,), (5,), (5, 2), (2, 5), (3, 7, 2), (1,) * 30, (0, 10**9)))
            members[name] = as_npy(np.zeros(shape, rng.choice(DTYPES)))
        elif kind == 4:
            members[name] = as_npy(np.array(rng.choice((np.nan, np.inf, -1.0, 1e308)) * np.ones(5)))
        elif "head.npy" in members:
            members["head.npy"] = as_npy(np.array(damaged_head(members["head.npy"], rng)))
        if not members:
            break
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def as_npy(array: np.ndarray) -> bytes:
    """An array as a file."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def damaged_head(member: bytes, rng: random.Random) -> str:
    """The text of a recording with some of it changed."""
    try:
        text = str(np.lib.format.read_array(io.BytesIO(member), allow_pickle=False))
        head = json.loads(text)
    except Exception:  # damaged before
        return "{}"
    if not isinstance(head, dict) or rng.random() < 0.5:
        return damaged_words(text, rng)
    odd = (None, [], {}, 0, -1, 1.5, "a", [[]], [-1], [10**30], {"q": [10**9]}, {"q": None}, [{}], True, "\x1b[31m")
    key = rng.choice([*head, "new"])
    head[key] = rng.choice(odd)
    return "[" * 3000 if rng.random() < 0.02 else json.dumps(head)


def check(data: bytes, suffix: str) -> str:
    """Loads it, looks at it, saves it again; says what became of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"recording{suffix}"
        path.write_bytes(data)
        try:
            trajectory = kt.Trajectory.load(path)
        except kt.KinetreeError as problem:
            check_sentence(problem)
            return "refused"
        t = trajectory.t
        assert t.ndim == 1 and t.dtype == np.float64 and np.isfinite(t).all() and (np.diff(t) >= 0).all()
        for array in trajectory.series.values():
            assert array.dtype.kind in "fiub"
            assert array.shape[: trajectory.diverged.ndim] == trajectory.diverged.shape
        assert repr(trajectory)
        trajectory.save(Path(folder) / "again.npz")
    return "loaded"


def run(rng: random.Random) -> str:
    """One damaged recording."""
    name, data = rng.choice(list(recordings().items()))
    suffix = Path(name).suffix
    if suffix == ".npz" and rng.random() < 0.7:
        return check(damaged_archive(data, rng), suffix)
    return check(damaged_bytes(data, rng), suffix)


if __name__ == "__main__":
    main(run)
