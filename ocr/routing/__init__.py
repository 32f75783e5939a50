"""Engines made of other engines: the first that reads well enough, the best one, a gate, or a vote."""
