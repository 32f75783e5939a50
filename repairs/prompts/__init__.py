"""Prompts of corrections."""
