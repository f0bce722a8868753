"""Where the columns meet: a formula becomes a compiled call, with its derivatives and its place on disk."""
