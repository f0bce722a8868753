"""Formulas become compiled calls, with derivatives and records on disk: here robotics and the compiler meet."""
