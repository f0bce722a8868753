"""Bodies, joints and sites of a compiled MuJoCo model, as links, joints and frames.

A MuJoCo body hangs on its parent by any number of joints, each with its own anchor; with none it is fixed. Its pose in
the parent, at joint positions q_k, is

    T₀ · Π_k  Trans(p_k) E_k(q_k - ref_k) Trans(-p_k)

so that every joint becomes a joint between two links at the anchor p_k; all of them but the body itself are massless.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from kinetree.model.bounds import read_bound
from kinetree.model.builder import ModelBuilder
from kinetree.model.description import free_name
from kinetree.model.fluid import NO_FLUID
from kinetree.model.joints import JointDynamics
from kinetree.model.joints.dynamics import NONE
from kinetree.model.joints.kinds import kinds_by_word
from kinetree.model.loaders.mujoco_actuators import add_actuators
from kinetree.model.loaders.mujoco_effort import effort_limits, rotors_and_dampers
from kinetree.model.loaders.mujoco_equality import EqualityReader
from kinetree.model.loaders.mujoco_fluid import read_drag, read_fluid
from kinetree.model.loaders.mujoco_geometry import GeometryReader
from kinetree.model.loaders.mujoco_leftovers import PASSIVE, is_disabled
from kinetree.model.loaders.mujoco_scene import bodies_of_robot, note_left_behind
from kinetree.model.loaders.mujoco_tendons import TendonReader
from kinetree.ops import Array
from kinetree.spatial import Inertia
from kinetree.spatial.exponential import log_quaternion
from kinetree.spatial.rotation import matrix_about_axis, matrix_from_quaternion, normalized

FREE, BALL, SLIDE, HINGE = range(4)
"""MuJoCo's numbers of joint types."""
XYZW = [1, 2, 3, 0]
"""The order of a quaternion here, in that of MuJoCo."""
WORDS = ("free", "ball", "slide", "hinge")
FIXED_CAMERA = 0


