"""Scalar graphs: tracing, derivatives, and the passes that simplify and schedule them."""
