"""Prompts of agents as files with named placeholders."""
