"""Readers of model files; the only place that knows XML."""
