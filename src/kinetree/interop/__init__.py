"""Other libraries' forms of what kinetree computes, each imported in one file here."""
