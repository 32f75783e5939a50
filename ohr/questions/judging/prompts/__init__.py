"""Prompts that verify questions, one file for each language."""
