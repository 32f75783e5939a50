"""Readers of the files that OCR systems write."""
