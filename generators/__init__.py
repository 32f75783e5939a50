"""Generators: prompts in, answers out."""
