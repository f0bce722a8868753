"""A robot in MuJoCo, with a controller in the loop.

    world = MujocoWorld(robot, feel=["left_sole", "right_sole"])
    recording = world.run(lambda now: controller(now.q, now.v, reference(now.t)), q, duration=2.0)

The robot is written as MJCF and simulated by MuJoCo with contacts of its own; coordinates are those of the robot, on
both sides of the controller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant, as_count, as_number
from kinetree.convert import convert
from kinetree.convert.peer import PEERS
from kinetree.errors import ArgumentError, KinetreeError, short
from kinetree.model.description import LinkDescription
from kinetree.model.geometry import Geometry
from kinetree.model.joints.coordinates import Coordinates
from kinetree.model.loaders.mjcf import MjModel, mujoco_package
from kinetree.model.loaders.xml import Element, written
from kinetree.model.writers.mjcf import mjcf, renamed_links
from kinetree.model.writers.mjcf_geometry import GeometryWriter
from kinetree.ops import Array, skew
from kinetree.robot import Robot, as_robot
from kinetree.simulation.contact.obstacles import Block, Ground
from kinetree.simulation.fixtures import Fixture, Push, as_fixture
from kinetree.simulation.recording import Recording, Sensed
from kinetree.spatial import Inertia, Transform

Controller = Callable[[Sensed], Any]
"""From what is sensed to τ, (nv,), or to τ and a dict of whatever should be recorded."""


@final
class MujocoWorld:
    """A robot among fixtures, in MuJoCo.

    fixtures         obstacles: `Fixture`, `Ground` or `Block`; by default the floor z = 0
    feel             frames at which contact forces are measured: those on the frame's body
    period           time between two calls of the controller [s]
    substeps         steps of the simulation in a period
    self_collision   whether links also touch each other

    Links touch by the collision shapes of the model. Contacts are MuJoCo's, slightly soft, with circular friction
    cones; joint limits are hard. A world can run any number of times, each from the state it is given.
    """

    def __init__(
        self,
        robot: Robot,
        fixtures: Iterable[Fixture | Ground | Block] | None = None,
        *,
        feel: Iterable[str] = (),
        period: float = 1e-3,
        substeps: int = 2,
        self_collision: bool = False,
    ) -> None:
        robot = as_robot(robot)
        self.robot = robot
        self.fixtures = (Fixture(),) if fixtures is None else tuple(map(as_fixture, fixtures))
        self.feel = tuple(robot.frame(name).name for name in ([feel] if isinstance(feel, str) else feel))
        self.period, self.substeps = as_number("period", period), as_count("substeps", substeps)
        if not 0.0 < self.period < np.inf or not self.substeps:
            raise ArgumentError(f"period is {self.period:g} s in {self.substeps} steps; expected positive numbers")
        self._mujoco = mujoco_package(f"the world of {robot.name!r}")
        self.model = self._compiled(self_collision)
        self._state = _State(robot)
        self._places = {name: self._place(name) for name in robot.frame_names}
        self._weld = np.array(self.model.body_weldid)
        self._roots = self._weld[self.model.geom_bodyid]  # of geoms: the body they move with

    def __repr__(self) -> str:
        return f"<MujocoWorld of {self.robot.name!r} with a period of {self.period:g} s>"

    def run(
        self,
        controller: Controller,
        q0: ArrayLike,
        v0: ArrayLike | None = None,
        *,
        duration: float,
        pushes: Push | Iterable[Push] = (),
    ) -> Recording:
        """Let the controller act every period: `controller(now)` gives τ, (nv,), or τ and a dict of what to record.

        `now` has t, q, v and forces. τ is held until the next call, and motors give no more than the robot's effort
        limits; a floating base, and any other free joint, has no motor.
        """
        robot, m = self.robot, self.model
        count = round(as_number("duration", duration) / self.period)
        pushed = (pushes,) if isinstance(pushes, Push) else tuple(pushes)
        for push in pushed:
            robot.frame(push.frame)
        data = self._mujoco.MjData(m)
        data.qpos = convert(robot, "q", as_constant("q0", q0, (robot.nq,)), to="mujoco")
        v_start = np.zeros(robot.nv) if v0 is None else as_constant("v0", v0, (robot.nv,))
        data.qvel = convert(robot, "v", v_start, q=q0, to="mujoco")
        self._mujoco.mj_forward(m, data)
        t = self.period * np.arange(count)
        q, v, tau = (np.empty((count, n)) for n in (robot.nq, robot.nv, robot.nv))
        measured, elsewhere = {name: np.empty((count, 6)) for name in self.feel}, np.empty(count)
        reports: dict[str, list[Any]] = {}
        forces, _ = self._contacts(data)
        for k in range(count):
            q[k], v[k] = self._state.read(data.qpos, data.qvel)
            tau[k], said = self._asked(controller(Sensed(float(t[k]), q[k].copy(), v[k].copy(), forces)))
            for name, value in said.items():
                reports.setdefault(name, []).append(np.array(value))
            data.qfrc_applied = self._state.efforts(np.clip(tau[k], -robot.limits.effort, robot.limits.effort))
            for push in pushed:
                self._apply(data, push, float(t[k]))
            self._mujoco.mj_step(m, data, self.substeps)
            if not np.isfinite(data.qpos).all() or np.abs(data.qvel).max(initial=0.0) > 1e6:
                raise KinetreeError(f"the simulation of {robot.name!r} came apart at t = {t[k]:g} s")
            forces, elsewhere[k] = self._contacts(data)
            for name in self.feel:
                measured[name][k] = forces[name]
        told = {name: np.array(values) for name, values in reports.items()}
        return Recording(robot, t, q, v, tau, measured, elsewhere, told)

    # -- the model ---------------------------------------------------------------------------------------------

    def _compiled(self, self_collision: bool) -> MjModel:
        mujoco = self._mujoco
        spec = mujoco.MjSpec.from_string(mjcf(self.robot.model, lossy=True))
        for geom in list(spec.geoms):
            if geom.contype:
                geom.contype, geom.conaffinity = 1, int(self_collision)
        for geom, fixture in zip(self._fixed_geoms(), self.fixtures, strict=True):
            spec.worldbody.add_geom(
                type=geom.type, size=geom.size, pos=geom.pos, quat=geom.quat, contype=0, conaffinity=1, condim=3,
                friction=[fixture.friction, 0.0, 0.0], solref=[fixture.settling, 1.0],
                solimp=[fixture.hardness, fixture.hardness, 1e-3, 0.5, 2.0], priority=1,
            )  # fmt: skip
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)  # efforts come from the controller alone
        spec.option.timestep = self.period / self.substeps
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.impratio = 10.0  # friction is harder than the normal direction, so that feet do not creep
        return spec.compile()

    def _fixed_geoms(self) -> list[Any]:
        """Fixtures as geoms of a document of their own."""
        shapes = [Geometry(fixture.shape, Transform.from_pose(fixture.pose)) for fixture in self.fixtures]
        link = LinkDescription(Inertia.zero(), (), tuple(shapes), None)
        world = Element("worldbody", children=list(GeometryWriter(None).geoms("world", link, moves=False)))
        return list(self._mujoco.MjSpec.from_string(written(Element("mujoco", children=[world]))).worldbody.geoms)

    def _place(self, frame: str) -> tuple[int, int]:
        """Kind and number of MuJoCo's body or site of that name."""
        kinds = self._mujoco.mjtObj
        frame = renamed_links(self.robot.model).get(frame, frame)
        for kind in (kinds.mjOBJ_BODY, kinds.mjOBJ_SITE):
            number = self._mujoco.mj_name2id(self.model, kind, frame)
            if number >= 0:
                return int(kind), number
        return int(kinds.mjOBJ_BODY), 0  # a root link that is the world

    # -- a step ------------------------------------------------------------------------------------------------

    def _asked(self, answer: Any) -> tuple[Array, dict[str, Any]]:
        tau, said = answer if isinstance(answer, tuple) else (answer, {})
        tau = as_constant("tau", tau, (self.robot.nv,))
        if not np.isfinite(tau).all():
            raise ArgumentError(f"the controller gives {short(tau.tolist())}; expected finite torques")
        for joint in self.robot.model.owners:
            if not joint.has_motor and np.abs(tau[joint.v_slice]).max() > 1e-9:
                who = "the floating base" if joint is self.robot.model.floating_base else f"joint {joint.name!r}"
                raise ArgumentError(f"the controller gives efforts of {who}, which has no motor; expected zeros")
        return tau, said

    def _apply(self, data: Any, push: Push, t: float) -> None:
        wrench = push.at(t)
        if wrench is None:
            return
        body, point = self._origin(data, push.frame)
        force, moment = wrench[:3].reshape(3, 1), wrench[3:].reshape(3, 1)
        self._mujoco.mj_applyFT(self.model, data, force, moment, point.reshape(3, 1), body, data.qfrc_applied)

    def _origin(self, data: Any, frame: str) -> tuple[int, Array]:
        """The body of a frame, and where the frame's origin is."""
        kind, number = self._places[frame]
        if kind == int(self._mujoco.mjtObj.mjOBJ_BODY):
            return number, np.array(data.xpos[number])
        return int(self.model.site_bodyid[number]), np.array(data.site_xpos[number])

    def _contacts(self, data: Any) -> tuple[dict[str, Array], float]:
        """Wrenches on the frames that feel, and the size of all forces elsewhere."""
        contacts, count = data.contact, int(data.ncon)
        six, axes, place = np.zeros((count, 6)), contacts.frame.reshape(-1, 3, 3), contacts.pos
        for k in range(count):
            self._mujoco.mj_contactForce(self.model, data, k, six[k])
        force = (six[:, None, :3] @ axes)[:, 0]  # on the second geom of each pair, (count, 3)
        moment = np.stack(
            [place[:, i] * force[:, j] - place[:, j] * force[:, i] for i, j in ((1, 2), (2, 0), (0, 1))], 1
        )
        bodies = self._roots[contacts.geom]
        others, sums = bodies != 0, {}
        for name in self.feel:
            body, origin = self._origin(data, name)
            own = bodies == self._weld[body]
            others &= ~own
            sign = own[:, 1].astype(float) - own[:, 0]
            total = sign @ force
            sums[name] = np.concatenate([total, sign @ moment - skew(origin) @ total])
        return sums, float(np.sum(others * np.linalg.norm(force, axis=1)[:, None]))


