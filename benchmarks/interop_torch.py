"""kinetree in PyTorch, beside pytorch_kinematics and adam."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytorch_kinematics as pk
import torch
from adam import Representations
from adam.pytorch import KinDynComputations
from interop_cells import GRAVITY, POSES, ROBOTS, STATES, Calls, agree, floating, merged, path_of, row
from robots import Contender, load

import kinetree as kt


def rows() -> list[dict[str, Any]]:
    """All cells."""
    torch.set_num_threads(1)
    found = []
    for name in ROBOTS:
        found += _poses(load(name)) + _adam(load(name))
    return found


def _both(call: Callable[[Any], Any], q: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """The call without gradients, and the gradient of its sum of squares."""
    moving = q.clone().requires_grad_()

    def forward() -> Any:
        with torch.no_grad():
            return call(q)

    def backward() -> Any:
        return torch.autograd.grad(call(moving).square().sum(), moving)[0]

    return forward, backward


def _pairs(calls: Mapping[str, tuple[Callable[[Any], Any], Any]], tolerance: float) -> tuple[Calls, Calls]:
    both = {peer: _both(call, q) for peer, (call, q) in calls.items()}
    agree(*(forward() for forward, _ in both.values()), tolerance=tolerance)
    return {peer: pair[0] for peer, pair in both.items()}, {peer: pair[1] for peer, pair in both.items()}


def _poses(contender: Contender) -> list[dict[str, Any]]:
    path = path_of(contender)
    robot = kt.load(path, base="fixed")
    chain = pk.build_chain_from_urdf(path.read_bytes()).to(dtype=torch.float32, device="cpu")
    order = [robot.joint_names.index(joint) for joint in chain.get_joint_parameter_names()]
    frames = [chain.frame_to_idx[body] for body in robot.body_names]
    q = torch.from_numpy(robot.random(0, size=POSES)).float()
    ours = kt.to_torch(robot.poses)
    calls = {"kinetree": (ours, q), "pytorch_kinematics": (chain.forward_kinematics_tensor, q[:, order])}
    found = chain.forward_kinematics_tensor(q[:, order])[frames].movedim(0, 1)
    agree(ours(q), found, tolerance=1e-4)
    both = {peer: _both(call, given) for peer, (call, given) in calls.items()}
    return [
        row(contender.name, quantity, {peer: pair[k] for peer, pair in both.items()}, POSES, 10)
        for k, quantity in enumerate(("poses of all links, float32", "poses of all links, float32, gradient"))
    ]


def _adam(contender: Contender) -> list[dict[str, Any]]:
    robot, H, state = floating(contender)
    q, v = (torch.from_numpy(state[kind]) for kind in "qv")
    H = torch.from_numpy(H)
    adam = KinDynComputations(
        merged(contender, robot), list(robot.joint_names), device=torch.device("cpu"), dtype=torch.float64,
        gravity=torch.tensor(GRAVITY, dtype=torch.float64),
    )  # fmt: skip
    adam.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)
    M, h = kt.to_torch(robot.mass_matrix), kt.to_torch(robot.bias_forces)
    joints = slice(7, None)
    cells = {
        "mass matrix": ((M, q), (lambda s: adam.mass_matrix(H, s), q[:, joints])),
        "bias forces": ((lambda q: h(q, v), q), (lambda s: adam.bias_force(H, s, v[:, :6], v[:, 6:]), q[:, joints])),
    }
    rows = []
    for quantity, (ours, theirs) in cells.items():
        forward, backward = _pairs({"kinetree": ours, "adam": theirs}, 1e-9)
        agree(backward["kinetree"]()[:, joints], backward["adam"](), tolerance=1e-9)
        rows.append(row(contender.name, quantity, forward, STATES, 5))
        rows.append(row(contender.name, f"{quantity}, gradient", backward, STATES, 5))
    return rows
