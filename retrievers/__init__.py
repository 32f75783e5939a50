"""Retrievers: chunks in, ranked hits out."""
