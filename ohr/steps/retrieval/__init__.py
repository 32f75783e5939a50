"""Steps that index and search."""
