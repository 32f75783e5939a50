"""Prompts that ask a vision-language model for the text of a page."""
