"""Objects that hold results of algorithms at one state or a batch of them."""
