"""Runs a spec: plans its steps, finds what the store has, does the rest."""
