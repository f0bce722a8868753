"""Incremental control of the attitude: what the moment must change by, from measured instead of modelled accelerations
(Smeur, Chu, de Croon 2016)."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree import ops
from kinetree.control.controller import Controller
from kinetree.control.gains import as_gain, times
from kinetree.flight.fields import positive
from kinetree.flight.flyers import STATE, without_joints
from kinetree.ops import Array
from kinetree.robot import Robot


@final
class IncrementalAttitude(Controller):
    """m = m₀ + J (ν - ω̇₀): `controller(q, v, memory, dt, rotation)` as {"moment": (3,), "memory": (9,)}.

        ν = k_R e_R - k_ω ω              the acceleration that is wanted, with e_R = ½ (RᵀR* - R*ᵀR)^∨
        ω̇₀, m₀                           rates differentiated, and the last moments, through the same low-pass filter

    What the model does not know of (a load, a broken rotor's drag, an inertia that is off) is in ω̇₀, as measured. The
    moments are filtered like the accelerations, so that both are of the same instant. `memory` holds the filtered
    rates, the filtered moments and the last moments; a rollout carries it, `states={"memory": np.zeros(9)}`.
    """

    def __init__(self, robot: Robot, attitude_gain: Any = 150.0, rate_gain: Any = 20.0, cutoff: float = 60.0) -> None:
        robot = without_joints(robot, "IncrementalAttitude")
        settings = {
            "attitude_gain": as_gain("attitude_gain", attitude_gain, 3),
            "rate_gain": as_gain("rate_gain", rate_gain, 3),
            "cutoff": positive("cutoff", cutoff),
        }
        arguments = {**STATE, "memory": (9,), "dt": (), "rotation": (3, 3)}
        self._prepare(robot, arguments, {"rotation": np.eye(3)}, settings)

    def formula(
        self, robot: Robot, q: Array, v: Array, memory: Array, dt: Any, rotation: Array, *settings: Any
    ) -> dict[str, Array]:
        """The moment (3,) [N m] in body axes, and the next memory."""
        k_R, k_w, cutoff = settings
        R = robot.frame(robot.body_names[0]).pose(q)[:3, :3]
        J = robot.mass_matrix(q)[3:6, 3:6]
        w, filtered, smooth, last = v[3:6], memory[:3], memory[3:6], memory[6:]
        wanted = times(k_R, 0.5 * ops.axial(R.T @ rotation)) - times(k_w, w)
        part = 1.0 - ops.exp(-cutoff * dt)
        rates = filtered + part * (w - filtered)
        measured = (rates - filtered) / dt
        moments = smooth + part * (last - smooth)
        moment = moments + J @ (wanted - measured)
        return {"moment": moment, "memory": np.concatenate([rates, moments, moment])}
