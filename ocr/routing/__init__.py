"""Engines made of other engines: the first that reads well enough, or a vote."""
