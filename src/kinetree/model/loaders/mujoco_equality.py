"""Equality constraints of a compiled MuJoCo model.

<joint>     q₁ - ref₁ = Σ c_k (q₂ - ref₂)^k: a mimic joint if that is a straight line, otherwise a coupling
<connect>   two points that stay together: a loop of kind "point"
<weld>      two frames that stay together: a loop of kind "rigid"
<tendon>    ℓ₁ - ℓ₁₀ = Σ c_k (ℓ₂ - ℓ₂₀)^k with the lengths at qpos0: a coupling of tendons

Frames on what is fixed to the world, where the world itself is not read, become contacts. MuJoCo holds all of them
softly, here they are kept exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from kinetree.model.builder import ModelBuilder
from kinetree.model.constraints import Contact, Coupling, Loop, TendonCoupling
from kinetree.model.description import Mimic, free_name
from kinetree.ops import Array
from kinetree.spatial import Transform
from kinetree.spatial.rotation import matrix_from_quaternion, normalized

KINDS = {"mjEQ_CONNECT": "point", "mjEQ_WELD": "rigid"}


class EqualityReader:
    """Mimic joints, which the joints need when they are read, and loops, which are added when all frames are there."""

    def __init__(self, mujoco: Any, model: Any, builder: ModelBuilder, joints: list[str], is_on: bool) -> None:
        self.mujoco, self.mj, self.builder, self.joints = mujoco, model, builder, joints
        self.mimics: dict[int, Mimic] = {}
        self.couplings: list[Coupling] = []
        self.held: list[int] = []
        self.tied: list[int] = []
        leaders: dict[int, int] = {}
        for i in range(model.neq):
            kind = mujoco.mjtEq(int(model.eq_type[i])).name
            if not model.eq_active0[i] or not is_on:
                builder.note(self._element(i), "it is switched off, so it was ignored")
            elif kind == "mjEQ_JOINT":
                self._read_joint(i, leaders)
            elif kind in KINDS:
                self.held.append(i)
            elif kind == "mjEQ_TENDON":
                self.tied.append(i)
            else:
                builder.warn(self._element(i), "such a constraint was ignored")

    @property
    def tendons(self) -> set[int]:
        """The tendons that are held, or hold others."""
        return {int(which) for i in self.tied for which in (self.mj.eq_obj1id[i], self.mj.eq_obj2id[i])}

    def add_loops(self, links: Mapping[int, str], sites: Mapping[int, str], tendons: Mapping[int, str]) -> None:
        """`links`, `sites` and `tendons` are the names of what was read."""
        for coupling in self.couplings:
            self.builder.loop(coupling)
        for i in self.tied:
            self._tie(i, tendons)
        for i in self.held:
            ends = [self._end(i, side, links, sites) for side in (0, 1)]
            frames = [frame for frame, _ in ends if frame is not None]
            kind = KINDS[self.mujoco.mjtEq(int(self.mj.eq_type[i])).name]
            if len(frames) == 2:
                self.builder.loop(Loop(frames[0], frames[1], "point" if kind == "point" else "rigid"))
            elif frames:
                self._hold_to_world(i, frames[0], ends, kind)
        count = len(self.builder.loops)
        if count:
            message = "robot.constrained() and rollouts hold the loops; other quantities are those of the tree"
            self.builder.note("<equality>", f"{count} constraint{'s' if count > 1 else ''}: {message}", count=count)

    # -- joints ------------------------------------------------------------------------------------------------

    def _read_joint(self, i: int, leaders: dict[int, int]) -> None:
        mj = self.mj
        follower, leader, c = int(mj.eq_obj1id[i]), int(mj.eq_obj2id[i]), np.array(mj.eq_data[i][:5], dtype=float)
        ref1, ref2 = (float(mj.qpos0[mj.jnt_qposadr[j]]) if j >= 0 else 0.0 for j in (follower, leader))
        if leader < 0:
            self.couplings.append(Coupling(self.joints[follower], None, (ref1 + c[0],)))
            return
        law = Polynomial(c)(Polynomial([-ref2, 1.0])) + ref1
        if c[2:].any() or follower in self.mimics or _leads_to(leaders, leader, follower):
            self.couplings.append(Coupling(self.joints[follower], self.joints[leader], tuple(law.coef)))
            return
        leaders[follower] = leader
        self.mimics[follower] = Mimic(self.joints[leader], float(c[1]), float(ref1 + c[0] - c[1] * ref2))

    def _tie(self, i: int, tendons: Mapping[int, str]) -> None:
        mj, follower, leader = self.mj, int(self.mj.eq_obj1id[i]), int(self.mj.eq_obj2id[i])
        if follower not in tendons or (leader >= 0 and leader not in tendons):
            self.builder.warn(self._element(i), "it was ignored: a tendon of it was left out")
            return
        law = Polynomial(np.array(mj.eq_data[i][:5], dtype=float))
        law = Polynomial(law.coef[:1]) if leader < 0 else law(Polynomial([-float(mj.tendon_length0[leader]), 1.0]))
        law = law + float(mj.tendon_length0[follower])
        self.builder.loop(TendonCoupling(tendons[follower], tendons.get(leader), tuple(law.coef)))

    # -- frames ------------------------------------------------------------------------------------------------

    def _end(
        self, i: int, side: int, links: Mapping[int, str], sites: Mapping[int, str]
    ) -> tuple[str | None, Transform]:
        """The frame at one end, None if it is on a body that was not read; and where it is on its body."""
        mj = self.mj
        number = int((mj.eq_obj1id, mj.eq_obj2id)[side][i])
        if int(mj.eq_objtype[i]) == int(self.mujoco.mjtObj.mjOBJ_SITE):
            X = _placement(mj.site_pos[number], mj.site_quat[number])
            return sites.get(number), X
        data = np.array(mj.eq_data[i], dtype=float)
        if KINDS[self.mujoco.mjtEq(int(mj.eq_type[i])).name] == "point":
            X = _placement(data[3 * side : 3 * side + 3])
        else:  # the pose of the second body is in that of the first, the anchor in the second
            X = _placement(data[3:6], data[6:10]) if side == 0 else _placement(data[0:3])
        if number not in links:
            return None, X
        name = free_name(f"{self._label(i)}_{side + 1}", self.builder.links, self.builder.sites)
        self.builder.frame(name, links[number], xyz=X.p, rotation=X.R.T)
        return name, X

    def _hold_to_world(self, i: int, frame: str, ends: list[tuple[str | None, Transform]], kind: str) -> None:
        """Where the other end is fixed to the world."""
        mj, side = self.mj, 0 if ends[0][0] is None else 1
        body = int((mj.eq_obj1id, mj.eq_obj2id)[side][i])
        if int(mj.eq_objtype[i]) == int(self.mujoco.mjtObj.mjOBJ_SITE):
            body = int(mj.site_bodyid[body])
        X = ends[side][1]
        while body:
            if mj.body_jntnum[body]:
                self.builder.warn(self._element(i), f"it holds {frame!r} to a body that was left out, and was ignored")
                return
            X = X * _placement(mj.body_pos[body], mj.body_quat[body])
            body = int(mj.body_parentid[body])
        self.builder.loop(Contact(frame, "point", X.p) if kind == "point" else Contact(frame, "surface", X.pose()))

    # -- words -------------------------------------------------------------------------------------------------

    def _label(self, i: int) -> str:
        kind = self.mujoco.mjtEq(int(self.mj.eq_type[i])).name.removeprefix("mjEQ_").lower()
        return self.mujoco.mj_id2name(self.mj, self.mujoco.mjtObj.mjOBJ_EQUALITY, i) or f"{kind}{i}"

    def _element(self, i: int) -> str:
        kind = self.mujoco.mjtEq(int(self.mj.eq_type[i])).name.removeprefix("mjEQ_").lower()
        return f"<{kind}> {self._label(i)!r} of <equality>"


def _leads_to(leaders: dict[int, int], joint: int, goal: int) -> bool:
    while joint != goal and joint in leaders:
        joint = leaders[joint]
    return joint == goal


def _placement(p: Array, wxyz: Array = (1.0, 0.0, 0.0, 0.0)) -> Transform:  # type: ignore[assignment]
    """From the frame of a body to one that sits at p in it, turned by the quaternion."""
    R = matrix_from_quaternion(normalized(np.roll(np.array(wxyz, dtype=float), -1)))
    return Transform(R.T, np.array(p, dtype=float))
