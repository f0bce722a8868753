"""Recursions and factorizations that several algorithms share: passes over the tree, composites, constraint rows."""
