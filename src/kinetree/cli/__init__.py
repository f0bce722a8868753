"""The command line `kinetree`, on top of the library: one file per command."""
