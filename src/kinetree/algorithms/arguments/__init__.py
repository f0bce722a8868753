"""What calls of algorithms are read by: arrays of one state, references, directions of tasks, wrenches."""
