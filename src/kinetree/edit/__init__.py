"""Robots made from robots: lock joints, carry a payload, graft a tool, change the base, scale, rename.

Every function takes a robot and returns a new one; names that are not touched stay as they are.

    arm = kt.edit.lock(arm, {"elbow": 0.5})
    arm = kt.edit.attach(arm, "tool0", kt.Inertia.from_com(2.0, (0, 0, 0.1), np.eye(3) * 0.01))
"""

from kinetree.edit.edits import (
    attach,
    change_base,
    description_of,
    graft,
    lock,
    merge_fixed,
    remove,
    rename,
    scale,
    with_options,
)

__all__ = [
    "attach",
    "change_base",
    "description_of",
    "graft",
    "lock",
    "merge_fixed",
    "remove",
    "rename",
    "scale",
    "with_options",
]
