"""Verification by models: the rules that ask them, and how their replies are read."""
