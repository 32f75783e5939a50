"""Models: where they are, and whether they can be loaded."""
