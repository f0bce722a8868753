"""Tendons of a compiled MuJoCo model: fixed ones over joints, and spatial ones along sites, pulleys and geoms."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

import numpy as np

from kinetree.model.bounds import read_bound
from kinetree.model.builder import ModelBuilder
from kinetree.model.description import free_name
from kinetree.model.tendons import UNLIMITED, Pulley, Tendon, Wrap

TERMS = {
    "stiffness": ("SPRING", "tendon_stiffness"),
    "damping": ("DAMPER", "tendon_damping"),
    "friction": ("FRICTIONLOSS", "tendon_frictionloss"),
}
"""Of a tendon, the flags that switch them off, and where MuJoCo has them."""
NOT_READ = ("tendon_armature", "tendon_stiffnesspoly", "tendon_dampingpoly", "tendon_springyield")
"""What changes the dynamics as well, where a version of MuJoCo has it."""


class TendonReader:
    """Adds tendons that have a path or a range, pull by themselves or are `coupled`; knows the joints of others, for
    actuators."""

    def __init__(
        self, mujoco: Any, model: Any, builder: ModelBuilder, joints: list[str], coupled: Container[int]
    ) -> None:
        self.mujoco, self.mj, self.builder, self.joints = mujoco, model, builder, joints
        self.coupled = coupled
        self.read: dict[int, str] = {}
        """Of all tendons that were read."""
        self.names: dict[int, str] = {}
        """Of tendons with a path that were read."""

    def add(self, sites: Mapping[int, str], geom: Callable[[int], str | None], disabled: Container[str]) -> None:
        """All of them; `sites` are those that were read, and `geom` makes a frame of a geom, if its body was read."""
        mj, lost, limited, odd = self.mj, 0, 0, dict[str, list[str]]()
        for i in range(mj.ntendon):
            name = self.mujoco.mj_id2name(mj, self.mujoco.mjtObj.mjOBJ_TENDON, i) or f"tendon{i}"
            name = free_name(name, [other.name for other in self.builder.tendons])
            terms = {what: float(np.ravel(getattr(mj, field)[i])[0]) for what, (_, field) in TERMS.items()}
            terms |= {what: 0.0 for what, (flag, _) in TERMS.items() if flag in disabled}
            lower, upper = map(float, mj.tendon_lengthspring[i])
            own: dict[str, Any] = {
                **terms,
                "rest": (lower, upper),
                "length_range": UNLIMITED if "LIMIT" in disabled else self._limits(i),
            }
            more = any(np.any(getattr(mj, field)[i]) for field in NOT_READ if hasattr(mj, field))
            moved = self.joints_of(i)
            is_read = False
            if moved is None:
                path = self._path(i, sites, geom)
                is_read = not isinstance(path, str)
                if isinstance(path, str):
                    odd.setdefault(path, []).append(name)
                else:
                    self.names[i] = name
                    self.builder.tendon(Tendon(name, path=path, **own))
            elif all(joint in self.builder.joints for joint, _ in moved) and (
                any(terms.values()) or own["length_range"] != UNLIMITED or i in self.coupled
            ):
                is_read = True
                self.builder.tendon(Tendon(name, tuple(moved), **own))
            if is_read:
                self.read[i] = name
            limited += is_read and own["length_range"] != UNLIMITED
            lost += more or (not is_read and any(terms.values()))
        self._note(lost, limited, odd)

    def joints_of(self, i: int) -> list[tuple[str, float]] | None:
        """The joints that a fixed tendon runs over, and the coefficient of each; None if it is a spatial one."""
        wraps = self._wraps(i)
        if any(self.mj.wrap_type[k] != int(self.mujoco.mjtWrap.mjWRAP_JOINT) for k in wraps):
            return None
        return [(self.joints[int(self.mj.wrap_objid[k])], float(self.mj.wrap_prm[k])) for k in wraps]

    def _wraps(self, i: int) -> range:
        return range(int(self.mj.tendon_adr[i]), int(self.mj.tendon_adr[i]) + int(self.mj.tendon_num[i]))

    def _path(
        self, i: int, sites: Mapping[int, str], geom: Callable[[int], str | None]
    ) -> tuple[str | Wrap | Pulley, ...] | str:
        """Sites, surfaces and pulleys; or why they cannot be read."""
        path: list[str | Wrap | Pulley] = []
        for k in self._wraps(i):
            kind, which = self.mujoco.mjtWrap(int(self.mj.wrap_type[k])).name, int(self.mj.wrap_objid[k])
            parameter = float(self.mj.wrap_prm[k])
            if kind == "mjWRAP_PULLEY":
                path.append(Pulley(parameter))
            elif kind == "mjWRAP_SITE":
                if which not in sites:
                    return "a site of theirs is not part of the robot"
                path.append(sites[which])
            else:
                side = round(parameter)
                frame = geom(which)
                if frame is None or (side >= 0 and side not in sites):
                    return "a geom or side site of theirs is not part of the robot"
                shape = "sphere" if kind == "mjWRAP_SPHERE" else "cylinder"
                radius = float(self.mj.geom_size[which][0])
                path.append(Wrap(frame, radius, shape, sites[side] if side >= 0 else None))  # type: ignore[arg-type]
        return tuple(path)

    def _limits(self, i: int) -> tuple[float, float]:
        if not self.mj.tendon_limited[i]:
            return UNLIMITED
        lower, upper = (read_bound(float(bound)) for bound in self.mj.tendon_range[i])
        return lower, upper

    def _note(self, lost: int, limited: int, odd: Mapping[str, list[str]]) -> None:
        for why, names in odd.items():
            message = f"{len(names)} of them ({', '.join(names[:5])}) were left out of robot.tendons: {why}"
            self.builder.note("<tendon>", message, None, "warning", len(names))
        if lost:
            message = f"springs, damping, friction or armature of {lost} tendon{'s' if lost > 1 else ''} were ignored"
            self.builder.warn("<tendon>", message, count=lost)
        if limited:
            whose = f"of {limited} tendons are" if limited > 1 else "of 1 tendon are"
            how = "held where those of joints are, by stops in rollouts; robot.tendons lists them"
            self.builder.note("<tendon>", f"limits {whose} {how}", count=limited)
