"""Collections of states on disk: one file for each format."""
