"""Presets of the kind `http`: where a service takes a question, and where the answer is in its reply."""
