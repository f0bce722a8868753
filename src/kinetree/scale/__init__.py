"""A billion states: quantities of collections on disk, Monte Carlo and sweeps of rollouts, here, on Dask or on Ray."""

from kinetree.scale.annotate import annotate
from kinetree.scale.monte_carlo import MonteCarlo, monte_carlo
from kinetree.scale.partition import Failed, Partition
from kinetree.scale.run import Report
from kinetree.scale.summary import Summary
from kinetree.scale.sweep import Sweep, sweep

__all__ = ["Failed", "MonteCarlo", "Partition", "Report", "Summary", "Sweep", "annotate", "monte_carlo", "sweep"]
