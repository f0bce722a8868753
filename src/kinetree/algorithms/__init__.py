"""The algorithms, each written once, as the textbook prints it, over whatever scalars `ops` knows.

They take a Model and arrays of one state, return arrays or spatial values, and never look at numbers to decide a path.
"""
