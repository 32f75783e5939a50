"""Noise on files without a run: apply, preview, statistics."""
