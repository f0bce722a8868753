"""Explicit equations of motion: the algorithms on named symbols, and what is left of them in textbook form."""
