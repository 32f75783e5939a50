"""ohr measures how OCR noise travels through retrieval-augmented generation."""

__version__ = "0.1.0"
