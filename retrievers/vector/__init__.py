"""Retrievers that compare text embeddings, and the searches among vectors that vision retrievers share."""
