"""Arguments of algorithms: arrays of one state, references, directions of tasks, wrenches."""
