"""What all contact models share: what can touch what, where it is, and what rollouts can record of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from numpy.typing import ArrayLike

from kinetree.base.arguments import read_fields
from kinetree.errors import ArgumentError, short
from kinetree.functions.law import compile
from kinetree.model.tendons import Tendon
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.simulation.contact.meeting import Meetings, Pair, pairs
from kinetree.simulation.contact.obstacles import Ground, Obstacle
from kinetree.simulation.contact.stops import Stop
from kinetree.simulation.contact.touch import Touch, as_listed, as_not_negative
from kinetree.simulation.dynamics import Dynamics
from kinetree.simulation.labels import Labels, labels_of

FORCES, GAPS, RESIDUAL, STOPS = "contact_forces", "contact_gaps", "contact_residual", "stop_efforts"


@dataclass(frozen=True)
class ContactModel(ABC):
    """Spheres of a robot against obstacles: n pairs, each obstacle with all that can touch it.

    touching    names of links, for their collision shapes, of frames without any, for their origins, or Touch
    obstacles   Ground, Block, Terrain
    friction    μ, where neither touch nor obstacle says
    """

    touching: Any
    obstacles: Any = (Ground(),)
    friction: float = 0.7

    def __post_init__(self) -> None:
        touching = as_listed("touching", self.touching, (str, Touch), "names of frames, or Touch")
        obstacles = as_listed("obstacles", self.obstacles, Obstacle, "Ground, Block or Terrain")
        for name, given in (("touching", touching), ("obstacles", obstacles)):
            for k, item in enumerate(given):
                if item in given[:k]:
                    raise ArgumentError(f"{name} has {short(item)} twice; expected every one once")
        object.__setattr__(self, "touching", touching)
        object.__setattr__(self, "obstacles", obstacles)
        read_fields(self, friction=as_not_negative)

    @abstractmethod
    def dynamics(self, robot: Robot) -> Dynamics:
        """The dynamics of a robot with these contacts, for rollouts."""

    def pairs(self, robot: Robot) -> tuple[Pair, ...]:
        """What may touch what, in the order of gaps and forces."""
        return pairs(robot.model, self.touching, self.obstacles, self.friction, 0.0)

    def gaps(self, robot: Robot, q: ArrayLike) -> Array:
        """(…, n) [m], negative where something is inside."""
        return _gaps(self)(robot, q)


@lru_cache(maxsize=64)
def _gaps(contact: ContactModel) -> Any:
    @compile
    def contact_gaps(robot: Robot, q: Array) -> Array:
        return Meetings(robot.model, contact.pairs(robot), q).gaps

    return contact_gaps


def _pair_names(pairs: tuple[Pair, ...]) -> list[str]:
    """The name of the frame that touches, followed by a number from 1 where it does so more than once."""
    total, seen, names = Counter(pair.name for pair in pairs), Counter[str](), []
    for pair in pairs:
        seen[pair.name] += 1
        names.append(pair.name if total[pair.name] == 1 else f"{pair.name}.{seen[pair.name]}")
    return names


def labels(robot: Robot, pairs: tuple[Pair, ...], stops: tuple[Stop, ...] = ()) -> dict[str, Labels]:
    """Names and units of the entries of everything that can be recorded."""
    names = _pair_names(pairs)
    efforts = labels_of(robot, "tau")
    return {
        FORCES: [(f"{name}.{axis}", "N") for name in names for axis in "xyz"],
        GAPS: [(name, "m") for name in names],
        RESIDUAL: [(RESIDUAL, "m/s")],
        STOPS: [_stop_label(robot, stop, efforts) for stop in stops],
    }


def _stop_label(robot: Robot, stop: Stop, efforts: Labels) -> tuple[str, str]:
    """The joint's; or the tendon's name, with the unit of a force or of the first of its joints."""
    if not isinstance(stop.of, Tendon):
        return efforts[stop.of.iv]
    of_joints = [efforts[robot.joint(name).v_slice.start][1] for name, _ in stop.of.joints]
    return stop.of.name, "N" if stop.of.path else of_joints[0]
