"""What was seen in a closed loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.errors import unknown
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.simulation.labels import names_and_units
from kinetree.simulation.trajectory import Trajectory

_WRENCH = [(f"f{axis}", "N") for axis in "xyz"] + [(f"m{axis}", "N m") for axis in "xyz"]


class Sensed(NamedTuple):
    """The measurements that a controller gets."""

    t: float
    """[s]."""
    q: Array
    v: Array
    forces: Mapping[str, Array]
    """Contact wrenches on the robot at each frame of `feel`, (6,), force first, in world axes [N, N m]."""


@dataclass(frozen=True, eq=False)
class Recording:
    """A closed loop in MuJoCo: states at every step of the controller, torques, and forces until the next."""

    robot: Robot
    t: Array
    """(n,) [s]."""
    q: Array
    """(n, nq)."""
    v: Array
    """(n, nv)."""
    tau: Array
    """Torques of the controller, (n, nv), before they are clipped to the robot's effort limits."""
    forces: Mapping[str, Array]
    """Contact wrenches on the robot at each frame of `feel`, (n, 6), force first, in world axes [N, N m]."""
    elsewhere: Array
    """Contact forces on all other links together, (n,) [N]: zero as long as nothing else touches."""
    reports: Mapping[str, Array]
    """Values that the controller reports, by name, (n, …)."""

    def __repr__(self) -> str:
        return f"<Recording of {self.robot.name!r}: {len(self.t)} steps>"

    @lazy
    def trajectory(self) -> Trajectory:
        """The same as a `kt.Trajectory`, with names and units, which goes to disk: "q", "v", "tau", "report.…" for
        values of the controller; and for every step but the last "force.…" of frames in `feel`, and "elsewhere"."""
        series = {"q": self.q, "v": self.v, "tau": self.tau}
        series |= {f"report.{name}": array for name, array in self.reports.items()}
        measured = {f"force.{frame}": array[:-1] for frame, array in self.forces.items()}
        series |= measured | {"elsewhere": self.elsewhere[:-1]}
        names, units = names_and_units(self.robot, series, dict.fromkeys(measured, _WRENCH))
        return Trajectory(self.t, series, steps=np.array(len(self.t) - 1), names=names, units=units)

    @lazy
    def center_of_mass(self) -> Array:
        """The centre of mass, (n, 3) [m]."""
        return self.robot.center_of_mass(self.q)

    def poses(self, frame: str) -> Array:
        """The poses of a frame, (n, 4, 4)."""
        return self.robot.frame(frame).pose(self.q)

    def force(self, frame: str) -> Array:
        """The force on one frame that feels, (n, 6)."""
        if frame not in self.forces:
            raise unknown("frame that feels", frame, self.forces)
        return self.forces[frame]

    def center_of_pressure(self, frame: str, min_force: float = 1.0) -> Array:
        """Where in a frame's plane z = 0 the surroundings push, (n, 2) in its axes [m]: x = -m_y / f_z, y = m_x / f_z;
        NaN where they push with less than `min_force` newtons."""
        R = self.poses(frame)[:, :3, :3]
        force = np.einsum("nji,nj->ni", R, self.force(frame)[:, :3])
        moment = np.einsum("nji,nj->ni", R, self.force(frame)[:, 3:])
        f_z = np.where(force[:, 2] > min_force, force[:, 2], np.nan)
        return np.stack([-moment[:, 1] / f_z, moment[:, 0] / f_z], axis=1)
