"""Changes to a graph, each a table of rules or one idea."""