class TreeReader:
    """Adds the tree of a compiled model to a builder."""

    def __init__(self, mujoco: Any, model: Any, builder: ModelBuilder) -> None:
        self.mujoco, self.mj = mujoco, model
        self.builder = builder
        self.kinds = kinds_by_word("mjcf")
        self.geometry = GeometryReader(mujoco, model, builder)
        self.links = self._names("BODY", model.nbody, lambda i: f"body{i}", mujoco)
        self.joints = self._names("JOINT", model.njnt, self._joint_name, mujoco)
        self._link_names, self._joint_names = frozenset(self.links), frozenset(self.joints)
        self.sites = self._names("SITE", model.nsite, lambda i: f"site{i}", mujoco)
        self.cameras = self._names("CAMERA", model.ncam, lambda i: f"camera{i}", mujoco)
        self.geoms: dict[int, str] = {}
        self.disabled = {flag for flag in (*PASSIVE, "EQUALITY", "LIMIT") if is_disabled(mujoco, model, flag)}
        self.is_still = {"SPRING", "DAMPER"} <= self.disabled and "FRICTIONLOSS" not in self.disabled
        """Whether MuJoCo leaves out all passive forces, but not friction."""
        builder.fluid = NO_FLUID if self.is_still else read_fluid(model, builder)
        self.effort = effort_limits(mujoco, model, builder, self.joints)
        self.rotors, self.dampers = rotors_and_dampers(mujoco, model)
        self.equality = EqualityReader(mujoco, model, builder, self.joints, "EQUALITY" not in self.disabled)

    def read(self, base: str, root: str | None) -> None:
        """All of it; with a floating base or a root, one body on the world and what it carries."""
        inside, sites = bodies_of_robot(self.mj, self.builder, self.links, base, root), dict[int, str]()
        note_left_behind(self.mj, self.builder, self.links, inside, {"site": self.sites, "camera": self.cameras})
        kept = set(inside)
        for body in inside:
            self._body(body, is_root=body == inside[0])
        for kind, names, bodies, positions, quaternions in (
            ("site", self.sites, self.mj.site_bodyid, self.mj.site_pos, self.mj.site_quat),
            ("camera", self.cameras, self.mj.cam_bodyid, self.mj.cam_pos, self.mj.cam_quat),
        ):
            for i, name in enumerate(names):
                if kind == "camera" and self.mj.cam_mode[i] != FIXED_CAMERA:
                    self.builder.note(f"camera {name!r}", "it is not fixed to a body, so it was ignored")
                elif bodies[i] in kept:
                    own = self._frame(kind, name, self.links[bodies[i]], positions[i], _rotation(quaternions[i]))
                    if kind == "site":
                        sites[i] = own
        off = (
            self.disabled if len(self.disabled & set(PASSIVE)) < len(PASSIVE) else set()
        )  # all is a choice of the model
        tendons = TendonReader(self.mujoco, self.mj, self.builder, self.joints, self.equality.tendons)
        tendons.add(sites, lambda geom: self._geom_frame(geom, kept), off)
        links = {i: self.links[i] for i in inside}
        self.equality.add_loops(links, sites, tendons.read)
        add_actuators(self.mujoco, self.mj, self.builder, self.joints, tendons, links, sites)

    # -- bodies and joints -------------------------------------------------------------------------------------

    def _body(self, i: int, is_root: bool) -> None:
        mj, name = self.mj, self.links[i]
        visuals, collisions = self.geometry.of_body(i)
        share = 0.0 if self.is_still else float(mj.body_gravcomp[i])
        inertia = self._inertia(i)
        with self.builder.located(f"body {name!r}"):
            drag = read_drag(mj, i) if self.builder.fluid.is_present else ()
        shapes: dict[str, Any] = {"visuals": visuals, "collisions": collisions, "drag": drag}
        self.builder.link(name, inertia, gravity_compensation=share, **shapes)
        first, count = int(mj.body_jntadr[i]), int(mj.body_jntnum[i])
        if is_root:
            if count:
                self.builder.base_dynamics = self._dynamics(first)
            return
        at = self.links[mj.body_parentid[i]]
        R, p = _rotation(mj.body_quat[i]), np.array(mj.body_pos[i])
        for j in range(first, first + count):
            kind, axis, anchor = int(mj.jnt_type[j]), np.array(mj.jnt_axis[j]), np.array(mj.jnt_pos[j])
            ref = float(mj.qpos0[mj.jnt_qposadr[j]])
            if kind == FREE:
                R, p, anchor = np.eye(3), np.zeros(3), np.zeros(3)
            elif kind == SLIDE:
                anchor = np.zeros(3)
                p = p - R @ axis * ref
            p = p + R @ anchor
            if kind == HINGE and ref:
                R = R @ matrix_about_axis(axis, -ref)
            is_last = j == first + count - 1
            link = name
            if not is_last or anchor.any():
                link = free_name(f"{name}/{self.joints[j]}", self._link_names, self.builder.links, ending="'")
                self.builder.link(link)
            self._joint(j, at, link, axis, R, p)
            at, R, p = link, np.eye(3), -anchor
        if at != name:
            fixed = free_name(f"{name}_fixed", self._joint_names, self.builder.joints, ending="'")
            self.builder.joint(fixed, "fixed", at, name, xyz=p, rotation=R)

    def _joint(self, j: int, parent: str, child: str, axis: Array, R: Array, p: Array) -> None:
        mj, name = self.mj, self.joints[j]
        kind, limited = int(mj.jnt_type[j]), bool(mj.jnt_limited[j]) and "LIMIT" not in self.disabled
        lower, upper = (float(bound) for bound in mj.jnt_range[j]) if limited else (-np.inf, np.inf)
        if kind == BALL and limited:
            self.builder.note(f"joint {name!r}", f"its limit, {upper:g} rad from the middle, was ignored")
        bounds: dict[str, Any] = {}
        if kind in (SLIDE, HINGE):
            bounds = {"lower": read_bound(lower), "upper": read_bound(upper), "effort": self.effort[j]}
        self.builder.joint(
            name,
            "continuous" if kind == HINGE and not limited else self.kinds[WORDS[kind]],
            parent,
            child,
            axis=axis,
            xyz=p,
            rotation=R,
            dynamics=self._dynamics(j),
            mimic=self.equality.mimics.get(j),
            **bounds,
        )

    def _dynamics(self, j: int) -> JointDynamics:
        """Rotor, damping, friction and spring."""
        mj, kind = self.mj, int(self.mj.jnt_type[j])
        dof, at = int(mj.jnt_dofadr[j]), int(mj.jnt_qposadr[j])
        rest: Any = float(mj.qpos_spring[at])
        if kind == BALL:
            rest = log_quaternion(np.roll(normalized(np.array(mj.qpos_spring[at : at + 4])), -1))
            rest = tuple(map(float, rest)) if rest.any() else 0.0
        values = {
            "armature": float(mj.dof_armature[dof] + self.rotors[j]),
            "damping": float(mj.dof_damping[dof] + self.dampers[j]),
            "friction": float(mj.dof_frictionloss[dof]),
            "stiffness": float(np.ravel(mj.jnt_stiffness[j])[0]),
        }
        element = f"joint {self.joints[j]!r}"
        if len(self.disabled & set(PASSIVE)) < len(PASSIVE):  # all of them is a choice of the whole model
            for flag, quantity in PASSIVE.items():
                if flag in self.disabled and values[quantity]:
                    self.builder.note(element, f"its {quantity} is switched off by the options of the file")
                    values[quantity] = 0.0
        if kind == FREE and values["stiffness"]:
            self.builder.warn(element, f"its stiffness {values['stiffness']:g} was ignored: it is a free joint")
            values["stiffness"] = 0.0
        if kind == FREE and values["friction"]:
            self.builder.note(element, "its friction acts along the axes of v, in MuJoCo along those of qvel")
        if not any(values.values()):
            return NONE
        with self.builder.located(element):
            return JointDynamics(**values, rest=rest if values["stiffness"] else 0.0)

    def _inertia(self, i: int) -> Inertia:
        R = _rotation(self.mj.body_iquat[i])
        about_com = R @ np.diag(self.mj.body_inertia[i]) @ R.T
        return Inertia.from_com(float(self.mj.body_mass[i]), np.array(self.mj.body_ipos[i]), about_com)

    # -- names -------------------------------------------------------------------------------------------------

    def _names(self, kind: str, count: int, otherwise: Any, mujoco: Any) -> list[str]:
        """A name for each; those without get one that no other has."""
        given = [_name(mujoco, self.mj, kind, i) for i in range(count)]
        taken, names = set(given), []
        for i, name in enumerate(given):
            if not name:
                name = wanted = otherwise(i)
                number = 2
                while name in taken:
                    name, number = f"{wanted}{number}", number + 1
                taken.add(name)
            names.append(name)
        return names

    def _joint_name(self, j: int) -> str:
        return f"{self.links[self.mj.jnt_bodyid[j]]}_{WORDS[int(self.mj.jnt_type[j])]}"

    def _frame(self, kind: str, name: str, link: str, p: Array, R: Array) -> str:
        """MuJoCo lets a site be called like a body; here both are frames."""
        own = free_name(name, self.builder.links, self.builder.sites, ending=f"_{kind}")
        if own != name:
            self.builder.note(f"{kind} {name!r}", f"the name is taken by another frame; it is called {own!r}")
        self.builder.frame(own, link, xyz=p, rotation=R)
        return own

    def _geom_frame(self, i: int, kept: Container[int]) -> str | None:
        """A frame at a geom that a tendon wraps around, if its body was read."""
        if int(self.mj.geom_bodyid[i]) not in kept:
            return None
        if i not in self.geoms:
            name, link = _name(self.mujoco, self.mj, "GEOM", i) or f"geom{i}", self.links[self.mj.geom_bodyid[i]]
            self.geoms[i] = self._frame("geom", name, link, self.mj.geom_pos[i], _rotation(self.mj.geom_quat[i]))
        return self.geoms[i]


def _name(mujoco: Any, model: Any, kind: str, i: int) -> str:
    return mujoco.mj_id2name(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), i) or ""


def _rotation(wxyz: Array) -> Array:
    return matrix_from_quaternion(normalized(np.array(wxyz, dtype=float)[XYZW]))
