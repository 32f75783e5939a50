"""Retrievers that compare page images."""
