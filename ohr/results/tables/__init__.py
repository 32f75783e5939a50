"""Tables of a run: their columns, written, read, and as arrays."""
