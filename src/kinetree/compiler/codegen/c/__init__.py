"""The same programs as C99: kernels, elementary functions and loops, as text."""
