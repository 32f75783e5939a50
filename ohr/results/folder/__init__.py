"""The folder of a run: its files, its manifest, and what may be replaced."""
