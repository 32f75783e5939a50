"""Prompts that ask a model for questions, one YAML file for each language."""
