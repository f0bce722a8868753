"""Engines that run tasks: this process or a pool of its own, Dask, Ray."""
