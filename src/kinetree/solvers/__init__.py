"""Programs that are solved rather than evaluated: quadratic programs, and hierarchies of them."""
