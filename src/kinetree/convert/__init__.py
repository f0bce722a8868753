"""The same state, force or Jacobian in the coordinates of another library; one file for each of them."""

from kinetree.convert.convert import Kind, convert

__all__ = ["Kind", "convert"]
