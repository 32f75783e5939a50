"""Scores what others made, a folder of OCR results or a file of answers, and places it among published numbers."""
