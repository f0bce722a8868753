"""Robots made from robots: lock joints, carry a payload, graft a tool, change the base, scale, rename, other numbers.

Every function takes a robot and returns a new one; names that are not touched stay as they are.

    arm = kt.edit.lock(arm, {"elbow": 0.5})
    arm = kt.edit.attach(arm, "tool0", kt.Inertia.from_com(2.0, (0, 0, 0.1), np.eye(3) * 0.01))
    arm = kt.edit.set_dynamics(arm, "elbow", damping=0.5)
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
from kinetree.edit.numbers import (
    add_frame,
    place_frame,
    place_joint,
    set_dynamics,
    set_fluid,
    set_inertia,
    set_limits,
    set_mass,
)

__all__ = [
    "add_frame", "attach", "change_base", "description_of", "graft", "lock", "merge_fixed", "place_frame",
    "place_joint", "remove", "rename", "scale", "set_dynamics", "set_fluid", "set_inertia", "set_limits", "set_mass",
    "with_options",
]  # fmt: skip
