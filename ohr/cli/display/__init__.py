"""Output of the commands: tables, progress, curves."""
