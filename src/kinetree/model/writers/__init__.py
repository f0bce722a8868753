"""Models as files, for other tools."""
