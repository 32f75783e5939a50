"""Prompts of judges, one YAML file each."""
