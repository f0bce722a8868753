"""Whole-body control: tasks, contacts and limits, and the torques that meet them."""
