"""Prompts as files with named placeholders."""
