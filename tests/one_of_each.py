"""A robot with one joint of every kind, of numbers that are easy to write down, and a state of it."""

import numpy as np

import kinetree as kt

KINDS = {
    "slide": ("prismatic", {"axis": (0.6, 0.0, 0.8)}),
    "table": ("planar", {"axis": (0.6, 0.0, 0.8)}),
    "cross": ("universal", {"axis": (1.0, 0.0, 0.0), "axis2": (0.0, 0.6, 0.8)}),
    "ball": ("spherical", {}),
    "thread": ("helical", {"axis": (0.0, 0.8, -0.6), "pitch": 0.25}),
    "hinge": ("continuous", {"axis": (0.0, 1.0, 0.0)}),
    "loose": ("free", {}),
    "follower": ("revolute", {"axis": (0.0, 0.0, 1.0), "mimic": kt.Mimic("hinge", -2.0, 0.5)}),
}


def builder():
    chain = kt.ModelBuilder("one of each")
    chain.link("base", kt.Inertia.from_com(3.0, (0.0, 0.1, 0.0), np.diag([0.5, 0.75, 1.0])))
    parent = "base"
    for k, (name, (kind, options)) in enumerate(KINDS.items()):
        inertia = kt.Inertia.from_com(1.0 + 0.5 * k, (0.1, 0.0, 0.05 * k), np.diag([0.25, 0.5, 0.625]))
        chain.link(f"{name}_link", inertia)
        chain.joint(name, kind, parent, f"{name}_link", xyz=(0.1, -0.2, 0.3), rpy=(0.0, np.pi / 2, 0.0), **options)
        parent = f"{name}_link" if k % 3 else parent
    return chain


def state(robot):
    """The same numbers whatever the conventions; every quaternion is (2, -1, 4, 2) / 5."""
    q = np.arange(1.0, robot.nq + 1) / 8
    for part in robot.model.quaternions:
        q[part] = np.array([2.0, -1.0, 4.0, 2.0]) / 5
    v = np.cos(np.arange(robot.nv))
    return q, v, np.sin(np.arange(robot.nv))
