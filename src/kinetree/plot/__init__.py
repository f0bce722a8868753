"""Plots of robots, motions and forces, through matplotlib (`pip install 'kinetree[plot]'`).

Every function draws into the axes it is given, or into a new figure, and returns the figure: `.savefig("torques.png")`.
"""

from kinetree.plot.closed_loop import closed_loop
from kinetree.plot.forces import contact_forces
from kinetree.plot.identification import identification
from kinetree.plot.inertia import sparsity
from kinetree.plot.motions import torques, tracking
from kinetree.plot.reach import manipulability, workspace
from kinetree.plot.support import support
from kinetree.plot.tree import tree

__all__ = [
    "closed_loop", "contact_forces", "identification", "manipulability", "sparsity", "support", "torques",
    "tracking", "tree", "workspace",
]  # fmt: skip
