"""A humanoid that walks and is pushed: whole-body control by a quadratic program a step, against MuJoCo's contacts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import kinetree as kt
from kinetree import control
from kinetree.base.progress import Progress
from kinetree.ops import Array
from kinetree.simulation import Fixture, MujocoWorld, Push
from kinetree.simulation.recording import Recording, Sensed
from kinetree.trajectories import Landing, SlowWalk, footsteps

COLORS = {"right": "tab:red", "left": "tab:blue"}
"""Of legs and arms, and of what their soles carry."""
SOLES = ("left_sole", "right_sole")
STANCE = {"hip_pitch": -0.45, "knee": 0.9, "ankle_pitch": -0.45, "elbow": -0.4}
SOLE: dict[str, Any] = {"length": 0.22, "width": 0.08, "at": (0.04, 0.0, 0.0)}
"""Of the contacts, a little less than the soles are [m]."""
STRIDE, PERIOD, AFTER = 0.3, 2e-3, 1.2
"""[m], [s], and for how long it stands when it has arrived [s]."""
SHIFT, SWING = 1.2, 0.7
"""Of the centre of mass from foot to foot, and of a foot [s]."""
TOUCH, SINK = 20.0, 0.1
"""The force from which on a foot stands [N], and how fast it looks for the floor until then [m/s]."""
PUSH = np.array([0.0, -100.0, 0.0])
"""At the chest [N]."""


class Walk:
    """The humanoid, its plan, its controller, and what became of them."""

    def __init__(self, strides: int = 1) -> None:
        self.robot = robot = kt.load("humanoid", base="floating")
        self.stand = robot.neutral()
        for joint in robot.model.owners[1:]:
            self.stand[joint.iq] = next((x for part, x in STANCE.items() if joint.name.endswith(part)), 0.0)
        self.stand[2] -= robot.frame(SOLES[0]).pose(self.stand)[2, 3]
        start = {sole: robot.frame(sole).pose(self.stand) for sole in SOLES}
        self.steps = footsteps(start, [STRIDE, 0.0, 0.0], strides)
        com = robot.center_of_mass(self.stand)
        self.plan = SlowWalk(start, self.steps, com, shift=SHIFT, swing=SWING, height=0.06, center=SOLE["at"])
        tasks = [
            control.CenterOfMass(weight=4.0, stiffness=80.0, feedforward=True),
            control.Momentum(part="angular", weight=0.2, gain=5.0),
            control.Orientation("base_link", weight=0.5, stiffness=60.0, name="trunk"),
            *(control.Pose(sole, weight=2.0, stiffness=300.0, feedforward=True) for sole in SOLES),
            control.Posture(weight=0.05, stiffness=40.0),
        ]
        contacts = [control.SurfaceContact(sole, friction=0.6, damping=20.0, min_force=TOUCH, **SOLE) for sole in SOLES]
        self.controller = control.WholeBody(robot, tasks, contacts)
        self.spent: list[float] = []
        self.recording: Recording
        self.wanted: Array

    def lines(self) -> Iterator[str]:
        """Walk, be pushed, stand."""
        yield "\nWhole-body control: a humanoid walks on MuJoCo's floor, and is pushed when it has arrived"
        end = self.plan.duration + AFTER
        t = PERIOD * np.arange(round(end / PERIOD))
        mass, feet = self.plan.center_of_mass(t), {sole: self.plan.feet[sole](t) for sole in SOLES}
        self.wanted = mass.position
        landing = Landing(self.plan, touch=TOUCH, sink=SINK)
        start = time.perf_counter()
        first = self.controller.step(self.stand, np.zeros(self.robot.nv), self._reference(0, mass, feet, landing))
        compiled = time.perf_counter() - start
        yield f"  tasks, contacts and solver in one native call, compiled or loaded in {compiled:.1f} s"
        state = first.state

        def law(now: Sensed) -> Array:
            nonlocal state
            landing.feel(now.t, now.forces, PERIOD)
            reference = self._reference(round(now.t / PERIOD), mass, feet, landing)
            stands, swings = landing.stands, landing.swings
            began = time.perf_counter()
            step = self.controller.step(now.q, now.v, reference, contacts=stands, weights=swings, state=state)
            self.spent.append(time.perf_counter() - began)
            state = step.state
            progress.tell(1)
            return step.tau

        pushes = Push("chest_link", PUSH, self.plan.duration + 0.2, self.plan.duration + 0.4)
        world = MujocoWorld(self.robot, [Fixture(friction=0.8)], feel=SOLES, period=PERIOD, substeps=3)
        start = time.perf_counter()
        with Progress(len(t), "walking") as progress:
            self.recording = world.run(law, self.stand, duration=end, pushes=pushes)
        yield from self._told(time.perf_counter() - start)

    def _reference(self, k: int, mass: Any, feet: Mapping[str, Any], landing: Landing) -> dict[str, Any]:
        """The controller's reference at a step."""
        return {
            "center_of_mass": tuple(part[k] for part in mass),
            "momentum": np.zeros(3),
            "trunk": np.eye(3),
            "posture": self.stand,
            **{sole: landing.lowered(sole, *(part[k] for part in feet[sole])) for sole in SOLES},
        }

    def _told(self, taken: float) -> Iterator[str]:
        seen = self.recording
        away = 1e3 * np.linalg.norm(seen.center_of_mass - self.wanted, axis=1)
        walking = seen.t < self.plan.duration
        went = seen.q[-1, 0] - seen.q[0, 0]
        yield (
            f"  {len(self.steps)} steps, {went:.2f} m ahead in {seen.t[-1]:.1f} s, simulated in {taken:.1f} s; "
            f"{1e6 * float(np.median(self.spent)):.0f} µs for a step of the controller (median)"
        )
        yield (
            f"  centre of mass at most {away[walking].max():.1f} mm off its path, {away[~walking].max():.1f} mm when "
            f"pushed by {np.linalg.norm(PUSH):.0f} N for 0.2 s, {away[-1]:.1f} mm at the end"
        )
        share = np.abs(seen.tau[:, 6:] / self.robot.limits.effort[6:]).max()
        yield f"  torques up to {share:.0%} of their limits; nothing but its soles touches the floor: " + (
            "right" if not seen.elsewhere.any() else "WRONG"
        )

    def draw(self, figure: Any, folder: Path) -> Path:
        """The humanoid now and then, its centre of mass, and the forces of the floor."""
        seen = self.recording
        grid = figure.add_gridspec(2, 2, height_ratios=(1.5, 1.0))
        picture, error, force = (figure.add_subplot(grid[k]) for k in ((0, slice(None)), (1, 0), (1, 1)))
        for column, place in enumerate(np.linspace(0, len(seen.t) - 1, 7).astype(int)):
            self._stick_figure(picture, seen.q[place], 0.75 * column)
            picture.text(0.75 * column + seen.q[place, 0], -0.17, f"{seen.t[place]:.1f} s", ha="center")
        picture.axhline(0.0, color="0.7", linewidth=1)
        picture.set(aspect="equal", title=f"{len(self.steps)} steps and a push, under whole-body control")
        picture.set_axis_off()
        error.plot(seen.t, 1e3 * (seen.center_of_mass - self.wanted), label=["x", "y", "z"])
        error.set(xlabel="time [s]", ylabel="off its path [mm]", title="centre of mass")
        for sole in SOLES:
            force.plot(seen.t, seen.force(sole)[:, 2], COLORS[sole.split("_")[0]], label=sole, linewidth=1)
        force.set_ylim(top=1.2 * force.get_ylim()[1])  # room for the legend
        force.set(xlabel="time [s]", ylabel="normal force [N]", title="what the floor carries")
        for axes in (error, force):
            axes.axvspan(self.plan.duration + 0.2, self.plan.duration + 0.4, color="0.9")
            axes.grid(alpha=0.3)
            axes.legend(fontsize=8, loc="lower left" if axes is error else "upper right", ncols=3)
        figure.savefig(folder / "walk.png", dpi=110)
        return folder / "walk.png"

    def _stick_figure(self, axes: Any, q: Array, x: float) -> None:
        robot = self.robot
        leg = ["base_link", *(f"{{}}_{part}_link" for part in ("thigh", "shank", "foot")), "{}_sole"]
        arm = ["{}_shoulder_roll_link", "{}_elbow_link", "{}_hand"]
        for side, color in COLORS.items():
            for limb in (leg, arm):
                points = np.array([robot.frame(name.format(side)).pose(q)[:3, 3] for name in limb])
                axes.plot(points[:, 0] + x, points[:, 2], color=color, linewidth=3, solid_capstyle="round")
        trunk = np.array([robot.frame(name).pose(q)[:3, 3] for name in ("base_link", "chest_link", "head")])
        axes.plot(trunk[:, 0] + x, trunk[:, 2], color="0.3", linewidth=6, solid_capstyle="round")
        axes.plot(trunk[-1, 0] + x, trunk[-1, 2], "o", color="0.3", markersize=13)
