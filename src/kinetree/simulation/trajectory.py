"""What comes out of a simulation: time series, with names and units."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinetree.base.lazy_imports import importing
from kinetree.errors import ArgumentError, ArgumentTypeError, short, unknown
from kinetree.ops import Array

if TYPE_CHECKING:
    from kinetree.robot import Robot


@final
@dataclass(frozen=True, eq=False)
class Occurrence:
    """A zero crossing that a simulation came by: of which event, in which state of the batch, when and where."""

    name: str
    index: tuple[int, ...]
    t: float
    """[s]"""
    q: Array
    """Before the event's own effect, (nq,)."""
    v: Array


@final
@dataclass(frozen=True, eq=False)
class Trajectory:
    """The motion of one state or of a batch: times .t (n,) [s], positions .q (…, n, nq), velocities .v (…, n, nv).

    `trajectory["tau"]` gives whatever was recorded, by name. What belongs to steps rather than to instants, such as
    efforts and contact forces, has one entry fewer than there are times: entry k is of the step that ends at t[k + 1].
    """

    t: Array
    series: Mapping[str, Array]
    """All that was recorded, "q" and "v" among it: (…, n, *shape), or (…, n - 1, *shape) where it belongs to steps."""
    diverged: Array = field(default_factory=lambda: np.zeros((), dtype=bool))
    """Which states stopped before the end, (…): because numbers became infinite, or the mass matrix singular. They stay
    where they last were well."""
    steps: Array = field(default_factory=lambda: np.zeros((), dtype=np.int64))
    """How many steps each state made, (…)."""
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of the entries of a series, in the order of its axes behind that of time."""
    units: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Likewise, such as "rad/s"; "1" for numbers without."""
    events: tuple[Occurrence, ...] = ()

    def __post_init__(self) -> None:
        for name in ("series", "names", "units"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        given = (dict(self.series), self.diverged, self.steps, dict(self.names), dict(self.units), self.events)
        return Trajectory, (self.t, *given)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {np.shape(array)}" for name, array in self.series.items())
        until = f" up to {np.max(self.t):g} s" if np.size(self.t) else ""
        return f"<trajectory of {np.size(self.t)} times{until}: {shapes}>"

    @property
    def q(self) -> Array:
        """Positions, (…, n, nq)."""
        return self["q"]

    @property
    def v(self) -> Array:
        """Velocities, (…, n, nv)."""
        return self["v"]

    @property
    def batch(self) -> tuple[int, ...]:
        """The batch axes, () for one state."""
        return self.diverged.shape

    @property
    def extras(self) -> Mapping[str, Array]:
        """The quantities recorded in addition to q and v."""
        return {name: array for name, array in self.series.items() if name not in ("q", "v")}

    def __getitem__(self, name: str) -> Array:
        """A series by its name."""
        if name in ("q", "v") and name not in self.series:
            raise ArgumentError(f"{name} was not recorded; name it in record=")
        if not isinstance(name, str) or name not in self.series:
            raise unknown("series", name, self.series)
        return self.series[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.series)

    def state(self, *index: int) -> Trajectory:
        """One of a batch: the trajectory of the state at this index."""
        if index and not self.batch:
            raise ArgumentError(f"index is {index}; expected none, as this is no batch: path.q[k] is the k-th time")
        if len(index) != len(self.batch):
            raise ArgumentError(f"index is {index}; expected {len(self.batch)} numbers for a batch of {self.batch}")
        if any(isinstance(i, bool) or not isinstance(i, (int, np.integer)) for i in index):
            raise ArgumentTypeError(f"index is {short(index)}; expected whole numbers")
        try:
            place = np.arange(self.diverged.size).reshape(self.batch)[index]
        except IndexError:
            raise ArgumentError(f"index is {index}; the batch has shape {self.batch}") from None
        here = tuple(int(i) for i in np.unravel_index(int(place), self.batch)) if self.batch else ()
        return replace(
            self,
            series={name: array[here] for name, array in self.series.items()},
            diverged=self.diverged[here],
            steps=self.steps[here],
            events=tuple(replace(event, index=()) for event in self.events if event.index == here),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to a file, .npz or .parquet; a file of that name is replaced at once or not at all."""
        importing("kinetree.simulation.trajectory_files")
        from kinetree.simulation.trajectory_files import save  # noqa: PLC0415 - it knows trajectories

        save(self, path)

    def to_mcap(self, path: str | os.PathLike[str], robot: Robot | None = None) -> None:
        """Write an MCAP file for Foxglove: every series; with a robot also its frames, shapes and joint states.

        Of one state: `trajectory.state(k)` takes one of a batch. Needs kinetree[mcap].
        """
        importing("kinetree.viewer.mcap")
        from kinetree.viewer.mcap import write  # noqa: PLC0415 - it knows shapes

        write(self, path, robot)

    def to_rerun(self, path: str | os.PathLike[str], robot: Robot | None = None) -> None:
        """Write a file for Rerun, .rrd: every series as curves; with a robot also its bodies and their shapes.

        Of one state: `trajectory.state(k)` takes one of a batch. Needs kinetree[rerun].
        """
        importing("kinetree.viewer.rerun")
        from kinetree.viewer.rerun import write  # noqa: PLC0415 - it knows shapes

        write(self, path, robot)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Trajectory:
        """The trajectory that `save` wrote."""
        importing("kinetree.simulation.trajectory_files")
        from kinetree.simulation.trajectory_files import load  # noqa: PLC0415 - it knows trajectories

        return load(path)
