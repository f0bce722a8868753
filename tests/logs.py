"""Collections of random states on disk, in every format, for tests of `kinetree.scale`."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def states(robot, count, seed=0):
    """q, v and a of so many states."""
    rng = np.random.default_rng(seed)
    v, a = rng.standard_normal((2, count, robot.nv))
    return {"q": robot.random(rng, count), "v": v, "a": a}


def fixed_lists(arrays):
    """A table with a list of fixed size for every array."""
    columns = {
        name: pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(array).reshape(-1)), array.shape[1])
        for name, array in arrays.items()
    }
    return pa.table(columns)


def by_coordinate(robot, arrays):
    """A table with a column for every coordinate, called as those of `Trajectory.save`."""
    names = {name: robot.joint_names for name in arrays}
    return pa.table({f"{n}.{joint}": a[:, k] for n, a in arrays.items() for k, joint in enumerate(names[n])})


def write_logs(folder, robot, counts, kind="parquet", group=64):
    """A file for each count, and all their states by name."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = [states(robot, count, seed) for seed, count in enumerate(counts)]
    for k, part in enumerate(parts):
        if kind == "parquet":
            pq.write_table(fixed_lists(part), folder / f"log{k}.parquet", row_group_size=group)
        else:
            np.savez(folder / f"log{k}.npz", **part)
    return {name: np.concatenate([part[name] for part in parts]) for name in "qva"}


def read_results(out, name):
    """A result of all partitions in order."""
    files = sorted(out.glob("*.parquet"))
    if files:
        columns = [pq.read_table(file)[name].combine_chunks() for file in files]
        shapes = [pq.read_schema(file).field(name).metadata[b"shape"] for file in files]
        shape = tuple(int(n) for n in shapes[0].decode().strip("[]").split(",") if n)
        return np.concatenate([c.flatten().to_numpy() if shape else c.to_numpy() for c in columns]).reshape(-1, *shape)
    return np.concatenate([np.load(file)[name] for file in sorted(out.glob("*.npz"))])