class _State:
    """States and efforts of a robot beside those of MuJoCo: v_mujoco = T(q) v. What `kt.convert` does, for one state
    after the other; a mimic joint, which MuJoCo keeps only softly, is where its leader is."""

    def __init__(self, robot: Robot) -> None:
        self.model = robot.model
        peer = PEERS["mujoco"]
        peer.check(self.model)
        self.parts, copied = [], []
        at_q = at_v = 0
        there = [peer.coordinates(joint) for joint in peer.joints(self.model)]
        self.B = np.zeros((robot.nv, sum(part.nv for part in there)))
        for part in there:
            joint = part.joint
            if joint.owns_coordinates:
                if not part.turns:
                    self.B[joint.v_slice, at_v : at_v + part.nv] = part.T_inverse(np.zeros(joint.nq))
                if part.turns or type(part).own_positions is not Coordinates.own_positions:
                    self.parts.append((part, slice(at_q, at_q + part.nq), slice(at_v, at_v + part.nv)))
                else:
                    copied += [(joint.iq + k, at_q + k) for k in range(joint.nq)]
            at_q, at_v = at_q + part.nq, at_v + part.nv
        self.ours, self.theirs = np.array(copied, dtype=int).reshape(-1, 2).T

    def read(self, qpos: Array, qvel: Array) -> tuple[Array, Array]:
        """q and v; efforts that follow belong to this state."""
        q = np.empty(self.model.nq)
        q[self.ours] = qpos[self.theirs]
        for part, at_q, at_v in self.parts:
            own = q[part.joint.q_slice] = part.own_positions(qpos[at_q])
            if part.turns:
                self.B[part.joint.v_slice, at_v] = part.T_inverse(own)
        return q, self.B @ qvel

    def efforts(self, tau: Array) -> Array:
        """τ_mujoco, with τᵀ v the same on both sides."""
        return self.B.T @ tau
