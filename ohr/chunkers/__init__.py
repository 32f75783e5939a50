"""Chunkers: pages in, passages out."""
