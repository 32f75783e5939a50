"""Checks of the source that no ready-made tool does: who imports whom, sizes, and plain English. `python -m checks`."""
