"""Repairs: treatments of page images and of text that bring back what noise has taken."""
